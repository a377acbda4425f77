package pebblekv

import (
	"bytes"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble ends the process when the last write or the sync of a file of large
// values fails (it aborts what is closed already). These are taken like critical
// ones: they wait for space, and any other error freezes the files; the table
// that refers to the file is then not synced, and the file never used. So that
// they need not wait, their space is reserved with that of the writes before
// them, which may fail: Pebble runs the flush or compaction again.

const (
	// lastWrite is the size of Pebble's buffer: only what is left in it at the
	// end is less, but for a full buffer with the footer at its end.
	lastWrite = 4096
	blobChunk = 256 << 10 // is reserved at a time
	// blobWait is how long a write waits for space before it fails. What its
	// job has written so far is then removed, and written again.
	blobWait = time.Second
)

// isLastWrite reports whether p may be the last write of a blob file.
func isLastWrite(p []byte) bool {
	return len(p) < lastWrite || bytes.HasSuffix(p, []byte(blobMagic))
}

// writeBlob is a write to a blob file that is not its last.
func (f *file) writeBlob(p []byte) (int, error) {
	total := len(p)
	for until := time.Now().Add(blobWait); f.d.frozen() == nil; {
		err := f.reserve(f.written + int64(len(p)) + lastWrite)
		if err == nil {
			var n int
			n, err = f.File.Write(p)
			p = p[n:]
			f.written += int64(n)
		}
		f.d.noteError("writing "+f.name, err)
		switch {
		case err == nil:
			return total, nil
		case !vfs.IsNoSpaceError(err):
			f.d.freeze("writing "+f.name, err)
		case !time.Now().Before(until) || !f.d.pause(spaceRetry):
			return total - len(p), err
		}
	}
	return total, nil
}

// reserve takes disk space for the first n bytes of a blob file, where the file
// system can do that.
func (f *file) reserve(n int64) error {
	if n <= f.reserved {
		return nil
	}
	to := n + blobChunk
	err := f.Preallocate(f.reserved, to-f.reserved)
	if vfs.IsNoSpaceError(err) {
		to = n
		err = f.Preallocate(f.reserved, to-f.reserved)
	}
	switch {
	case vfs.IsNoSpaceError(err):
		return err
	case err != nil:
		f.reserved = math.MaxInt64 // it cannot
	default:
		f.reserved = to
	}
	return nil
}

// trim gives back what is reserved and not used.
func (f *file) trim() {
	if fd := f.Fd(); fd != vfs.InvalidFd && f.reserved > f.written && f.reserved < math.MaxInt64 {
		cut(fd, f.written)
		f.reserved = f.written
	}
}
