package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/stream"
)

// Rows makes documents of the rows of tables.
type Rows interface {
	// Schema is what the files of an index hold.
	Schema(t *schema.Table, x *schema.SearchIndex) (seg.Schema, error)
	// Add puts the documents of rows into a batch, in order: of those whose keys
	// (without the table's prefix, ascending) kv has. The others it deletes. It may end
	// where the batch has become large, and returns how many keys it was through with:
	// at least one.
	Add(ctx context.Context, kv storage.Reader, t *schema.Table, x *schema.SearchIndex, keys [][]byte, b *seg.Batch) (int, error)
}

// Config is what a Manager works with.
type Config struct {
	Store storage.Store
	// Dir is where the indexes have their directories; nothing else is in it.
	Dir  string
	Rows Rows
	Log  *slog.Logger
	// Start runs the loop of an index in the background until run returns; nil: in a
	// goroutine. It has to call run.
	Start func(name string, run func(ctx context.Context, turn Turn))
	// Memory is what all indexes together may hold, in bytes; 0 for 256 MiB.
	Memory int64
	// Account, if not nil, is called with the bytes that they may hold, which
	// depend on their number.
	Account interface{ Hold(n int64) }
	// Knobs are for tests.
	Knobs Knobs
	// Steps is called at the steps of views and updates, for tests.
	Steps step.Hook
}

// Turn does a unit of the work of a loop. A panic is an error; the work can be
// interrupted by its context.
type Turn func(ctx context.Context, work func(ctx context.Context) error) error

// Manager keeps the search indexes of a store. It is safe for concurrent use.
type Manager struct {
	cfg  Config
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	// began is where the store was when the Manager was made.
	began uint64

	retry time.Duration // retryAfter, but in tests
	idle  time.Duration // idleAfter, but in tests
	// mergeAfter is the constant of this name, but in tests.
	mergeAfter time.Duration
	memory     memory
	// bound is what an index may hold that is not in files; building has a place for each
	// build that may be at work.
	bound    atomic.Int64
	building chan struct{}
	updating chan struct{} // the same for batches of changed rows
	merging  chan struct{} // and for merges of files that are not changed

	mu      sync.Mutex
	indexes map[string]*Index // by directory
	closing map[string]bool   // directories of indexes that are being removed
	held    int64             // what Account was last given
	tables  []*schema.Table
	written chan struct{} // has a value when a table was changed
}

// Indexes look at what was written tickAfter a commit, so that it can be seen,
// and tickEvery after they looked last, so that there is more to do at a time.
const (
	tickAfter = time.Millisecond
	tickEvery = 5 * time.Millisecond
)

// othersEvery is how often indexes look for changes where others write to the store.
const othersEvery = 100 * time.Millisecond

// idleAfter is how long an index without queries or changes keeps its files open.
const idleAfter = 5 * time.Minute

// New makes a Manager, which does nothing before Update.
func New(cfg Config) *Manager {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{cfg: cfg, began: cfg.Store.Seq(), retry: retryAfter, idle: cmp.Or(cfg.Knobs.Idle, idleAfter), mergeAfter: cmp.Or(cfg.Knobs.MergeAfter, mergeAfter), memory: cmp.Or(memory(cfg.Memory), defaultMemory), building: make(chan struct{}, maxBuilding), updating: make(chan struct{}, maxUpdating), merging: make(chan struct{}, 1), indexes: map[string]*Index{}, closing: map[string]bool{}, written: make(chan struct{}, 1)}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.begin("changes of search indexes", func(_ context.Context, turn Turn) {
		for m.ctx.Err() == nil {
			_ = turn(m.ctx, m.poll) // its panic is logged, or it was killed
		}
	})
	return m
}

// poll wakes up the indexes whose tables were changed, until ctx ends.
func (m *Manager) poll(ctx context.Context) error {
	sleep := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	var others <-chan time.Time
	if !m.cfg.Store.Caps().Sole {
		t := time.NewTicker(othersEvery)
		defer t.Stop()
		others = t.C
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-m.written:
		case <-others:
		}
		sleep(tickAfter)
		m.mu.Lock()
		for _, x := range m.indexes {
			if !x.desc.Load().unchanged(x.reached.Load()) {
				x.wake()
			}
		}
		m.mu.Unlock()
		sleep(tickEvery)
	}
	return context.Cause(ctx)
}

// nudge has poll look soon.
func (m *Manager) nudge() {
	select {
	case m.written <- struct{}{}:
	default:
	}
}

