//go:build unix && !linux

package mysqlwire

import (
	"net"
	"syscall"
)

// peerClosed reports that the other side has closed its end. It takes no bytes and does
// not block; unread bytes hide the end from it.
func peerClosed(nc net.Conn) bool {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = rc.Control(func(fd uintptr) {
		var b [1]byte
		// The descriptor is non-blocking, as all of the net package's are.
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		switch err {
		case nil:
			closed = n == 0
		case syscall.EAGAIN, syscall.EINTR:
		default:
			closed = true
		}
	})
	return err != nil || closed
}
