package pebblekv

import (
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is the file system as Pebble sees it. It is a layer between them for three
// reasons:
//
//   - Pebble panics or calls Fatalf, partly while it unlocks a mutex twice, when
//     the log or the manifest cannot be written. Disk never lets it see such an
//     error: it freezes the files in their present state and swallows all later
//     writes. The store checks frozen after every sync before it acknowledges
//     anything.
//   - A write of log or manifest that finds no space waits until there is some.
//     One of a file of large values fails its job, but for the last (blob.go).
//   - The log is flushed to the operating system for every commit that requires
//     it, but synced only when one requires that (syncWanted).
type disk struct {
	vfs.FS
	dir string // of the database; copies elsewhere may fail
	log *slog.Logger
	// opened is set once Pebble is open; until then any error ends its Open.
	opened     atomic.Bool
	frozenBy   atomic.Pointer[error]
	full       atomic.Bool
	spare      atomic.Bool // full, but a part of the reserve is left
	syncWanted atomic.Int64
	// zeroed has by their names how many bytes of closed logs can be written to
	// again without being reserved again.
	zeroed  sync.Map        // string to int64
	tails   *tailsKeeper    // nil where LOGS is not kept
	logs    sync.Map        // string to *file: the logs that are being written
	missing map[string]bool // files of values that are gone; set before Pebble opens
	damages *damages        // where damaged files are noted; nil for nowhere
	stop    chan struct{}   // closed when the store closes: ends the waits for space
	grown   chan struct{}   // of length 1: there may be less space by spaceStep
	traffic traffic
}

const (
	// spaceStep is how much a file grows until somebody looks for free space.
	spaceStep     = 1 << 20
	spaceRetry    = 50 * time.Millisecond
	frozenBackoff = time.Second
)

// newDisk is the disk of the database in dir.
func newDisk(fs vfs.FS, dir string, log *slog.Logger) *disk {
	return &disk{FS: fs, dir: fs.PathDir(fs.PathJoin(dir, "x")), log: log, stop: make(chan struct{}), grown: make(chan struct{}, 1)}
}

// frozen is the error that froze the files, or nil.
func (d *disk) frozen() error {
	if p := d.frozenBy.Load(); p != nil {
		return *p
	}
	return nil
}

func (d *disk) freeze(what string, err error) {
	err = fmt.Errorf("%s: %w", what, err)
	if d.frozenBy.CompareAndSwap(nil, &err) {
		d.log.Error("storage stops writing", "event", "storage.frozen", "error", err)
	}
}

// noteError looks at the outcome of a write. Pebble does a flush that fails again,
// without end. So while it opens a store, the first error freezes the files, and what it
// writes from then on is thrown away, so that its Open comes to an end.
func (d *disk) noteError(what string, err error) {
	if err != nil && !d.opened.Load() {
		d.freeze(what, err)
	}
	if err == nil || !vfs.IsNoSpaceError(err) {
		return
	}
	d.spare.Store(false)
	if !d.full.Swap(true) {
		d.log.Error("storage has no space left", "event", "storage.full", "error", err)
	}
}

// isCritical reports whether Pebble cannot live with a failed write of name.
func (d *disk) isCritical(name string) bool {
	base := d.PathBase(name)
	if d.PathDir(name) != d.dir {
		return false
	}
	return isLog(base) || strings.HasPrefix(base, manifestPrefix) || strings.HasPrefix(base, "marker.")
}

func isLog(base string) bool { return strings.HasSuffix(base, ".log") }

const (
	crowd        = 24                    // commits that wait for the disk at once
	crowdWait    = 10 * time.Microsecond // for each of them
	crowdWaitMax = time.Millisecond
)

// syncInterval is the least time between two syncs of the log. A few commits do not
// wait for others. Many keep the processors busy anyway; then more of them share a
// sync.
func (d *disk) syncInterval() time.Duration {
	n := d.syncWanted.Load()
	if n < crowd {
		return 0
	}
	return min(time.Duration(n)*crowdWait, crowdWaitMax)
}

// must runs a critical operation: it waits for space, and freezes the files on
// any other error. Where they are frozen it does nothing.
func (d *disk) must(what string, op func() error) {
	for d.frozen() == nil {
		err := op()
		if err == nil {
			return
		}
		d.noteError(what, err)
		if !vfs.IsNoSpaceError(err) || !d.pause(spaceRetry) {
			d.freeze(what, err)
		}
	}
}

// pause waits for t, and reports false when the store closes.
func (d *disk) pause(t time.Duration) bool {
	select {
	case <-d.stop:
		return false
	case <-time.After(t):
		return true
	}
}

// create wraps what makes a file. The first zeroed bytes of a log have been
// written before.
func (d *disk) create(name string, zeroed int64, make func() (vfs.File, error)) (vfs.File, error) {
	if !d.isCritical(name) {
		switch err := d.frozen(); {
		case err != nil && !d.opened.Load():
			return &file{File: vfs.NewMemFile(nil), d: d, name: name, critical: true}, nil
		case err != nil:
			d.pause(frozenBackoff) // Pebble tries again at once
			return nil, err
		}
		if d.full.Load() {
			d.pause(spaceRetry)
		}
		f, err := make()
		d.noteError("creating "+name, err)
		if err != nil {
			return nil, err
		}
		return &file{File: f, d: d, name: name, blob: strings.HasSuffix(name, ".blob")}, nil
	}
	var f vfs.File
	d.must("creating "+name, func() (err error) {
		f, err = make()
		return err
	})
	if f == nil { // frozen
		f = vfs.NewMemFile(nil)
	}
	base := d.PathBase(name)
	w := &file{File: f, d: d, name: name, critical: true, wal: isLog(base), number: fileNumber(base)}
	if w.wal {
		d.tails.created(w.number)
		w.direct = newDirectLog(f, zeroed)
		d.logs.Store(name, w)
	}
	return w, nil
}

// Open implements vfs.FS. A log that is being written ends for its reader where its
// writer is now. A copy that saw zeros, followed by records written meanwhile, would
// look damaged.
func (d *disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	w, ok := d.logs.Load(name)
	switch {
	case ok:
	case strings.HasSuffix(name, ".sst"), strings.HasSuffix(name, ".blob"):
		return d.openBlocks(name, opts)
	case strings.HasPrefix(d.PathBase(name), "OPTIONS-") && !d.opened.Load():
		// Nothing of the settings of the last run is needed, and damage there must
		// not keep a server from starting.
		return vfs.NewMemFile(nil), nil
	default:
		return d.FS.Open(name, opts...)
	}
	end := w.(*file).end.Load()
	f, err := d.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	return &prefix{File: f, left: end}, nil
}

// prefix is a file that ends early.
type prefix struct {
	vfs.File
	left int64
}

// Read implements vfs.File.
func (p *prefix) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, io.EOF
	}
	n, err := p.File.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}

