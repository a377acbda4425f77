// Package access finds the ways to read one table under conditions: by points
// or ranges of the primary key or of an index, covering or with look-up, by
// several indexes (merge.go), by columns behind the first ones of an index
// (skip.go), in the order of these (ordered.go), by the ends of groups
// (loose.go), or all of it; each with its residual filter, the order it
// delivers and an estimate of rows and cost.
//
// # Invariants
//
//	I1  A path's spans and filters together are all conditions of the request:
//	    a row passes them exactly when the conditions are true.
//	I2  A path without look-up reads only columns that index entries hold whole;
//	    key parts of the first characters are none of them.
//	I3  A path that says Ordered gives the order of the request for every value
//	    of the parameters.
//	I4  Index hints restrict the paths as in MySQL: a scan of the table stays
//	    possible under USE INDEX, under FORCE INDEX only when no forced index
//	    serves for ranges, for the order or by covering the query.
package access
