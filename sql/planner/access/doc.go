// Package access finds the ways to read one table under conditions, each with its
// residual filter, the order it delivers and an estimate of rows and cost.
//
//	key.go      points and ranges of a key, covering or for an index join
//	full.go     all rows
//	array.go    elements of a multi-valued index
//	partial.go  an index of some rows
//	merge.go    several indexes
//	skip.go     columns after the first ones of an index
//	ordered.go  the order of such columns
//	loose.go    the ends of groups
//	partition.go  the partitions of a table
//	search*.go  search indexes
//
// Estimates are in estimate.go and sample.go, orders in order.go.
//
// # Invariants
//
//	I1  A path's spans and filters together are all conditions of the request:
//	    a row passes them exactly when the conditions are true.
//	I2  A path without lookup reads only columns that index entries hold whole;
//	    key parts of the first characters are none of them.
//	I3  A path that says Ordered gives the order of the request for every value
//	    of the parameters.
//	I4  Index hints restrict the paths as in MySQL: a scan of the table stays
//	    possible under USE INDEX, under FORCE INDEX only when no forced index
//	    serves for ranges, for the order or by covering the query.
package access