// Create implements vfs.FS.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.create(name, 0, func() (vfs.File, error) { return d.FS.Create(name, category) })
}

// ReuseForWrite implements vfs.FS.
func (d *disk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	zeroed, _ := d.zeroed.LoadAndDelete(oldname)
	length, _ := zeroed.(int64)
	d.logGone(oldname)
	return d.create(newname, length, func() (vfs.File, error) { return d.FS.ReuseForWrite(oldname, newname, category) })
}

// OpenDir implements vfs.FS.
func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, d: d, name: name, critical: d.PathDir(d.PathJoin(name, "x")) == d.dir}, nil
}

// Link implements vfs.FS.
func (d *disk) Link(oldname, newname string) error {
	if err := d.frozen(); err != nil {
		return err
	}
	err := d.FS.Link(oldname, newname)
	d.noteError("linking "+newname, err)
	return err
}

// Remove implements vfs.FS.
func (d *disk) Remove(name string) error {
	if d.frozen() != nil {
		return nil
	}
	d.zeroed.Delete(name)
	if d.missing[d.PathBase(name)] && d.PathDir(name) == d.dir {
		return nil
	}
	d.logGone(name)
	return d.FS.Remove(name)
}

// logGone ends what LOGS says of a log that Pebble no longer needs.
func (d *disk) logGone(name string) {
	if base := d.PathBase(name); isLog(base) && d.PathDir(name) == d.dir {
		d.tails.removed(fileNumber(base))
	}
}

