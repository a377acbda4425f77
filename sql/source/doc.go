// Package source reads and changes the tables of one statement: it implements
// exec.Source and exec.Sink over a transaction or a snapshot.
//
// # Model
//
// A scan is a walker, which brings key-value pairs of spans or points, one
// behind the other or merged (mergeWalk), and a sieve, which decodes them into
// a batch and filters it. A scan by a secondary index that does not cover
// collects the keys of rows from entries (a gatherer) and fetches the rows in
// sorted batches. A scan for a change collects keys in the same way from the
// latest state, locks them, and decodes and filters what stands under the locks.
//
// What to decode is compiled once per table, index and column list, and kept
// with the table's codec in Codecs.
//
// # Invariants
//
//	I1  Plain reads see Env.Reader and nothing else; reads for a change see the
//	    values under their locks, against which all conditions are checked.
//	I2  Batches own their bytes; nothing points into the store.
//	I3  TIMESTAMP values are in UTC in the store and in the session's zone
//	    everywhere above: bounds of spans and keys are converted going down,
//	    values coming up.
//	I4  An entry without its row is reported as corruption, never skipped,
//	    where the view is frozen.
//
// It chooses no access path and knows no joins.
package source
