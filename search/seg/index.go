package seg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	"github.com/cespare/xxhash/v2"

	"github.com/sqlots/sqlots/internal/guard"
)

// Options tune an index. The zero value is good.
type Options struct {
	// PersistEvery is how long batches gather in memory before they are
	// written to disk, unless someone waits for that; 200 ms by default.
	PersistEvery time.Duration
	// MaxUnpersisted bounds the bytes of segments that are not on disk: Apply
	// waits above it. 64 MiB by default.
	MaxUnpersisted int
	// MaxSegmentDocs bounds the documents of what merges make, and so their
	// memory, up to MergeBytes a document; 2 million by default.
	MaxSegmentDocs int
	// SegmentsPerTier is how many segments of about one size are kept before
	// they are merged; 10 by default.
	SegmentsPerTier int
	// OnDurable is called with the checkpoint that a crash can no longer undo.
	// It must return soon and must not call the index.
	OnDurable func(checkpoint uint64)
	// OnDamage is called when damage is found in an open index, like OnDurable.
	OnDamage func()
}

func (o *Options) defaults() {
	if o.PersistEvery == 0 {
		o.PersistEvery = 200 * time.Millisecond
	}
	if o.MaxUnpersisted == 0 {
		o.MaxUnpersisted = 64 << 20
	}
	if o.MaxSegmentDocs == 0 {
		o.MaxSegmentDocs = 2_000_000
	}
	if o.SegmentsPerTier == 0 {
		o.SegmentsPerTier = 10
	}
}

// Index is one search index on disk. Snapshots may be taken concurrently with
// everything; Apply may be called concurrently and does one batch at a time.
type Index struct {
	dir         string
	schema      Schema
	opts        Options
	sc          *scorch.Scorch
	closeScorch func() error // sc.Close
	panicked    atomic.Bool  // a goroutine of scorch's

	maxUnpersisted atomic.Int64 // Options.MaxUnpersisted, see Bound

	applying   sync.Mutex
	merging    sync.Mutex
	appliedSeq atomic.Uint64
	durableSeq atomic.Uint64
	durable    atomic.Uint64 // checkpoint
	mergedSeq  atomic.Uint64 // a batch from it on has the last merged segment; all ones while that is introduced

	closed  atomic.Bool
	closing chan struct{}
	hurry   chan struct{} // has a value when someone waits for what is not on disk

	mu       sync.Mutex
	cached   *Snapshot
	progress chan struct{} // closed when anything has happened
	failed   error         // for ever
	trouble  error         // until the next success
	errors   int           // times trouble was set
}

// state is what every batch writes in addition to the caller's values: it names the
// snapshot, and describes the documents that it must have.
type state struct {
	checkpoint uint64
	docs       uint64 // live documents, nested ones not counted
	sum        uint64 // sum of the hashes of their ids
}

const stateKey = "s"

