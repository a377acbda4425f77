package sqlerr

import "fmt"

// NoVersions: 4124 (MariaDB's number), AS OF TIMESTAMP of a table without
// earlier versions.
func NoVersions(table string) *Error {
	return newError(4124, "HY000", "Table `%s` keeps no versions: it has no \"max_versions\"", table)
}

// AsOf: 8135 (TiDB's number), a time of AS OF TIMESTAMP at which rows are not
// known.
func AsOf(format string, args ...any) *Error {
	return newError(8135, "HY000", "Invalid AS OF TIMESTAMP: %s", fmt.Sprintf(format, args...))
}

// StreamPurged: 1789, the records that a reader of a change log needs were purged.
func StreamPurged(table string, wanted, purged uint64) *Error {
	return newError(1789, "HY000", "The change log of %s was purged up to sequence %d, but records behind %d were asked for: take a new snapshot, and consider a longer retention", table, purged, wanted)
}

// StreamPosition: 1236, a position in a change log that does not exist.
func StreamPosition(table string, wanted, last uint64) *Error {
	return newError(1236, "HY000", "The change log of %s cannot be read behind sequence %d: the last commit is %d", table, wanted, last)
}

// NoStream: 1381, a table without a change log.
func NoStream(table string) *Error {
	return newError(1381, "HY000", "Table %s has no change log: it has no \"stream\"", table)
}

// AlreadyExists: 1304, a named thing that is not a table.
func AlreadyExists(kind, name string) *Error {
	return newError(1304, "42000", "%s %s already exists", kind, name)
}

// NoSuchConsumer: 1305, a consumer that does not read this change log.
func NoSuchConsumer(name, table string) *Error {
	return ProgramDoesNotExist("CONSUMER", name+" of "+table)
}
