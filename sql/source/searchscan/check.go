package searchscan

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// errRescan says that a condition on values of documents has given an error: the
// table is read instead. That fails only if the error is one of a row that it
// reads.
var errRescan = errors.New("source: a condition on values of a search index fails")

// check is a condition on the values of documents, computed for each of them, or
// for each different value where these are fewer.
type check struct {
	ctx   context.Context
	ec    *expr.Ctx
	cond  expr.Expr
	cols  []searchColumn
	batch *vec.Batch
	// warnings are those of the last batch; warn takes them.
	warnings []sqlerr.Warning
	warn     func(sqlerr.Warning)
	// again: rows for which the condition is true are checked again, and give
	// their warnings then.
	again bool
	docs  []uint32
	ords  []uint32
	// looked counts the documents whose values were read.
	looked *int64
	// workers are the goroutines on which it may be computed. apart: this is one of
	// them, and warnings are errors.
	workers int
	apart   bool
}

func (q *searchQuery) check(n *physical.SearchNode) (query.Node, error) {
	c := &check{ctx: q.ctx, looked: q.looked, again: q.again, ec: q.ec.Fork(), batch: vec.NewBatch(nil), cols: make([]searchColumn, len(n.Fields))}
	if c.warn = q.ec.Warn; c.warn != nil {
		c.ec.Warn = func(w sqlerr.Warning) { c.warnings = append(c.warnings, w) }
	}
	if c.workers = q.workers; q.objects != 0 || hasSubquery(n.Cond) {
		c.workers = 1
	}
	for i, d := range n.Fields {
		f, err := searchdoc.NewField(q.table, d)
		if err != nil {
			return nil, err
		}
		c.cols[i] = searchColumn{Field: f, z: q.z}
	}
	c.cond = expr.Map(q.fold(n.Cond), func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok {
			placed := *col
			placed.Index = slices.Index(n.Columns, col.Index)
			return &placed
		}
		return x
	})
	return &query.Check{Test: c.test, Share: n.Share}, nil
}

// fold computes the constants of a condition that warn.
func (q *searchQuery) fold(cond expr.Expr) expr.Expr {
	return expr.MapConsts(cond, func(f *expr.Func) expr.Expr {
		before := len(*q.warnings)
		d, err := expr.EvalConst(q.consts, f)
		if err != nil { // the rows report it
			*q.warnings = (*q.warnings)[:before]
			return f
		}
		if len(*q.warnings) == before {
			return f
		}
		return &expr.Const{D: d.Clone(), T: f.Type()}
	})
}

// parallelDocs are the documents from which checks are computed on several
// goroutines.
const parallelDocs = 20_000

// findParallel finds what a query with checks finds, several segments at a time.
// ok is false where that is not worth it, and where a check warns or fails: run
// again on one goroutine, it does so in its order.
func (q *searchQuery) findParallel(n *physical.Scan, v *search.View) (hits []query.Hits, ok bool) {
	workers := min(n.Search().Workers, len(v.Segments()))
	if workers < 2 || v.Docs() < parallelDocs || !hasChecks(n.Search().Query) {
		return nil, false
	}
	var warned atomic.Bool
	parts := make([]*searchQuery, workers)
	trees := make([]query.Node, workers)
	for i := range parts {
		z := decode.NewZone(q.ec.Loc)
		p := &searchQuery{ctx: q.ctx, table: q.table, ec: q.ec.Fork(), consts: q.ec.Fork(), z: &z, again: q.again, looked: new(int64), warnings: new([]sqlerr.Warning), workers: q.workers}
		p.consts.Warn = func(w sqlerr.Warning) { *p.warnings = append(*p.warnings, w) } // q has them, too
		if q.ec.Warn != nil {
			p.ec.Warn = func(sqlerr.Warning) { warned.Store(true) }
		}
		tree, err := p.node(n.Search().Query)
		if err != nil {
			return nil, false
		}
		parts[i], trees[i] = p, tree
	}
	hits, err := query.RunParallel(v, trees, countsOnly(n))
	if err != nil || warned.Load() {
		return nil, false
	}
	for _, p := range parts {
		*q.looked += *p.looked
	}
	return hits, true
}

