package pebblekv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// FormatVersion is the version of the directory's format that this package
// writes and reads. docs/encoding.md says how to add the next one.
const FormatVersion = 1

const (
	formatFile = "FORMAT"
	formatMark = "sqlots-kv "
	kvDir      = "kv"
	bulkDir    = "bulk"
)

// StageDir is the folder in a store's directory for short-lived copies of it;
// what a crash leaves there is removed at open.
const StageDir = "backup"

// Files are the names of the files and folders that a store may have in its
// directory.
func Files() []string { return []string{formatFile, tailsFile, kvDir, bulkDir, StageDir, asideDir} }

// seqKey holds the sequence of the last commit (8 bytes, big endian), and the
// time of the last one with stamped writes (8 bytes more, see txn.Clock); what
// was written before there were any has no time.
var seqKey = [1]byte{0}

const seqValueLen = 16

// Store implements storage.Store over Pebble.
type Store struct {
	*txn.Manager
	db      *pebble.DB
	po      *pebble.Options // as the database runs with
	opts    Options
	disk    *disk
	damaged damages
	lock    *pebble.Lock
	bulks   atomic.Uint64 // numbers the files of bulk loads

	// sequencer orders commits: it is held while a batch gets its number and
	// is applied.
	sequencer sync.Mutex
	clock     txn.Clock // times of stamped commits; under sequencer
	marks     txn.Marks
	seq       atomic.Uint64 // of the latest commit that has ended, see visible; written under sequencer
	started   atomic.Uint64 // the commit being applied, or seq; written under sequencer
	durable   atomic.Uint64 // the commits up to it are on disk
	unsynced  atomic.Bool   // there are commits that did not require a sync
	space     sync.Mutex    // one look for free space at a time
	looked    atomic.Int64  // when a writer looked for free space
	free      atomic.Int64  // bytes of the file system, at the last look
	deleted   atomic.Int64  // bytes of deletions on a full disk that are not flushed
	opened    uint64        // seq when the store was opened
	stalls    stalls
	shown     shown
	snapshots snapshotCache
	images    images
	filters   filters

	cache  *pebble.Cache
	claims claims // of the cache

	closing  atomic.Bool
	active   atomic.Int64 // calls in progress
	handles  handleList   // open snapshots and scanners
	closed   chan struct{}
	closeErr error
	monitor  sync.WaitGroup
}

var (
	_ storage.Store = (*Store)(nil)
	_ txn.Engine    = (*Store)(nil)
)

// Open opens or creates a store. It fails with storage.ErrLocked when another
// process has it open, storage.ErrFormat when the directory is of another
// format, and storage.ErrCorruption when the files are damaged.
func Open(opts Options) (_ *Store, err error) {
	opts = opts.withDefaults()
	s := &Store{opts: opts, disk: newDisk(opts.FS, opts.FS.PathJoin(opts.Dir, kvDir), opts.Logger), closed: make(chan struct{})}
	s.images.limit, s.images.most = opts.ImageBytes, opts.mostImages()
	s.images.eager, s.images.packs = opts.EagerImages, opts.PackImages
	s.filters.limit, s.filters.eager, s.filters.lookups = opts.FilterBytes, opts.EagerImages, map[group]int64{}
	s.images.by, s.images.heat = map[group]*image{}, map[group]*heat{}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("opening %s: %w", opts.Dir, panicError(r))
		}
		if err != nil && s.lock != nil {
			_ = s.disk.tails.close() // the first error counts
			_ = s.lock.Close()
		}
	}()
	if err := s.prepareDir(); err != nil {
		return nil, err
	}
	if err := s.openDB(); err != nil {
		return nil, err
	}
	s.Manager = txn.NewManager(s, opts.Caps)
	s.disk.opened.Store(true)
	s.monitor.Add(1)
	go guard.Do(s.opts.Logger, "looking after the store", s.watch)
	return s, nil
}

// panicError is the error of a panic of Pebble's: of the file system, which may
// go on to work, or of damaged files.
func panicError(r any) error {
	if err, ok := r.(error); ok {
		var bug runtime.Error
		if !errors.As(err, &bug) {
			return mapError(err)
		}
	}
	return fmt.Errorf("%w: %v", storage.ErrCorruption, r)
}

