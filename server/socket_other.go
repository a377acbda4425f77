//go:build !unix

package server

import "syscall"

// limitMode does nothing: the mode is set once the socket has a name.
func limitMode(uint32) func(_, _ string, c syscall.RawConn) error { return nil }
