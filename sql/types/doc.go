// Package types is what MySQL makes of values: the kind and text form of each
// SQL type, conversion, comparison and the types of mixed expressions.
//
// Conversions take an Env (sql_mode, time zone, warnings). Cast converts
// inside expressions and warns; Store converts to a column on its way into a
// table and, in strict mode, refuses.
package types
