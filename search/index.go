package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// State is what an index is good for.
type State uint32

// States of indexes.
const (
	Building State = iota
	Ready
	// Failed: something is wrong, and tried again after a while.
	Failed
)

// String is the state as users see it.
func (s State) String() string { return [...]string{"building", "ready", "failed"}[s] }

// Index is one search index, with what keeps it up to date.
type Index struct {
	m    *Manager
	dir  string
	desc atomic.Pointer[descriptor]
	stop context.CancelFunc
	// remove: the files go when the work has ended. Set before stop.
	remove bool
	// opened: the files are those of this run. It belongs to run.
	opened bool
	// took is how long the last batches took since the last rest, batches counts all of
	// this run; they are run's as well.
	took    time.Duration
	batches int
	// floor is needs while no files are open; 0: all records are needed.
	floor atomic.Uint64
	// wakeup is signalled on changes after reached, on damage, and on queries that find
	// the files closed.
	wakeup chan struct{}
	// form is what the files were last opened with.
	form    atomic.Pointer[seg.Schema]
	reached atomic.Uint64
	used    atomic.Int64 // time of the last query, in nanoseconds since 1970

	mu  sync.Mutex
	now State
	err error // the last one
	// failures are those in a row, failed is the time of the last.
	failures int
	failed   time.Time
	seg      *seg.Index
	// asleep: the files are closed, because no query needed them; they are opened
	// by the next query or change. stats are the last ones.
	asleep  bool
	stats   fileStats
	changed chan struct{} // closed when the state or the files have changed
	// covers: the files whose checkpoint is the first sequence number have all
	// changes up to the second.
	covers [2]uint64
	docs   int
	// upToDate is when the store was last known to have no more than the files;
	// idle: it is waited for to have more, which poll says.
	upToDate time.Time
	idle     bool
}

type descriptor struct {
	table *schema.Table
	index *schema.SearchIndex
	next  bool // the generation that will be
	// written is the watermark of the table's change log; nil without a log, and where
	// others write to the store too.
	written *storage.Watermark
}

func (d *descriptor) is(t *schema.Table, x *schema.SearchIndex, next bool) bool {
	return d.table == t && d.index == x && d.next == next
}

// unchanged reports whether no visible commit after a sequence has written to the log.
func (d *descriptor) unchanged(after uint64) bool {
	return d.written != nil && d.written.Seq() <= after
}

// fileStats are figures read from the files.
type fileStats struct {
	bytes                      int64
	segments, memory, rejected int
}

// Info describes an index for humans.
type Info struct {
	Table *schema.Table
	Index *schema.SearchIndex
	// Next: it does not serve queries yet, but will instead of another.
	Next  bool
	State State
	Err   error
	// Failures are those in a row.
	Failures int
	// Docs is the number of rows in the index. Low is the sequence up to which it has
	// all changes. Lag is how far that is behind the store's own sequence: the number of
	// the later commits, of all tables, where only this process writes to the store; elsewhere
	// 0 means that nothing was missing a moment ago.
	// Behind is an upper bound of how long the first of them has waited.
	Docs int
	// Rejected are those of them of which a field could not take the value.
	Rejected int
	Low      uint64
	Lag      uint64
	Behind   time.Duration
	// Bytes are those on disk, Memory those of Segments that are not.
	Bytes    int64
	Segments int
	Memory   int
}

// holds reports whether the files have been opened with all fields of a descriptor. A
// field may be added without a build: until they are opened again, no document may be
// made of a row that can have it, and no statement may read it.
func (x *Index) holds(d *schema.SearchIndex) bool {
	if d.Form != schema.FormColumnar {
		return true
	}
	form := x.form.Load()
	if form == nil {
		return false
	}
	have := make(map[seg.FieldID]bool, len(form.Fields))
	for _, f := range form.Fields {
		have[f.ID] = true
	}
	return !slices.ContainsFunc(d.Fields, func(f schema.SearchField) bool { return !have[seg.FieldID(f.ID)] })
}

