package kvtest

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// MeteredFS is the file system of the machine, of which a test says how much
// space is left.
type MeteredFS struct {
	vfs.FS
	avail atomic.Uint64
}

// NewMeteredFS makes one with avail bytes left.
func NewMeteredFS(avail uint64) *MeteredFS {
	f := &MeteredFS{FS: vfs.Default}
	f.Leave(avail)
	return f
}

// Leave sets how many bytes are left.
func (f *MeteredFS) Leave(avail uint64) { f.avail.Store(avail) }

// GetDiskUsage implements vfs.FS.
func (f *MeteredFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: f.avail.Load(), TotalBytes: 1 << 40}, nil
}
