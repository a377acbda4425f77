// Package procs is how many processors the Go runtime may use (GOMAXPROCS). The number in
// use may fall for a while; what is sized by processors goes by the one that was given.
package procs
