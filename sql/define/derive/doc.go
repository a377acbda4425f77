// Package derive computes what a row of a table has beyond its stored values,
// and tests what it must satisfy: generated columns, defaults that read other
// columns, and CHECK constraints.
//
// Exprs are the bound expressions of a descriptor. They are immutable and
// shared by all sessions; package define makes them (define.Compile).
// Expressions read a row in table order: Col.Index is the position in
// Table.Columns.
//
// Expressions are bound under the default sql_mode and the default character
// set, whatever the session has, so that the same row gives the same values
// to all sessions. How strictly a value is stored, and whether a division by
// zero is an error, is the session's.
package derive
