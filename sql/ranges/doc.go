// Package ranges turns conditions on key columns into spans of key values.
//
// A Set is made at plan time from the conjuncts that restrict the leading
// columns of a key; its constants may be parameters. Spans evaluates it when
// execution starts, so that a cached plan serves other values. Span bounds are
// typed values, not yet encoded.
//
// # Invariants
//
//	I1  The spans of a Set contain every row for which its conditions are true.
//	I2  They are disjoint and ascend in key order.
//	I3  A Set that says Exact contains no other row, so that its conditions need
//	    no residual filter.
//	I4  Bounds are of the column's kind; NULL bounds only nullable columns.
//
// A key part of the first characters of strings gives spans of what these can
// be for the values of the conditions, which is more than their own first characters
// where characters have several weights or none (cut.go).
//
// TIMESTAMP bounds are in the session's zone; the source brings them to UTC. In
// the hour that a zone repeats, a bound means one of the two, as in MySQL.
package ranges
