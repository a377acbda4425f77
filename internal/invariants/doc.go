// Package invariants has the checks that are too expensive, or too harsh, for
// production. They are compiled in with the build tag invariants:
//
//	go test -tags invariants ./storage/pebblekv ./search ./server
package invariants
