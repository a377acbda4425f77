package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// sliced makes in deliver few rows at a time where an operator evaluates expressions
// over them, with ec, whose values may be large.
func sliced(ec *expr.Ctx, in Operator, exprs ...[]expr.Expr) Operator {
	for _, list := range exprs {
		if ec.AreLarge(list) {
			return &sliceOp{ec: ec, in: in}
		}
	}
	return in
}

// slicedForGroups is sliced for an aggregation.
func slicedForGroups(ec *expr.Ctx, in Operator, groupBy []expr.Expr, aggs []*expr.Agg) Operator {
	lists := [][]expr.Expr{groupBy}
	for _, a := range aggs {
		lists = append(lists, a.Args)
	}
	return sliced(ec, in, lists...)
}

// sliceOp delivers the batches of its input in steps, see expr.Ctx.StepRows.
type sliceOp struct {
	ec   *expr.Ctx
	in   Operator
	b    *vec.Batch // of which rows are left, or nil
	rows []uint16   // live rows of b
	at   int
	out  vec.Batch
	sel  []uint16
	busy bool // a step was delivered
	mark expr.StepMark
}

func (s *sliceOp) Next(ctx context.Context) (*vec.Batch, error) {
	s.endStep()
	if s.b == nil {
		b, err := s.in.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		s.beginStep()
		if b.Live() <= s.ec.StepRows() {
			return b, nil
		}
		s.b, s.rows, s.at = b, append(s.rows[:0], liveRows(b)...), 0
	}
	n := min(s.ec.StepRows(), len(s.rows)-s.at)
	s.sel = append(s.sel[:0], s.rows[s.at:s.at+n]...)
	s.out.N, s.out.Cols = s.b.N, s.b.Cols
	s.out.SetSel(s.sel)
	s.beginStep()
	if s.at += n; s.at == len(s.rows) {
		s.b = nil
	}
	return &s.out, nil
}

// Skip implements skipper.
func (s *sliceOp) Skip(ctx context.Context, n uint64) (uint64, error) {
	in, ok := s.in.(skipper)
	if !ok || s.b != nil {
		return 0, nil
	}
	return in.Skip(ctx, n)
}

func (s *sliceOp) beginStep() {
	if !s.busy {
		s.busy, s.mark = true, s.ec.BeginStep()
	}
}

func (s *sliceOp) endStep() {
	if s.busy {
		s.ec.EndStep(s.mark)
		s.busy = false
	}
}

func (s *sliceOp) Close() error {
	s.endStep()
	return s.in.Close()
}

// stepOp delivers the batches of its input in so few rows at a time that what an
// aggregation holds of them, size bytes in all, grows by about most bytes: it accounts for
// its memory after each, and rows with many aggregates may take far more than their own size.
type stepOp struct {
	in   Operator
	size func() int64
	most int64

	step   int // rows
	before int64
	b      *vec.Batch // of which rows are left, or nil
	rows   []uint16   // live rows of b that are left
	out    vec.Batch
}

const (
	firstStep = 64
	mostStep  = 4 << 20
	leastStep = 64 << 10
)

// stepped makes in deliver steps for an aggregation that holds size bytes in a.
func stepped(in Operator, a *account, size func() int64) *stepOp {
	most := int64(mostStep)
	if limit := a.t.Limit(); limit > 0 {
		most = min(max(limit/64, leastStep), most)
	}
	return &stepOp{in: in, size: size, most: most, step: firstStep}
}

func (s *stepOp) Next(ctx context.Context) (*vec.Batch, error) {
	if s.b == nil {
		b, err := s.in.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if b.Live() <= s.step {
			return b, nil
		}
		s.b, s.rows = b, liveRows(b)
	}
	n := min(s.step, len(s.rows))
	s.out.N, s.out.Cols = s.b.N, s.b.Cols
	s.out.SetSel(append(s.out.SelBuf(), s.rows[:n]...))
	if s.rows = s.rows[n:]; len(s.rows) == 0 {
		s.b = nil
	}
	return &s.out, nil
}

// begin says that rows are going to be added, took that so many were: the next step is
// chosen by what they take.
func (s *stepOp) begin() { s.before = s.size() }

func (s *stepOp) took(rows int) {
	switch grown := s.size() - s.before; {
	case grown > 0:
		s.step = int(min(max(s.most*int64(rows)/grown, 1), int64(4*s.step), vec.MaxRows))
	case grown == 0:
		s.step = min(4*s.step, vec.MaxRows)
	}
}

func (s *stepOp) Close() error { return s.in.Close() }

// thin is the operator of a node whose rows share their bytes, such as those of a join:
// who keeps them copies the bytes of each row. A batch has at most about MaxBatch of them.
func thin[N physical.Node](n N, operator func(N) (Operator, error)) (Operator, error) {
	op, err := operator(n)
	if err != nil {
		return nil, err
	}
	t := &thinOp{in: op}
	for i, k := range kindsOf(n.Columns()) {
		if vec.ClassOf(k) == vec.ClassBytes {
			t.cols = append(t.cols, i)
		}
	}
	if len(t.cols) == 0 {
		return op, nil
	}
	return t, nil
}

// thinOp delivers the batches of its input in pieces where their values are long.
type thinOp struct {
	in   Operator
	cols []int      // that have bytes
	b    *vec.Batch // of which rows are left, or nil
	rows []uint16   // live rows of b
	at   int
	out  vec.Batch
}

func (t *thinOp) Next(ctx context.Context) (*vec.Batch, error) {
	if t.b == nil {
		b, err := t.in.Next(ctx)
		if err != nil || b == nil || b.Live() < 2 {
			return b, err
		}
		rows, size := liveRows(b), 0
		for _, c := range t.cols {
			size += b.Cols[c].BytesOf(rows)
		}
		if size <= MaxBatch {
			return b, nil
		}
		t.b, t.rows, t.at = b, append(t.rows[:0], rows...), 0
	}
	from := t.at
	for size := 0; t.at < len(t.rows) && size < MaxBatch; t.at++ {
		for _, c := range t.cols {
			size += t.b.Cols[c].BytesOf(t.rows[t.at : t.at+1])
		}
	}
	t.out.N, t.out.Cols = t.b.N, t.b.Cols
	t.out.SetSel(append(t.out.SelBuf(), t.rows[from:t.at]...))
	if t.at == len(t.rows) {
		t.b = nil
	}
	return &t.out, nil
}

func (t *thinOp) Close() error { return t.in.Close() }
