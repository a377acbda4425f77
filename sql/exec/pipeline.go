package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// scanOp opens its scan at the first Next.
type scanOp struct {
	env  *Env
	ec   *expr.Ctx
	node physical.TableNode
	part Partition
	in   Operator
	done bool
	// picks are given to in when it is opened.
	picks []columnPick
}

func (s *scanOp) Next(ctx context.Context) (*vec.Batch, error) {
	if s.in == nil {
		if err := s.open(ctx); err != nil || s.in == nil {
			return nil, err
		}
	}
	return s.in.Next(ctx)
}

// open opens the scan.
func (s *scanOp) open(ctx context.Context) error {
	if s.in != nil || s.done {
		return nil
	}
	in, err := s.env.Source.Scan(ctx, s.ec, s.node, s.part)
	if err != nil {
		return err
	}
	s.in = in
	pickAll(in, s.picks)
	return nil
}

// Skip implements skipper.
func (s *scanOp) Skip(ctx context.Context, n uint64) (uint64, error) {
	if x := s.node.Leaf().Search(); x == nil || x.Order == nil {
		return 0, nil
	}
	if err := s.open(ctx); err != nil {
		return 0, err
	}
	if in, ok := s.in.(skipper); ok {
		return in.Skip(ctx, n)
	}
	return 0, nil
}

// Counters implements Counted.
func (s *scanOp) Counters() Counters {
	if c, ok := s.in.(Counted); ok {
		return c.Counters()
	}
	return Counters{}
}

// EntryCounters implements EntryCounted.
func (s *scanOp) EntryCounters() (int64, Counters) {
	if c, ok := s.in.(EntryCounted); ok {
		return c.EntryCounters()
	}
	return 0, Counters{}
}

// Uncount implements Limited.
func (s *scanOp) Uncount(n int) {
	if l, ok := s.in.(Limited); ok {
		l.Uncount(n)
	}
}

func (s *scanOp) Close() error {
	s.done = true
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	s.env.read(s.node, in)
	return in.Close()
}

// virtualOp opens its virtual table at the first Next.
type virtualOp struct {
	env  *Env
	ec   *expr.Ctx
	node *physical.Virtual
	in   Operator
	done bool
}

func (s *virtualOp) Next(ctx context.Context) (*vec.Batch, error) {
	if s.in == nil {
		if s.done {
			return nil, nil
		}
		in, err := s.env.Source.Virtual(ctx, s.ec, s.node)
		if err != nil {
			return nil, err
		}
		s.in = in
	}
	return s.in.Next(ctx)
}

func (s *virtualOp) Close() error {
	s.done = true
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	return in.Close()
}

// valuesOp evaluates constant rows.
type valuesOp struct {
	ec   *expr.Ctx
	node *physical.Values
	size int
	at   int
	out  *vec.Batch
}

func (v *valuesOp) Next(ctx context.Context) (*vec.Batch, error) {
	if v.at >= len(v.node.Rows) {
		return nil, nil
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	n := min(v.size, len(v.node.Rows)-v.at)
	if v.out == nil {
		v.out = newOut(kindsOf(v.node.Cols))
	}
	v.out.N, v.out.HasSel, v.out.Sel = n, false, nil
	for _, c := range v.out.Cols {
		c.Init(c.Kind, n)
	}
	for r := range n {
		row := v.node.Rows[v.at+r]
		if len(row) < len(v.out.Cols) {
			return nil, sqlerr.Internal("a row of %d values for %d columns", len(row), len(v.out.Cols))
		}
		for c, col := range v.out.Cols {
			d, err := expr.EvalConst(v.ec, row[c])
			if err != nil {
				return nil, err
			}
			if !d.IsNull() && d.Kind() != col.Kind {
				if d, err = types.Cast(&v.ec.Env, d, row[c].Type(), v.node.Cols[c].T); err != nil {
					return nil, err
				}
				if !d.IsNull() && d.Kind() != col.Kind {
					return nil, sqlerr.Internal("value of kind %s in a column of kind %s", d.Kind(), col.Kind)
				}
			}
			col.SetDatum(r, d)
		}
	}
	v.at += n
	return v.out, nil
}

func (v *valuesOp) Close() error {
	v.at = len(v.node.Rows)
	return nil
}

// filterOp keeps the rows for which all conditions are true.
type filterOp struct {
	ec    *expr.Ctx
	in    Operator
	conds []expr.Expr
}

func (f *filterOp) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := f.in.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if err := filterBatch(f.ec, f.conds, b); err != nil {
			return nil, err
		}
		if b.Live() > 0 {
			return b, nil
		}
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
	}
}

