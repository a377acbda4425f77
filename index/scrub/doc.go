// Package scrub compares what belongs together in a table: rows and their
// index entries, in both directions, and rows and the cells of their large
// values.
//
// It reads one snapshot and changes nothing. Problems are reported, with the
// escaped key, and never repaired: that is the user's decision.
package scrub