// errReopen: the index has fields that its files were opened without.
var errReopen = errors.New("other fields")

func (x *Index) state() State {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now
}

// Docs is the number of rows that the index had when it last caught up.
func (x *Index) Docs() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.docs
}

// news is closed when something has changed.
func (x *Index) news() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.changed
}

func (x *Index) set(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fn()
	close(x.changed)
	x.changed = make(chan struct{})
}

// Of is the table and the descriptor of the index; next: it does not serve queries
// yet, but will instead of another.
func (x *Index) Of() (t *schema.Table, d *schema.SearchIndex, next bool) {
	desc := x.desc.Load()
	return desc.table, desc.index, desc.next
}

// Info describes the index.
func (x *Index) Info() Info {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.desc.Load()
	i := Info{Table: d.table, Index: d.index, Next: d.next, State: x.now, Err: x.err, Failures: x.failures, Docs: x.docs, Low: x.covers[1]}
	if x.now == Ready {
		seq := x.m.cfg.Store.Seq()
		if d.unchanged(i.Low) {
			i.Low = max(i.Low, seq)
		}
		// Where others write too, an idle index has all that was settled when it looked.
		if seq > i.Low && !(x.idle && d.written == nil) {
			i.Lag, i.Behind = seq-i.Low, time.Since(x.upToDate)
			if x.idle {
				i.Behind = min(i.Behind, tickAfter+tickEvery)
			}
		}
	}
	if x.seg != nil {
		x.stats = readStats(d, x.seg, x.stats)
	}
	i.Bytes, i.Segments, i.Memory, i.Rejected = x.stats.bytes, x.stats.segments, x.stats.memory, x.stats.rejected
	return i
}

// readStats reads what it can; the rest is as before.
func readStats(d *descriptor, files *seg.Index, s fileStats) fileStats {
	if f, err := files.Stats(); err == nil {
		s.bytes, s.segments, s.memory = f.DiskBytes, f.Segments, f.MemoryBytes
	}
	if snap, err := files.Snapshot(); err == nil {
		_ = seg.Guard(func() error {
			n, err := countRejected(snap, d.index)
			if err == nil {
				s.rejected = n
			}
			return err
		})
		_ = snap.Close() // it was read alone
	}
	return s
}

// retryAfter is how long an index waits after a failure. Failures that are
// forgetFailures apart do not count as consecutive.
const (
	retryAfter     = 5 * time.Second
	forgetFailures = time.Minute
)

// run keeps the index until ctx ends.
func (x *Index) run(ctx context.Context, turn Turn) {
	for ctx.Err() == nil {
		err := turn(ctx, func(ctx context.Context) error {
			return seg.Guard(func() error { return x.serve(storage.ReadingOnce(ctx)) })
		})
		if errors.Is(err, errIdle) {
			x.sleep(ctx)
			continue
		}
		if errors.Is(err, errReopen) {
			x.close()
			continue
		}
		x.close()
		if ctx.Err() != nil {
			break
		}
		d := x.desc.Load()
		guard.Log(x.m.cfg.Log, "search index "+d.index.Name, err)
		x.m.cfg.Log.Error("search index", "event", "search.failed", "table", d.table.Database+"."+d.table.Name, "index", d.index.Name, "error", err)
		anew := false
		if errors.Is(err, seg.ErrDamaged) || errors.Is(err, errStale) {
			if anew = seg.Drop(x.dir) == nil; anew {
				x.floor.Store(0) // the next build begins where the store is then
			}
		}
		often := false
		x.set(func() {
			if time.Since(x.failed) > forgetFailures {
				x.failures = 0
			}
			x.failures++
			x.failed, x.err, x.idle = time.Now(), err, false
			often = x.failures > maxFailures
			x.asleep, x.stats = false, fileStats{}
			if x.now = Failed; anew {
				x.now, x.covers, x.docs = Building, [2]uint64{}, 0
			}
		})
		if anew && !often {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(x.m.retry):
		}
	}
	x.close()
	x.set(func() { x.asleep = false }) // nothing opens the files any more
	if x.remove {
		if err := seg.Drop(x.dir); err != nil {
			x.m.cfg.Log.Error("removing a search index", "directory", x.dir, "error", err)
		}
	}
}

