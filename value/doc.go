// Package value holds the values that rows are made of: Datum and the
// decimal, time and JSON values inside it, as plain data.
//
// A Datum is one value with its Kind, the class of its representation; the
// SQL type (schema.Type) is known to whoever holds the Datum. Values of ENUM,
// SET, BIT and YEAR are KindUint; DATE, DATETIME and TIMESTAMP are KindTime,
// TIME is KindDuration. Arithmetic, parsing and formatting of the single
// values live here; what SQL makes of mixed ones (conversion, comparison,
// warnings) lives in sql/types.
package value
