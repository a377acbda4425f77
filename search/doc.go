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
// What makes a view one state: a statement reads documents of the files' snapshot,
// which stands between low and high, and rows of its own snapshot of the store, at
// s. A document is used only if no commit in the range from min(low, s) to
// max(high, s) changed its row. The change log of that range must be complete
// where it is read: it is read from a snapshot of the store that is not older than
// max(high, s), which holds because each of these sequences was taken from a
// state that some reader had been shown (storage I6). That the log has nothing
// behind low may be concluded from its watermark instead, as commits raise it
// before they become visible.
//
// # Invariants
//
//	I1  A row whose key is not in View.Changed has the document that the store's
//	    row at the view's sequence gives, and none if there is no row.
//	I2  Records of a change log that an index may still need are not removed
//	    (Manager.Floor); where they are, it is built anew.
//	I3  The log of a view's changes is read at a state that is not older than
//	    the view and the files. Checked in every build; I1 is checked for small
//	    indexes in the invariants build (Manager.Verify).
//	I4  Files that are damaged, of an older store, or whose records are gone are
//	    never read: the index is not there (Manager.Index) until it is built anew.
//
// The package knows no SQL and asks no queries: that is search/query.
package search
