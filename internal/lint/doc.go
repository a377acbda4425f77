// Package lint holds the rules of the house as tests: who may import whom,
// what every package and document has to have, and what may not stand in the
// code. It has no code of its own.
//
// The borders stand in borders_test.go as data. A package that is not listed
// there fails the test, so that a new one is placed deliberately.
package lint