// note has LOGS say how far a log or a manifest goes. It comes before the
// commit is acknowledged.
func (d *disk) note(f *file) {
	if d.tails == nil || f.number == 0 || d.frozen() != nil || d.noteOnce(f) == nil {
		return
	}
	d.must("writing "+d.tails.name, func() error { return d.noteOnce(f) })
}

func (d *disk) noteOnce(f *file) error {
	if f.wal {
		return d.tails.noteLog(tail{f.number, f.written, f.synced, f.sum, f.syncedSum})
	}
	return d.tails.noteManifest(f.number, f.written)
}

// RemoveAll implements vfs.FS.
func (d *disk) RemoveAll(name string) error {
	if d.frozen() != nil {
		return nil
	}
	return d.FS.RemoveAll(name)
}

// Rename implements vfs.FS.
func (d *disk) Rename(oldname, newname string) error {
	if d.isCritical(newname) {
		d.must("renaming "+newname, func() error { return d.FS.Rename(oldname, newname) })
		return nil
	}
	if err := d.frozen(); err != nil {
		return err
	}
	err := d.FS.Rename(oldname, newname)
	d.noteError("renaming "+newname, err)
	return err
}

// Unwrap implements vfs.FS.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// file is a file of disk.
type file struct {
	vfs.File
	d        *disk
	name     string
	critical bool
	wal      bool
	number   uint64      // of a log or a manifest
	blob     bool        // a file of large values, see writeBlob
	unsynced atomic.Bool // a sync was left out

	// Of a log; for the one goroutine that writes and syncs it.
	written, synced int64      // bytes
	sum, syncedSum  uint32     // their checksums
	direct          *directLog // nil when it is written through the page cache
	zeroed          int64      // bytes that have been in use

	end      atomic.Int64 // written, for readers
	grown    int          // bytes since the last look for free space
	reserved int64        // of a blob file: bytes of the disk that it has
}

// grow counts what was written.
func (f *file) grow(n int) {
	if f.grown += n; f.grown >= spaceStep {
		f.grown = 0
		select {
		case f.d.grown <- struct{}{}:
		default:
		}
	}
}

// Write implements vfs.File.
func (f *file) Write(p []byte) (int, error) {
	f.grow(len(p))
	f.d.traffic.wrote(len(p), f.wal)
	if !f.critical && !f.blob {
		n, err := f.File.Write(p)
		f.d.noteError("writing "+f.name, err)
		return n, err
	}
	if f.blob && !isLastWrite(p) {
		return f.writeBlob(p)
	}
	total := len(p)
	if f.wal {
		p = honestOffsets(p, f.written, f.synced)
	}
	f.must("writing", func() error {
		// A file system may spoil what it has written.
		sum := f.sumWith(p)
		n, err := f.append(p)
		if n < len(p) {
			sum = f.sumWith(p[:n])
		}
		f.sum = sum
		p = p[n:]
		f.written += int64(n)
		f.setEnd()
		return err
	})
	if f.wal && f.end.Load() == f.written { // else a sync comes before the commit is acknowledged
		f.d.note(f)
	}
	return total, nil
}

// sumWith is the checksum of a log with p appended.
func (f *file) sumWith(p []byte) uint32 {
	if !f.wal {
		return 0
	}
	return crc32.Update(f.sum, logTable, p)
}

// must is disk.must for a file.
func (f *file) must(what string, op func() error) { f.d.must(what+" "+f.name, op) }

