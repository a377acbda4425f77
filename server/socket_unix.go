//go:build unix

package server

import "syscall"

// limitMode gives a socket its mode before it has a name, so that nobody else can
// connect in between. Linux does; where the system does not, the error is no harm.
func limitMode(mode uint32) func(_, _ string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), mode) })
	}
}
