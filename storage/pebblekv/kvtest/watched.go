package kvtest

import (
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// WatchedFS is the file system of the machine, which counts the reads of one
// place of each of some files.
type WatchedFS struct {
	vfs.FS
	places map[string]int64
	reads  atomic.Int64
}

// NewWatchedFS makes one that watches nothing.
func NewWatchedFS() *WatchedFS { return &WatchedFS{FS: vfs.Default} }

// Watch sets the places: offsets by the names of files. No file is open yet.
func (f *WatchedFS) Watch(places map[string]int64) { f.places = places }

// Reads is how many reads had one of the places.
func (f *WatchedFS) Reads() int64 { return f.reads.Load() }

// Open implements vfs.FS.
func (f *WatchedFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	in, err := f.FS.Open(name, opts...)
	if at, ok := f.places[filepath.Base(name)]; ok && err == nil {
		return &watchedFile{File: in, at: at, reads: &f.reads}, nil
	}
	return in, err
}

type watchedFile struct {
	vfs.File
	at    int64
	reads *atomic.Int64
}

// ReadAt implements vfs.File.
func (f *watchedFile) ReadAt(b []byte, at int64) (int, error) {
	if at <= f.at && f.at < at+int64(len(b)) {
		f.reads.Add(1)
	}
	return f.File.ReadAt(b, at)
}