func (x *Index) close() {
	x.mu.Lock()
	s := x.seg
	if s != nil {
		x.floor.Store(s.Durable())
	}
	x.seg = nil
	x.mu.Unlock()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil && !errors.Is(err, seg.ErrDamaged) {
		x.m.cfg.Log.Error("closing a search index", "directory", x.dir, "error", err)
	}
}

// errStale: the files cannot be brought up to date.
var errStale = errors.New("the files do not belong to this state of the store")

// Values that batches set next to the checkpoint, which is low.
const (
	valueHigh     = "high"
	valueBuilt    = "built"
	valuePosition = "position"
)

// Rows of a slice of a build and records of a batch, at least.
const (
	buildRows   = 2000
	tailRecords = 2000
)

// bounds returns the sequence up to which a snapshot has all changes, and the highest
// one of which it may have some.
func bounds(s *seg.Snapshot) (low, high uint64) {
	low = s.Checkpoint()
	if v := s.Value(valueHigh); len(v) == 8 {
		high = binary.BigEndian.Uint64(v)
	}
	return low, max(low, high)
}

func setBounds(b *seg.Batch, low, high uint64) {
	b.Checkpoint(low)
	b.Set(valueHigh, binary.BigEndian.AppendUint64(nil, high))
}

// serve opens the files, completes them and follows the change log.
func (x *Index) serve(ctx context.Context) error {
	begin, err := x.m.cfg.Store.Settled(ctx)
	if err != nil {
		return err
	}
	x.floor.CompareAndSwap(0, begin)
	d := x.desc.Load()
	form, err := x.m.cfg.Rows.Schema(d.table, d.index)
	if err != nil {
		return err
	}
	files, err := seg.Open(x.dir, form, seg.Options{MaxUnpersisted: maxUnpersisted, MaxSegmentDocs: x.m.memory.segmentDocs(), OnDamage: x.wake})
	if err != nil {
		return err
	}
	x.form.Store(&form)
	x.set(func() { x.seg, x.asleep = files, false })
	files.Bound(int(x.m.bound.Load()))
	snap, err := files.Snapshot()
	if err != nil {
		return err
	}
	low, high := bounds(snap)
	built, position := snap.Value(valueBuilt) != nil, bytes.Clone(snap.Value(valuePosition))
	docs := snap.Docs()
	if err := snap.Close(); err != nil {
		return err
	}
	switch {
	case low == 0: // new
		low = x.floor.Load()
		b := files.NewBatch()
		setBounds(b, low, low)
		if err := x.apply(ctx, files, b, low); err != nil {
			return err
		}
	case high > x.last() && !built:
		return fmt.Errorf("%w: it was built up to %d, the store is at %d", errStale, high, x.last())
	case high > x.last():
		return fmt.Errorf("%w: it is at %d, the store at %d", errStale, high, x.last())
	default:
		x.floor.Store(low)
		if err := x.checkLog(ctx, low); err != nil {
			return err
		}
	}
	x.opened = true
	x.set(func() { x.docs = docs })
	if !built {
		if err := x.build(ctx, files, low, position); err != nil {
			return err
		}
	}
	return x.follow(ctx, files)
}

// last is the highest sequence that files of this store can have. A store that has lost
// its last commits in a crash assigns their sequences again: files of an earlier run
// are compared with the sequence at which this run began.
func (x *Index) last() uint64 {
	if !x.opened {
		return x.m.began
	}
	return x.m.cfg.Store.Seq()
}

