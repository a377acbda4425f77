// Package difftest makes random tables, queries and changes and compares
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
// In self mode one server answers each query along many roads: by template and
// by text, in the text and the binary protocol, with small batches, in
// parallel, without the rewrite rules, with each index forced or forbidden.
// The rows must be the same. With an oracle (-diff.oracle, MariaDB) they must
// also be the oracle's, and so must the tables after each change.
//
// # What it does not do
//
// It compares only what both servers define alike: the generator keeps away
// from the known differences of MySQL 8 and MariaDB, which deviations_test.go
// lists. It holds only tests: a short self-differential run on a server of its
// own is part of the unit tests, "go test ./difftest -diff.rounds 50
// -diff.queries 300 [-diff.dsn DSN] [-diff.oracle DSN]" is the long one.
package difftest
