// Package kvread reads rows and entries from the ordered store: scans of keys, index
// joins, index merges, lookups for joins, and reads that lock.
//
// # Model
//
// A walker brings pairs of spans or points, one after the other or merged
// (mergeWalk). A sieve (package rows) decodes them into a batch and filters it. For
// an index join a gatherer collects the keys of rows from entries, and the rows are
// fetched in sorted batches. A read that locks collects keys in the same way from the
// latest state, locks them, and decodes and filters their values under the locks.
//
// # Invariants
//
//	I1  Plain reads see the reader that they are given and nothing else; reads for a
//	    change see the values under their locks, against which all conditions are
//	    checked.
//	I2  An entry without its row is reported as corruption, never skipped, where the
//	    view is frozen.
//
// It chooses no access path, and knows neither joins nor search indexes.
package kvread
