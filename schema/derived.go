package schema

// DerivedKind says what the rows of a Derived table are.
type DerivedKind uint8

// Kinds of derived tables.
const (
	// DerivedAsOf: the rows of Of as they were at a time.
	DerivedAsOf DerivedKind = iota
	// DerivedVersions: all versions of the rows of Of that are kept.
	DerivedVersions
	// DerivedStream: the records of a change log.
	DerivedStream
)

// Derived describes a table that is made for a statement, out of more than the
// rows of a table. It is in no catalog. It has a primary key and no indexes.
type Derived struct {
	Kind DerivedKind
	// Of is the table with the versions; nil for a change log.
	Of *Table
	// Database and Table name the table whose change log is read: which one that
	// is, is found out when it is read.
	Database, Table string
}
