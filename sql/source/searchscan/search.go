package searchscan

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/sqlots/sqlots/internal/invariants"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// A scan by a search index takes the view of the index that belongs to its view
// of the store, queries it, and reads the rows that were changed in between from
// the table. Where the index is not there any more, it reads the table.

// allRows is the access of the rows that a search looks at in the table.
var allRows = &physical.FullScan{}

// Open makes the operator of a search of what reader shows, or of one of its
// Partitions.
func (s *Searcher) Open(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, cut exec.Partition, limit int64, reader storage.Reader) (exec.Operator, error) {
	if p, ok := cut.(*part); ok {
		return s.openPart(ctx, ec, k, n, p, limit)
	}
	all := s.env.Ranges == decode.AllRanges && n.Table.Derived == nil && !n.Lock.SkipLocked
	if all {
		// Which rows an index would find later is not known: all of them are locked.
		if err := s.env.Txn.LockRange(ctx, table.IndexSpan(n.Table.ID, schema.PrimaryIndexID), storage.WaitBlock); err != nil {
			return nil, err
		}
	}
	if (n.Latest || all) && s.env.Txn != nil {
		latest, err := s.env.Txn.LatestView(ctx)
		if err != nil {
			return nil, err
		}
		defer latest.Close()
		reader = latest
	}
	var op exec.Operator
	v, err := s.searchView(ctx, k, n, reader)
	if err == nil {
		err = seg.Guard(func() (err error) {
			op, err = s.search(ctx, ec, k, n, v, limit)
			return err
		})
		if err != nil {
			err = errors.Join(err, v.Close())
		}
	}
	if errors.Is(err, search.ErrUnavailable) || errors.Is(err, seg.ErrDamaged) || errors.Is(err, errRescan) {
		whole := *n
		whole.Filter, whole.Access = n.Search().All, allRows
		op, err := s.env.Rows.OpenKeys(ctx, ec, k, &whole, nil, limit)
		return scoreRows(op, ec, n), err
	}
	if err != nil {
		return nil, err
	}
	return op, nil
}

// searchView is the view of the index that belongs to what reader shows;
// ErrUnavailable when the index has none.
func (s *Searcher) searchView(ctx context.Context, k *decode.Table, n *physical.Scan, reader storage.Reader) (*search.View, error) {
	if s.env.Search == nil {
		return nil, search.ErrUnavailable
	}
	x := s.env.Search.Index(n.Table, n.Search().Index.ID)
	if x == nil {
		return nil, search.ErrUnavailable
	}
	if s.env.Eventual && s.env.Txn == nil {
		return x.Newest(ctx)
	}
	var view storage.Snapshot
	switch r := reader.(type) {
	case storage.Snapshot:
		view = r
	case storage.Txn:
		var err error
		if view, err = r.BareView(ctx); err != nil {
			return nil, err
		}
	default:
		return nil, search.ErrUnavailable
	}
	at, err := search.MomentOf(ctx, view)
	if err != nil {
		return nil, err
	}
	var own [][]byte
	if s.env.Txn != nil && s.env.Txn.Dirty() {
		prefix := len(k.Prefix())
		s.env.Txn.Written(table.IndexSpan(n.Table.ID, schema.PrimaryIndexID), func(key []byte) bool {
			own = append(own, bytes.Clone(key[prefix:]))
			return true
		})
	}
	v, err := x.View(ctx, at, own)
	if invariants.Enabled && err == nil {
		if err := s.env.Search.Verify(ctx, reader, n.Table, n.Search().Index, v); err != nil {
			invariants.Violated("search index %s.%s at sequence %d: %v", n.Table.Name, n.Search().Index.Name, at.Seq, err)
		}
	}
	return v, err
}

