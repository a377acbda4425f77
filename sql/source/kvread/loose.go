package kvread

import (
	"context"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/value"
)

// looseOp reads the ends of each group of entries with the same leading
// columns; see physical.LooseScan.
type looseOp struct {
	walk  groupWalk
	spans []storage.Span
	loose *physical.LooseScan
	sieve decode.Sieve
	// size is that of the next batch; it grows, as a LIMIT may stop the scan.
	size, most int
	ended      bool
}

var _ exec.Counted = (*looseOp)(nil)

// OpenLoose makes the operator of a loose scan, of what reader shows.
func (s *Reader) OpenLoose(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, a *physical.LooseScan, reader storage.Reader) (exec.Operator, error) {
	in := walker{reader: reader}
	widened, err := s.target(ctx, ec, k, n, nil, &in)
	if err != nil {
		return nil, err
	}
	if widened {
		return nil, sqlerr.Internal("a loose scan over more than its spans")
	}
	space, err := newKeySpace(k.Codec, a.Index)
	if err != nil {
		return nil, err
	}
	p, err := k.Plan(a.Index, n.Read, nil, n.Attributes)
	if err != nil {
		return nil, err
	}
	op := &looseOp{spans: in.spans, loose: a, size: min(16, s.state.BatchSize), most: s.state.BatchSize}
	op.walk = groupWalk{reader: in.reader, space: &space, columns: a.Columns, reverse: n.Reverse, values: p.NeedValue, span: storage.Span{End: []byte{}}}
	if n.Reverse {
		w := walker{spans: in.spans, opts: storage.ScanOptions{Reverse: true}}
		w.reverse()
		op.spans = w.spans
	}
	op.sieve.Init(ec, p, decode.NewZone(s.state.Loc), n.Filter)
	return op, nil
}

// Next implements exec.Operator.
func (o *looseOp) Next(ctx context.Context) (*vec.Batch, error) {
	for !o.ended {
		// A group has at most four entries.
		o.sieve.Begin(min(o.size+3, vec.MaxRows))
		for o.sieve.Batch.N+4 <= o.sieve.Size || o.sieve.Batch.N == 0 {
			if more, err := o.group(ctx); err != nil {
				return nil, err
			} else if !more {
				o.ended = true
				break
			}
		}
		o.size = min(2*o.size, o.most)
		b, err := o.sieve.Finish(ctx, o.walk.reader)
		if err != nil || b != nil {
			return b, err
		}
	}
	return nil, nil
}

// group reads the next group; false at the end.
func (o *looseOp) group(ctx context.Context) (bool, error) {
	g := &o.walk
	for {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		prefix, err := g.next(ctx)
		if err != nil {
			return false, err
		}
		if prefix == nil {
			if len(o.spans) == 0 {
				return false, nil
			}
			g.span, o.spans = o.spans[0], o.spans[1:]
			continue
		}
		if err := o.sieve.Add(g.key, g.val); err != nil {
			return false, err
		}
		whole := storage.Span{Start: prefix, End: keyenc.PrefixEnd(prefix)}
		if o.loose.Last {
			if err := o.add(ctx, whole, !g.reverse); err != nil {
				return false, err
			}
		}
		if part := &g.space.parts[o.loose.Columns]; o.loose.Value && part.Tagged {
			null := part.Append(append([]byte(nil), prefix...), value.Null)
			if part.Desc {
				whole.End = null
			} else {
				whole.Start = keyenc.PrefixEnd(null)
			}
			if err := o.add(ctx, whole, part.Desc); err != nil {
				return false, err
			}
		}
		return true, nil
	}
}

// add adds an end of a span, if it has any.
func (o *looseOp) add(ctx context.Context, span storage.Span, last bool) error {
	found, err := o.walk.one(ctx, span, last)
	if err != nil || !found {
		return err
	}
	return o.sieve.Add(o.walk.key, o.walk.val)
}

// Counters implements exec.Counted.
func (o *looseOp) Counters() exec.Counters { return o.walk.count.Plus(o.sieve.Count) }

// Close implements exec.Operator.
func (o *looseOp) Close() error {
	o.ended = true
	return nil
}
