package pebblekv

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// extend reserves [offset, offset+length) of a file and makes the file that
// long, so that syncing what is written there later need not record a new
// length: on ext4 that is a third of the time of a sync.
func extend(fd uintptr, offset, length int64) error {
	return unix.Fallocate(int(fd), 0, offset, length)
}

// beginDirect has writes go past the page cache.
func beginDirect(fd uintptr) error {
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(fd, unix.F_SETFL, flags|unix.O_DIRECT)
	}
	return err
}

// endDirect has writes go through the page cache, from offset on.
func endDirect(fd uintptr, offset int64) error {
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(fd, unix.F_SETFL, flags&^unix.O_DIRECT)
	}
	if err == nil {
		_, err = unix.Seek(int(fd), offset, io.SeekStart)
	}
	return err
}

// writeAt writes all of p.
func writeAt(fd uintptr, p []byte, offset int64) error {
	for len(p) > 0 {
		n, err := unix.Pwrite(int(fd), p, offset)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		p, offset = p[n:], offset+int64(n)
	}
	return nil
}

// notDirect reports that the file system cannot write past the page cache.
func notDirect(err error) bool { return errors.Is(err, unix.EINVAL) }

// cut gives back the space after the first length bytes of a file.
func cut(fd uintptr, length int64) {
	_ = unix.Ftruncate(int(fd), length) // a file that keeps it is right as well
}

// bootID names the present start of the operating system.
var bootID = sync.OnceValue(func() (b boot) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return b
	}
	id, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err != nil || len(id) != len(b) {
		return b
	}
	return boot(id)
})

// mapFile is the memory of the first bytes of a file, nil where that cannot be.
func mapFile(fd uintptr, length int) []byte {
	if fd == vfs.InvalidFd {
		return nil
	}
	mem, err := unix.Mmap(int(fd), 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return mem
}

// unmapFile ends the use of what mapFile has returned.
func unmapFile(mem []byte) error {
	if mem == nil {
		return nil
	}
	return unix.Munmap(mem)
}