// prepareDir creates, locks and checks the directory.
func (s *Store) prepareDir() error {
	dfs, dir := s.opts.FS, s.opts.Dir
	for _, sub := range []string{kvDir, bulkDir} {
		if err := makeDir(dfs, dfs.PathJoin(dir, sub)); err != nil {
			return fmt.Errorf("creating %s: %w", dir, mapError(err))
		}
	}
	lock, err := pebble.LockDirectory(dfs.PathJoin(dir, kvDir), dfs)
	if err != nil {
		return lockError(dir, err)
	}
	s.lock = lock
	if err := s.checkFormat(); err != nil {
		return err
	}
	if err := s.cleanBulk(); err != nil {
		return err
	}
	stage := dfs.PathJoin(dir, StageDir)
	if _, err := dfs.Stat(stage); err == nil {
		if err := dfs.RemoveAll(stage); err != nil {
			return fmt.Errorf("cleaning %s: %w", stage, mapError(err))
		}
	}
	return nil
}

// lockError is the error of locking a directory: of the file system, or that
// another process has it.
func lockError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EIO) ||
		errors.Is(err, syscall.EROFS) || vfs.IsNoSpaceError(err) {
		return fmt.Errorf("locking %s: %w", dir, mapError(err))
	}
	return fmt.Errorf("%s: %w (%v)", dir, storage.ErrLocked, err)
}

// makeDir creates dir and what is missing above it, and syncs the directories
// that got a new entry: without that, a crash can lose a store whole.
func makeDir(dfs vfs.FS, dir string) error {
	var changed []string
	for at := dir; ; {
		_, err := dfs.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		up := dfs.PathDir(at)
		if up == at {
			break
		}
		if up == "." { // relative to where the process runs, which exists
			up = ""
		}
		changed = append(changed, up)
		if up == "" {
			break
		}
		at = up
	}
	if err := dfs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, up := range changed {
		if err := syncDir(dfs, up); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(dfs vfs.FS, dir string) error {
	d, err := dfs.OpenDir(dir)
	if err != nil && dir == "" {
		d, err = dfs.OpenDir(".")
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkFormat reads the format file, writing it into a new directory.
func (s *Store) checkFormat() error {
	dfs, dir := s.opts.FS, s.opts.Dir
	text, err := readFile(dfs, dfs.PathJoin(dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		names, err := dfs.List(dfs.PathJoin(dir, kvDir))
		if err != nil {
			return fmt.Errorf("listing %s: %w", dir, err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, "MANIFEST-") {
				return fmt.Errorf("%s has data but no file %s: %w", dir, formatFile, storage.ErrFormat)
			}
		}
		return writeFormat(dfs, dir)
	}
	if err != nil {
		return fmt.Errorf("reading the format of %s: %w", dir, mapError(err))
	}
	n := 0
	if _, err := fmt.Sscanf(text, formatMark+"%d\n", &n); err != nil || text != fmt.Sprintf("%s%d\n", formatMark, n) {
		return fmt.Errorf("%s: %w: file %s says %q", dir, storage.ErrFormat, formatFile, text)
	}
	switch {
	case n > FormatVersion:
		return fmt.Errorf("%s: %w: file %s: format %d is of a later release: this one reads up to %d", dir, storage.ErrFormat, formatFile, n, FormatVersion)
	case n < FormatVersion: // no earlier format can be read; see docs/encoding.md
		return fmt.Errorf("%s: %w: file %s: format %d", dir, storage.ErrFormat, formatFile, n)
	}
	return nil
}

func readFile(dfs vfs.FS, name string) (string, error) {
	f, err := dfs.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 256))
	return string(b), err
}

// writeFormat puts the format file in place atomically.
func writeFormat(dfs vfs.FS, dir string) error {
	err := func() error {
		tmp := dfs.PathJoin(dir, formatFile+".tmp")
		f, err := dfs.Create(tmp, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, "%s%d\n", formatMark, FormatVersion)
		err = errors.Join(err, f.Sync(), f.Close())
		if err != nil {
			return err
		}
		if err := dfs.Rename(tmp, dfs.PathJoin(dir, formatFile)); err != nil {
			return err
		}
		return syncDir(dfs, dir)
	}()
	if err != nil {
		return fmt.Errorf("writing the format of %s: %w", dir, mapError(err))
	}
	return nil
}

// cleanBulk removes what bulk loads of a crashed process left.
func (s *Store) cleanBulk() error {
	dfs := s.opts.FS
	dir := dfs.PathJoin(s.opts.Dir, bulkDir)
	names, err := dfs.List(dir)
	if err != nil {
		return fmt.Errorf("listing %s: %w", dir, err)
	}
	for _, name := range names {
		if err := dfs.Remove(dfs.PathJoin(dir, name)); err != nil {
			return fmt.Errorf("cleaning %s: %w", dir, err)
		}
	}
	return nil
}

func (s *Store) openDB() error {
	cache := pebble.NewCache(s.opts.CacheBytes - s.opts.FilterBytes)
	defer cache.Unref()
	s.cache = cache
	s.claims.cache, s.claims.unit, s.claims.spare = cache, max(s.opts.CacheBytes/claimUnits, 1), min(s.opts.ImageBytes, claimSpare)
	s.claims.setImages(0)
	s.po = s.opts.pebbleOptions(s.disk, cache)
	s.damaged.log, s.disk.damages = s.opts.Logger, &s.damaged
	said, err := s.openLogs()
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.opts.Dir, mapError(err))
	}
	s.po.EventListener.DataCorruption = s.damaged.found
	s.po.EventListener.WriteStallBegin = func(pebble.WriteStallBeginInfo) { s.stalls.begin() }
	s.po.EventListener.WriteStallEnd = s.stalls.end
	s.po.Lock = s.lock
	db, err := pebble.Open(s.opts.FS.PathJoin(s.opts.Dir, kvDir), s.po)
	if frozen := s.disk.frozen(); frozen != nil { // Pebble may have carried on
		err = frozen
		if db != nil {
			_ = db.Close() // the first error counts
		}
	}
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.opts.Dir, mapError(err))
	}
	s.db = db
	seq, last, err := readState(db.Get)
	if err == nil {
		err = s.checkSeq(seq, said)
	}
	if err != nil {
		_ = db.Close() // the first error counts
		return fmt.Errorf("opening %s: %w", s.opts.Dir, err)
	}
	s.opened = seq
	s.seq.Store(seq)
	s.started.Store(seq)
	s.clock.Last = last
	return nil
}

