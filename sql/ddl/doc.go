// Package ddl changes the schema: it runs CREATE, ALTER, DROP, TRUNCATE and
// RENAME against the catalog, and moves the data that a change concerns.
//
// # Model
//
// A change works on a copy of the table's descriptor. What needs no data is
// done by publishing the copy (instant). What changes the form of the rows is
// done by copying them into a new table id, which then takes the old one's
// place. A new index is published as being built, so that every writer notes
// what it changes of it; it is filled from the existing rows, follows the
// changes, and is published for reading (Build), together with what else the
// statement does.
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
//	    Resume deletes the data of every job that the catalog does not know.
//	I3  Data is deleted after the descriptor without it is published (catalog I2),
//	    by a job in the background: the statement has succeeded then, and KILL does
//	    not undo it. The job has the locks that the statement still had.
//	I4  Ids of tables, columns and indexes are not used again.
//
//	I5  A Build whose indexes the catalog has as being built goes on after a
//	    crash in any state, and no other change of the table comes between.
//
// The metadata lock sees to it that only one version of a descriptor is in use
// by writers: there is no state between absent and being built.
//
// It does not check what bind has checked: the syntax of names, types, options
// and literal defaults.
package ddl
