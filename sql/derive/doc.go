// Package derive holds what a row of a table has to be beyond its stored
// values: the CHECK constraints that it must satisfy, and the columns that are
// computed from others.
//
// Rules are the bound expressions of a descriptor. They are immutable and
// shared by all sessions; package bind makes them (CompileRules). Expressions
// read a row in table order: Col.Index is the position in Table.Columns.
//
// Expressions are bound under the default sql_mode and the default character
// set, whatever the session has, so that the same row gives the same values
// for everybody. How strictly a value is stored, and whether a division by
// zero is an error, is the session's.
package derive
