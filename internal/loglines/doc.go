// Package loglines keeps the last lines of a log, so that the server can show them.
package loglines
