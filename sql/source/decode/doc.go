// Package decode makes stored rows and the entries of indexes into batches.
//
// # Model
//
// Codecs keeps for each table its codec, what is computed from its rows, and the
// plans for reading lists of columns. A Plan says how the columns are read from a
// row, or from an entry; it is made once per table, index and list. A Sieve decodes
// pairs by a plan into a batch, reads large values and computes virtual columns for
// the rows that the cheap conditions leave, and filters.
//
// State is what one statement reads from and writes to. It is shared by the packages
// that read and write for it.
//
// # Invariants
//
//	I1  Batches own their bytes; nothing points into the store.
//	I2  TIMESTAMP values are in UTC in the store and in the session's zone in
//	    batches: a Zone converts them.
//	I3  A Table is of one descriptor. Codecs keeps that of the last call.
package decode
