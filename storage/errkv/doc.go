// Package errkv wraps a storage.Store and makes chosen calls fail, for tests of
// the layers above.
//
// # Model
//
// A Store counts the calls of each kind (Op). Fail arranges that the n-th call
// of a kind from now on returns an error instead of reaching the wrapped store;
// FailAfter lets a commit happen first, like a lost reply; Panic simulates a bug,
// Stall a store that does not reply.
//
// Far is a store of its own: it fails in nothing, but promises no more than a store on
// other machines does.
//
// The wrapper injects errors, panics and waits only; it damages no data.
package errkv