// search queries the view. The operator closes it.
func (s *Searcher) search(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, v *search.View, limit int64) (_ *searchOp, err error) {
	z := decode.NewZone(s.env.Loc)
	looked := int64(0)
	q := searchQuery{ctx: ctx, table: k.Table, ec: ec, consts: ec.Fork(), z: &z, again: !n.Search().Covering, looked: &looked, warnings: new([]sqlerr.Warning), workers: n.Search().Workers}
	if ec.Warn != nil {
		q.consts.Warn = func(w sqlerr.Warning) { *q.warnings = append(*q.warnings, w) }
	}
	tree := query.Node(query.And{})
	if n.Search().Query != nil {
		if tree, err = q.node(n.Search().Query); err != nil {
			return nil, err
		}
	}
	if err := v.Except(marksUsed(n.Table, n.Search(), n.Read)); err != nil {
		return nil, err
	}
	find := query.Run
	if countsOnly(n) {
		find = query.Tally
	}
	hits, ok := q.findParallel(n, v)
	if !ok {
		if hits, err = find(v, tree); err != nil {
			return nil, err
		}
	}
	v.At(step.SearchChosen)
	op := &searchOp{View: v, tree: tree, tallied: countsOnly(n)}
	op.count = exec.Counters{Segments: int64(len(v.Segments())), Candidates: looked, Overlay: int64(len(v.Changed)), Waited: int64(v.Waited)}
	op.memory = s.env.Memory
	sets := int64(0)
	for i := range hits {
		op.count.Hits += int64(hits[i].Count)
		sets += int64(len(hits[i].Set)) * 8
	}
	if err := op.hold(sets); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			op.memory.Shrink(op.held)
		}
	}()
	if len(v.Changed) == 0 && (n.Search().Covering || op.count.Hits == 0) {
		for _, w := range *q.warnings {
			ec.Warn(w)
		}
	}
	if n.Search().Order != nil {
		most, err := decode.LimitOf(ec, n.Search().Limit)
		if err != nil {
			return nil, err
		}
		if most >= 0 {
			if op.order, err = q.order(n); err != nil {
				return nil, err
			}
			if err := op.first(hits, int(min(most, math.MaxInt32))); err != nil {
				return nil, err
			}
		}
	}
	if n.Search().Covering {
		if op.cols, err = s.searchColumns(k, n, &z); err != nil {
			return nil, err
		}
		if err := openColumns(op.cols, hits); err != nil {
			return nil, err
		}
		op.ec, op.filter, op.plain = ec, n.Filter, allPlain(op.cols)
		op.batch = vec.NewBatch(nil)
		if op.scores, err = q.scores(n, hits); err != nil {
			return nil, err
		}
		if n.Search().Group != nil {
			op.group = &searchGroups{plan: n.Search().Group, calls: make([]groupCall, len(n.Search().Group.Calls))}
		}
	}
	if n.Search().Group == nil {
		slices.SortStableFunc(hits, func(a, b query.Hits) int { return bytes.Compare(a.FirstID(), b.FirstID()) })
	}
	op.hits = hits
	op.open = func(ctx context.Context) error { return s.searchRows(ctx, op, ec, k, n, limit) }
	return op, nil
}

// countsOnly reports a search that only needs the number of documents.
func countsOnly(n *physical.Scan) bool {
	g := n.Search().Group
	return g != nil && len(g.By) == 0 && len(n.Filter) == 0 && n.Search().Order == nil &&
		!slices.ContainsFunc(g.Calls, func(c physical.SearchCall) bool { return c.Column >= 0 })
}

// searchRows opens what a search reads of the table: the rows that its hits are
// of, where it is not covering, and those that were changed.
func (s *Searcher) searchRows(ctx context.Context, op *searchOp, ec *expr.Ctx, k *decode.Table, n *physical.Scan, limit int64) error {
	var hits []query.Hits
	if !n.Search().Covering {
		hits, op.hits = op.hits, nil
	}
	keys, err := op.keys(k, hits, op.View.Changed)
	if err == nil {
		op.rows, err = s.tableRows(ctx, ec, k, n, keys, limit)
	}
	op.At(step.SearchFetched)
	return err
}

// tableRows reads rows of the table that a search has found, or that were changed.
func (s *Searcher) tableRows(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, keys [][]byte, limit int64) (exec.Operator, error) {
	rows := *n
	rows.Filter, rows.Access = n.Search().All, allRows
	op, err := s.env.Rows.OpenKeys(ctx, ec, k, &rows, keys, limit)
	return scoreRows(op, ec, n), err
}