func (s state) encode() []byte {
	b := []byte{1}
	b = binary.LittleEndian.AppendUint64(b, s.checkpoint)
	b = binary.LittleEndian.AppendUint64(b, s.docs)
	b = binary.LittleEndian.AppendUint64(b, s.sum)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeState(b []byte) (state, error) {
	if b == nil {
		return state{}, nil
	}
	if len(b) != 29 || b[0] != 1 || crc32.Checksum(b[:25], castagnoli) != binary.LittleEndian.Uint32(b[25:]) {
		return state{}, damaged(rootFile, "the state has a wrong checksum")
	}
	return state{binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint64(b[9:]), binary.LittleEndian.Uint64(b[17:])}, nil
}

// Open opens the index in dir, or makes an empty one. What is wrong with its
// files is an ErrDamaged; then no segment has been removed, unless all files are
// whole and only do not belong together. A caller that remembers a durable
// checkpoint compares it: when the last page written to the root file is lost,
// the index is the one before.
func Open(dir string, s Schema, o Options) (*Index, error) {
	if !littleEndian {
		return nil, errors.New("search indexes need a little-endian processor")
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	o.defaults()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	register()
	ix := &Index{dir: dir, schema: s, opts: o, closing: make(chan struct{}), hurry: make(chan struct{}, 1), progress: make(chan struct{})}
	ix.maxUnpersisted.Store(int64(o.MaxUnpersisted))
	if _, busy := open.LoadOrStore(dir, ix); busy {
		return nil, fmt.Errorf("search index %s is open", dir)
	}
	if err := ix.open(); err != nil {
		open.Delete(dir)
		return nil, fmt.Errorf("open search index: %w", err)
	}
	return ix, nil
}

// open makes the first root of a new index, and starts.
func (ix *Index) open() error {
	isNew, err := checkRoot(ix.dir)
	if err != nil {
		return err
	}
	if err := removeStrays(ix.dir); err != nil {
		return err
	}
	if isNew {
		// from now on a root without segments, or no root, is damage
		if err := ix.start(time.Millisecond); err != nil {
			return err
		}
		err := ix.Apply(ix.NewBatch())
		if err == nil {
			err = ix.Persist(context.Background())
		}
		ix.mu.Lock()
		ix.dropCached()
		ix.mu.Unlock()
		byScorch.Delete(ix.sc)
		if err := errors.Join(err, ix.sc.Close()); err != nil {
			return err
		}
	}
	return ix.start(ix.opts.PersistEvery)
}

// filesBeforePurge is the number of files at which scorch looks for those that
// no snapshot needs. It also does when it has nothing to write, which under
// steady changes is never: files and snapshots, each with all numbers of deleted
// documents, would stay.
const filesBeforePurge = 128

// start has scorch open the files; nap is how long it gathers segments in
// memory.
func (ix *Index) start(nap time.Duration) (err error) {
	config := map[string]any{
		"path": ix.dir, "unsafe_batch": true, "bolt_timeout": lockTimeout.String(),
		"forceSegmentType": pluginType, "forceSegmentVersion": int(pluginVersion),
		"numSnapshotsToKeep":     1,
		"eventCallbackName":      callbackName,
		"asyncErrorCallbackName": callbackName,
		"scorchPersisterOptions": map[string]any{
			"PersisterNapTimeMSec": max(1, int(nap/time.Millisecond)), "PersisterNapUnderNumFiles": filesBeforePurge,
		},
		"scorchMergePlanOptions": map[string]any{
			"MaxSegmentsPerTier": ix.opts.SegmentsPerTier, "SegmentsPerMergeTask": ix.opts.SegmentsPerTier,
			"MaxSegmentSize": ix.opts.MaxSegmentDocs, "FloorSegmentSize": min(2000, ix.opts.MaxSegmentDocs),
			"TierGrowth": 10.0, "ReclaimDeletesWeight": 2.0,
		},
	}
	s, err := scorch.NewScorch(scorch.Name, config, queue)
	if err != nil {
		return err
	}
	ix.sc = s.(*scorch.Scorch)
	ix.closeScorch = ix.sc.Close
	byScorch.Store(ix.sc, ix)
	defer func() {
		if err != nil {
			byScorch.Delete(ix.sc)
		}
	}()
	if err := guarded(filepath.Join(ix.dir, rootFile), ix.sc.Open); err != nil {
		return err
	}
	if err = syncDir(ix.dir); err == nil {
		err = syncDir(filepath.Dir(ix.dir))
	}
	if err == nil {
		err = ix.checkState()
	}
	if err != nil {
		ix.shut()
		return err
	}
	return nil
}

// checkState compares what the index has with what its last batch said.
func (ix *Index) checkState() error {
	s, err := ix.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	if err := Guard(s.checkState); err != nil {
		return err
	}
	ix.durable.Store(s.Checkpoint())
	return nil
}

func (s *Snapshot) checkState() error {
	var docs, sum uint64
	for _, g := range s.segs {
		roots, n := g.Roots()
		docs += uint64(n)
		for d := nextBit(roots, 0, g.Docs()); int(d) < g.Docs(); d = nextBit(roots, d+1, g.Docs()) {
			sum += xxhash.Sum64(g.IDOf(d))
		}
	}
	if docs != s.state.docs || sum != s.state.sum {
		return damaged(rootFile, "%d documents of checkpoint %d instead of %d, or others", docs, s.state.checkpoint, s.state.docs)
	}
	return nil
}

// Dir is the directory of the index.
func (ix *Index) Dir() string { return ix.dir }

// Schema is what the index holds.
func (ix *Index) Schema() Schema { return ix.schema }

// Apply makes the changes of a batch visible, all at once, and durable within
// about Options.PersistEvery; a crash before takes whole batches back, the
// last ones first.
func (ix *Index) Apply(b *Batch) error {
	if b.err != nil {
		return fmt.Errorf("search index batch: %w", b.err)
	}
	f, err := b.build()
	if err != nil {
		return fmt.Errorf("search index batch: %w", err)
	}
	ix.applying.Lock()
	defer ix.applying.Unlock()
	return ix.apply(b, f)
}

// apply is Apply with what b has built; the caller has applying.
func (ix *Index) apply(b *Batch, f *file) error {
	if err := ix.waitForMemory(); err != nil {
		return err
	}
	snap, err := ix.Snapshot()
	if err != nil {
		return err
	}
	st := snap.state
	ib := index.NewBatch()
	near := snap.around(b.last)
	for id, row := range b.last {
		had := hasID(near, id)
		switch {
		case row >= 0 && !had:
			st.docs++
			st.sum += xxhash.Sum64String(id)
		case row < 0 && had:
			st.docs--
			st.sum -= xxhash.Sum64String(id)
		}
		if had {
			ib.Delete(id)
		}
	}
	_ = snap.Close()
	if f != nil {
		ib.Update(&carrier{file: f})
	}
	if b.hasCheckpoint {
		st.checkpoint = b.checkpoint
	}
	ib.SetInternal([]byte(stateKey), st.encode())
	for k, v := range b.internal {
		if v == nil {
			ib.DeleteInternal([]byte(k))
		} else {
			ib.SetInternal([]byte(k), v)
		}
	}
	seq := ix.appliedSeq.Load() + 1
	ib.SetPersistedCallback(func(err error) {
		if err == nil {
			ix.persisted(seq, st.checkpoint)
		}
	})
	if err := ix.sc.Batch(ib); err != nil {
		return fmt.Errorf("search index: %w", err)
	}
	ix.appliedSeq.Store(seq)
	ix.dropStale()
	return nil
}

// around are the segments that may have one of some ids.
func (s *Snapshot) around(ids map[string]int) (out []*Segment) {
	var least, most string
	for id := range ids {
		if least == "" || id < least {
			least = id
		}
		most = max(most, id)
	}
	for _, g := range s.segs {
		if !g.c.ids.isApart([]byte(least), []byte(most)) {
			out = append(out, g)
		}
	}
	return out
}

// hasID reports whether one of some segments has a document with the id.
func hasID(segs []*Segment, id string) bool {
	if len(segs) == 0 {
		return false
	}
	h := xxhash.Sum64String(id)
	for i := len(segs) - 1; i >= 0; i-- {
		g := segs[i]
		if doc, ok := g.c.ids.findHash([]byte(id), h); ok && (g.deleted == nil || !g.deleted.Contains(doc)) {
			return true
		}
	}
	return false
}

func (ix *Index) persisted(seq, checkpoint uint64) {
	ix.durableSeq.Store(seq)
	ix.durable.Store(checkpoint)
	if ix.opts.OnDurable != nil {
		ix.opts.OnDurable(checkpoint)
	}
	ix.mu.Lock()
	ix.trouble = nil
	ix.wake()
	ix.mu.Unlock()
}

// wake notifies those who wait that something has happened. mu is held.
func (ix *Index) wake() {
	close(ix.progress)
	ix.progress = make(chan struct{})
}

// unpersisted is the size of the segments that are only in memory.
func (ix *Index) unpersisted() (bytes, segments int, err error) {
	s, err := ix.Snapshot()
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	for _, g := range s.segs {
		if g.c.f.mm == nil {
			bytes += len(g.c.f.data)
			segments++
		}
	}
	return bytes, segments, nil
}

// Bound is Options.MaxUnpersisted from now on.
func (ix *Index) Bound(bytes int) { ix.maxUnpersisted.Store(int64(bytes)) }

// waitForMemory waits until there is room for another batch.
func (ix *Index) waitForMemory() error {
	for {
		ix.mu.Lock()
		ch, failed, trouble := ix.progress, ix.failed, ix.trouble
		ix.mu.Unlock()
		if failed != nil {
			return failed
		}
		n, _, err := ix.unpersisted()
		if err != nil {
			return err
		}
		if int64(n) <= ix.maxUnpersisted.Load() {
			return nil
		}
		if trouble != nil {
			return trouble
		}
		ix.hurryUp()
		select {
		case <-ch:
		case <-ix.closing:
			return ErrClosed
		}
	}
}

// Persist waits until everything that was applied before is durable.
func (ix *Index) Persist(ctx context.Context) error {
	want := ix.appliedSeq.Load()
	for {
		ix.mu.Lock()
		ch, failed, trouble := ix.progress, ix.failed, ix.trouble
		ix.mu.Unlock()
		switch {
		case ix.durableSeq.Load() >= want:
			return nil
		case failed != nil:
			return failed
		case trouble != nil:
			return trouble
		}
		ix.hurryUp()
		select {
		case <-ch:
		case <-ctx.Done():
			return ctx.Err()
		case <-ix.closing:
			return ErrClosed
		}
	}
}

// Durable is the checkpoint that a crash can no longer undo.
func (ix *Index) Durable() uint64 { return ix.durable.Load() }

// Merge merges all segments that are on disk into as few as their bound allows.
func (ix *Index) Merge(ctx context.Context) error {
	if ix.closed.Load() {
		return ErrClosed
	}
	ix.merging.Lock()
	defer ix.merging.Unlock()
	if err := ix.Persist(ctx); err != nil {
		return err
	}
	// scorch retries for ever what fails, also when ctx is done: the first error ends
	// the wait
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ix.mu.Lock()
	errorsBefore := ix.errors
	ix.mu.Unlock()
	go func() {
		for ctx.Err() == nil {
			ix.mu.Lock()
			ch, n, trouble, failed := ix.progress, ix.errors, ix.trouble, ix.failed
			ix.mu.Unlock()
			switch {
			case failed != nil:
				cancel(failed)
			case n != errorsBefore && trouble != nil:
				cancel(trouble)
			}
			select {
			case <-ch:
			case <-ctx.Done():
			}
		}
	}()
	done := make(chan error, 1)
	go func() {
		done <- guard.Run(func() error { return ix.sc.ForceMerge(ctx, singleSegment(ix.opts.MaxSegmentDocs)) })
	}()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("merge search index: %w", err)
		}
	case <-ctx.Done():
	}
	if ix.closed.Load() {
		return ErrClosed
	}
	return context.Cause(ctx)
}

