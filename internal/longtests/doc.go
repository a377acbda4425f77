// Command longtests prints a regular expression of the tests that have a long form, and
// below it the packages that have such tests, for .ci/run: go test ./... has run the others
// already. A test has a long form if it calls testflag.Pick, PickRecorded, Rounds, Share or Long,
// itself or by a function of its package.
package main