// readSeq reads the sequence of a state.
func readSeq(get func(key []byte) ([]byte, io.Closer, error)) (uint64, error) {
	seq, _, err := readState(get)
	return seq, err
}

// readState reads the sequence of a state, and the time of its last commit that
// has one.
func readState(get func(key []byte) ([]byte, io.Closer, error)) (seq uint64, last int64, err error) {
	v, closer, err := get(seqKey[:])
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reading the sequence: %w", mapError(err))
	}
	defer closer.Close()
	if len(v) != 8 && len(v) != seqValueLen {
		return 0, 0, fmt.Errorf("%w: sequence of %d bytes", storage.ErrCorruption, len(v))
	}
	if len(v) == seqValueLen {
		last = int64(binary.BigEndian.Uint64(v[8:]))
	}
	return binary.BigEndian.Uint64(v), last, nil
}

// mapError gives Pebble's and the file system's errors their class.
func mapError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pebble.ErrNotFound):
		return storage.ErrNotFound
	case pebble.IsCorruptionError(err):
		return corrupt(err)
	case vfs.IsNoSpaceError(err):
		return fmt.Errorf("%w: %w", storage.ErrDiskFull, err)
	case errors.Is(err, pebble.ErrClosed):
		return storage.ErrClosed
	}
	return err
}

// enter begins a call that uses the database; exit ends it. Calls may nest.
func (s *Store) enter() error {
	s.active.Add(1)
	if s.closing.Load() {
		s.active.Add(-1)
		return storage.ErrClosed
	}
	return nil
}

func (s *Store) exit() { s.active.Add(-1) }

// Writable returns the error that a write would meet now: storage.ErrDiskFull,
// storage.ErrUnavailable after an error of the disk, storage.ErrClosed.
func (s *Store) Writable() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.exit()
	return s.writable()
}