// hasChecks reports a query with checks, none of which has a subquery.
func hasChecks(n *physical.SearchNode) bool {
	checks, plain := false, true
	n.Each(func(n *physical.SearchNode) {
		if n.Op == physical.SearchNested {
			plain = false
		}
		if n.Op != physical.SearchCheck {
			return
		}
		checks = true
		plain = plain && !hasSubquery(n.Cond)
	})
	return checks && plain
}

func hasSubquery(e expr.Expr) (found bool) {
	expr.Walk(e, func(e expr.Expr) bool {
		_, is := e.(*expr.Subquery)
		found = found || is
		return !found
	})
	return found
}

// test leaves the documents of set for which the condition is true.
func (c *check) test(s *seg.Segment, set []uint64) error {
	*c.looked += int64(countBits(set))
	if len(c.cols) == 1 && !c.cols[0].Word && !c.cols[0].Geo && !c.cols[0].Bytes {
		keys, err := s.Keys(c.cols[0].ID)
		if err != nil {
			return err
		}
		if keys.Ordinals() <= countBits(set) {
			if done, err := c.byValue(keys, set); done || err != nil {
				return err
			}
		}
	}
	if c.workers > 1 && countBits(set) >= parallelDocs {
		left := slices.Clone(set)
		done, err := c.divide(len(left)<<6, func(c *check, from, to int) error { return c.testRange(s, left[:to>>6], from) })
		if done {
			copy(set, left)
		}
		if done || err != nil {
			return err
		}
	}
	return c.testRange(s, set, 0)
}

// testRange is test for the documents of set from one on.
func (c *check) testRange(s *seg.Segment, set []uint64, from int) error {
	for end := len(set) << 6; from < end; {
		var next int
		c.docs, next = docsOf(set, from, vec.MaxRows, c.docs[:0])
		if len(c.docs) == 0 {
			break
		}
		few, err := fit(s, c.cols, c.docs)
		if err != nil {
			return err
		}
		if n := len(few); n < len(c.docs) {
			next, c.docs = int(c.docs[n]), few
		}
		if err := c.testDocs(s, c.docs, set); err != nil {
			return err
		}
		from = next
	}
	return nil
}

// testDocs computes the condition of documents and leaves those in set for which
// it is true.
func (c *check) testDocs(s *seg.Segment, docs []uint32, set []uint64) error {
	if err := decodeDocs(s, docs, c.cols, c.batch); err != nil {
		return err
	}
	if err := c.eval(); err != nil {
		return err
	}
	if len(c.warnings) > 0 && c.again && len(docs) > 1 {
		for i := range docs { // which of them are they of?
			if err := c.testDocs(s, docs[i:i+1], set); err != nil {
				return err
			}
		}
		return nil
	}
	if c.batch.Live() == 0 || !c.again {
		for _, w := range c.warnings {
			c.warn(w)
		}
	}
	for _, d := range docs {
		set[d>>6] &^= 1 << (d & 63)
	}
	for r := range c.batch.Live() {
		d := docs[c.batch.Row(r)]
		set[d>>6] |= 1 << (d & 63)
	}
	return nil
}

// eval leaves the rows of the batch for which the condition is true.
func (c *check) eval() error {
	if err := c.ctx.Err(); err != nil {
		return context.Cause(c.ctx)
	}
	c.warnings = c.warnings[:0]
	err := expr.EvalFilter(c.ec, c.cond, c.batch)
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case err != nil, c.apart && len(c.warnings) > 0:
		return errRescan
	}
	return nil
}

// fork is the same check for another goroutine.
func (c *check) fork() *check {
	z := decode.NewZone(c.ec.Loc)
	f := &check{ctx: c.ctx, again: c.again, ec: c.ec.Fork(), cond: c.cond, batch: vec.NewBatch(nil), cols: make([]searchColumn, len(c.cols)), looked: new(int64), apart: true}
	if c.ec.Warn != nil {
		f.ec.Warn = func(w sqlerr.Warning) { f.warnings = append(f.warnings, w) }
	}
	for i := range c.cols {
		f.cols[i] = searchColumn{Field: c.cols[i].Field, z: &z}
	}
	return f
}

