// Package search keeps the search indexes of a server: it builds them from the
// rows of their tables, has them follow the tables' change logs, and gives
// statements a view of one that is exact at a sequence of the store.
//
// # Model
//
// A search index (schema.SearchIndex) has files of its own, which package seg
// keeps, in a directory named by the table, the index and the fields (or, after an
// ALTER TABLE that left the documents as they were, as it was before): another
// list of fields is another directory, filled anew. What documents of rows look
// like is told by Rows, from above.
//
// The files know between which sequences they stand: low, up to which all changes
// are in them, and high, the last whose changes may be. Both are written with the
// documents, in one batch. A build reads the table in slices, each as it stands at
// that moment, which lets high rise while low stays where the build began; then
// the change log from low on is followed, and brings them together. A build, or
// anything else, that is cut off goes on from what the last durable batch says.
//
// A statement that reads the store at sequence s takes the keys that were changed
// between min(low, s) and max(high, s) out of what the files say, and looks at
// these rows itself (View.Changed), as at those that its own transaction wrote.
// A value that a field cannot take is marked in the document (Reject); a statement
// that uses the field has View.Except add these rows to the others.
//
// # Invariants
//
//	I1  A row whose key is not in View.Changed has the document that the store's
//	    row at the view's sequence gives, and none if there is no row.
//	I2  Records of a change log that an index may still need are not removed
//	    (Manager.Floor); where they are, it is built anew.
//	I3  Files that are damaged, of an older store, or whose records are gone are
//	    never read: the index is not there (Manager.Index) until it is built anew.
//
// The package knows no SQL and asks no queries: that is search/query.
package search