// writable returns the error that a write would meet.
func (s *Store) writable() error {
	if err := s.disk.frozen(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if s.disk.full.Load() && !s.madeRoom() {
		return storage.ErrDiskFull
	}
	return nil
}

// lookEvery is the least time between two looks for space by writers.
const lookEvery = 50 * time.Millisecond

// madeRoom looks whether a full disk has room again, so that whoever made it need not
// wait for watch.
func (s *Store) madeRoom() bool {
	now := time.Now().UnixNano()
	if last := s.looked.Load(); now-last >= int64(lookEvery) && s.looked.CompareAndSwap(last, now) {
		s.checkSpace()
	}
	return !s.disk.full.Load()
}

// writableFor is writable for the writes of a context: those that free space
// may use the reserve.
func (s *Store) writableFor(ctx context.Context) error {
	err := s.writable()
	if errors.Is(err, storage.ErrDiskFull) && storage.IsFreeingSpace(ctx) && s.disk.spare.Load() {
		return nil
	}
	return err
}

// Settled implements storage.Store. A commit takes its sequence in the moment in which
// it becomes visible, so none comes later than a higher one.
func (s *Store) Settled(context.Context) (uint64, error) { return s.Seq(), nil }

// Commits implements storage.Store. Here each commit takes one sequence.
func (s *Store) Commits() uint64 { return s.Seq() }

// Seq implements storage.Store.
func (s *Store) Seq() uint64 {
	if s.enter() != nil {
		return s.seq.Load()
	}
	defer s.exit()
	seq, ok := s.visible()
	if !ok {
		s.opts.Logger.Error("the sequence of the latest commit cannot be read")
		return s.seq.Load()
	}
	return seq
}

// visible is the sequence of the state that a reader sees who begins now; false when it
// cannot be read. All readers take it from here or from their snapshot.
//
// A commit can be seen a moment before seq is stored. In that moment seq is older than
// what others have been shown, so the sequence is read from the state itself. While no
// commit is under way, that costs nothing.
func (s *Store) visible() (seq uint64, ok bool) {
	before := s.shown.before()
	seq = s.seq.Load()
	if seq != s.started.Load() {
		var err error
		if seq, err = readSeq(s.db.Get); err != nil {
			return 0, false
		}
	}
	s.shown.note(seq, before)
	return seq, true
}

// Mark implements storage.Store.
func (s *Store) Mark(prefix []byte) *storage.Watermark {
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	return s.marks.Mark(prefix, s.started.Load()) // a commit that failed may be visible
}

const watchEvery = time.Second

// tailsEvery is how many watches LOGS stays unsynced. A commit that writes it
// meanwhile may wait.
const tailsEvery = 10

// watch looks after free space, and syncs the commits that did not wait for a sync
// within about a second, as innodb_flush_log_at_trx_commit=0 and 2 promise.
func (s *Store) watch() {
	defer s.monitor.Done()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	ticks := 0
	blocks := blockHeap{slack: s.opts.CacheBytes / 32}
	s.checkSpace()
	for {
		select {
		case <-s.closed:
			return
		case <-s.disk.grown:
			guard.Do(s.opts.Logger, "looking for space", s.checkSpace)
		case <-tick.C:
			guard.Do(s.opts.Logger, "looking for space", s.checkSpace)
			guard.Do(s.opts.Logger, "syncing the log", s.syncLog)
			guard.Do(s.opts.Logger, "tidying up", func() {
				s.flushDeletions()
				blocks.returnFree()
				if ticks++; ticks%ageEvery == 0 {
					s.images.age()
				}
				if ticks%tailsEvery == 0 {
					s.syncTails()
				}
				if s.enter() == nil {
					defer s.exit()
					s.claimImages()
					s.dropStale()
				}
			})
		}
	}
}

// checkSpace refuses or allows writes by the free space.
func (s *Store) checkSpace() {
	s.space.Lock()
	defer s.space.Unlock()
	usage, err := s.opts.FS.GetDiskUsage(s.opts.Dir)
	if err != nil {
		// The file system reports no usage: find out by writing.
		if s.disk.full.Load() && s.probeSpace() {
			s.disk.full.Store(false)
		}
		return
	}
	s.free.Store(int64(min(usage.AvailBytes, 1<<62)))
	reserve := uint64(max(s.opts.DiskReserveBytes, 0))
	s.disk.spare.Store(reserve > 0 && usage.AvailBytes >= reserve/4)
	refuse := reserve
	if reserve > 0 && usage.AvailBytes < refuse+s.mostInMemory() {
		refuse += s.db.Metrics().WAL.Size // what is in memory only will be written
	}
	switch {
	case usage.AvailBytes < refuse:
		if !s.disk.full.Swap(true) {
			s.opts.Logger.Error("storage refuses writes", "event", "storage.full", "free_bytes", usage.AvailBytes, "reserve_bytes", refuse)
		}
	case s.disk.full.Load() && usage.AvailBytes >= refuse+reserve/8 && s.probeSpace():
		s.disk.full.Store(false)
		s.opts.Logger.Info("storage accepts writes again", "event", "storage.room", "free_bytes", usage.AvailBytes)
	}
}

// mostInMemory bounds what has to be written: writers wait when as much as
// pebbleOptions allows is in write buffers, and a transaction. Reading the metrics
// instead would look at every file.
func (s *Store) mostInMemory() uint64 {
	return uint64(memTables+1)*uint64(s.opts.MemTableBytes) + 2*uint64(s.Caps().MaxTxn)
}

// flushDeletions makes room of what was deleted on a full disk: as long as the
// deletions are in memory no compaction sees them.
func (s *Store) flushDeletions() {
	if s.disk.frozen() != nil || s.enter() != nil {
		return
	}
	defer s.exit()
	if s.deleted.Swap(0) == 0 {
		return
	}
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	if _, err := s.db.AsyncFlush(); err != nil {
		s.opts.Logger.Error("flush after deletions", "error", err.Error())
	}
}

// probeSpace reports whether a file can be written.
func (s *Store) probeSpace() bool {
	dfs := s.opts.FS
	name := dfs.PathJoin(s.opts.Dir, bulkDir, "probe")
	f, err := dfs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, 64<<10))
	err = errors.Join(err, f.Sync(), f.Close(), dfs.Remove(name))
	return err == nil
}

