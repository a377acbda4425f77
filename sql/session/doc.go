// Package session runs statements: it holds the state of one connection
// (variables, database, transaction, prepared statements, diagnostics) and
// takes each statement from text to result.
//
// # Model
//
// An Engine is what the sessions of a server share: store, catalog, global
// variables, plan cache, running processes. A Session implements
// mysqlwire.Session. The life of a statement is in run.go: template or parse,
// bind, plan (or the cached plan), read view, execute, commit.
//
// # Invariants
//
//	I1  A plan runs only if every table in it is current after the statement's
//	    read view was taken (see catalog I2); otherwise it is made again. That
//	    holds for every statement that reads tables: SELECT … INTO, SET, DO,
//	    EXPLAIN ANALYZE and CHECKSUM TABLE run their plans by read, as SELECT does,
//	    and every change runs by change. Both begin with admit, the checks that no
//	    statement gets around.
//	I2  A statement that fails leaves no trace in the transaction: its writes
//	    are undone to a savepoint, or with the whole transaction in autocommit.
//	I3  In an explicit transaction every table that was used stays under a
//	    shared metadata lock until the transaction ends.
package session
