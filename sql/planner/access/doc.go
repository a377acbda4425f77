// Package access finds the ways to read one table under conditions: by points
// or ranges of the primary key or of an index, covering or with look-up, or
// all of it; each with its residual filter, the order it delivers and an
// estimate of rows and cost.
package access