// Scattering is what Merge has to do.
type Scattering struct {
	Segments int // those that it joins
	Docs     int // of all segments, those that are not deleted
	Small    int // of Segments but the largest
}

// Scattered looks how the documents are spread over segments.
func (ix *Index) Scattered() (s Scattering, err error) {
	snap, err := ix.Snapshot()
	if err != nil {
		return s, err
	}
	defer snap.Close()
	largest := 0
	for _, g := range snap.segs {
		n := g.Docs() - g.Deleted()
		s.Docs += n
		if n < ix.opts.MaxSegmentDocs/2 { // as merges see it
			s.Segments++
			s.Small += n
			largest = max(largest, n)
		}
	}
	s.Small -= largest
	return s, nil
}

// Snapshot gives the newest state. The caller closes it.
func (ix *Index) Snapshot() (*Snapshot, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed.Load() {
		return nil, ErrClosed
	}
	if errors.Is(ix.failed, ErrDamaged) {
		return nil, ix.failed
	}
	r, err := ix.sc.Reader()
	if err != nil {
		return nil, err
	}
	root, ok := r.(*scorch.IndexSnapshot)
	if !ok || root == nil {
		return nil, ErrClosed
	}
	if c := ix.cached; c != nil && c.root == root && c.acquire() {
		_ = root.Close()
		return c, nil
	}
	ix.dropCached()
	s, err := ix.newSnapshot(root)
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	s.refs.Store(2) // the cache's and the caller's
	ix.cached = s
	return s, nil
}

