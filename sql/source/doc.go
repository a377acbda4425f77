// Package source reads and changes the tables of one statement: it implements
// exec.Source and exec.Sink over a transaction or a snapshot, by the packages below.
//
//	rows        decodes rows and entries into batches
//	kvread      scans, index joins, index merges, lookups, reads that lock
//	searchscan  searches
//	changelog   change logs, and tables as they were
//	write       inserts, updates, deletes, foreign keys
//
// Source.open is the one place that distinguishes the kinds of access. A new one is a
// type of physical.Access, a file of planner/access that makes it, and a package or
// file here that opens it.
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
package source
