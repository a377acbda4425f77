// Package session is one client connection, called by the wire: Session implements
// mysqlwire.Session.
//
// It splits a text into statements, brings it and the parameters into UTF-8, keeps
// the statements that the client has prepared, and marks the beginning and end of
// each command (process list, time limits, logs). Package statement runs the
// statements.
package session
