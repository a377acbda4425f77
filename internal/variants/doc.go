// Package variants makes variants of SQL statements, for tests: it leaves out, repeats,
// exchanges and replaces tokens, and puts in operands, clauses and literals at the edges
// of types. About half of the variants are statements that run.
//
// It knows tokens, not grammar. What it makes follows from the source of chance alone.
package variants
