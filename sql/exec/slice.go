package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/vec"
)

// sliced makes in deliver few rows at a time where an operator evaluates expressions
// over them, with ec, whose values may be large.
func sliced(ec *expr.Ctx, in Operator, exprs ...[]expr.Expr) Operator {
	for _, list := range exprs {
		if expr.AreLarge(list) {
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
