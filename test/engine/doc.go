// Package engine runs the query corpus of go-mysql-server (Apache-2.0)
// against a server over the MySQL protocol and compares with its expected
// answers.
//
// It is a module of its own, so that the product does not depend on what the
// corpus needs. The test builds the server from the folder above, starts it on
// a temporary directory, and stops it. See docs/enginetest.md.
//
// # Model
//
// A suite is a list of cases, each a set-up and steps: a statement and its
// expected outcome. The cases of some suites share one set-up; those of others
// begin with fresh databases. A step that does not do what the corpus says is a
// difference, named by suite, case and statement.
//
// # Invariants
//
//	I1  A difference that testdata/known.txt does not list fails the test.
//	I2  An entry of testdata/known.txt that is no difference any more, or whose
//	    outcome is another than its section says, fails the test: the list
//	    shrinks, it does not hide.
package engine
