package exec

import (
	"context"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// DefaultMaxRecursion is MySQL's default of cte_max_recursion_depth.
const DefaultMaxRecursion = 1000

// cteRun is a common table expression of one execution: its rows are computed
// by who reads it first, and held until the statement's tracker is closed; those
// of a dependent one, which belong to one scan, until that is closed.
type cteRun struct {
	ctx  context.Context
	env  *Env
	ec   *expr.Ctx // with the outer values of a dependent one; nil for the statement's
	node *physical.CTE
	once sync.Once
	err  error
	rows *rowBuffer
	acct account
	// offset is the number of rows in front that LIMIT leaves out.
	offset int
	// from and to bound the rows of the last iteration while a recursive one
	// is computed.
	from, to int
}

func newCTERuns(ctx context.Context, env *Env, list []*physical.CTE) map[*physical.CTE]*cteRun {
	runs := make(map[*physical.CTE]*cteRun, len(list))
	for _, c := range list {
		runs[c] = &cteRun{ctx: ctx, env: env, node: c}
	}
	return runs
}

func (b *builder) cteScan(x *physical.CTEScan) (Operator, error) {
	run := b.env.ctes[x.CTE]
	switch {
	case x.Work && b.works[x.CTE] != nil:
		run = b.works[x.CTE]
	case x.CTE.Dependent && !x.Work:
		run = &cteRun{env: b.env, ec: b.ec, node: x.CTE}
	}
	if run == nil {
		return nil, sqlerr.Internal("common table expression %s is not part of the plan", x.CTE.Name)
	}
	return &cteScanOp{run: run, node: x, size: b.env.batchSize()}, nil
}

// cteScanOp reads the rows of a cteRun, whose bytes it shares.
type cteScanOp struct {
	run   *cteRun
	node  *physical.CTEScan
	size  int
	begun bool
	rows  *bufferReader
	out   *vec.Batch
}

func (s *cteScanOp) Next(ctx context.Context) (*vec.Batch, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	if !s.begun {
		s.begun = true
		from, to := s.run.from, s.run.to
		if !s.node.Work {
			if s.run.ec != nil {
				s.run.ctx = ctx
			}
			s.run.once.Do(func() { s.run.err = s.run.compute() })
			if s.run.err != nil {
				return nil, s.run.err
			}
			from, to = s.run.offset, s.run.rows.n
		}
		s.rows, s.out = s.run.rows.read(from, to), &vec.Batch{}
	}
	if s.rows == nil {
		return nil, nil
	}
	b, err := s.rows.next(s.size)
	if err != nil || b == nil {
		return nil, err
	}
	s.out.N, s.out.HasSel, s.out.Sel = b.N, b.HasSel, b.Sel
	s.out.Cols = s.out.Cols[:0]
	for _, col := range s.node.Read {
		s.out.Cols = append(s.out.Cols, b.Cols[col])
	}
	return s.out, nil
}

func (s *cteScanOp) Close() error {
	s.begun, s.rows = true, nil
	if s.run.ec != nil && !s.node.Work {
		s.run.close()
	}
	return nil
}

func (r *cteRun) close() {
	r.rows.close()
	r.acct.close()
	r.rows = nil
}

// compute runs the seed and then, until nothing new comes, the recursive
// members over the rows of the iteration before. It works in the statement's
// context: the caller may be a worker that another one's error ends.
func (r *cteRun) compute() error {
	b := newBuilder(r.env, r.env.Ctx.Fork())
	if r.ec != nil {
		b.ec, b.serial, b.works = r.ec.Fork(), true, map[*physical.CTE]*cteRun{r.node: r}
	}
	f := &cteFill{run: r, limit: -1}
	r.acct = b.account(r.node.Seed, "common table expression "+r.node.Name)
	r.rows = b.newRowBuffer(r.node.Seed, kindsOf(r.node.Cols), &r.acct)
	if r.ec == nil {
		r.env.Memory.onClose(r.close)
	}
	if r.node.Distinct {
		f.set = r.env.newKeyTable(typesOf(r.node.Cols))
		f.acct = b.account(r.node.Seed, r.acct.operator)
		defer f.acct.close()
	}
	if err := f.setLimit(b.ec); err != nil {
		return err
	}
	if err := f.fill(b, r.node.Seed); err != nil {
		return err
	}
	max := uint64(DefaultMaxRecursion)
	if r.env.MaxRecursion != nil {
		max = *r.env.MaxRecursion
	}
	var iteration uint64
	for from := 0; len(r.node.Recursive) > 0 && from < r.rows.n && !f.full(); {
		if iteration++; iteration > max {
			return sqlerr.MaxRecursionDepth(iteration)
		}
		if err := r.rows.flush(); err != nil {
			return err
		}
		r.from, r.to = from, r.rows.n
		from = r.rows.n
		for _, m := range r.node.Recursive {
			if err := f.fill(b, m); err != nil {
				return err
			}
		}
	}
	return r.rows.finish()
}

// cteFill adds rows to a cteRun.
type cteFill struct {
	run   *cteRun
	set   keyTable
	acct  account // of set, which is given up in the end
	limit int     // rows with the offset, -1 for no limit
	ids   []uint32
	sel   []uint16
}

func (f *cteFill) full() bool { return f.limit >= 0 && f.run.rows.n >= f.limit }

func (f *cteFill) setLimit(ec *expr.Ctx) error {
	offset, err := limitValue(ec, f.run.node.Offset, 0)
	if err != nil {
		return err
	}
	f.run.offset = int(min(offset, maxHeldRows))
	if f.run.node.Count == nil {
		return nil
	}
	count, err := limitValue(ec, f.run.node.Count, 0)
	if err != nil {
		return err
	}
	f.limit = int(min(count, maxHeldRows)) + f.run.offset
	return nil
}

// maxHeldRows is more than memory holds, and small enough to add up.
const maxHeldRows = 1 << 40

// fill adds the rows of n. A recursive member's values are stored as columns
// of the seed's types, with the errors of an INSERT.
func (f *cteFill) fill(b *builder, n physical.Node) (err error) {
	if f.full() {
		return nil
	}
	op, err := b.build(n)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := op.Close(); err == nil {
			err = cerr
		}
	}()
	conv := newStoring(b.ec, n.Columns(), f.run.node.Cols, f.run.rows.n)
	for !f.full() {
		if err := interrupted(f.run.ctx); err != nil {
			return err
		}
		in, err := op.Next(f.run.ctx)
		if err != nil || in == nil {
			return err
		}
		if in, err = conv.batch(in); err != nil {
			return err
		}
		if err := f.add(in); err != nil {
			return err
		}
	}
	return nil
}

