// Package searchfield says what a field of a search index means: the type of the
// values that it takes from a document, how these compare, the analyzer of its
// text, and the members of nested objects.
//
// A field is a schema.SearchField, plain data. The planner checks here whether a
// condition can be answered by a field, rows are indexed by it, and definitions
// are checked by it, so that all three agree. The package knows no expressions:
// the value of a field that is one is in a hidden column, which package define
// makes.
package searchfield
