// Package diff makes random tables, queries and changes and compares
// answers that have to be the same.
//
// # Model
//
// A round is a few tables with rows and then many statements, all of which
// follow from a seed that every report prints. The structure of a statement
// and its literals come from two sources of chance, so that one statement can
// be repeated with other literals: the second time its plan comes from the
// cache.
//
// Each statement takes some of many paths, which must give the same rows
// (path_test.go): by template, by text and by name, prepared with and without
// parameters and run twice, in batches of 1 and 3, with spilling forced,
// without rewrite rules, operators and optimizer switches, all or some at a
// time, with each index forced or none, joined in the order of FROM, and put
// into common table expressions, views, derived tables, set operations and a
// stored copy (wrapped_test.go). With an oracle (-diff.oracle, MariaDB) the rows
// must also be the oracle's, and so must the tables after each change.
// TestLarge does the same over a table that is large enough for parallel scans
// and aggregates. TestTemplates and TestCalls go through lists of statements and
// of functions. TestAnswers compares what a client sees of scripts and of variants of
// their statements with what was recorded, TestGenerated the answers of generated
// statements with digests. TestSearches queries a table with a search index over fields of all
// kinds, mostly while others write: all answers of one transaction, with changes of its
// own, have to be those of its scan. TestColumnar does so with a columnar index of all
// columns, which are added, changed and dropped.
//
// # What it does not do
//
// It compares with the oracle only what both servers define alike. From many
// known differences the generator keeps away; a query in which it cannot goes
// along the other paths only, and the run counts these queries by reason.
// deviations_test.go lists both. A query that takes too long
// (max_execution_time) has no answer on that path.
//
// The package holds only tests: a short run on a server of its own is part of
// the unit tests; docs/sqllogictest.md has the command of the long one.
package diff
