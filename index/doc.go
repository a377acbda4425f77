// Package index groups what works on secondary indexes as a whole: package
// backfill builds one, package scrub compares all of a table with its rows.
//
// Entries themselves are encoded and maintained with the row by package
// storage/table, so that a writer cannot forget one.
package index