// describe makes the descriptor of an index.
func (m *Manager) describe(t *schema.Table, x *schema.SearchIndex, next bool) *descriptor {
	d := &descriptor{table: t, index: x, next: next}
	if t.Stream != nil {
		mark := stream.Written(m.cfg.Store, t.Stream.ID)
		mark.Tell(m.written)
		if m.cfg.Store.Caps().Sole {
			d.written = mark
		}
	}
	return d
}

// Close ends all work. What is not on disk yet is done again after the next
// start.
func (m *Manager) Close() {
	m.mu.Lock() // no Update begins anything after this
	m.stop()
	m.hold(0)
	m.mu.Unlock()
	m.wg.Wait()
}

// form describes what of a type affects documents. It leaves out what may change in
// place without changing a document.
func form(t *schema.Type) string {
	switch {
	case t.IsString():
		return fmt.Sprint("string ", t.Collation)
	case t.IsInteger():
		return fmt.Sprint("integer ", t.Unsigned)
	case t.ID == schema.TypeEnum, t.ID == schema.TypeSet:
		return fmt.Sprint(t.ID, " ", t.Collation)
	case t.ID == schema.TypeBit:
		return "bits"
	}
	return fmt.Sprint(*t)
}

// Files names the files of an index.
func (m *Manager) Files(t *schema.Table, x *schema.SearchIndex) string { return dirName(t, x) }

