package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// windowFunc computes a function for the rows of a partition, one after the
// other.
type windowFunc interface {
	run(ctx context.Context, p *partition) error
}

// funcOver is a windowFunc without a state.
type funcOver func(ctx context.Context, p *partition) error

func (f funcOver) run(ctx context.Context, p *partition) error { return f(ctx, p) }

// newFunc prepares a call: its columns in the store and its constants, which
// are checked here.
func (w *windowOp) newFunc(f *expr.Window) (windowFunc, error) {
	if f.Agg != nil {
		return w.newAggregate(f)
	}
	count, err := f.Count(w.b.ec)
	if err != nil {
		return nil, err
	}
	switch f.Op {
	case expr.WinRowNumber:
		return funcOver(rowNumber), nil
	case expr.WinRank:
		return funcOver(rank), nil
	case expr.WinDenseRank:
		return funcOver(denseRank), nil
	case expr.WinPercentRank:
		return funcOver(percentRank), nil
	case expr.WinCumeDist:
		return funcOver(cumeDist), nil
	case expr.WinNTile:
		return ntile(count), nil
	case expr.WinLag, expr.WinLead:
		return &shift{cols: w.columns(f.Args), by: count, back: f.Op == expr.WinLag}, nil
	case expr.WinFirstValue, expr.WinLastValue, expr.WinNthValue:
		fr, err := w.newFrames(&f.Frame)
		if err != nil {
			return nil, err
		}
		return &pick{frames: fr, col: w.column(f.Args[0]), op: f.Op, nth: count}, nil
	}
	return nil, sqlerr.Internal("no window function %s", f.Op)
}

func rowNumber(_ context.Context, p *partition) error {
	for n := p.start; n < p.end; {
		v, i := p.result(n)
		for ; i <= chunkMask && n < p.end; i++ {
			v.I64[i] = int64(n - p.start + 1)
			n++
		}
	}
	return nil
}

// eachPeers calls fn for each row with the number and the bounds of its group
// of peers.
func eachPeers(p *partition, fn func(n, g, from, to int)) error {
	return p.groups(func(g, from, to int) error {
		for n := from; n < to; n++ {
			fn(n, g, from, to)
		}
		return nil
	})
}

func rank(_ context.Context, p *partition) error {
	return eachPeers(p, func(n, _, from, _ int) {
		v, i := p.result(n)
		v.I64[i] = int64(from - p.start + 1)
	})
}

func denseRank(_ context.Context, p *partition) error {
	return eachPeers(p, func(n, g, _, _ int) {
		v, i := p.result(n)
		v.I64[i] = int64(g + 1)
	})
}

func percentRank(_ context.Context, p *partition) error {
	rest := float64(max(p.end-p.start-1, 1))
	return eachPeers(p, func(n, _, from, _ int) {
		v, i := p.result(n)
		v.F64[i] = float64(from-p.start) / rest
	})
}

func cumeDist(_ context.Context, p *partition) error {
	all := float64(p.end - p.start)
	return eachPeers(p, func(n, _, _, to int) {
		v, i := p.result(n)
		v.F64[i] = float64(to-p.start) / all
	})
}

// ntile divides the rows into buckets; the first ones get a row more when they
// do not divide evenly.
func ntile(buckets uint64) funcOver {
	return func(_ context.Context, p *partition) error {
		rows := uint64(p.end - p.start)
		each, more := rows/buckets, rows%buckets
		wide := more * (each + 1) // rows in the buckets with one more
		for n := p.start; n < p.end; n++ {
			k := uint64(n - p.start)
			bucket := uint64(0)
			if k < wide {
				bucket = k / (each + 1)
			} else {
				bucket = more + (k-wide)/each
			}
			v, i := p.result(n)
			v.I64[i] = int64(bucket + 1)
		}
		return nil
	}
}

// shift is LAG and LEAD.
type shift struct {
	cols []int // the value, the default if there is one
	by   uint64
	back bool
}

func (s *shift) run(_ context.Context, p *partition) error {
	by := int(min(s.by, uint64(p.end-p.start)))
	if s.back {
		by = -by
	}
	for n := p.start; n < p.end; n++ {
		switch from := n + by; {
		case from >= p.start && from < p.end:
			p.copy(n, s.cols[0], from)
		case len(s.cols) > 1:
			p.copy(n, s.cols[1], n)
		default:
			p.null(n)
		}
	}
	return nil
}

// copy makes the stored value of row from the result of row n.
func (p *partition) copy(n, col, from int) {
	dst, i := p.result(n)
	p.set(dst, i, col, from)
}

func (p *partition) null(n int) {
	v, i := p.result(n)
	v.Nulls.Set(i)
}

// pick is FIRST_VALUE, LAST_VALUE and NTH_VALUE.
type pick struct {
	frames *frames
	col    int
	op     expr.WindowOp
	nth    uint64
}

func (k *pick) run(ctx context.Context, p *partition) error {
	return k.frames.walk(ctx, p, func(n, lo, hi int) error {
		from := lo
		switch k.op {
		case expr.WinLastValue:
			from = hi - 1
		case expr.WinNthValue:
			from = lo + int(min(k.nth-1, uint64(hi-lo)))
		}
		if lo < hi && from < hi {
			p.copy(n, k.col, from)
		} else {
			p.null(n)
		}
		return nil
	})
}
