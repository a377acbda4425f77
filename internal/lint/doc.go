// Package lint holds the rules of the house as tests: who may import whom,
// what every package and document must have, and what code and documents must
// not contain. It has no code of its own.
//
// The borders are data in borders_test.go. A package that is not listed
// there fails the test, so that a new one is placed deliberately.
package lint
