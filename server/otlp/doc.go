// Package otlp sends the statements of a server as spans to a collector of OpenTelemetry, by
// OTLP over HTTP.
//
// A statement is a span with children for its steps, made when it has ended, from the times
// that its event has. While it runs, only the clock is read, twice.
//
// # Invariants
//
//	I1  No statement waits for a collector: spans go into a bounded queue, and are dropped
//	    while that is full.
//	I2  No span has a literal of a statement, nor the message of an error, which may quote
//	    one.
//	I3  A collector that fails is logged once a minute at most.
package otlp
