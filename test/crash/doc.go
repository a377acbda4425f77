// Package crash kills a server with SIGKILL under a concurrent write load,
// again and again, and looks at what is left.
//
// # Model
//
// The test binary runs itself as the server, on one data directory. Several
// connections write groups of rows: every transaction makes, changes or
// deletes all rows of one group, and moves money between two accounts. Each
// group belongs to one connection, so that the test knows its acknowledged
// state, and the one state that it may have instead when the kill came between
// COMMIT and its answer.
//
// # What must hold after each kill
//
//	I1  Every group is in its acknowledged state or, if its last transaction
//	    was not answered, in the state that this one would have made.
//	I2  No group is between two states.
//	I3  The accounts sum up to zero.
//	I4  Every index holds exactly the entries of the rows.
//	I5  The change logs show how the rows came to be what they are, and the
//	    earlier versions of rows follow each other without a gap.
//
// # Isolation
//
// TestIsolation is in the manner of Jepsen's tests: while the server is killed
// every few seconds, connections append to lists, move money, read and write
// registers, fill a set and fight for unique keys, at all isolation levels and
// along many access paths. Statements are interrupted by KILL QUERY, and the
// schema changes. After each kill:
//
//	I6   The dependencies between transactions that follow from the lists (who
//	     wrote before, read from, and was overwritten by whom, and what came
//	     earlier) have no cycle; no read returned what was rolled back, or half of
//	     a transaction (internal/histcheck).
//	I7   Registers are linearizable; what was acknowledged is there.
//	I8   Every sum over the accounts, by one statement or in one view, is zero,
//	     and the balances are those that follow from the moves.
//	I9   A read of the set has all that was acknowledged before it. A unique key
//	     has one owner at a time.
//	I10  CHECK TABLE finds rows and indexes in agreement.
//
// One thing is allowed, as in InnoDB: a commit is visible a moment before it is on
// disk, so a reader that writes nothing may see what a crash takes away.
//
// It holds only tests.
package crash
