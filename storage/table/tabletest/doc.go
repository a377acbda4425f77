// Package tabletest makes random tables and rows for tests of the packages that
// store them. It is deterministic for a given source of randomness.
package tabletest
