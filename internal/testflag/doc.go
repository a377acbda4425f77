// Package testflag is the set of flags that random and long tests share:
//
//	-seed N     where random tests begin
//	-rounds N   how many rounds they make
//	-long       the long form, which .ci/run uses
//	-update     writes expected results again
//	-recorded   compares all recorded results, in every form
//
// Tests have three lengths: -short is for each change of the code, the form without
// flags for each commit, -long for each submission. Pick chooses among them.
//
// A package whose tests import it knows all of these flags; others refuse them, so
// that `go test ./... -long` is an error. Command longtests lists the packages that do.
package testflag
