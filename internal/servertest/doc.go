// Package servertest starts servers in the process of a test. Servers that a test
// kills are processes of their own: see package childserver.
package servertest
