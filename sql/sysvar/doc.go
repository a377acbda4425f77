// Package sysvar is the table of system variables: names, scopes, types,
// defaults and the checks of new values.
//
// MySQL's variables are in mysql84.txt; those that sqlots gives a meaning or
// another default, and its own (sqlots_*), are in own.go. Values are Datums of
// the definition's type; switches are integers 0 and 1 that SHOW VARIABLES
// prints as OFF and ON.
//
// Globals are the values of a server, Values those of one session, with the ones
// that every statement needs in plain form.
package sysvar
