// Package tikvkv is the storage engine on a TiKV cluster, over client-go. It is the only
// package with types of client-go, but for the tests.
//
// # Model
//
// Transactions come from package txn: buffer, savepoints and merged reads are in this
// process. Row locks are TiKV's pessimistic locks, and client-go's two phases commit the
// buffer. Sequence numbers are timestamps of the placement driver: those of commits, of
// snapshots, and of stamped writes.
//
// A commit with stamped writes takes its stamp when all locks are held and before it
// writes, so the stamp is lower than the sequence of the commit, and stamps become visible
// out of order. Settled is a stamp up to which nothing more can appear.
//
// # Invariants
//
//	I1  Commit says committed, refused for certain, or storage.ErrUndetermined; it
//	    never guesses. A commit of unknown outcome stays in flight, for Settled, until
//	    TiKV has said how it ended.
//	I2  With a Lease, nothing commits at a timestamp behind its end: the first
//	    timestamp is checked by client-go, and each call that commits once more, since
//	    a reader that pushes a commit makes it take another timestamp unchecked.
//	I3  A stamp is registered before it is taken, and Settled takes its timestamp
//	    before it looks at those registered.
//	I4  A call ends within a moment of its context, also where client-go goes on: what
//	    goes on is waited for by the next call of the transaction and by Close.
//	I5  After a call for locks has failed, the next one takes a fresh timestamp:
//	    client-go takes locks of the failed call back in the background, those of its
//	    timestamp and older ones.
//
// # Limits
//
// All durability levels are the same: a majority has the commit. Shared locks are
// exclusive ones. Waiters of a lock have no order, and the transaction that closes a cycle
// of waits is its victim. Ranges are known within one Store only. Watermarks know of the
// commits of one Store. The store has no files.
package tikvkv
