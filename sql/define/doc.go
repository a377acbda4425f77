// Package define holds what a descriptor means: it checks and completes the
// descriptor of a table, and compiles the expressions that it keeps as text.
//
// # Model
//
// A statement names what it wants: columns, key parts, constraints, options.
// Package bind reads these names and expressions from the parser's tree into
// plain data (TypeSpec, Key, IndexColumn, TTLChange, schema.Check). Functions
// here give them their meaning over a schema.Table, with MySQL's checks and
// error numbers: a key part that is an expression becomes a hidden column, a
// search field gets the column whose values it indexes, and texts of
// expressions take the form in which they are stored.
//
// A descriptor is later read without a statement: Compile gives writers,
// readers and the planner its expressions as derive.Exprs, AliveRow the
// condition that a row has not expired. What a field of a search index means
// is in searchfield.
//
// # Border
//
// The package knows neither SQL's grammar nor its scopes. Texts are parsed and
// bound by a Binder, which is handed in; bind has the one that is used. Who
// indexes rows, changes the schema or plans access paths so needs no parser.
//
// # Invariants
//
//	I1  Descriptors that are published are not changed. Functions that complete
//	    a table (Resolve…, Add…, Set…) work on one that its caller owns.
//	I2  The stored text of an expression does not depend on the session: it is
//	    bound under Mode and the default character set.
//	I3  Completing a text that is complete gives the same text.
package define