// syncLog makes all commits so far durable.
func (s *Store) syncLog() {
	if s.disk.full.Load() || s.disk.frozen() != nil || !s.unsynced.Swap(false) {
		return
	}
	if err := s.Sync(context.Background(), s.Seq()); err != nil && !errors.Is(err, storage.ErrClosed) {
		s.opts.Logger.Error("syncing the log", "error", err)
	}
}

// Sync implements storage.Store.
func (s *Store) Sync(ctx context.Context, seq uint64) error {
	if s.durable.Load() >= seq {
		return nil
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.exit()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.disk.syncWanted.Add(1)
	defer s.disk.syncWanted.Add(-1)
	upTo := s.seq.Load()
	if err := s.db.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("syncing the log: %w", err)
	}
	if err := s.disk.frozen(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	s.isDurable(upTo)
	return nil
}

// isDurable notes that the commits up to a sequence are on disk.
func (s *Store) isDurable(seq uint64) {
	for was := s.durable.Load(); was < seq && !s.durable.CompareAndSwap(was, seq); was = s.durable.Load() {
	}
}

// Close implements storage.Store. Calls in progress are waited for; snapshots
// and scanners that are still open are closed. It is idempotent.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		<-s.closed
		return s.closeErr
	}
	s.Manager.Close()
	close(s.disk.stop)
	for s.active.Load() > 0 {
		time.Sleep(100 * time.Microsecond)
	}
	s.handles.closeAll()
	s.snapshots.drop()
	s.claims.end()
	s.disk.syncWanted.Add(1) // the log is synced when it is closed
	err := s.db.Close()
	if err == nil && s.disk.frozen() == nil {
		err = s.disk.tails.finish(s.seq.Load())
	}
	err = errors.Join(err, s.lock.Close())
	if err == nil {
		err = s.disk.frozen()
	}
	if err != nil {
		s.closeErr = fmt.Errorf("closing %s: %w", s.opts.Dir, mapError(err))
	}
	close(s.closed)
	s.monitor.Wait()
	_ = s.disk.tails.close() // it was synced
	return s.closeErr
}

// ShrinkCache makes the block cache smaller than the options say, by bytes, until it is
// called again. Images that leave it too little are dropped.
func (s *Store) ShrinkCache(bytes int64) {
	if s.enter() != nil {
		return
	}
	defer s.exit()
	s.images.shrink(bytes)
	s.claimImages()
	s.claims.setShrink(bytes)
}

// Checkpoint implements storage.Store. The directory must not exist; the copy
// can be opened as a store.
func (s *Store) Checkpoint(dir string) (err error) {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.exit()
	if err := s.writable(); err != nil {
		return err
	}
	dfs := s.opts.FS
	if _, err := dfs.Stat(dir); err == nil {
		return fmt.Errorf("checkpoint: %s: %w", dir, fs.ErrExist)
	}
	s.disk.syncWanted.Add(1)
	defer s.disk.syncWanted.Add(-1)
	defer func() {
		if r := recover(); r != nil { // it cannot sync the copy's directory
			err = fmt.Errorf("checkpoint: %w", panicError(r))
		}
	}()
	before := s.disk.tails.copy()
	if err := s.db.Checkpoint(dfs.PathJoin(dir, kvDir), pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("checkpoint: %w", mapError(err))
	}
	if err := noteCopy(dfs, dir, before); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return writeFormat(dfs, dir)
}
