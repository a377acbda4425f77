// Package damage damages the files of a server, most often of one that has stopped,
// and starts it again.
//
// # Model
//
// A server makes a directory with files of every kind: tables, large values, logs,
// manifests, search indexes. It is stopped, or killed with SIGKILL. What it answered
// to a list of queries before is what it must answer later. A copy of the directory
// is damaged; then a server starts on it, and "sqlots check" looks at it, each as a
// process of its own with a bound of its memory.
//
// # What must hold
//
//	I1  A start, a query or a check has the right answer, or an error. What is
//	    missing or wrong without an error is a defect.
//	I2  The error, or the server's log, has the name of a damaged file.
//	I3  No process panics, hangs, or ends by itself.
//	I4  Damage that a query meets is damage for the check as well.
//	I5  What is written to undamaged tables is there after the next start.
//
// TestFiles damages all files of a kind in plain ways. TestRandom chooses file,
// place and damage by its seed: -seed, and -rounds for how many. Some of its rounds
// damage the files of a running server.
//
// It holds only tests.
package damage
