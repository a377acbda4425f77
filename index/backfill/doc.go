// Package backfill writes the entries of new indexes for the rows that exist.
//
// # Model
//
// A Build works on indexes in state Building: writers leave their entries alone
// and record what they change (table.AppendChange).
//
// Fill reads the rows once, in runs of some million, each from a
// snapshot of its own, sorts their entries, hands them to the store as sorted
// tables and commits a checkpoint. What writers change meanwhile may be in it or
// not.
//
// Merge goes through the recorded changes. It locks the row that one names, skips
// it if another transaction has it, computes the entries that the row has now, and
// puts or removes the entry. Without writers, a Merge that leaves nothing makes
// the index complete.
//
// Of a unique index two rows may have the same entry for a while: the one that
// had it as Fill read it, and the one that has it now. Only two rows that have
// it in one state of the store are duplicates.
//
// # Invariants
//
//	I1  After Fill and a Merge without writers that left nothing, the entries
//	    are exactly those of the rows.
//	I2  Duplicates in a unique index end Fill or Merge with a
//	    *table.DuplicateError. What was written until then stays: the caller
//	    removes the index's span and its changes.
//	I3  A Fill that starts from a checkpoint completes the work of the one that
//	    made it; changes stay recorded until an entry reflects them.
//
// It does not change index states.
package backfill
