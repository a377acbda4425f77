package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// frames finds the frame of each row of a partition, from the first row on.
// Both ends never move back.
type frames struct {
	f          *expr.Frame
	start, end frameBound
	// key, with offsets of RANGE, is the order's key in the store.
	key  int
	kind value.Kind
}

// frameBound is an end of a frame in one execution.
type frameBound struct {
	kind expr.BoundKind
	// rows is the offset of ROWS; val the column of the bounds of RANGE, -1
	// without such.
	rows uint64
	val  int
	at   int // where the search for the last row's bound ended
}

// newFrames prepares a frame and checks its offsets.
func (w *windowOp) newFrames(f *expr.Frame) (*frames, error) {
	fr := &frames{f: f, start: frameBound{kind: f.Start.Kind, val: -1}, end: frameBound{kind: f.End.Kind, val: -1}, key: -1}
	for _, x := range []struct {
		b  *expr.Bound
		to *frameBound
	}{{&f.Start, &fr.start}, {&f.End, &fr.end}} {
		if x.b.Offset == nil {
			continue
		}
		if err := x.b.Check(w.b.ec, f); err != nil {
			return nil, err
		}
		if !f.Range {
			var err error
			if x.to.rows, err = x.b.Rows(w.b.ec, f); err != nil {
				return nil, err
			}
			continue
		}
		if fr.key < 0 {
			fr.key, fr.kind = w.column(f.Key), types.KindOf(f.Key.Type())
		}
		x.to.val = w.column(x.b.Value)
	}
	return fr, nil
}

// walk calls fn for the rows of a partition in order, each with its frame: the
// rows from lo up to hi, an empty one when lo >= hi.
func (fr *frames) walk(ctx context.Context, p *partition, fn func(n, lo, hi int) error) error {
	known := partition{start: p.start, end: p.end} // the rows with a key
	if fr.key >= 0 {
		known.start, known.end = fr.keyed(p)
	}
	fr.start.at, fr.end.at = known.start, known.start
	return p.groups(func(_, from, to int) error {
		for n := from; n < to; n++ {
			if n&chunkMask == 0 {
				if err := interrupted(ctx); err != nil {
					return err
				}
			}
			if err := p.err(); err != nil {
				return err
			}
			lo := fr.first(p, &known, n, from, to)
			hi := fr.last(p, &known, n, from, to)
			if err := fn(n, min(lo, hi), hi); err != nil {
				return err
			}
		}
		return nil
	})
}

// first is the first row of n's frame; from and to are n's peers.
func (fr *frames) first(p, known *partition, n, from, to int) int {
	b := &fr.start
	switch {
	case b.kind == expr.UnboundedPreceding:
		return p.start
	case b.kind == expr.CurrentRow && fr.f.Range:
		return from
	case b.kind == expr.CurrentRow:
		return n
	case b.val >= 0 && (n < known.start || n >= known.end):
		return from // NULL: its peers
	case b.val >= 0:
		for b.at < known.end && fr.compare(p, b.at, b.val, n) < 0 {
			b.at++
		}
		return b.at
	case b.kind == expr.Preceding:
		return n - int(min(b.rows, uint64(n-p.start)))
	}
	return n + int(min(b.rows, uint64(p.end-n)))
}

// last is the end of n's frame.
func (fr *frames) last(p, known *partition, n, from, to int) int {
	b := &fr.end
	switch {
	case b.kind == expr.UnboundedFollowing:
		return p.end
	case b.kind == expr.CurrentRow && fr.f.Range:
		return to
	case b.kind == expr.CurrentRow:
		return n + 1
	case b.val >= 0 && (n < known.start || n >= known.end):
		return to
	case b.val >= 0:
		for b.at < known.end && fr.compare(p, b.at, b.val, n) <= 0 {
			b.at++
		}
		return b.at
	case b.kind == expr.Preceding:
		return n + 1 - int(min(b.rows, uint64(n+1-p.start)))
	}
	return n + 1 + int(min(b.rows, uint64(p.end-n-1)))
}

// keyed are the rows whose key is not NULL: the NULLs are at one end.
func (fr *frames) keyed(p *partition) (from, to int) {
	from, to = p.start, p.end
	null := func(n int) bool {
		v, i := p.at(fr.key, n)
		return v.Nulls.IsNull(i)
	}
	for from < to && null(from) {
		from++
	}
	for to > from && null(to-1) {
		to--
	}
	return from, to
}

// compare orders the key of row k and the bound of row n along the window's
// order. A bound beyond its type's range (NULL) is on the side to which its
// offset points.
func (fr *frames) compare(p *partition, k, bound, n int) int {
	a, i := p.at(fr.key, k)
	b, j := p.at(bound, n)
	if b.Nulls.IsNull(j) {
		preceding := fr.start.kind == expr.Preceding
		if bound == fr.end.val {
			preceding = fr.end.kind == expr.Preceding
		}
		if preceding {
			return 1
		}
		return -1
	}
	c := compareKeys(fr.kind, a, i, b, j)
	if fr.f.Desc {
		return -c
	}
	return c
}

func compareKeys(kind value.Kind, a *vec.Vec, i int, b *vec.Vec, j int) int {
	switch kind {
	case value.KindDecimal:
		return a.Dec[i].Cmp(b.Dec[j])
	case value.KindFloat:
		return order(a.F64[i], b.F64[j])
	case value.KindUint, value.KindTime:
		return order(uint64(a.I64[i]), uint64(b.I64[j]))
	}
	return order(a.I64[i], b.I64[j])
}

func order[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
