// Package table lays tables out on a storage.Store: rows, index entries, cells
// of large values, and sequences.
//
// # Model
//
// The first byte of a key is its space:
//
//	00                                       the engine's own
//	01 …                                     system: catalog (01 d, 01 t, …), sequences (01 s)
//	10 table(u32 BE) index(u16 BE) key       table data
//	20 …                                     change logs (package stream)
//
// Index 0 holds the rows: the key is the primary key's parts (package keyenc),
// the value a row of package rowenc with the columns that the key does not
// give back. Index FFFF holds the cells of values over CellThreshold: the row's
// key, then the column id (u16 BE). Index FFFE holds earlier versions of rows (see
// history.go). The others hold the entries of secondary indexes:
//
//	key    the index's own parts, each with a NULL mark; then the parts of the
//	       primary key that are not among them, unless the index is unique and
//	       no own part is NULL
//	value  flags: 1 a primary key follows (length as uvarint, bytes), in
//	       unique entries; 2 a row follows with the values that the key does
//	       not give back (collated strings) and the INCLUDE columns
//
// Strings of a collation whose keys are not the strings themselves are encoded
// as sort keys, which lose the original: it is in the row, and in the entry
// unless the part is a prefix.
//
// TIMESTAMP values are in UTC here. Rows are []value.Datum in the order of
// schema.Table.Columns.
//
// # Invariants
//
//	I1  A row has exactly one entry in each index that is Public: none where
//	    the index is sparse and an own part is NULL, or the condition of a
//	    partial index is not true; one for each different element of the array
//	    in a multi-valued index.
//	I2  An entry is a function of its row.
//	I3  A key of a unique entry without NULL exists at most once, because it is
//	    written with Txn.Insert.
//	I4  A row has a cell for exactly the columns that it marks as external, and
//	    those that its attributes name (rowenc.Attributes).
//	I5  A sequence never gives out a number twice, also after a crash.
//	I6  A change of a row of a table with a stream or versions leaves its record
//	    and its earlier version in the same transaction.
//
// It converts no types, checks no constraint but uniqueness, and commits
// nothing but sequences.
package table
