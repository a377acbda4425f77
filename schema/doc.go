// Package schema holds the plain descriptors of what is stored: types,
// columns, keys, indexes and tables.
//
// Descriptors are immutable once they are part of a catalog version: a change
// makes a copy with a higher Version. They have no behaviour except finding
// parts by name or id, validation and String. They import nothing of ours, so
// that the storage side and the SQL side can share them.
package schema