// checkLog returns errStale when the log no longer has all records after a sequence.
func (x *Index) checkLog(ctx context.Context, low uint64) error {
	d := x.desc.Load()
	if d.table.Stream == nil {
		return fmt.Errorf("table %s.%s has no change log", d.table.Database, d.table.Name)
	}
	mark, err := stream.Mark(ctx, x.m.cfg.Store.Latest(), d.table.Stream.ID)
	if err == nil && mark > low {
		err = fmt.Errorf("%w: it is at %d, the change log begins behind %d", errStale, low, mark)
	}
	return err
}

// build puts the rows from a position on into the files, in slices.
func (x *Index) build(ctx context.Context, files *seg.Index, low uint64, position []byte) error {
	b := files.NewBatch()
	for done := false; !done; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if position, done, err = x.slice(ctx, files, b, low, position); err != nil {
			return err
		}
		b.Reset()
		x.set(func() {})
	}
	return nil
}

// snapshot is a state of the store, and the descriptor that says where the rows are in
// it. One that is published meanwhile may be about another table, a copy, which was not
// filled yet in that state.
func (x *Index) snapshot(ctx context.Context) (storage.Snapshot, *descriptor, error) {
	for {
		d := x.desc.Load()
		snap, err := x.m.cfg.Store.Snapshot(ctx)
		if err != nil {
			return nil, nil, err
		}
		if x.desc.Load() == d {
			x.m.cfg.Steps.At(step.FollowTaken)
			return snap, d, nil
		}
		if err := snap.Close(); err != nil {
			return nil, nil, err
		}
	}
}

// moved reports whether the rows of a descriptor may be gone by now: see
// storage.Store.Discard. What was read of them before is right if they are not.
func (x *Index) moved(d *descriptor) bool { return x.desc.Load().table.ID != d.table.ID }

// slice is one step of build.
func (x *Index) slice(ctx context.Context, files *seg.Index, b *seg.Batch, low uint64, position []byte) (next []byte, done bool, err error) {
	select {
	case x.m.building <- struct{}{}:
		defer func() { <-x.m.building }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	snap, d, err := x.snapshot(ctx)
	if err != nil {
		return nil, false, err
	}
	defer snap.Close()
	if !x.holds(d.index) {
		return nil, false, errReopen
	}
	prefix := table.TablePrefix(nil, d.table.ID, schema.PrimaryIndexID)
	span := table.IndexSpan(d.table.ID, schema.PrimaryIndexID)
	if position != nil {
		span.Start = append(append(bytes.Clone(prefix), position...), 0)
	}
	scan, err := snap.Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: buildRows, Cold: true})
	if err != nil {
		return nil, false, err
	}
	var keys [][]byte
	done, err = scan.Visit(ctx, func(key, _ []byte) bool {
		keys = append(keys, bytes.Clone(key[len(prefix):]))
		return len(keys) < buildRows
	})
	if err = errors.Join(err, scan.Close()); err != nil {
		return nil, false, err
	}
	n, err := x.m.cfg.Rows.Add(ctx, snap, d.table, d.index, keys, b)
	if err != nil {
		return nil, false, err
	}
	before := position
	if n < len(keys) { // large rows
		keys, done = keys[:n], false
	}
	setBounds(b, low, snap.Seq())
	if done {
		b.Set(valueBuilt, []byte{1})
		b.Set(valuePosition, nil)
	} else {
		position = keys[len(keys)-1]
		b.Set(valuePosition, position)
	}
	x.m.cfg.Steps.At(step.FollowMade)
	if x.moved(d) {
		return before, false, nil
	}
	if err := x.apply(ctx, files, b, snap.Seq()); err != nil {
		return nil, false, err
	}
	x.set(func() { x.docs += len(keys) })
	return position, done, nil
}

