// Package step names the steps of a commit and of a read between which two
// states of the store could mix, so that tests can stop a goroutine there.
//
// The engine calls Hook.At at each step. In production there is no hook, and
// the call is a comparison with nil.
package step
