// Package query finds documents of a search index: trees of conditions on its
// fields are evaluated to a set of documents in each segment.
//
// # Model
//
// A Node is evaluated segment by segment, to a bitset over the documents of the
// segment (bit i of word i/64). Conditions on a field are lists of ranges of its
// words or sort keys. Documents without a value are in none of them unless the
// condition matches NULL. Not is the complement, NULL included: the builder of the
// tree turns NOT of a condition that may be NULL into what is true where the
// condition is false. A node is evaluated on the documents that the ones before it
// have left, so a Check reads the values of no others.
//
// # Invariants
//
//	I1  Run finds exactly the live documents for which the tree is true, without
//	    those of View.Changed.
//
// It knows no SQL and reads no rows.
package query