// append writes p at the end of what has been written. A log goes through the page
// cache from the first record on that no commit waits for.
func (f *file) append(p []byte) (n int, err error) {
	if f.direct != nil && f.d.syncWanted.Load() > 0 {
		if n, err = f.direct.write(p); !notDirect(err) {
			return n, err
		}
	}
	if err := f.leaveDirect(); err != nil {
		return n, err
	}
	m, err := f.File.Write(p[n:])
	return n + m, err
}

// leaveDirect has what follows go through the page cache. It can be called
// again after an error.
func (f *file) leaveDirect() error {
	l := f.direct
	if l == nil {
		return nil
	}
	if err := l.flush(); err != nil && !notDirect(err) {
		return err
	}
	if err := endDirect(l.fd, l.end()); err != nil {
		return err
	}
	for len(l.rest()) > 0 {
		n, err := f.File.Write(l.rest())
		l.clean += n
		if err != nil {
			return err
		}
	}
	f.zeroed, f.direct = l.zeroed, nil
	return nil
}

// flush writes what a log has kept until its next sync.
func (f *file) flush() {
	if f.direct == nil {
		return
	}
	f.must("writing", func() error {
		err := f.direct.flush()
		if notDirect(err) {
			err = f.leaveDirect()
		}
		f.setEnd()
		return err
	})
}

// setEnd publishes to readers how far the file goes.
func (f *file) setEnd() {
	end := f.written
	if f.direct != nil {
		end, f.zeroed = f.direct.end(), f.direct.zeroed
	}
	f.end.Store(end)
}

// Preallocate implements vfs.File. A log gets its full length at once; readers take the
// zeros after its last record for its end.
func (f *file) Preallocate(offset, length int64) error {
	if fd := f.Fd(); f.wal && fd != vfs.InvalidFd && extend(fd, offset, length) == nil {
		return nil
	}
	return f.File.Preallocate(offset, length)
}

// Sync implements vfs.File.
func (f *file) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *file) SyncData() error { return f.sync(f.File.SyncData) }

func (f *file) sync(op func() error) error {
	if f.blob {
		f.trim()
		f.must("syncing", func() error { return f.d.traffic.synced(false, op) })
		return nil
	}
	if !f.critical {
		if err := f.d.frozen(); err != nil {
			return err
		}
		err := f.d.traffic.synced(false, op)
		f.d.noteError("syncing "+f.name, err)
		return err
	}
	f.flush()
	if f.wal && f.d.opened.Load() && f.d.syncWanted.Load() == 0 {
		f.unsynced.Store(true)
		return nil
	}
	f.must("syncing", func() error { return f.d.traffic.synced(f.wal, op) })
	f.unsynced.Store(false)
	if f.wal { // others, folders among them, are synced by several at once
		f.synced, f.syncedSum = f.written, f.sum
	}
	f.d.note(f)
	return nil
}

// SyncTo implements vfs.File.
func (f *file) SyncTo(length int64) (fullSync bool, err error) {
	if !f.critical && !f.blob {
		return f.File.SyncTo(length)
	}
	f.must("syncing", func() (err error) {
		fullSync, err = f.File.SyncTo(length)
		return err
	})
	return fullSync, nil
}

// Close implements vfs.File. A log must be on disk before the next one gets
// its first record, or a crash could leave a hole between them.
func (f *file) Close() error {
	if f.direct != nil && len(f.direct.rest()) > 0 {
		f.unsynced.Store(true)
		f.flush()
	}
	if f.unsynced.Load() {
		f.must("syncing", f.File.Sync)
		if f.wal {
			f.synced, f.syncedSum = f.written, f.sum
			f.d.note(f)
		}
	}
	if f.wal {
		f.d.logs.Delete(f.name)
	}
	if f.zeroed > 0 {
		f.d.zeroed.Store(f.name, f.zeroed)
	}
	err := f.File.Close()
	if err != nil && f.blob {
		f.d.freeze("closing "+f.name, err)
		return nil
	}
	if f.critical && f.d.frozen() != nil {
		return nil
	}
	return err
}