// follow has the files follow the change log until ctx ends.
func (x *Index) follow(ctx context.Context, files *seg.Index) error {
	snap, err := files.Snapshot()
	if err != nil {
		return err
	}
	low, high := bounds(snap)
	if err := snap.Close(); err != nil {
		return err
	}
	timer := time.NewTimer(x.m.idle)
	defer timer.Stop()
	quiet := x.newQuiet(files)
	defer quiet.end()
	for {
		if !x.holds(x.desc.Load().index) {
			return errReopen
		}
		upTo, more, err := x.step(ctx, files, low, high)
		if err != nil {
			return err
		}
		low, high = upTo, max(high, upTo)
		x.reached.Store(low)
		if more {
			continue
		}
		if err := x.rest(ctx); err != nil {
			return err
		}
		if w := x.desc.Load().written; w != nil && w.Seq() > low { // by a commit that could not be seen yet
			x.m.nudge()
		}
		x.setIdle(true)
		timer.Reset(x.m.idle)
		quiet.begins()
		for woken := false; !woken; {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-x.wakeup:
				woken = true
			case <-quiet.timer.C:
				quiet.lasts(ctx)
			case <-timer.C:
				left := x.m.idle - time.Since(time.Unix(0, x.used.Load()))
				switch {
				case quiet.runs():
					left = max(left, x.m.mergeAfter)
				case left <= 0:
					return errIdle
				}
				timer.Reset(left)
			}
		}
		x.setIdle(false)
	}
}

// errIdle: the files have not been needed for a while.
var errIdle = errors.New("idle")

// sleep closes the files until they are needed, or ctx ends.
func (x *Index) sleep(ctx context.Context) {
	x.mu.Lock()
	files := x.seg
	x.mu.Unlock()
	stats := readStats(x.desc.Load(), files, fileStats{})
	x.set(func() { x.asleep, x.stats = true, stats })
	x.close()
	select {
	case <-ctx.Done():
	case <-x.wakeup:
	}
}

// wake has the index look what there is.
func (x *Index) wake() {
	select {
	case x.wakeup <- struct{}{}:
	default:
	}
}

// needs is the sequence after which the index may read the change log again.
func (x *Index) needs() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seg != nil {
		return x.seg.Durable()
	}
	return x.floor.Load()
}

func (x *Index) setIdle(is bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.idle = is; !is {
		x.upToDate = time.Now()
	}
}

// step applies changes after low to the files, all or some of them, and returns the
// sequence up to which it did.
func (x *Index) step(ctx context.Context, files *seg.Index, low, high uint64) (upTo uint64, more bool, err error) {
	seen := time.Now()
	if at := x.m.cfg.Store.Seq(); x.desc.Load().unchanged(low) {
		upTo = max(low, at)
		return upTo, false, x.settle(files, upTo, true, seen)
	}
	snap, d, err := x.snapshot(ctx)
	if err != nil {
		return 0, false, err
	}
	defer snap.Close()
	at, err := snap.Settled(ctx)
	if err != nil {
		return 0, false, err
	}
	if at <= low {
		return low, false, x.settle(files, low, true, seen)
	}
	if d.table.Stream == nil {
		return 0, false, fmt.Errorf("table %s.%s has no change log", d.table.Database, d.table.Name)
	}
	if err := x.checkLog(ctx, low); err != nil {
		return 0, false, err
	}
	keys, last, done, err := changedKeys(ctx, snap, d.table.Stream.ID, low, at, tailRecords)
	if err != nil {
		return 0, false, err
	}
	x.m.cfg.Steps.At(step.FollowRead)
	upTo = at
	if !done {
		upTo = last
	}
	if len(keys) > 0 {
		if ok, err := x.update(ctx, files, snap, d, keys, low, upTo, max(high, snap.Seq())); err != nil || !ok {
			return low, true, err
		}
	}
	return upTo, !done, x.settle(files, upTo, done, seen)
}

