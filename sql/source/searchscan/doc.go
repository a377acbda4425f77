// Package searchscan reads rows by a search index.
//
// A search takes the view of the index that belongs to its view of the store,
// queries it, and reads the rows that were changed in between from the table. A
// covering search gives columns and aggregates from the documents; another one
// reads the rows, by package kvread. Where the index is gone, or damaged, the
// table is read.
//
// Package searchdoc says what a document has of a row.
package searchscan
