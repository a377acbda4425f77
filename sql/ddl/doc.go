// Package ddl changes the schema: it runs CREATE, ALTER, DROP, TRUNCATE and
// RENAME against the catalog, and moves the data that a change concerns.
//
// # Model
//
// A change works on a copy of the table's descriptor. What needs no data is
// done by publishing the copy (instant). What changes the form of the rows is
// done by copying them into a new table id, which then takes the old one's
// place. A new index is published write-only, so that every writer maintains
// it, filled from the existing rows, then published for reading.
//
// A statement holds the schema-change lock of its tables (one change of a
// table at a time) from start to end, and their metadata lock exclusively only
// while it publishes; a copy holds it all the time.
//
// # Invariants
//
//	I1  A descriptor is published in one catalog change: a statement on one
//	    table happens as a whole or not at all, also when the process dies.
//	I2  Before data exists that no descriptor knows, or a descriptor goes whose
//	    data stays, a job is written that names the data. The job goes last.
//	    Resume deletes the data of every job that the catalog does not know,
//	    and takes back indexes that were never finished.
//	I3  Data is deleted after the descriptor without it is published (catalog I2).
//	I4  Ids of tables, columns and indexes are not used again.
//
// DeleteOnly is not used: the metadata lock sees to it that only one version
// of a descriptor is in use by writers.
//
// It does not check what bind has checked: the syntax of names, types, options
// and literal defaults.
package ddl