func (ix *Index) newSnapshot(root *scorch.IndexSnapshot) (*Snapshot, error) {
	st, err := decodeState(root.Internal()[stateKey])
	if err != nil {
		return nil, err
	}
	s := &Snapshot{ix: ix, root: root, state: st}
	for _, ss := range root.Segments() {
		c := ss.Segment().(interface{ base() *core }).base()
		s.segs = append(s.segs, &Segment{
			id: ss.Id(), c: c, schema: &ix.schema, deleted: ss.Deleted(), live: c.liveOf(ss.Deleted()), onError: ix.note,
		})
	}
	return s, nil
}

// dropCached gives up the cache's snapshot. mu is held.
func (ix *Index) dropCached() {
	if ix.cached != nil {
		_ = ix.cached.Close()
		ix.cached = nil
	}
}

// dropStale gives the cached snapshot up if it is no longer the newest, so
// that it does not hold files.
func (ix *Index) dropStale() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.cached == nil || ix.closed.Load() {
		return
	}
	r, err := ix.sc.Reader()
	if err != nil {
		return
	}
	root, _ := r.(*scorch.IndexSnapshot)
	if root != ix.cached.root {
		ix.dropCached()
	}
	if root != nil {
		_ = root.Close()
	}
}

// event is called by scorch's goroutines.
func (ix *Index) event(k scorch.EventKind) bool {
	debug.SetPanicOnFault(true) // the goroutine's: scorch recovers, and reports to asyncError
	switch k {
	case scorch.EventKindMergeTaskIntroductionStart:
		ix.mergedSeq.Store(math.MaxUint64)
	case scorch.EventKindMergeTaskIntroduction:
		ix.mergedSeq.Store(ix.appliedSeq.Load() + 2) // the next batch may be in the root already
		fallthrough
	case scorch.EventKindPersisterProgress, scorch.EventKindPurgerCheck:
		ix.dropStale()
		ix.mu.Lock()
		ix.wake()
		ix.mu.Unlock()
	}
	if k == scorch.EventKindPersisterProgress {
		ix.gather()
	}
	return true
}

