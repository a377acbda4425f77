// Package histcheck looks for anomalies in histories of transactions: what many
// connections wrote and read, and when their statements began and ended.
//
// # Model
//
// A history has one of two kinds of objects. A list (Lists) is appended to, each
// element once; a read shows all of it. A register (Registers) counts its versions
// and names the writer of the last one, so that a read of a few bytes shows which
// write it saw. Either way the order of the writes to an object is known, and each
// read has a place in it.
//
// A transaction is up to three kinds of moments: its view, its statements and its
// commit. Plain reads of REPEATABLE READ are those of its view, which is apart from
// its commit, as in InnoDB; plain reads of READ COMMITTED are those of their
// statement; reads of what the transaction has locked or written are those of its
// commit. Dependencies lead from moment to moment, always to a later one: who wrote
// before (ww), was read from (wr), was overwritten (rw), and what had ended before
// something else began (time).
//
// # Checks
//
//	H1  No cycle of dependencies: with ww alone it is G0, with wr G1c, with one
//	    rw read skew (half of a commit was seen, or a view moved); with two
//	    locked reads a lost update; with time a stale read.
//	H2  No read of what was rolled back (G1a), what its writer overwrote (G1b), or
//	    what was never written.
//	H3  What was acknowledged is there at the end, and nothing else; two writers
//	    never made the same version.
//
// Write skew is a cycle where the reads are those of the commit, as at SERIALIZABLE;
// among views it is allowed.
package histcheck
