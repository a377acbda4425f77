// Package invariants tells whether expensive checks of the program's own
// promises are compiled in: go test -tags invariants.
//
// # Model
//
// Enabled is a constant, so that a check behind it costs nothing in a normal
// build. Violated reports a broken promise: it panics in a build with checks,
// where a test shall stop at once, and is an error otherwise, so that one bad
// statement does not take the server down.
//
// It does not check anything by itself.
package invariants