// gather holds up scorch's persister after it has written: its own nap ends whenever the
// merger has done something, which it has after each file.
func (ix *Index) gather() {
	t := time.NewTimer(ix.opts.PersistEvery)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ix.hurry:
	case <-ix.closing:
	}
}

// hurryUp ends gather.
func (ix *Index) hurryUp() {
	select {
	case ix.hurry <- struct{}{}:
	default:
	}
}

// dead reports whether the index is damaged.
func (ix *Index) dead() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return errors.Is(ix.failed, ErrDamaged)
}

// note remembers that a file is damaged: the index can no longer be used.
func (ix *Index) note(err error) {
	if !errors.Is(err, ErrDamaged) {
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !errors.Is(ix.failed, ErrDamaged) {
		ix.failed = err
		if ix.opts.OnDamage != nil {
			ix.opts.OnDamage()
		}
	}
	ix.wake()
}

// errorPause is how long scorch's goroutines wait after an error before they
// try again: of their own they do not.
const errorPause = time.Second

// asyncError is called by scorch's goroutines, which go on when it returns.
func (ix *Index) asyncError(err error) {
	ix.mu.Lock()
	ix.trouble = fmt.Errorf("search index: %w", err)
	ix.errors++
	if errors.Is(err, scorch.ErrAsyncPanic) || strings.Contains(err.Error(), "panic") {
		ix.panicked.Store(true)
		if ix.failed == nil {
			ix.failed = ix.trouble
		}
	}
	ix.wake()
	ix.mu.Unlock()
	select {
	case <-ix.closing:
	case <-time.After(errorPause):
	}
}

// Err is the error because of which the index does not take batches: for ever,
// or until writing to the disk succeeds again.
func (ix *Index) Err() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.failed != nil {
		return ix.failed
	}
	return ix.trouble
}

