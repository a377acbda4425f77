// Package write changes the rows of tables for one statement: it implements exec.Sink
// over a transaction, keeps foreign keys, and lets writes go through rows that have
// expired. BulkSink collects rows for a bulk load.
package write