// update applies changed rows to the files: all changes after low, up to upTo. Its
// batches are of bounded size. Only the last one advances the files' checkpoint. ok is
// false when it has to begin again, in a newer state of the store.
func (x *Index) update(ctx context.Context, files *seg.Index, snap storage.Snapshot, d *descriptor, keys [][]byte, low, upTo, high uint64) (ok bool, err error) {
	select {
	case x.m.updating <- struct{}{}:
		defer func() { <-x.m.updating }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if !x.holds(d.index) {
		return false, errReopen
	}
	b := files.NewBatch()
	for len(keys) > 0 {
		n, err := x.m.cfg.Rows.Add(storage.ReadingFresh(ctx), snap, d.table, d.index, keys[:min(len(keys), 2*tailRecords)], b)
		if err != nil {
			return false, err
		}
		if keys = keys[n:]; len(keys) == 0 {
			low = upTo
		}
		setBounds(b, low, high)
		x.m.cfg.Steps.At(step.FollowMade)
		if x.moved(d) {
			return false, nil
		}
		if err := x.apply(ctx, files, b, snap.Seq()); err != nil {
			return false, err
		}
		x.m.cfg.Steps.At(step.FollowApplied)
		b.Reset()
	}
	return true, nil
}

// apply puts a batch into the files that was made of the store's state at a
// sequence. The store has that on disk before: files that outlive more than the
// store does are of no use after a crash.
func (x *Index) apply(ctx context.Context, files *seg.Index, b *seg.Batch, at uint64) error {
	if err := x.m.cfg.Store.Sync(ctx, at); err != nil {
		return err
	}
	start := time.Now()
	err := files.Apply(b)
	x.took += time.Since(start)
	x.batches++
	return err
}

// A batch costs time in proportion to the index, as the counts of deleted documents are
// copied. An index pauses restPer times as long as the last batch took, at most
// maxRest, so its batches become larger by that factor.
const (
	restPer = 3
	minRest = time.Millisecond
	maxRest = 25 * time.Millisecond
)

func (x *Index) rest(ctx context.Context) error {
	d := min(restPer*x.took, maxRest)
	x.took = 0
	if d < minRest {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// settle notes that the files say all up to a sequence; done: which was all that
// the store had at a time.
func (x *Index) settle(files *seg.Index, upTo uint64, done bool, seen time.Time) error {
	s, err := files.Snapshot()
	if err != nil {
		return err
	}
	checkpoint, docs := s.Checkpoint(), s.Docs()
	if err := s.Close(); err != nil {
		return err
	}
	x.set(func() {
		x.covers, x.docs = [2]uint64{checkpoint, max(upTo, x.covers[1])}, docs
		if done {
			x.now, x.upToDate, x.failures = Ready, seen, 0
		}
	})
	x.m.cfg.Steps.At(step.FollowSettled)
	return nil
}

// changedKeys returns the keys of rows changed after a sequence, up to upTo; ascending,
// each once. With a limit it stops after the commit that reaches it; last is that
// commit's sequence.
func changedKeys(ctx context.Context, kv storage.Reader, id schema.StreamID, after, upTo uint64, limit int) (keys [][]byte, last uint64, done bool, err error) {
	cur, err := stream.Open(ctx, kv, id, stream.Options{After: stream.Behind(after), To: stream.Behind(upTo)})
	if err != nil {
		return nil, 0, false, err
	}
	full := false
	for !done && !full {
		done, err = cur.Visit(ctx, func(r *stream.Record) bool {
			if limit > 0 && len(keys) >= limit && r.Seq != last {
				full = true
				return false
			}
			last = r.Seq
			if r.Kind.OfTable() {
				return true
			}
			keys = append(keys, bytes.Clone(r.Key))
			if r.OldKey != nil {
				keys = append(keys, bytes.Clone(r.OldKey))
			}
			return true
		})
		if err != nil {
			return nil, 0, false, errors.Join(err, cur.Close())
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal), last, done, cur.Close()
}
