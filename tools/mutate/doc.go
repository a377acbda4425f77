// Command mutate measures what the tests notice that run in a minute: it changes the code at random
// places, one place at a time, and counts the changes (mutants) with which some test
// fails.
//
//	go run -C tools ./mutate -n 300 -seed 1
//
// All mutants are compiled into one set of test binaries; an environment variable
// turns one of them on. Each test first runs with none, which shows the mutants that it
// reaches, and how long it takes. A mutant is killed when a test that reaches it fails,
// or takes much longer than without it. Survivors are printed with their places, to be
// read: each one is a test that is missing, or a change that makes no difference.
//
// -in and -by choose the packages that are changed and those whose tests run: what the
// unit tests of a package notice is known in a minute or two.
//
// By default, mutants are boundaries (< to <=), negations (== to !=), arithmetic, && to ||,
// true to false, continue to break and back, and statements that are left out. -kinds usual
// makes those that gremlins makes by default: boundaries, negations, also of error checks,
// arithmetic, ++ to --, signs, and continue to break and back.
//
// Left out are changes that are known to make no difference: of capacities, of lists of
// memory to be used again, of what is returned next to an error, of the texts of internal
// errors, and between < and <= of floating-point numbers.
package main
