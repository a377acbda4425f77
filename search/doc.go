// Package search keeps the search indexes of a server: it builds them from the
// rows of their tables, keeps them up to date from the tables' change logs, and
// gives statements a view that is exact at a sequence of the store.
//
// # Model
//
// A search index (schema.SearchIndex) has files of its own, which package seg
// maintains. Their directory is named after the table, the index and the fields,
// so an index with other fields has another directory, which is filled from the
// table. An ALTER TABLE that leaves the documents unchanged keeps the name. The
// implementation of Rows, in a layer above, makes the documents of rows.
//
// The files record two sequences: low, up to which they have all changes, and
// high, the last one of which they may have changes. Both are written with the
// documents, in one batch. A build reads the table in slices, each in its current
// state: high rises while low stays where the build began. Then it follows the
// change log from low, which brings the two together. A build, or any other work,
// that is interrupted continues from the last durable batch.
//
// A statement that reads the store at sequence s ignores the documents of the keys
// that were changed between min(low, s) and max(high, s), and reads these rows
// itself (View.Changed), like those that its own transaction wrote. A value that a
// field cannot take is marked in the document (Reject); a statement that uses the
// field has View.Except add these rows.
//
// Why a view is one state: a statement reads documents of the files' snapshot,
// which is between low and high, and rows of its own snapshot of the store, at s.
// A document is used only if no commit in the range from min(low, s) to
// max(high, s) changed its row. The change log of that range must be complete
// where it is read: it is read from a snapshot of the store that is not older than
// max(high, s). Such a snapshot exists because each of these sequences was taken
// from a state that some reader had seen (storage I6). The watermark of the log
// can also show that it has nothing after low, since commits raise it before they
// become visible.
//
// Files that are not changed for a while are merged into few segments (quiet), which
// changes neither their documents nor what they record.
//
// # Invariants
//
//	I1  A row whose key is not in View.Changed has the document that the store's
//	    row at the view's sequence gives, and no document if there is no row.
//	I2  Records of a change log that an index may still need are not removed
//	    (Manager.Floor); if they are, the index is rebuilt.
//	I3  The log of a view's changes is read at a state that is not older than
//	    the view and the files. Checked in every build; I1 is checked for small
//	    indexes in the invariants build (Manager.Verify).
//	I4  Files that are damaged, of an older store, or whose records are gone are
//	    never read: Manager.Index does not return the index until it is rebuilt.
//	I5  Documents are made of a state of the store by the descriptor that was
//	    current when it was taken (Index.snapshot). The next one may be about a copy
//	    of the table, which is empty in that state.
//
// The package knows no SQL and runs no queries: package search/query does.
package search
