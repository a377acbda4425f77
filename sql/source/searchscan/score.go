package searchscan

import (
	"context"

	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/kvread"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// docScores are the scores of documents, as columns after those that were read of
// them.
type docScores struct {
	calls []query.Score
	// of are the documents from one on up to another, not included, of a segment
	// whose scores vals has, in their order.
	of   query.Hits
	to   uint32
	at   int
	vals [][]float64
	out  vec.Batch
	cols []*vec.Vec
	// size is the number of documents for which memory is held.
	size int
}

// memory is what is held.
func (s *docScores) memory() int64 {
	if s == nil {
		return 0
	}
	return int64(s.size) * int64(query.ScoreBytes+8*len(s.calls))
}

// scores are those that a covering search gives; nil for none, and errRescan where
// there are no figures for them. The fields of all hits are opened, see openColumns.
func (q *searchQuery) scores(n *physical.Scan, hits []query.Hits) (*docScores, error) {
	if len(n.Search().Scores) == 0 {
		return nil, nil
	}
	out := &docScores{}
	for _, e := range n.Search().Scores {
		r, err := q.score(e)
		if err != nil {
			return nil, err
		}
		s, ok := r.(query.Score)
		if !ok {
			return nil, errRescan
		}
		for i := range hits {
			if err := s.Open(hits[i].Seg); err != nil {
				return nil, err
			}
		}
		out.calls, out.cols = append(out.calls, s), append(out.cols, vec.New(value.KindFloat))
	}
	return out, nil
}

// scoredDocs is how many documents are scored at once, where there is memory for so
// many.
const scoredDocs = 256 * vec.MaxRows

// grow holds memory for the documents of h, or for some of them.
func (s *docScores) grow(memory *exec.Tracker, h *query.Hits) error {
	want := min((h.Count+vec.MaxRows-1)/vec.MaxRows*vec.MaxRows, scoredDocs)
	if s.size >= min(want, vec.MaxRows*16) && s.size > 0 {
		return nil
	}
	memory.Shrink(s.memory())
	for s.size = want; ; s.size /= 2 {
		s.size = max(s.size/vec.MaxRows, 1) * vec.MaxRows
		err := memory.Grow(s.memory(), "search")
		if err == nil {
			return nil
		}
		if s.size == vec.MaxRows {
			s.size = 0
			return err
		}
	}
}

// with adds the scores of docs, some of the documents of h in their order, to b,
// which has their values.
func (s *docScores) with(ctx context.Context, memory *exec.Tracker, h *query.Hits, docs []uint32, b *vec.Batch) (*vec.Batch, error) {
	if s.of.Seg != h.Seg || docs[0] >= s.to {
		if err := s.grow(memory, h); err != nil {
			return nil, err
		}
		s.of, s.to = h.Part(docs[0], s.size)
		s.vals, s.at = s.vals[:0], 0
		for _, c := range s.calls {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			v, err := c.Of(&s.of)
			if err != nil {
				return nil, err
			}
			s.vals = append(s.vals, v)
		}
	}
	s.out.N, s.out.HasSel, s.out.Sel = b.N, b.HasSel, b.Sel
	s.out.Cols = append(s.out.Cols[:0], b.Cols...)
	for i, v := range s.vals {
		s.cols[i].Init(value.KindFloat, b.N)
		copy(s.cols[i].F64, v[s.at:s.at+len(docs)])
		s.out.Cols = append(s.out.Cols, s.cols[i])
	}
	s.at += len(docs)
	return &s.out, nil
}

// skip passes over docs, as with does.
func (s *docScores) skip(h *query.Hits, docs []uint32) {
	if s != nil && s.of.Seg == h.Seg && docs[0] < s.to {
		s.at += len(docs)
	}
}

// scoreRows computes the scores of rows, as columns after their own.
func scoreRows(in exec.Operator, ec *expr.Ctx, n *physical.Scan) exec.Operator {
	if in == nil || len(n.Search().Scores) == 0 {
		return in
	}
	return &scoredRows{PassOp: kvread.PassOp{Operator: in}, ec: ec.Fork(), calls: n.Search().Scores}
}

type scoredRows struct {
	kvread.PassOp
	ec    *expr.Ctx
	calls []expr.Expr
	out   vec.Batch
	cols  []*vec.Vec
}

var _ exec.Counted = (*scoredRows)(nil)

// Next implements exec.Operator.
func (o *scoredRows) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := o.Operator.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	for _, v := range o.cols {
		o.ec.Release(v)
	}
	o.cols = o.cols[:0]
	for _, e := range o.calls {
		v, err := expr.Eval(o.ec, e, b)
		if err != nil {
			return nil, err
		}
		o.cols = append(o.cols, v)
	}
	o.out.N, o.out.HasSel, o.out.Sel = b.N, b.HasSel, b.Sel
	o.out.Cols = append(append(o.out.Cols[:0], b.Cols...), o.cols...)
	return &o.out, nil
}
