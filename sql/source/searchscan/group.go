package searchscan

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// searchGroups is the aggregation of the documents of a search. Where there are
// too many groups for it, the documents are given as rows instead.
type searchGroups struct {
	plan   *physical.SearchGroup
	groups *query.Groups
	calls  []groupCall
	// final: nothing else belongs to the groups, so that different values need
	// not be given.
	final bool
	ids   []uint32
	held  int64
}

// groupCall is how an aggregate of the plan is made of one of the index.
type groupCall struct {
	op  query.Op
	col *searchColumn
	// different are the numbers of different values, or the values with their
	// groups.
	counts []int64
	values map[uint32][]value.Datum
	words  map[uint32][]int64
}

// Groups implements exec.Grouper.
func (o *searchOp) Groups(ctx context.Context) (p *exec.Part, err error) {
	err = seg.Guard(func() (err error) {
		p, err = o.groups(ctx)
		return err
	})
	return p, err
}

func (o *searchOp) groups(ctx context.Context) (*exec.Part, error) {
	if o.group == nil {
		return nil, nil
	}
	g := o.group
	if g.groups == nil {
		if err := o.narrow(ctx); err != nil {
			return nil, err
		}
		ok, err := o.aggregate(ctx)
		if err != nil {
			return nil, err
		}
		if !ok { // they come as rows
			o.memory.Shrink(g.held)
			o.group = nil
			return nil, exec.ErrUngrouped
		}
		o.hits, o.tallied = nil, false
	}
	if len(g.ids) == 0 {
		o.memory.Shrink(g.held)
		o.group = nil
		return nil, nil
	}
	n := min(len(g.ids), vec.MaxRows)
	ids := g.ids[:n]
	g.ids = g.ids[n:]
	return o.part(ids)
}

// Different values are given up to so many; about what each takes.
const (
	maxDifferent   = 1 << 20
	differentBytes = 32
)

// aggregate groups the hits; false when the index cannot.
func (o *searchOp) aggregate(ctx context.Context) (bool, error) {
	g := o.group
	var by []query.Field
	g.final = len(o.View.Changed) == 0 && (g.plan.Plain || len(g.plan.By) == 0)
	for _, at := range g.plan.By {
		c := &o.cols[at]
		if c.Geo || c.Bytes {
			return false, nil
		}
		g.final = g.final && !c.isZoned()
		f := c.distinct()
		if !g.plan.Plain { // expressions may distinguish equal values
			f = query.Field{ID: c.ID, Exact: true}
		}
		by = append(by, f)
	}
	var calls []query.Call
	for i, p := range g.plan.Calls {
		call := groupCall{op: query.CountAll}
		if p.Column >= 0 {
			call.col = &o.cols[p.Column]
			if call.col.Geo || call.col.Bytes {
				return false, nil
			}
			if call.op = call.col.op(p); call.op == query.CountAll {
				return false, nil
			}
		}
		g.calls[i] = call
		one := query.Call{Op: call.op}
		if call.col != nil {
			one.Field = call.col.distinct()
		}
		calls = append(calls, one)
	}
	groups, err := query.GroupBy(ctx, o.hits, by, calls, g.plan.Workers, func(n int64) error {
		if err := o.memory.Grow(n, "search"); err != nil {
			return err
		}
		o.grown.Add(n)
		return nil
	})
	g.held = o.grown.Swap(0)
	if errors.Is(err, query.ErrTooMany) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	g.groups, g.ids = groups, groups.IDs(nil)
	for i := range g.calls {
		c := &g.calls[i]
		if c.op != query.Distinct {
			continue
		}
		if g.final && g.plan.Calls[i].Op == expr.AggCount && !c.col.isZoned() {
			c.counts = groups.CountDifferent(i)
			continue
		}
		n := groups.Differences(i)
		if n > maxDifferent || o.hold(int64(n)*differentBytes) != nil {
			return false, nil
		}
		c.values, c.words = map[uint32][]value.Datum{}, map[uint32][]int64{}
		groups.Different(i, func(id uint32, w int64) {
			c.words[id] = append(c.words[id], w)
		}, func(id uint32, v []byte) {
			c.values[id] = append(c.values[id], c.col.Datum(v))
		})
	}
	return true, nil
}

// isZoned: values depend on the time zone, and may be equal or in another order
// where those of the index are not.
func (c *searchColumn) isZoned() bool { return c.Stamp && !c.z.UTC }

func (c *searchColumn) distinct() query.Field {
	return query.Field{ID: c.ID, Zeros: c.Kind == value.KindFloat}
}

// op is what the index computes for an aggregate of the column; CountAll when it
// cannot.
func (c *searchColumn) op(p physical.SearchCall) query.Op {
	switch {
	case p.Distinct:
		if c.Kind == value.KindFloat && p.Op != expr.AggCount {
			return query.CountAll // sums of doubles depend on their order
		}
		return query.Distinct
	case p.Op == expr.AggCount:
		return query.Count
	case p.Op == expr.AggSum, p.Op == expr.AggAvg:
		switch {
		case c.Kind == value.KindFloat:
			return query.SumFloat
		case c.Word && (c.Kind == value.KindInt || c.Kind == value.KindUint || c.Kind == value.KindDecimal):
			return query.Sum
		}
	case c.isZoned() && p.Op != expr.AggAnyValue:
	case p.Op == expr.AggMax:
		return query.Max
	default:
		return query.Min
	}
	return query.CountAll
}

