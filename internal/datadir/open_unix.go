//go:build unix

package datadir

import (
	"io/fs"
	"syscall"
)

// noFollow refuses a symbolic link, and does not wait for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// linked reports whether a file may have several names.
func linked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 1
}
