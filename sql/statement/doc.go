// Package statement runs statements: it takes each from its text, or from a
// prepared one, to its result.
//
// # Model
//
// A Connection is what the statements of one client share: variables, the current
// database, Transactions, TemporaryTables, Diagnostics, and the Functions through
// which expressions see it. A Statement runs them, one after the other; what ends
// with a statement is a field of it. Shared is what all connections of a server
// have in common: the engine, the plan cache, the virtual tables, and the Commands
// that run what is neither a query nor a change (package command).
//
// Open makes a connection. Package session connects it with the wire, jobs in the
// background use it directly.
//
// # The way of a statement
//
//	QueryTemplate, RunText, Execute   text or prepared statement to bound statement (template.go, statement.go, prepare.go)
//	MakePlan                          bound statement to plan (plan.go), or the cached one (plancache.go)
//	Admit                             LOCK TABLES, safe updates, read-only transactions; autocommit = 0 begins (run.go)
//	readView                          metadata locks and the view of the store (view.go)
//	                                  are all tables of the plan current? Else it is made again
//	read, Change, ChangeInBulk        execution, commit or savepoint (run.go, bulk.go)
//	Finish                            diagnostics and the error for the client (connection.go)
//
// Queries, SELECT … INTO, SET, DO, EXPLAIN ANALYZE, CHECKSUM TABLE, LOAD DATA and
// the removal of expired rows all go this way. runPoint and runPage are fast paths
// for one row by its primary key and the first rows of one span: they replace the
// execution and are chosen after the checks. No other package calls the executor's
// RunQuery, RunChange and BindSubqueries; a test of internal/lint keeps that.
//
// # Invariants
//
//	I1  A plan runs only if every table in it is current after the statement's
//	    read view was taken (see catalog I2); otherwise it is made again.
//	I2  A statement that fails leaves no trace in the transaction: its writes
//	    are undone to a savepoint, or with the whole transaction in autocommit.
//	I3  In an explicit transaction every table that was used stays under a
//	    shared metadata lock until the transaction ends.
package statement
