package stats

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/source/kvread"
	"github.com/sqlots/sqlots/sql/source/searchscan"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

const (
	// rowSample is the number of keys that a row count reads at most.
	rowSample = 50_000
	// maxAge is how long a row count is kept however little has changed.
	maxAge = 10 * time.Minute
	// roughAge is that of a count of a table whose size was not known.
	roughAge = 2 * time.Second
	// firstCount and lastCount are the numbers of keys of a span that are
	// counted at once, and when the call's budget allows.
	firstCount = 200
	lastCount  = 2000
	spanBudget = 4000
	// maxSpans are counted; more are taken to be like them.
	maxSpans = 8
)

// Estimator knows sizes. It is safe for concurrent use.
type Estimator struct {
	store  storage.Store
	codecs *decode.Codecs
	now    func() time.Time
	// Search is where the search indexes are, nil without. It is set before the
	// first use.
	Search *search.Manager

	mu     sync.RWMutex
	tables map[schema.TableID]*tableStats
}

var (
	_ access.Estimator     = (*Estimator)(nil)
	_ access.SearchIndexes = (*Estimator)(nil)
)

// SearchRows implements access.SearchIndexes.
func (e *Estimator) SearchRows(ctx context.Context, ec *expr.Ctx, t *schema.Table, x *schema.SearchIndex, n *physical.SearchNode) (float64, bool) {
	return searchscan.EstimateSearch(ctx, e.codecs, e.Search, ec, t, x, n)
}

// SearchRejected implements access.SearchIndexes.
func (e *Estimator) SearchRejected(ctx context.Context, t *schema.Table, n *physical.SearchScan, read []int) float64 {
	return searchscan.EstimateRejected(ctx, e.codecs, e.Search, t, n, read)
}

// SearchReady implements access.SearchIndexes.
func (e *Estimator) SearchReady(t *schema.Table, x *schema.SearchIndex) bool {
	return e.Search != nil && e.Search.Index(t, x.ID) != nil
}

// New makes the estimator of a store.
func New(store storage.Store, codecs *decode.Codecs) *Estimator {
	return &Estimator{store: store, codecs: codecs, now: time.Now, tables: map[schema.TableID]*tableStats{}}
}

// tableStats is what is known of a table.
type tableStats struct {
	changed atomic.Int64 // rows since the count
	writes  atomic.Int64 // rows changed in all
	current atomic.Pointer[count]
	sample  atomic.Pointer[sample]
	// counting lets one statement at a time count rows or different values, sampling
	// one read a sample.
	counting, sampling gate

	// mu guards what follows, and changes of current. It is not held while the store
	// is read.
	mu sync.Mutex
	// distinct are the numbers of different values by index and number of
	// leading columns, since the count.
	distinct map[distinctKey]float64
	analyzed *analysis
	loaded   bool // analyzed has been read from the store
}

// count is a row count.
type count struct {
	rows  float64
	exact bool
	// rough: the table has more rows than were counted, but the store could not
	// report their size, because they had not been flushed yet.
	rough bool
	at    time.Time
}

func (e *Estimator) stats(id schema.TableID) *tableStats {
	e.mu.RLock()
	s := e.tables[id]
	e.mu.RUnlock()
	if s != nil {
		return s
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s = e.tables[id]; s == nil {
		s = &tableStats{counting: newGate(), sampling: newGate(), distinct: map[distinctKey]float64{}}
		e.tables[id] = s
	}
	return s
}

// Changed says that a statement inserted, updated or deleted rows. A nil table
// is ignored.
func (e *Estimator) Changed(t *schema.Table, rows int64) {
	if t != nil && rows > 0 {
		s := e.stats(t.ID)
		s.changed.Add(rows)
		s.writes.Add(rows)
	}
}

// Forget drops what is known of a table.
func (e *Estimator) Forget(id schema.TableID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.tables, id)
}

// stale reports whether a count is too old to be used. A table that was
// counted whole is small: counting it again is cheap.
func (e *Estimator) stale(s *tableStats, c *count) bool {
	limit := max(1000, c.rows/5)
	if c.exact && c.rows < 5000 {
		limit = max(10, c.rows/5)
	}
	age := maxAge
	if c.rough {
		age = roughAge
	}
	return float64(s.changed.Load()) > limit || e.now().Sub(c.at) > age
}

// derivedRows is the guess of how many records a change log has.
const derivedRows = 10000

// TableRows implements access.Estimator.
func (e *Estimator) TableRows(ctx context.Context, t *schema.Table) float64 {
	if d := t.Derived; d != nil {
		if d.Of == nil {
			return derivedRows
		}
		t = d.Of
	}
	if len(t.Search) > 0 && e.Search != nil {
		if x := e.Search.Index(t, t.Search[0].ID); x != nil {
			return max(float64(x.Docs()), 1) // counted
		}
	}
	s := e.stats(t.ID)
	c := s.current.Load()
	if c != nil && !e.stale(s, c) {
		return c.rows
	}
	if c != nil {
		if !s.counting.tryEnter() {
			return c.rows // another goroutine counts
		}
	} else if !s.counting.enter(ctx) {
		return 0
	}
	defer s.counting.leave()
	if n := s.current.Load(); n != c {
		return n.rows
	}
	return e.recount(ctx, t, s, c)
}

