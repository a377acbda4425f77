// Package guard keeps a panic within the task that met it.
//
// A panic in a goroutine without a recover ends the process, and with it the
// statements of all connections. So every goroutine that a server begins runs
// its task by Run, which makes an error of a panic, or by Do, which logs it; a
// loop that must go on guards each of its rounds. A test of internal/lint holds
// that.
//
// The packages of the wire recover on their own: a panic there ends a connection.
// Goroutines of Pebble and scorch are out of reach.
package guard
