// Package tpch runs the 22 queries of the TPC-H benchmark against any server
// that speaks the MySQL protocol, and compares answers and times of two.
//
// The data follows the distributions of the specification (TPC-H 3.0.1,
// clause 4.2) but comes from a generator of its own: every row is a function of
// the scale factor and its number, so loading needs no files and all servers
// get the same rows. It is not the data of the official dbgen, and the times
// are not TPC-H results: they compare servers with one another.
//
// The queries (clause 2.4) have the specification's validation parameters.
package tpch
