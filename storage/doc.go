// Package storage declares the transactional, ordered key-value store on
// which sqlots is built. It knows no SQL and no engine.
//
// # Model
//
// Keys and values are byte strings; keys order bytewise. A Store holds
// committed data. Every commit gets a sequence number; sequence numbers grow
// in the order in which commits become visible. They do not count: between two
// of them others may be left out, so nothing follows from their difference. A
// Snapshot is the state after one commit. A Txn is a write buffer over a movable read view, with
// pessimistic locks on the keys that it intends to change.
//
// # Invariants
//
//	I1  A commit is visible whole or not at all, and after Commit returns with
//	    DurabilitySync it survives the loss of power.
//	I2  A Snapshot sees exactly the commits with a sequence <= Snapshot.Seq(),
//	    which is that of the last of them or a later one that no commit has.
//	I3  A key that a Txn has locked is changed by no other Txn until the first
//	    one ends.
//	I4  Scans go forward through a stream that the engine may fetch in batches
//	    (a distributed engine pays a network call for every seek), so the
//	    interface has no re-seekable cursor: unions and index joins go through
//	    BatchGet of sorted keys.
//
//	I5  Of two commits with stamped writes, the one with the greater stamp has
//	    the later time, or where others write to the store too, no earlier one.
//	I6  There is one "now". A reader that begins after another was shown the
//	    state of a commit is shown that state or a later one, whatever the two
//	    are: snapshots, reads of Latest, Store.Seq. A commit that is still under
//	    way may be seen; from the first reader that sees it, all do.
//	I7  What was seen can still be lost: a commit is visible before it is
//	    durable. Then Commit returns ErrUndetermined, and the store takes no
//	    further writes, so that nothing durable can depend on it.
//	I8  In a range that a Txn has locked, no other Txn writes until the first
//	    one ends, and none has a write that it has not committed.
//	I9  From the moment that Settled has given a stamp, all readers see the same
//	    stamped commits up to it.
//
// It does not encode rows (package storage/table does), and it does not retry:
// the owner of the transaction decides that by the class of the error.
package storage