func (f *filterOp) Close() error { return f.in.Close() }

func filterBatch(ec *expr.Ctx, conds []expr.Expr, b *vec.Batch) error {
	for _, c := range conds {
		if b.Live() == 0 {
			return nil
		}
		if err := expr.EvalFilter(ec, c, b); err != nil {
			return err
		}
	}
	return nil
}

// projectOp computes columns. Its batch shares the selection and the plain
// columns of the input's.
type projectOp struct {
	ec    *expr.Ctx
	in    Operator
	exprs []expr.Expr
	out   vec.Batch
	// owned are the computed columns: operators above evaluate expressions over
	// them with the same context, which must not take them for scratch.
	owned []*vec.Vec
}

func (p *projectOp) Next(ctx context.Context) (*vec.Batch, error) {
	p.giveBack()
	b, err := p.in.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	p.out.Cols, err = evalAll(p.ec, p.exprs, b, p.out.Cols)
	if err != nil {
		return nil, err
	}
	for _, v := range p.out.Cols {
		if p.ec.Take(v) {
			p.owned = append(p.owned, v)
		}
	}
	p.out.N, p.out.Sel, p.out.HasSel = b.N, b.Sel, b.HasSel
	return &p.out, nil
}

// Skip implements skipper: skipped rows need no computed columns and scores.
func (p *projectOp) Skip(ctx context.Context, n uint64) (uint64, error) {
	in, ok := p.in.(skipper)
	for _, e := range p.exprs {
		switch x := e.(type) {
		case *expr.Col:
		case *expr.Func:
			ok = ok && x.Match() != nil
		default:
			ok = false
		}
	}
	if !ok {
		return 0, nil
	}
	return in.Skip(ctx, n)
}

func (p *projectOp) giveBack() {
	for _, v := range p.owned {
		p.ec.Put(v)
	}
	p.owned, p.out.Cols = p.owned[:0], p.out.Cols[:0]
}

func (p *projectOp) Close() error {
	p.giveBack()
	return p.in.Close()
}

// limitOp passes rows offset to offset+count.
type limitOp struct {
	ec            *expr.Ctx
	in            Operator
	count, offset expr.Expr
	opened        bool
	skip, left    uint64
	// total, when set, receives the number of all rows; they are all read.
	total *int64
}

const noLimit = ^uint64(0)

func (l *limitOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !l.opened {
		if err := l.open(ctx); err != nil {
			return nil, err
		}
	}
	for l.left > 0 || l.total != nil {
		b, err := l.in.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		n := uint64(b.Live())
		if l.total != nil {
			*l.total += int64(n)
		}
		if n <= l.skip || l.left == 0 {
			l.skip -= min(n, l.skip)
			if err := interrupted(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if l.skip > 0 {
			b.SetSel(append(b.SelBuf(), liveRows(b)[l.skip:]...))
			n -= l.skip
			l.skip = 0
		}
		if n > l.left {
			b.Truncate(int(l.left))
			n = l.left
		}
		if l.left != noLimit {
			l.left -= n
		}
		return b, nil
	}
	return nil, nil
}

func (l *limitOp) open(ctx context.Context) (err error) {
	l.opened, l.left = true, noLimit
	if l.skip, err = limitValue(l.ec, l.offset, 0); err == nil {
		l.left, err = limitValue(l.ec, l.count, noLimit)
	}
	if in, ok := l.in.(skipper); ok && err == nil && l.skip > 0 && l.left > 0 && l.total == nil {
		var n uint64
		n, err = in.Skip(ctx, l.skip)
		l.skip -= n
	}
	return err
}

func (l *limitOp) Close() error { return l.in.Close() }

// limitValue is the value of a LIMIT or OFFSET expression; absent is that of
// none.
func limitValue(ec *expr.Ctx, e expr.Expr, absent uint64) (uint64, error) {
	if e == nil {
		return absent, nil
	}
	d, err := expr.EvalConst(ec, e)
	if err != nil {
		return 0, err
	}
	switch {
	case d.Kind() == value.KindUint:
		return d.Uint(), nil
	case d.Kind() == value.KindInt && d.Int() >= 0:
		return uint64(d.Int()), nil
	}
	return 0, sqlerr.WrongArguments("LIMIT")
}