// Close makes durable what was applied and merged, if it can, and closes the index.
// Snapshots stay readable.
func (ix *Index) Close() error {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	if ix.closed.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := ix.Persist(ctx)
	if err == nil && ix.appliedSeq.Load() < ix.mergedSeq.Load() {
		// An empty batch has a merged segment made durable, which is a file at once, but a
		// start removes what the root file does not name.
		if err = ix.apply(ix.NewBatch(), nil); err == nil {
			err = ix.Persist(ctx)
		}
	}
	return errors.Join(err, ix.shut())
}

// shut closes without waiting for what is not durable.
func (ix *Index) shut() error {
	ix.mu.Lock()
	if ix.closed.Swap(true) {
		ix.mu.Unlock()
		return nil
	}
	ix.dropCached()
	close(ix.closing)
	ix.mu.Unlock()
	err := ix.closeWithin()
	byScorch.Delete(ix.sc)
	open.Delete(ix.dir)
	return err
}

// closeWait bounds closing after a panic.
var closeWait = 5 * time.Second

// closeWithin closes scorch. A panic within a transaction of bbolt leaves its
// lock taken: then scorch does not close ever, and its files stay open.
func (ix *Index) closeWithin() error {
	if !ix.panicked.Load() {
		return ix.closeScorch()
	}
	done := make(chan error, 1)
	go func() { done <- guard.Run(ix.closeScorch) }()
	select {
	case err := <-done:
		return err
	case <-time.After(closeWait):
		return fmt.Errorf("search index %s: does not close", ix.dir)
	}
}

// Verify reads all files and compares all checksums.
func (ix *Index) Verify(ctx context.Context) error {
	s, err := ix.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	for _, g := range s.segs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.c.f.verify(); err != nil {
			ix.note(err)
			return err
		}
	}
	if err := Guard(s.checkState); err != nil {
		ix.note(err)
		return err
	}
	return nil
}

// Stats describes an index.
type Stats struct {
	Checkpoint  uint64
	Durable     uint64
	Docs        int // nested ones not counted
	Deleted     int // documents in segments that are deleted, nested ones counted
	Segments    int
	InMemory    int // segments that are not on disk
	MemoryBytes int // of those
	DiskBytes   int64
	Files       int
}

// Stats describes the index.
func (ix *Index) Stats() (Stats, error) {
	s, err := ix.Snapshot()
	if err != nil {
		return Stats{}, err
	}
	defer s.Close()
	st := Stats{Checkpoint: s.Checkpoint(), Durable: ix.Durable(), Docs: s.Docs(), Segments: len(s.segs)}
	for _, g := range s.segs {
		st.Deleted += g.Deleted()
		if g.c.f.mm == nil {
			st.InMemory++
			st.MemoryBytes += len(g.c.f.data)
		}
	}
	list, err := os.ReadDir(ix.dir)
	if err != nil {
		return st, err
	}
	for _, e := range list {
		if i, err := e.Info(); err == nil {
			st.Files++
			st.DiskBytes += i.Size()
		}
	}
	return st, nil
}

// Drop removes the files of an index that is not open; its directory is free at
// once for a new one. Files that a crash leaves have a name that ends in .gone.
func Drop(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, busy := open.Load(dir); busy {
		return fmt.Errorf("drop search index: %s is open", dir)
	}
	gone := dir + ".gone"
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(dir, gone); err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}
