// Package jsonlines makes fields for LOAD DATA of lines of JSON. It is shared by
// the command that loads files and by the server.
package jsonlines
