// Package storagetest is the conformance suite of storage.Store: one test for
// each sentence of the contract, a randomised comparison with a plain map, and
// concurrent transfers that must keep their sum. Every engine runs it.
//
// The suite uses only the interface, so what it checks holds for distributed
// engines too. It does not test durability, which each engine tests with the
// means of its file system.
package storagetest
