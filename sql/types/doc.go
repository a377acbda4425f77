// Package types is what MySQL makes of values: the kind and text form of each
// SQL type, conversion, comparison and the types of mixed expressions.
//
// Conversions take an Env (sql_mode, time zone, warnings). Cast converts
// inside expressions and warns; Store converts to a column on its way into a
// table and, in strict mode, refuses.
//
// Invariants:
//
//   - I1: a value that Store returned is normal: storing it again in the same
//     column changes nothing and says nothing.
//   - I2: HashKey is equal exactly where CompareNull is 0.
//   - I3: TIMESTAMP values are in the session's zone everywhere in the SQL side;
//     TimestampToUTC and TimestampFromUTC convert at the border to the tables.
//
// It does not type expressions (sql/expr) and knows no tables.
package types
