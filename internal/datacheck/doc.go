// Package datacheck verifies a data directory that no server uses: it opens the
// store exclusively, lists the tables of its catalog and compares, for each,
// rows, index entries and the cells of large values with package index/scrub.
//
// It repairs nothing. Opening replays the write-ahead log, as a server's start
// does.
package datacheck
