// Package sqlerr is the one table of MySQL errors: number, SQLSTATE and message, as
// in the MySQL 8.4 Server Error Message Reference. Errors that MySQL does not have
// use the numbers of TiDB or MariaDB for the same condition, or 1105.
//
// Every error and warning that a client can see is made by a constructor of this
// package, which holds its number, state and format; no other package can make one.
// Unknown, Internal and AsOf take a format from their caller. FromGrammar passes on
// the few errors that the grammar raises under numbers of its own.
//
// Code that has to know which error it got calls a predicate of conditions.go; it
// compares no numbers and parses no messages. Conditions of lower layers are
// sentinels of theirs and are translated where they meet SQL.
//
// Tests hold the package to that: numbers belong to one state, a format to one
// constructor, and every number that a predicate names has a constructor.
package sqlerr
