// Package tikvtest is a TiKV cluster in the test process: what client-go calls, with
// the data in memory.
//
// # Model
//
// A Cluster has the data: versions and locks of keys, in regions with leaders on
// stores. A Node is the way of one client into it. All calls of the client pass through
// the node, which can delay them, lose them before or after they took effect, answer in
// the place of the servers, cut the client off, and count.
//
// Pessimistic transactions are served as TiKV documents them: the mock of client-go
// fails a transaction that writes a key which it locked after another one's commit, and
// does not wait for locks. Regions and the placement driver are those of the mock.
//
// # Invariants
//
//	I1  A call takes effect whole, for all its keys, or not at all.
//	I2  Who waits for a lock is answered with a conflict when the lock ends, and
//	    with the lock when the wait is over; the one who closes a cycle of waits is
//	    answered with a deadlock.
//	I3  A lock or a commit whose answer was lost is still there.
//
// It has no raft, no durability, no one-phase and no async commit: clients that try
// those fall back to two phases.
package tikvtest