// dirName is the directory of an index: other fields, another directory, unless
// the descriptor says that the files are kept.
func dirName(t *schema.Table, x *schema.SearchIndex) string {
	if name := x.KeptFiles(t); name != "" {
		return name
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d;", x.Form)
	for _, f := range x.Fields {
		c := t.Column(f.Column)
		if c == nil {
			continue
		}
		b, err := json.Marshal(f) // in the stored form: what is new in later versions is left out
		if err != nil {
			b = fmt.Appendf(nil, "%#v", f)
		}
		fmt.Fprintf(h, "%s %s;", b, form(&c.Type))
		if c.Generated != nil {
			fmt.Fprintf(h, "%q;", c.Generated.Expr)
		}
	}
	return fmt.Sprintf("%d-%d-%016x", t.ID, x.ID, h.Sum64())
}

// Update sets the tables: new indexes begin to be built, dropped ones are
// removed with their files.
func (m *Manager) Update(tables []*schema.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tables = tables
	m.update()
}

// update makes the indexes those of m.tables.
func (m *Manager) update() {
	if m.ctx.Err() != nil {
		return
	}
	want := map[string]bool{}
	for _, t := range m.tables {
		for i := range t.Search {
			for _, x := range t.Search[i].Generations() {
				name := dirName(t, x)
				want[name] = true
				if m.closing[name] { // made again at once: its end calls update
					continue
				}
				next := x != &t.Search[i]
				have := m.indexes[name]
				if have != nil && have.desc.Load().is(t, x, next) { // it may sleep on
					continue
				}
				d := m.describe(t, x, next)
				if have != nil {
					have.desc.Store(d)
					if !have.holds(x) {
						have.set(func() { have.now = Building })
					}
					have.wake()
					continue
				}
				m.add(name, d)
			}
		}
	}
	for name, x := range m.indexes {
		if want[name] {
			continue
		}
		delete(m.indexes, name)
		m.closing[name] = true
		x.remove = true
		x.stop()
	}
	m.hold(m.memory.reserved(len(m.indexes)))
	if n := m.memory.share(len(m.indexes)); m.bound.Swap(int64(n)) != int64(n) {
		for _, x := range m.indexes {
			x.mu.Lock()
			if x.seg != nil {
				x.seg.Bound(n)
			}
			x.mu.Unlock()
		}
	}
	m.sweep()
}

// hold sets the account to what indexes may hold now.
func (m *Manager) hold(n int64) {
	if m.cfg.Account != nil && n != m.held {
		m.cfg.Account.Hold(n - m.held)
	}
	m.held = n
}

// maxBuilding is how many builds read rows at a time.
const maxBuilding = 4

// maxUpdating is how many batches of changed rows are made at a time: an update of
// many rows takes up to some MiB.
const maxUpdating = 4

// add begins an index.
func (m *Manager) add(name string, d *descriptor) {
	ctx, stop := context.WithCancel(m.ctx)
	n := &Index{m: m, dir: filepath.Join(m.cfg.Dir, name), stop: stop, changed: make(chan struct{}), wakeup: make(chan struct{}, 1)}
	n.desc.Store(d)
	m.indexes[name] = n
	m.begin("search index "+d.table.Database+"."+d.table.Name+"."+d.index.Name, func(_ context.Context, turn Turn) {
		n.run(ctx, turn)
		m.ended(name)
	})
}

// begin starts a job by Config.Start, or in a goroutine of its own without it.
func (m *Manager) begin(name string, run func(ctx context.Context, turn Turn)) {
	m.wg.Add(1)
	if m.cfg.Start != nil {
		m.cfg.Start(name, func(ctx context.Context, turn Turn) {
			defer m.wg.Done()
			run(ctx, turn)
		})
		return
	}
	turn := func(ctx context.Context, work func(ctx context.Context) error) error {
		return guard.Run(func() error { return work(ctx) })
	}
	go func() {
		defer m.wg.Done()
		guard.Do(m.cfg.Log, name, func() { run(m.ctx, turn) })
	}()
}

// ended is called when the work of an index has ended.
func (m *Manager) ended(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing[name] {
		delete(m.closing, name)
		m.update()
	}
}

// sweep removes directories that belong to no index.
func (m *Manager) sweep() {
	list, err := os.ReadDir(m.cfg.Dir)
	if err != nil {
		return // nothing there yet
	}
	for _, e := range list {
		if m.indexes[e.Name()] != nil || m.closing[e.Name()] || !strings.Contains(e.Name(), "-") {
			continue
		}
		if err := os.RemoveAll(filepath.Join(m.cfg.Dir, e.Name())); err != nil {
			m.cfg.Log.Error("removing files of a search index", "directory", e.Name(), "error", err)
		}
	}
}

// Index is the index if it can serve queries, else nil.
func (m *Manager) Index(t *schema.Table, id schema.IndexID) *Index {
	for i := range t.Search {
		if t.Search[i].ID != id {
			continue
		}
		x := m.lookUp(t, &t.Search[i])
		if x != nil && x.state() == Ready && x.holds(&t.Search[i]) {
			return x
		}
	}
	return nil
}

// lookUp is the index with the fields of a descriptor.
func (m *Manager) lookUp(t *schema.Table, d *schema.SearchIndex) *Index {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.indexes {
		if x.desc.Load().index == d {
			return x
		}
	}
	return m.indexes[dirName(t, d)] // the descriptor is older, or newer
}

// maxFailures is how often in a row the building of an index may fail before those who
// wait for it get the error.
const maxFailures = 3

// Wait waits until indexes of a table serve queries, and their next generations
// could; progress is called with a line about the one that is waited for. It is an
// error if one of them fails again and again.
func (m *Manager) Wait(ctx context.Context, table schema.TableID, indexes []schema.IndexID, progress func(state string)) error {
	for {
		x, closing := m.unready(table, indexes)
		if closing {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(tickEvery):
			}
			continue
		}
		if x == nil {
			return nil
		}
		news := x.news()
		info := x.Info()
		if info.Failures >= maxFailures {
			return fmt.Errorf("search index %s cannot be built: %w", info.Index.Name, info.Err)
		}
		progress(fmt.Sprintf("building search index: %d rows", info.Docs))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-m.ctx.Done():
			return fmt.Errorf("search indexes: %w", storage.ErrClosed)
		case <-news:
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// unready is one of some indexes of a table that does not serve queries; closing:
// one has to wait for the end of its earlier files.
func (m *Manager) unready(table schema.TableID, indexes []schema.IndexID) (x *Index, closing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tables {
		if t.ID != table {
			continue
		}
		for i := range t.Search {
			if !slices.Contains(indexes, t.Search[i].ID) {
				continue
			}
			for _, d := range t.Search[i].Generations() {
				name := dirName(t, d)
				if x := m.indexes[name]; x != nil && (x.state() != Ready || !x.holds(d)) {
					return x, false
				}
				if m.closing[name] {
					return nil, true
				}
			}
		}
	}
	return nil, false
}

// Floor is the sequence after which the records of a change log are needed; ok
// is false when no index reads it.
func (m *Manager) Floor(id schema.StreamID) (seq uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.indexes {
		if d := x.desc.Load(); d.table.Stream == nil || d.table.Stream.ID != id {
			continue
		}
		if f := x.needs(); !ok || f < seq {
			seq, ok = f, true
		}
	}
	return seq, ok
}

// Infos describes all indexes.
func (m *Manager) Infos() []Info {
	list := m.Indexes()
	out := make([]Info, len(list))
	for i, x := range list {
		out[i] = x.Info()
	}
	return out
}

// Indexes are all indexes, by table and number.
func (m *Manager) Indexes() []*Index {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Collect(maps.Values(m.indexes))
	slices.SortFunc(out, func(a, b *Index) int {
		x, y := a.desc.Load(), b.desc.Load()
		return cmp.Or(cmp.Compare(x.table.ID, y.table.ID), cmp.Compare(x.index.ID, y.index.ID))
	})
	return out
}
