// Package smoke moves money on a server whose store others damage, and says what was lost:
// the work of `sqlots tikv-smoke`, while its user kills servers of the cluster.
//
// # Invariants
//
//	I1  A transfer whose commit was acknowledged is there.
//	I2  A transfer that was refused, by an error that says so, is not there.
//	I3  Money is neither made nor lost: at any time, in any snapshot.
//	I4  Indexes, the search index and the change log have each transfer once.
//
// A transfer whose commit ended with error 1180, or with a lost connection, may be there
// or not, but whole.
package smoke