// part gives groups to the plan's aggregates.
func (o *searchOp) part(ids []uint32) (*exec.Part, error) {
	g := o.group
	p := &exec.Part{Rows: vec.NewBatch(nil), Calls: make([]exec.PartCall, len(g.calls))}
	p.Rows.N = len(ids)
	p.Rows.Cols = make([]*vec.Vec, len(o.cols))
	for _, id := range ids {
		p.Count = append(p.Count, g.groups.Count(id))
	}
	for i := range o.cols {
		p.Rows.Cols[i] = vec.NewSized(o.cols[i].Kind, len(ids))
	}
	for f, at := range g.plan.By {
		o.cols[at].each(ids, p.Rows.Cols[at], func(id uint32) (int64, bool) { return g.groups.Word(f, id) },
			func(id uint32) ([]byte, bool) { return g.groups.Value(f, id) })
	}
	for i := range g.calls {
		g.calls[i].fill(g.groups, i, ids, &p.Calls[i])
	}
	return p, nil
}

// each writes a value for each group: a word, or a value that is stored with its
// key.
func (c *searchColumn) each(ids []uint32, out *vec.Vec, word func(uint32) (int64, bool), val func(uint32) ([]byte, bool)) {
	if !c.Word {
		for i, id := range ids {
			if v, ok := val(id); ok {
				out.SetDatum(i, c.Datum(v))
			} else {
				out.Nulls.Set(i)
			}
		}
		return
	}
	words := make([]int64, len(ids))
	for i, id := range ids {
		w, ok := word(id)
		if !ok {
			out.Nulls.Set(i)
		}
		words[i] = w
	}
	c.fill(words, out)
}

func (c *groupCall) fill(g *query.Groups, call int, ids []uint32, out *exec.PartCall) {
	switch c.op {
	case query.CountAll:
		for _, id := range ids {
			out.N = append(out.N, g.Count(id))
		}
		return
	case query.Distinct:
		c.fillDistinct(ids, out)
		return
	case query.Min, query.Max:
		out.Value = vec.NewSized(c.col.Kind, len(ids))
		c.col.each(ids, out.Value, func(id uint32) (int64, bool) { return g.BestWord(call, id), g.N(call, id) > 0 },
			func(id uint32) ([]byte, bool) { return g.BestValue(call, id), g.N(call, id) > 0 })
		return
	}
	for _, id := range ids {
		n := g.N(call, id)
		out.N = append(out.N, n)
		switch c.op {
		case query.Sum:
			hi, lo := g.Sum(call, id)
			if c.col.Kind == value.KindUint { // their words are 2^63 less
				var carry uint64
				if lo += uint64(n) << 63; lo < uint64(n)<<63 {
					carry = 1
				}
				hi += int64(uint64(n)>>1 + carry)
			}
			out.Hi, out.Lo, out.Scale = append(out.Hi, hi), append(out.Lo, lo), c.col.Scale
		case query.SumFloat:
			out.Float = append(out.Float, g.Float(call, id))
		}
	}
}

func (c *groupCall) fillDistinct(ids []uint32, out *exec.PartCall) {
	if c.counts != nil {
		for _, id := range ids {
			out.N = append(out.N, c.counts[id])
		}
		return
	}
	n := 0
	for _, id := range ids {
		n += len(c.words[id]) + len(c.values[id])
	}
	out.Value = vec.NewSized(c.col.Kind, n)
	var words []int64
	for i, id := range ids {
		words = append(words, c.words[id]...)
		for range c.words[id] {
			out.Of = append(out.Of, uint32(i))
		}
		for _, d := range c.values[id] {
			out.Value.SetDatum(len(out.Of), d)
			out.Of = append(out.Of, uint32(i))
		}
	}
	if c.col.Word {
		c.col.fill(words, out.Value)
	}
}

// narrow leaves those hits that satisfy the filter.
func (o *searchOp) narrow(ctx context.Context) error {
	if len(o.filter) == 0 {
		return nil
	}
	filter := o.filter
	o.filter = nil
	var docs []uint32
	for i := range o.hits {
		h := &o.hits[i]
		keep := make([]uint64, len(h.Set))
		h.Count = 0
		for from, end := uint32(0), uint32(len(h.Set)<<6); from < end; {
			docs, from = h.Docs(from, vec.MaxRows, docs[:0])
			if len(docs) == 0 {
				break
			}
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			few, err := fit(h.Seg, o.cols, docs)
			if err != nil {
				return err
			}
			if n := len(few); n < len(docs) {
				docs, from = few, docs[n]
			}
			b := o.batch
			if err := decodeDocs(h.Seg, docs, o.cols, b); err != nil {
				return err
			}
			for _, f := range filter {
				if err := expr.EvalFilter(o.ec, f, b); err != nil {
					return err
				}
			}
			h.Count += b.Live()
			set := func(d uint32) { keep[d>>6] |= 1 << (d & 63) }
			if !b.HasSel {
				for _, d := range docs {
					set(d)
				}
				continue
			}
			for _, r := range b.Sel {
				set(docs[r])
			}
		}
		h.Set = keep
	}
	return nil
}

var _ exec.Grouper = (*searchOp)(nil)