func (f *cteFill) add(in *vec.Batch) error {
	rows := liveRows(in)
	if f.run.node.Distinct {
		f.sel = f.sel[:0]
		f.ids = f.set.insert(in.Cols, rows, f.ids[:0], func(i uint16) { f.sel = append(f.sel, i) })
		rows = f.sel
	}
	if f.limit >= 0 {
		rows = rows[:min(len(rows), f.limit-f.run.rows.n)]
	}
	if f.run.node.Distinct {
		if err := f.acct.toBeyondQuery(f.set.size()); err != nil {
			return err
		}
	}
	return f.run.rows.add(in.Cols, rows)
}

// storing converts the rows of a recursive member to the columns of its CTE.
type storing struct {
	ec   *expr.Ctx
	from []physical.Column
	cols []schema.Column
	same []bool // the column needs no conversion
	all  bool
	done int // rows before, for messages
	out  *vec.Batch
}

func newStoring(ec *expr.Ctx, from, to []physical.Column, done int) *storing {
	s := &storing{ec: ec, from: from, cols: make([]schema.Column, len(to)), same: make([]bool, len(to)), all: true, done: done}
	for i, c := range to {
		s.cols[i] = schema.Column{Name: c.Name, Type: c.T, Nullable: true}
		s.same[i] = storesAsIs(from[i].T, c.T)
		s.all = s.all && s.same[i]
	}
	if !s.all {
		s.out = newOut(kindsOf(to))
	}
	return s
}

// storesAsIs reports that all values of type a are values of type b.
func storesAsIs(a, b schema.Type) bool {
	if types.KindOf(a) != types.KindOf(b) || a.ID != b.ID || a.Unsigned != b.Unsigned || a.Scale != b.Scale {
		return false
	}
	return a.Len <= b.Len && (!a.IsCharacter() || a.Collation == b.Collation) && a.ID != schema.TypeEnum && a.ID != schema.TypeSet
}

func (s *storing) batch(in *vec.Batch) (*vec.Batch, error) {
	if s.all {
		return in, nil
	}
	rows := liveRows(in)
	env := s.ec.Env
	env.Write = true
	s.out.HasSel, s.out.Sel, s.out.N = false, nil, len(rows)
	for c, dst := range s.out.Cols {
		dst.Init(dst.Kind, len(rows))
		for r, i := range rows {
			d := in.Cols[c].Datum(int(i))
			if !s.same[c] && !d.IsNull() {
				var err error
				if d, err = types.Store(&env, d, s.from[c].T, &s.cols[c], s.done+r+1); err != nil {
					return nil, err
				}
			}
			if d.IsNull() {
				d = value.Null
			}
			dst.SetDatum(r, d)
		}
	}
	s.done += len(rows)
	return s.out, nil
}