// divide calls fn for parts of n things, each of which begins at a multiple of
// vec.MaxRows, with a check of its own on a goroutine of its own. done is false where one
// of them warns or fails, which they do in their order on one goroutine.
func (c *check) divide(n int, fn func(c *check, from, to int) error) (done bool, err error) {
	blocks := (n + vec.MaxRows - 1) / vec.MaxRows
	workers := min(c.workers, blocks)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		one := c.fork()
		from, to := i*blocks/workers*vec.MaxRows, min((i+1)*blocks/workers*vec.MaxRows, n)
		wg.Go(func() {
			errs[i] = guard.Run(func() error { return seg.Guard(func() error { return fn(one, from, to) }) })
		})
	}
	wg.Wait()
	if c.ctx.Err() != nil {
		return false, context.Cause(c.ctx)
	}
	return errors.Join(errs...) == nil, nil
}

// byValue computes the condition once for each value, and for NULL. done is false
// where that fails, perhaps for a value that only deleted documents have.
func (c *check) byValue(keys *seg.Keys, set []uint64) (done bool, err error) {
	n := keys.Ordinals()
	is := make([]uint64, seg.BitWords(n))
	if c.workers > 1 && n >= parallelDocs {
		done, err = c.divide(n, func(c *check, from, to int) error { return c.testValues(keys, from, to, is) })
	} else {
		done, err = true, c.testValues(keys, 0, n, is)
	}
	if errors.Is(err, errRescan) {
		return false, nil
	}
	if !done || err != nil {
		return false, err
	}
	null := false
	if keys.Nulls() != nil || keys.AllNull() {
		initBatch(c.batch, c.cols, 1)
		c.batch.Cols[0].Nulls.Set(0)
		if err := c.eval(); errors.Is(err, errRescan) || len(c.warnings) > 0 {
			return false, nil
		} else if err != nil {
			return false, err
		}
		null = c.batch.Live() > 0
	}
	if classes, whole := classesOf(keys, is); whole {
		found := make([]uint64, len(set))
		keys.SetInto(classes, found)
		for i, w := range keys.Nulls() {
			if null {
				found[i] |= w
			}
		}
		for i, w := range found {
			set[i] &= w
		}
		return true, nil
	}
	c.ords = slices.Grow(c.ords[:0], vec.MaxRows)[:vec.MaxRows]
	for from, end := 0, len(set)<<6; from < end; {
		c.docs, from = docsOf(set, from, vec.MaxRows, c.docs[:0])
		keys.Gather(c.docs, c.ords[:len(c.docs)])
		for i, d := range c.docs {
			o := c.ords[i]
			if o == seg.NoOrdinal && !null || o != seg.NoOrdinal && is[o>>6]&(1<<(o&63)) == 0 {
				set[d>>6] &^= 1 << (d & 63)
			}
		}
	}
	return true, nil
}

// testValues computes the condition for the values from one to another, and adds those
// for which it is true to is. A warning is errRescan.
func (c *check) testValues(keys *seg.Keys, from, to int, is []uint64) error {
	for ; from < to; from += vec.MaxRows {
		initBatch(c.batch, c.cols, min(to-from, vec.MaxRows))
		for i := range c.batch.N {
			c.batch.Cols[0].SetDatum(i, c.cols[0].Datum(keys.Value(uint32(from+i))))
		}
		if err := c.eval(); err != nil {
			return err
		}
		if len(c.warnings) > 0 {
			return errRescan
		}
		for r := range c.batch.Live() {
			o := from + c.batch.Row(r)
			is[o>>6] |= 1 << (o & 63)
		}
	}
	return nil
}

// classesOf are the classes of a set of ordinals; whole is false when it has only
// a part of one.
func classesOf(keys *seg.Keys, is []uint64) (classes []uint64, whole bool) {
	if keys.Classes() == keys.Ordinals() {
		return is, true
	}
	n := uint32(keys.Classes())
	classes = make([]uint64, seg.BitWords(int(n)))
	for k := range n {
		from, to := keys.ClassOrdinals(k)
		first := is[from>>6]&(1<<(from&63)) != 0
		for o := from + 1; o < to; o++ {
			if is[o>>6]&(1<<(o&63)) != 0 != first {
				return nil, false
			}
		}
		if first {
			classes[k>>6] |= 1 << (k & 63)
		}
	}
	return classes, true
}

func countBits(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// docsOf appends up to most documents of a set from one on, and gives the one to
// go on with.
func docsOf(set []uint64, from, most int, out []uint32) (docs []uint32, next int) {
	h := query.Hits{Set: set}
	docs, to := h.Docs(uint32(from), most, out)
	return docs, int(to)
}
