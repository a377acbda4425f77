package pebblekv

import "golang.org/x/sys/unix"

// extend reserves [offset, offset+length) of a file and makes the file that
// long, so that syncing what is written there later need not record a new
// length: on ext4 that is a third of the time of a sync.
func extend(fd uintptr, offset, length int64) error {
	return unix.Fallocate(int(fd), 0, offset, length)
}
