// Package catalog knows what databases, tables and accounts exist.
//
// # Model
//
// A Snapshot is an immutable version of all descriptors. The Catalog holds the
// current one and replaces it when a change is committed to the store: readers
// load a pointer and never wait. Whoever has planned with a table compares its
// pointer with that of the current snapshot to learn whether it changed.
//
// # Invariants
//
//	I1  A snapshot is published after its change is durable.
//	I2  A change to stored data that a new descriptor no longer describes (the
//	    entries of a dropped index) starts after the new snapshot is published,
//	    so that a plan which still finds its table current after taking its
//	    read view sees whole data.
//	I3  Table ids are never reused.
//
// Descriptors are stored as JSON under the system key space:
//
//	01 'd' name            database
//	01 't' id (4 bytes BE) table
//	01 'u' user 00 host    account
//	01 'g' user 00 host    what the account was granted
//	01 'q'                 accounts have no more than that
//	01 'p' name            persisted variable
//	01 'n'                 next table id (8 bytes BE)
//	01 'k'                 the store's secret (32 random bytes)
//
// It does not check what SQL demands of a definition (bind does), nor does it
// move data (ddl does).
package catalog
