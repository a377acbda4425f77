// Package metamorphic runs one random history of statements under many option
// sets, which must all give the same answers.
//
// # Model
//
// A history is a list of steps that follows from a seed: DDL, changes,
// transactions with savepoints, queries, loads, index builds during writes,
// removals of expired rows, crashes. It is made before anything runs
// (history_test.go), so that a part of it is a history too.
//
// An option set says which engine there is, how a client speaks to it, how the
// planner and executor work, and what a step of some kinds means
// (options_test.go): a crash is a SIGKILL, a restart, or nothing but a lost
// connection; rows are loaded by sorted runs or inserted; expired rows are
// removed by the job or by a DELETE; an index is built during writes or before
// them. Each step has an outcome: rows, or the number of affected rows, or an
// error number. After crashes and at the end all tables, their indexes by
// CHECK TABLE, change logs and versions are looked at as well.
//
// The first option set is the plainest: the store in memory, text, nothing
// forced. A difference to it is a failure. The history is then reduced: steps
// are left out as long as there still is a difference (reduce_test.go), and
// what is left is printed as statements with the seed.
//
// # What it does not do
//
// Steps run one after the other on one connection: what concurrent transactions see is
// tested elsewhere. Values that depend on the clock, on chance or on numbers that a
// crash may skip (AUTO_INCREMENT) are not read. That all option sets are wrong alike
// goes unnoticed: test/diff compares with another server.
//
// The package holds only tests; docs/sqllogictest.md has the command of the
// long run.
package metamorphic
