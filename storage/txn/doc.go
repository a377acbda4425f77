// Package txn is the transaction machinery that the engines share:
// the write buffer, read views merged with it, savepoints, the table of row
// locks and that of ranges, with deadlock detection, and the checks of limits.
//
// # Model
//
// An Engine gives committed state (Latest, Snapshot) and applies one buffer of
// writes atomically (Apply). A Manager makes transactions over it. A Txn keeps
// its writes in an ordered buffer until Commit hands them to the engine; all
// its reads lay the buffer over a view of the engine. Where the data is on other machines,
// a Remote takes the place of the table of row locks and of Apply.
//
// # Invariants
//
//	I1  A write that would break a limit changes nothing.
//	I2  Locks are released after the engine made the commit visible, and also
//	    when it refused it.
//	I3  A frozen state of the buffer (an open scan, a savepoint) never changes:
//	    later writes copy what they touch.
//	I4  Waiters of one key are served in the order of their arrival; only a
//	    holder that strengthens its lock goes in front of them.
//	I5  While a transaction holds a range, no other has a write in it that is
//	    not committed. A range that was widened (rangeSet.widen) is the exception:
//	    others may have written before between what was asked for.
//
// It does not retry, and it knows nothing of how an engine stores its data.
package txn
