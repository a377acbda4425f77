// Package stats estimates how many rows, entries and different values there
// are, for the planner.
//
// # Model
//
// Estimates come from the data itself: a count that ends early where the span
// is small, and the store's idea of sizes where it is not. Counts of rows and
// of different values are kept per table until enough of it has changed
// (Changed), or for a few minutes. Counts of spans are made for each call, in
// tens of microseconds. For conditions that no span shows, some 500 rows from all
// over a table are kept, on which the planner computes them. ANALYZE TABLE reads
// the whole table and stores the number of different values of each column:
//
//	01 'a' table (4 bytes BE)   JSON
//
// # Invariants
//
//	I1  Estimates are estimates: nothing but the choice of a plan depends on
//	    them.
//	I2  A count that reached the end of its span is exact.
//	I3  An error of the store never fails a plan: the estimate becomes a guess.
//	I4  When its context ends, an estimate returns with a guess, and keeps nothing
//	    of what it read: no count, no number of different values, no sample.
//	    Statements that waited for it read themselves, and their waits end with
//	    their own contexts.
package stats
