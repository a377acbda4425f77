// Package backfill writes the entries of a new index for the rows that exist.
//
// # Model
//
// Run works on an index in state WriteOnly, which writers maintain already.
// Live, it goes through the rows in key order, chunk by chunk: each chunk is a
// transaction that locks its rows, reads their latest values and writes their
// entries. With Options.Exclusive, when the caller has excluded all writers, it
// sorts all entries of a snapshot and loads them as sorted runs beside the
// store, which is several times cheaper.
//
// # Invariants
//
//	I1  After Run every row has its entry.
//	I2  A duplicate in a unique index ends Run with a *table.DuplicateError.
//	    What was written until then stays: the caller removes the index's span.
//	I3  Live, a Run that starts from a position that was reported completes the
//	    work of the one that stopped there.
//
// It does not change index states, and it does not throttle itself.
package backfill