// recount counts the rows, in place of an old count, which may be nil. It is called
// within s.counting.
func (e *Estimator) recount(ctx context.Context, t *schema.Table, s *tableStats, old *count) float64 {
	changed := s.changed.Load()
	c := &count{at: e.now()}
	span := table.IndexSpan(t.ID, schema.PrimaryIndexID)
	n, last, done, err := e.countKeys(ctx, span, rowSample)
	if ctx.Err() != nil {
		return float64(n)
	}
	c.rows, c.exact = float64(n), done && err == nil
	if !done && err == nil {
		ratio := e.ratio(ctx, span, storage.Span{Start: span.Start, End: last})
		c.rows *= max(1, ratio)
		c.rough = ratio <= 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.current.CompareAndSwap(old, c) { // ANALYZE TABLE was faster
		return s.current.Load().rows
	}
	s.changed.Add(-changed)
	clear(s.distinct)
	return c.rows
}

// ratio is how many times larger the span a is than b.
func (e *Estimator) ratio(ctx context.Context, a, b storage.Span) float64 {
	x, err1 := e.store.EstimateSize(ctx, a)
	y, err2 := e.store.EstimateSize(ctx, b)
	if err1 != nil || err2 != nil || y <= 0 {
		return 1
	}
	return float64(x) / float64(y)
}

// countKeys counts the keys of span up to limit. last is the last one counted.
func (e *Estimator) countKeys(ctx context.Context, span storage.Span, limit int) (n int, last []byte, done bool, err error) {
	scan, err := e.store.Latest().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: limit})
	if err != nil {
		return 0, nil, false, err
	}
	defer scan.Close()
	done, err = scan.Visit(ctx, func(key, _ []byte) bool {
		if n == limit {
			return false
		}
		if n++; n == limit {
			last = bytes.Clone(key)
		}
		return true
	})
	return n, last, done, err
}

// SpanRows implements access.Estimator.
func (e *Estimator) SpanRows(ctx context.Context, t *schema.Table, x *schema.Index, spans []ranges.Span) (float64, bool) {
	return e.spansRows(ctx, t, x, spans, false)
}

// SpanSize is SpanRows at less cost: it counts few entries, and those of a small
// table up to lastCount.
func (e *Estimator) SpanSize(ctx context.Context, t *schema.Table, x *schema.Index, spans []ranges.Span) (float64, bool) {
	return e.spansRows(ctx, t, x, spans, true)
}

func (e *Estimator) spansRows(ctx context.Context, t *schema.Table, x *schema.Index, spans []ranges.Span, rough bool) (float64, bool) {
	if len(spans) == 0 {
		return 0, t.Derived == nil
	}
	if t.Derived != nil || e.store.Caps().Remote { // counting would take calls of other machines, each time
		return 0, false
	}
	// Evenly spread spans stand for the others.
	step := max(1, (len(spans)+maxSpans-1)/maxSpans)
	chosen := make([]ranges.Span, 0, maxSpans)
	for i := 0; i < len(spans); i += step {
		chosen = append(chosen, spans[i])
	}
	// TIMESTAMP values are taken to be in the server's zone: the session's is
	// not known here.
	encoded, err := kvread.Spans(e.codecs, t, x, chosen, time.Local)
	if err != nil {
		return 0, false
	}
	id := schema.PrimaryIndexID
	if x != nil {
		id = x.ID
	}
	budget, total := spanBudget, 0.0
	if rough {
		budget = spanBudget/2 - 1
	}
	whole := x == nil || t.HoldsAll(x)
	for _, span := range encoded {
		rows, used, err := e.spanRows(ctx, t, id, span, budget, whole, rough)
		if err != nil {
			return 0, false
		}
		budget -= used
		total += rows
	}
	total *= float64(len(spans)) / float64(len(chosen))
	return min(total, max(e.TableRows(ctx, t), float64(spanBudget-budget))), true
}

// spanRows counts one span: all of it, if it is small. holdsAll: the entries of
// the index are the rows of the table.
func (e *Estimator) spanRows(ctx context.Context, t *schema.Table, id schema.IndexID, span storage.Span, budget int, holdsAll, rough bool) (rows float64, used int, err error) {
	if bytes.Compare(span.Start, span.End) >= 0 {
		return 0, 0, nil
	}
	limit := firstCount
	if budget >= spanBudget/2 {
		limit = lastCount
	}
	n, last, done, err := e.countKeys(ctx, span, limit)
	if done || err != nil {
		return float64(n), n, err
	}
	// The size of the whole index, whose entries are the table's rows, is a
	// better measure than that of the few entries that were counted.
	all := e.TableRows(ctx, t)
	whole := table.IndexSpan(t.ID, id)
	if size, err := e.store.EstimateSize(ctx, whole); err == nil && size >= 8<<20 && holdsAll {
		return min(max(float64(n), all*e.ratio(ctx, span, whole)), all), n, nil
	}
	if rough {
		n, _, _, err = e.countKeys(ctx, span, lastCount)
		return float64(n), n, err
	}
	rest := e.ratio(ctx, span, storage.Span{Start: span.Start, End: last})
	if c := e.stats(t.ID).current.Load(); c != nil && c.exact && c.rows <= rowSample && rest <= 1 {
		// Sizes say nothing of a small table: count on.
		n, _, _, err = e.countKeys(ctx, span, rowSample)
		return float64(n), n, err
	}
	return min(float64(n)*max(1, rest), max(all, float64(n))), n, nil
}
