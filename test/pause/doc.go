// Package pause stops commits and reads between any two of their steps
// (package step) and looks at what other statements see meanwhile.
//
// # Model
//
// A server runs in the test's process, with a hook at each step. One table has
// every kind of index; a writer changes several of its rows in each commit, and
// the test knows the table's rows after every commit. A schedule is
//
//   - a commit that stops at one step, goes on to a later one, stops again, and
//     ends; a second commit may pass it where the store allows that;
//   - a reader that begins while the commit is stopped, stops at one of its own
//     steps, and ends after the commit has gone on;
//   - other readers, which come and go while both are stopped;
//   - maybe the follower of the search index, which stops as well.
//
// Readers take every access path, at both isolation levels, in autocommit and in
// a transaction, at every innodb_flush_log_at_trx_commit.
//
// # What must hold
//
//	I1  A statement shows the rows after one commit, no more and no less.
//	I2  It is not older than any commit that was answered before it began, nor
//	    than what any other statement showed that ended before it began.
//	I3  It is not newer than the last commit that was begun when it ended.
//	I4  In a transaction at REPEATABLE READ all statements show the rows after the
//	    same commit.
//
// It holds only tests.
package pause
