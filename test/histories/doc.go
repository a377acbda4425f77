// Package histories looks for wrong answers under concurrency: many connections run
// random transactions on one server, and their answers must be explained by some order
// of the transactions that the isolation level and the time allow.
//
// # Model
//
// One load reads and writes registers: rows that count their versions (n) and name the
// last write (w), so that each row of an answer identifies the write that it saw. The
// other appends to lists, which are stored in one row each, or in a row for each
// element. The tables have a primary key, secondary indexes of all kinds and a search
// index; every read takes one of the paths of paths_test.go, or two of them in one
// statement. A run checks at its start that EXPLAIN names these paths.
//
// Connections are of all isolation levels, with autocommit and with transactions
// of several statements, in the text protocol or prepared. Meanwhile statements are
// killed, the schema changes, and commits are made more and less durable.
//
// The transactions of a few seconds are an epoch. It ends when all connections are
// between two transactions, and is checked while the next one runs.
//
// # Checks
//
//	C1  internal/histcheck finds no cycle: a statement, or a view of REPEATABLE
//	    READ, sees all of a commit or nothing; no answer has an older version
//	    than one before it had; no update is lost. No answer has what was rolled
//	    back, or versions between two writes of one transaction.
//	C2  An answer has the rows that it must have, each once. Where a statement has
//	    a row by two paths, they agree, and so do a row's columns and its text.
//	C3  Balances, which transactions move between rows, sum up to zero; the sum of
//	    all versions never falls from one answer to a later question.
//	C4  A transaction reads its own writes.
//	C5  At the end of an epoch all paths have the same rows.
//
// A search index that leaves out changed rows, or lags by one commit, is found:
// TestFaults plants such faults (search.Knobs).
//
// # Long runs
//
//	go test ./test/histories -run TestHistories -timeout 0 -histories.txns 1000000 -histories.spin 4 -histories.level rc
//
// With -seed the choices of each connection are the same again, though not how they
// meet. -histories.calm leaves out what disturb does, -histories.findings N goes
// on after a finding. -histories.pauses 0.1 stops commits and reads between their
// steps, as a busy machine does, only more often.
package histories
