// Package searchdoc makes the documents of search indexes from rows: it implements
// search.Rows.
//
// A Field says in which form the files store a column: as a word that orders as the values
// do, as the value with its key, as a place, or as the values at a path of a JSON
// column. What a document does not have exactly is marked, so that a search reads
// those rows from the table.
package searchdoc
