//go:build unix

package server

import (
	"syscall"
	"time"
)

// processTime is the processor time that the process has taken.
func processTime() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