// keys are the keys of rows, ascending: those of hits, and others without the
// table's prefix.
func (o *searchOp) keys(k *decode.Table, hits []query.Hits, others [][]byte) ([][]byte, error) {
	prefix := k.Prefix()
	rowKey := func(id []byte) []byte { return append(append(make([]byte, 0, len(prefix)+len(id)), prefix...), id...) }
	total := len(others)
	for i := range hits {
		total += hits[i].Count
	}
	if err := o.hold(int64(total) * int64(len(prefix)+40)); err != nil {
		return nil, err
	}
	keys := make([][]byte, 0, total)
	var docs []uint32
	var ids [][]byte
	for i := range hits {
		for from, end := uint32(0), uint32(len(hits[i].Set)<<6); from < end; {
			docs, from = hits[i].Docs(from, vec.MaxRows, docs[:0])
			ids = hits[i].Seg.IDs(docs, ids[:0])
			for _, id := range ids {
				keys = append(keys, rowKey(id))
			}
		}
	}
	for _, id := range others {
		keys = append(keys, rowKey(id))
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys, nil
}

// hold takes memory until the operator is closed.
func (o *searchOp) hold(n int64) error {
	if err := o.memory.Grow(n, "search"); err != nil {
		return err
	}
	o.held += n
	return nil
}

// first leaves out hits that are not among the first n.
func (o *searchOp) first(hits []query.Hits, n int) error {
	size := query.RankBytes(hits, o.order)
	if err := o.memory.Grow(size, "search"); err != nil {
		return err
	}
	defer o.memory.Shrink(size)
	return query.First(hits, o.order, n)
}

// marksUsed are the marks of documents on which the answer of a search depends;
// read are the columns that it gives where it is covering.
func marksUsed(t *schema.Table, n *physical.SearchScan, read []int) (out []search.Mark) {
	if !slices.ContainsFunc(n.Index.Fields, searchdoc.IsLossy) {
		return nil
	}
	add := func(f *schema.SearchField, why search.Why) {
		if m := (search.Mark{Field: seg.FieldID(f.ID), Why: why}); searchdoc.IsLossy(*f) && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	n.Query.Each(func(n *physical.SearchNode) {
		switch {
		case n.Op == physical.SearchPath:
			for _, why := range marksOf(n) {
				add(n.Field, why)
			}
		case n.Op == physical.SearchNested:
			add(n.Field, search.Rejected)
		case n.Op == physical.SearchRange, n.Op == physical.SearchGeo:
			add(n.Field, search.Differs)
		}
		for _, f := range n.Fields {
			add(f, search.Differs)
		}
	})
	for _, o := range n.Order {
		if o.Field != nil {
			add(o.Field, search.Differs)
		}
	}
	if !n.Covering {
		return out
	}
	for _, pos := range read {
		if f := n.Index.Values(t.Columns[pos].ID); f != nil {
			add(f, search.Differs)
		}
	}
	return out
}

// marksOf are the marks of rows for which the field does not decide a condition
// on a part of a JSON column.
func marksOf(n *physical.SearchNode) []search.Why {
	out := []search.Why{search.Rejected}
	text := n.Field.Elem.IsString()
	switch {
	case !n.Ask.Exact:
		return out
	case n.Ask.Op == physical.AskNull && !text, n.Ask.Op == physical.AskBelow: // null is below all numbers
		out = append(out, search.Blank)
	case n.Ask.Op == physical.AskAll && n.Field.Many:
		out = append(out, search.Single)
	}
	if n.Ask.Op != physical.AskNull && !text {
		out = append(out, search.Unlike)
	}
	return out
}

// searchOp gives what a search has found: the columns of documents, then rows.
type searchOp struct {
	*search.View
	rows   exec.Operator
	hits   []query.Hits
	cols   []searchColumn
	ec     *expr.Ctx
	filter []expr.Expr
	plain  bool // all of cols are
	batch  *vec.Batch
	docs   []uint32
	from   uint32
	most   int // documents of a batch, 0 before the first
	count  exec.Counters
	held   int64
	memory *exec.Tracker
	closed bool
	// group is the aggregation of the hits; nil without, or when it is done.
	group *searchGroups
	grown atomic.Int64
	// order is that in which the hits are the first.
	order []query.Order
	// scores are the columns after those of cols; nil for none.
	scores *docScores
	// tallied: the hits are those of a tally, and are found by tree where their
	// documents are needed.
	tallied bool
	tree    query.Node
	// open opens rows, at their first use.
	open func(ctx context.Context) error
	// shared: the view and what is held belong to all parts together.
	shared bool
	picks  picks
}

var _ exec.Counted = (*searchOp)(nil)

// Next implements exec.Operator.
func (o *searchOp) Next(ctx context.Context) (b *vec.Batch, err error) {
	err = seg.Guard(func() (err error) {
		b, err = o.next(ctx)
		return err
	})
	return b, err
}

func (o *searchOp) next(ctx context.Context) (*vec.Batch, error) {
	if o.rows == nil {
		if err := o.open(ctx); err != nil {
			return nil, err
		}
	}
	if o.tallied {
		var err error
		if o.hits, err = query.Run(o.View, o.tree); err != nil {
			return nil, err
		}
		o.tallied = false
	}
	for len(o.hits) > 0 {
		h := &o.hits[0]
		if len(o.picks.list) > 0 {
			if b, err := o.picked(ctx, h); b != nil || err != nil {
				return b, err
			}
			if o.from >= uint32(len(h.Set))<<6 {
				o.hits, o.from = o.hits[1:], 0
			}
			continue
		}
		if b, err := o.run(ctx, h); b != nil || err != nil {
			return b, err
		}
		o.docs, o.from = h.Docs(o.from, o.batchDocs(), o.docs[:0])
		if len(o.docs) == 0 {
			o.hits, o.from = o.hits[1:], 0
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		b, err := o.decodeFit(h)
		if err != nil {
			return nil, err
		}
		for _, f := range o.filter {
			if err := expr.EvalFilter(o.ec, f, b); err != nil {
				return nil, err
			}
		}
		if b.Live() == 0 {
			o.scores.skip(h, o.docs)
			continue
		}
		if o.scores == nil {
			return b, nil
		}
		return o.scores.with(ctx, o.memory, h, o.docs, b)
	}
	return o.rows.Next(ctx)
}

// decodeFit makes a batch of the first of o.docs, as many as fit. o.from is then the first
// of the others.
func (o *searchOp) decodeFit(h *query.Hits) (*vec.Batch, error) {
	few, err := fit(h.Seg, o.cols, o.docs)
	if err != nil {
		return nil, err
	}
	if n := len(few); n < len(o.docs) {
		o.docs, o.from = few, o.docs[n]
	}
	b, err := o.decode(h.Seg)
	if err != nil {
		return nil, err
	}
	o.sized(b)
	return b, nil
}

// leastRun is the least number of documents that are decoded as a run.
const leastRun = 128

// run makes a batch of the hits from o.from on where they are a run and all columns
// are plain; nil where they are not, or none passes the filter.
func (o *searchOp) run(ctx context.Context, h *query.Hits) (*vec.Batch, error) {
	if !o.plain || o.scores != nil {
		return nil, nil
	}
	for {
		n := h.Run(o.from, vec.MaxRows)
		if n < leastRun {
			return nil, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := decodeRun(h.Seg, int(o.from), n, o.cols, o.batch); err != nil {
			return nil, err
		}
		o.from += uint32(n)
		for _, f := range o.filter {
			if err := expr.EvalFilter(o.ec, f, o.batch); err != nil {
				return nil, err
			}
		}
		if o.batch.Live() > 0 {
			return o.batch, nil
		}
	}
}

// firstDocs is the number of documents of the first batch of one that may be large.
const firstDocs = 64

// batchDocs is how many documents the next batch has: as many as have little more bytes
// than a batch may have, after those of the batch before.
func (o *searchOp) batchDocs() int {
	if o.most == 0 {
		o.most = vec.MaxRows
		for _, v := range o.batch.Cols {
			if vec.ClassOf(v.Kind) == vec.ClassBytes {
				o.most = firstDocs
			}
		}
	}
	return o.most
}

// sized looks at the bytes of a batch.
func (o *searchOp) sized(b *vec.Batch) {
	if o.ec.Memory == nil || b.N == 0 {
		o.most = vec.MaxRows
		return
	}
	size := 0
	for _, v := range b.Cols {
		if vec.ClassOf(v.Kind) != vec.ClassBytes {
			continue
		}
		for i := range b.N {
			if !v.Nulls.IsNull(i) {
				size += len(v.Bytes[i])
			}
		}
	}
	each := max(size/b.N, 1)
	o.most = max(min(o.ec.Memory.BatchRoom()/each, 4*o.most, vec.MaxRows), 1)
}

// Skip leaves out some of the first n rows of the order: rows that were changed
// may come before any.
func (o *searchOp) Skip(_ context.Context, n uint64) (uint64, error) {
	changed := uint64(len(o.View.Changed))
	if o.rows != nil || o.order == nil || n <= changed || n > math.MaxInt32 {
		return 0, nil
	}
	skipped := 0
	err := seg.Guard(func() (err error) {
		skipped, err = query.Skip(o.hits, o.order, int(n-changed))
		return err
	})
	return uint64(skipped), err
}

// decode makes a batch of o.docs.
func (o *searchOp) decode(s *seg.Segment) (*vec.Batch, error) {
	return o.batch, decodeDocs(s, o.docs, o.cols, o.batch)
}

// Uncount implements exec.Limited.
func (o *searchOp) Uncount(n int) {
	if in, ok := o.rows.(exec.Limited); ok {
		in.Uncount(n)
	}
}

// Counters implements exec.Counted.
func (o *searchOp) Counters() exec.Counters {
	if in, ok := o.rows.(exec.Counted); ok {
		return o.count.Plus(in.Counters())
	}
	return o.count
}

// Close implements exec.Operator.
func (o *searchOp) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	o.memory.Shrink(o.held + o.scores.memory())
	if o.group != nil {
		o.memory.Shrink(o.group.held)
	}
	var err error
	if o.rows != nil {
		err = o.rows.Close()
	}
	if o.shared {
		return err
	}
	return errors.Join(err, o.View.Close())
}

// searchQuery makes queries of what the planner has found.
type searchQuery struct {
	ctx context.Context
	// table has the columns that conditions are about, objects is the path
	// of the nested documents which have them, 0 for documents.
	table   *schema.Table
	objects uint16
	ec      *expr.Ctx
	z       *decode.Zone
	// again: rows that are found are read, and checked again.
	again bool
	// consts computes constants. Their warnings are left to conditions on rows,
	// where any row is read.
	consts   *expr.Ctx
	warnings *[]sqlerr.Warning
	// looked counts the documents whose values were read.
	looked *int64
	// workers are the goroutines on which checks may be computed.
	workers int
}

// stop ends a search whose statement was killed, or takes too long.
func (q *searchQuery) stop() error {
	if q.ctx == nil || q.ctx.Err() == nil {
		return nil
	}
	return context.Cause(q.ctx)
}

func (q *searchQuery) node(n *physical.SearchNode) (query.Node, error) {
	switch n.Op {
	case physical.SearchRange:
		return q.ranges(n)
	case physical.SearchGeo:
		node, _, err := q.places(n)
		return node, err
	case physical.SearchCheck:
		return q.check(n)
	case physical.SearchPath:
		return q.path(n)
	case physical.SearchNested:
		return q.nested(n)
	case physical.SearchMatch:
		m := n.Match.Match()
		words, err := expr.MatchQuery(q.consts, n.Match)
		if err != nil {
			return nil, err
		}
		out := &query.Match{Query: words, Path: q.objects, Stop: q.stop}
		for _, id := range m.Fields {
			out.Fields = append(out.Fields, seg.FieldID(id))
		}
		return out, nil
	case physical.SearchLike:
		words, ok, err := expr.LikeCandidates(q.consts, n.Match, n.Analyzer)
		if err != nil {
			return nil, err
		}
		if !ok {
			return query.And{}, nil
		}
		return &query.Match{Fields: []seg.FieldID{seg.FieldID(n.Field.ID)}, Query: words, Path: q.objects, Stop: q.stop}, nil
	}
	if n.Op == physical.SearchAnd {
		return q.and(n)
	}
	list := make([]query.Node, len(n.Children))
	for i, c := range n.Children {
		var err error
		if list[i], err = q.node(c); err != nil {
			return nil, err
		}
	}
	switch n.Op {
	case physical.SearchNot:
		return query.Not{Of: list[0]}, nil
	}
	return query.Or(list), nil
}

// and leaves out checks of conditions on places that others are already.
func (q *searchQuery) and(n *physical.SearchNode) (query.Node, error) {
	var list query.And
	var known []expr.Expr
	for _, c := range n.Children {
		if c.Op != physical.SearchGeo {
			continue
		}
		one, exact, err := q.places(c)
		if err != nil {
			return nil, err
		}
		if list = append(list, one); exact {
			known = append(known, c.Geo.Cond)
		}
	}
	for _, c := range n.Children {
		if c.Op == physical.SearchGeo || c.Op == physical.SearchCheck && slices.Contains(known, c.Cond) {
			continue
		}
		one, err := q.node(c)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (q *searchQuery) ranges(n *physical.SearchNode) (query.Node, error) {
	list, err := n.Set.Spans(q.consts)
	if err != nil {
		return nil, errRescan // of several errors, the scan reports its first
	}
	f, err := searchdoc.NewField(q.table, n.Field)
	if err != nil {
		return nil, err
	}
	return spansOf(&f, list, q.z, q.workers), nil
}

// wordRange is a span as a range of words; null says that NULL is in it, ok that
// anything else is.
func wordRange(f *searchdoc.Field, s ranges.Span, z *decode.Zone) (null bool, r query.WordRange, ok bool) {
	r = query.WordRange{Lo: math.MinInt64, Hi: math.MaxInt64}
	null = len(s.Low) == 0 || s.Low[0].IsNull() && !s.LowOpen
	if len(s.High) > 0 {
		if s.High[0].IsNull() {
			return null && !s.HighOpen, r, false
		}
		if r.Hi, ok = f.Bound(s.High[0], s.HighOpen, true, z); !ok {
			return null, r, false
		}
	}
	if len(s.Low) > 0 && !s.Low[0].IsNull() {
		if r.Lo, ok = f.Bound(s.Low[0], s.LowOpen, false, z); !ok {
			return null, r, false
		}
	}
	return null, r, r.Lo <= r.Hi
}

// keyRange is a span as a range of sort keys.
func keyRange(f *searchdoc.Field, s ranges.Span) (null bool, r query.KeyRange, ok bool) {
	if s.Prefix {
		b, _ := f.Part.AppendStartsWith(nil, s.Low[0].Bytes())
		return false, query.KeyRange{Lo: b, Hi: keyenc.PrefixEnd(b)}, true
	}
	null = len(s.Low) == 0 || s.Low[0].IsNull() && !s.LowOpen
	if len(s.High) > 0 {
		if s.High[0].IsNull() {
			return null && !s.HighOpen, r, false
		}
		r.Hi = f.Part.Append(nil, s.High[0])
		if !s.HighOpen {
			r.Hi = append(r.Hi, 0)
		}
	}
	if len(s.Low) > 0 && !s.Low[0].IsNull() {
		r.Lo = f.Part.Append(nil, s.Low[0])
		if s.LowOpen {
			r.Lo = append(r.Lo, 0)
		}
	}
	return null, r, r.Hi == nil || bytes.Compare(r.Lo, r.Hi) < 0
}

// order is an order by fields, scores and distances: the beginning of it that orders
// as the values do in the session's time zone. Rows that are read from the table come
// in the order of their keys, so that of equal ones the first are those with the
// smallest.
func (q *searchQuery) order(n *physical.Scan) ([]query.Order, error) {
	t, z := n.Table, q.z
	out := make([]query.Order, 0, len(n.Search().Order)+1)
	for _, o := range n.Search().Order {
		if o.Expr != nil {
			by, err := q.ranking(&o)
			if by == nil || err != nil {
				return out, err
			}
			out = append(out, query.Order{By: by, Desc: o.Desc, Workers: n.Search().Workers, Stop: q.stop})
			continue
		}
		typ := t.Columns[o.Column].Type
		if typ.ID == schema.TypeTimestamp && !z.UTC {
			return out, nil
		}
		if o.Field == nil { // the rest is the order of the key
			for _, p := range t.PrimaryKey {
				if t.Column(p.Column).Type.ID == schema.TypeTimestamp && !z.UTC {
					return out, nil
				}
			}
			return append(out, query.Order{ByID: true, Desc: o.Desc != t.PrimaryKey[0].Desc}), nil
		}
		f := query.Field{ID: seg.FieldID(o.Field.ID), Zeros: types.KindOf(typ) == value.KindFloat}
		out = append(out, query.Order{Field: f, Desc: o.Desc})
	}
	if !n.Search().Covering {
		out = append(out, query.Order{ByID: true})
	}
	return out, nil
}

// ranking is what computes an order; nil where that cannot be.
func (q *searchQuery) ranking(o *physical.SearchOrder) (query.Ranking, error) {
	if o.Field == nil {
		return q.score(o.Expr)
	}
	f := o.Expr.(*expr.Func)
	from := f.Args[1]
	if _, isCol := from.(*expr.Col); isCol {
		from = f.Args[0]
	}
	var radius expr.Expr
	if len(f.Args) > 2 {
		radius = f.Args[2]
	}
	s, ok, err := q.sphere(o.Field, from, radius)
	if err != nil || !ok {
		return nil, err
	}
	return &query.Distance{Sphere: s}, nil
}

// score ranks documents by a sum of scores; nil where there are no figures for
// them.
func (q *searchQuery) score(e expr.Expr) (query.Ranking, error) {
	var out query.Score
	for _, f := range expr.Scores(e) {
		m := f.Match()
		words, stats, err := expr.MatchScores(q.ec, f)
		if err != nil || stats == nil {
			return nil, err
		}
		one := query.Scored{Query: words, Stats: stats, Value: expr.MatchValue, Stop: q.stop}
		for _, id := range m.Fields {
			one.Fields = append(one.Fields, seg.FieldID(id))
		}
		out = append(out, one)
	}
	return out, nil
}

// EstimateSearch is about how many rows a query of a search index finds in its
// present files; ok is false without an estimate.
func EstimateSearch(ctx context.Context, c *decode.Codecs, m *search.Manager, ec *expr.Ctx, t *schema.Table, x *schema.SearchIndex, n *physical.SearchNode) (found float64, ok bool) {
	k, err := c.Table(t)
	if err != nil {
		return 0, false
	}
	index := m.Index(t, x.ID)
	if index == nil {
		return 0, false
	}
	ec = ec.Fork()
	ec.Warn = nil // the query itself warns
	z := decode.NewZone(ec.Loc)
	q := searchQuery{ctx: ctx, table: k.Table, ec: ec, consts: ec, z: &z, looked: new(int64), warnings: new([]sqlerr.Warning)}
	tree, err := q.node(n)
	if err != nil {
		return 0, false
	}
	err = index.Read(ctx, func(s *seg.Snapshot) error {
		found, err = query.Estimate(s, tree)
		return err
	})
	return found, err == nil
}

// EstimateRejected is about how many rows a search has to look at because a field
// that it uses could not take their value. Of n only the query, the order and
// what covers matter.
func EstimateRejected(ctx context.Context, c *decode.Codecs, m *search.Manager, t *schema.Table, n *physical.SearchScan, read []int) (rows float64) {
	marks := marksUsed(t, n, read)
	if len(marks) == 0 {
		return 0
	}
	index := m.Index(t, n.Index.ID)
	if index == nil {
		return 0
	}
	err := index.Read(ctx, func(s *seg.Snapshot) (err error) {
		rows, err = search.CountMarked(s, marks)
		return err
	})
	if err != nil { // the search will not be possible either
		return 0
	}
	return rows
}
