// Package crashtest kills a server with SIGKILL under a concurrent write load,
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
//	I5  The change logs tell how the rows came to be what they are, and the
//	    earlier versions of rows follow each other without a gap.
//
// It holds only tests.
package crashtest
