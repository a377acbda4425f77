// Package parser turns SQL text into TiDB's AST, with literals as our datums,
// and takes the literals out of text for the plan cache.
//
// # Paths
//
// Parse is the whole way: the TiDB parser, unmodified, then, where it fails,
// a token-level shim that rewrites what MySQL and sqlots have and TiDB's
// grammar lacks into what it reads (see shim.go). Template is the fast path of
// statements that differ only in their literals, Values that of multi-row
// INSERTs; neither builds an AST.
//
// # Invariants
//
//	I1  Template never changes the meaning of a statement: a literal that
//	    decides a name, a type or the shape of the plan stays in the text, and
//	    whatever the scanner does not know for sure is refused.
//	I2  ParseTemplate sees exactly the text that Template wrote; its n-th
//	    parameter is the n-th literal.
//	I3  A parser error is a *sqlerr.Error: 1064 with the text from the
//	    offending token on, 1065 for an empty text, 1235 for statements that
//	    sqlots does not have.
//	I4  The tree of a text is no deeper than nesting.go says: a recursion over it
//	    has stack enough. Deeper texts are refused before they are parsed.
//	I5  Time and memory are in proportion to the text.
//
// The package does not look at names or types: that is planner/bind.
package parser
