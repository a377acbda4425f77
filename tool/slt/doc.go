// Package slt runs sqllogictest files against any server that speaks the
// MySQL protocol.
//
// # Model
//
// A file is a stream of records. Parser reads it one record at a time, so the
// size of a file does not matter. RunFile executes the records over one or
// more connections (sessions) that the caller's Options.Open makes, and
// returns a Report. Main is the command `sqlots slt`.
//
// # Dialect
//
// The dialect is the one of SQLite's sqllogictest:
//
//	statement ok                     statement error
//	query <types> [nosort|rowsort|valuesort] [label]
//	skipif <db>   onlyif <db>        halt   hash-threshold <n>   # comment
//
// A blank line ends a record. Types are I (integer: fractions are cut off), R
// (three decimals) and T (text: bytes outside the printable ASCII range become
// '@', the empty string becomes "(empty)"); NULL prints as NULL. Values are
// listed one per line after "----", or as "<n> values hashing to <md5>" when a
// result has more values than the hash threshold. Equal labels demand equal
// results. A query without "----" is run and only its label is checked.
//
// Extensions:
//
//	statement error 1062             the MySQL error number must match
//	statement error 1265|1366        one of several numbers
//	statement error 1062 /for key/   number and regular expression
//	statement error /no such/        regular expression on the message
//	statement count 3                succeeds and reports 3 affected rows
//	query error ...                  as statement error, for a query
//	encoding utf8                    from here on, and in files that are
//	                                 included, text prints as UTF-8; encoding
//	                                 ascii ends that
//	connection <name>                the following records use this session,
//	                                 which is opened at its first use; the
//	                                 first one is named "default"
//	include <path>                   runs another file here, the path being
//	                                 relative to the including file
//	skipif mariadb sqlots            several names: any of them matches
//
// With more than one column, results may also be listed row by row: fields
// separated by tabs, or by spaces where no value contains a space. Under
// rowsort, expected rows given in this form are sorted too.
//
// # Invariants
//
//	I1  A record whose conditions do not hold has no effect but being counted
//	    as skipped.
//	I2  A malformed file ends its run with an error: nothing is guessed, and
//	    unknown directives (such as "mode") are malformed.
//	I3  Rewriting changes expectations of executed records only; all else in
//	    the file keeps its text (line ends become LF), and the file is
//	    replaced at once.
//
// The package does not run statements of one file concurrently: a session that
// waits for a lock blocks the file until the server times it out.
package slt
