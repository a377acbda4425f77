package exec

import (
	"context"
	"math"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// slider aggregates a frame whose ends never move back. What it takes from a
// row is a T, and merge, which must be associative, joins neighbours: rows up
// to mid are kept as the sums of all rows from each of them up to mid, later
// rows as one sum. A row enters each part once, so that a partition costs
// O(rows) whatever the frames are, and nothing is ever subtracted, which would
// spoil floating-point sums.
//
//	lo ──────── mid ───────── hi
//	 suffix[lo-base]    acc
type slider[T any] struct {
	zero  T
	push  func(T, int) T // adds a row after the others
	merge func(a, b T) T

	lo, hi, mid, base int
	acc               T
	suffix            []T
	// step, when set, is the most sums that are kept. Of the other rows up to
	// mid, marks has one sum for each piece of step rows from origin on: the sum
	// of the rows after that piece.
	step, origin int
	marks        []T
}

// reset makes the frame the empty one at row n.
func (s *slider[T]) reset(n int) {
	s.lo, s.hi, s.mid, s.base, s.acc = n, n, n, n, s.zero
}

// move makes the frame the rows lo to hi.
func (s *slider[T]) move(lo, hi int) T {
	switch {
	case lo >= s.hi: // nothing stays
		s.reset(lo)
	case lo > s.mid:
		s.turn(lo)
	}
	s.lo = lo
	for ; s.hi < hi; s.hi++ {
		s.acc = s.push(s.acc, s.hi)
	}
	if s.lo < s.mid {
		if s.lo-s.base >= len(s.suffix) {
			s.expand()
		}
		return s.merge(s.suffix[s.lo-s.base], s.acc)
	}
	return s.acc
}

// turn moves mid to the end of the frame.
func (s *slider[T]) turn(lo int) {
	s.origin, s.mid, s.acc = lo, s.hi, s.zero
	step := s.hi - lo
	if s.step > 0 {
		step = min(step, s.step)
	}
	s.marks = append(s.marks[:0], s.zero)
	for at := lo + step; at < s.hi; at += step {
		s.marks = append(s.marks, s.zero)
	}
	s.suffix = vec.Resize(s.suffix[:0], step)
	for c := len(s.marks) - 1; c > 0; c-- {
		sum := s.marks[c]
		for i := min(lo+(c+1)*step, s.hi) - 1; i >= lo+c*step; i-- {
			sum = s.merge(s.push(s.zero, i), sum)
		}
		s.marks[c-1] = sum
	}
	s.sums(lo, lo+step, s.marks[0])
}

// expand makes the sums of the step that has lo.
func (s *slider[T]) expand() {
	c := (s.lo - s.origin) / s.step
	from := s.origin + c*s.step
	s.sums(from, min(from+s.step, s.mid), s.marks[c])
}

// sums makes the sums of rows from on; sum is that of all rows from to on.
func (s *slider[T]) sums(from, to int, sum T) {
	s.base, s.suffix = from, s.suffix[:to-from]
	for i := to - 1; i >= from; i-- {
		sum = s.merge(s.push(s.zero, i), sum)
		s.suffix[i-from] = sum
	}
}

// sliding is an aggregate over frames.
type sliding[T any] struct {
	slider[T]
	frames *frames
	p      *partition // under way, for push
	write  func(t T, dst *vec.Vec, i int) error
}

func (s *sliding[T]) run(ctx context.Context, p *partition) error {
	s.p = p
	s.reset(p.start)
	if s.step = 0; p.big != nil {
		s.step = vec.MaxRows
	}
	lastLo, lastHi := -1, -1
	return s.frames.walk(ctx, p, func(n, lo, hi int) error {
		if n > p.start && lo == lastLo && hi == lastHi {
			p.repeat(n)
			return nil
		}
		lastLo, lastHi = lo, hi
		dst, i := p.result(n)
		return s.write(s.move(lo, hi), dst, i)
	})
}

// repeat gives row n the result of the row before it.
func (p *partition) repeat(n int) {
	dst, i := p.result(n)
	src, j := p.result(n - 1)
	dst.CopyRows(i, src, []uint16{uint16(j)}, false, false)
}

// each makes push of what one argument's value adds; NULL adds nothing.
func (s *sliding[T]) each(col int, add func(T, *vec.Vec, int, int) T) {
	s.push = func(t T, n int) T {
		v, i := s.p.at(col, n)
		if v.Nulls.IsNull(i) {
			return t
		}
		return add(t, v, i, n)
	}
}

func (w *windowOp) newAggregate(f *expr.Window) (windowFunc, error) {
	fr, err := w.newFrames(&f.Frame)
	if err != nil {
		return nil, err
	}
	a := f.Agg
	var kind value.Kind
	cols := w.columns(a.Args)
	if len(cols) > 0 {
		kind = types.KindOf(a.Args[0].Type())
	}
	switch a.Op {
	case expr.AggCount:
		return slidingCount(fr, cols), nil
	case expr.AggSum, expr.AggAvg:
		switch kind {
		case value.KindInt, value.KindUint:
			return slidingInts(fr, cols[0], a, kind == value.KindUint), nil
		case value.KindFloat:
			return slidingFloats(fr, cols[0], a), nil
		case value.KindDecimal:
			return slidingDecimals(fr, cols[0], a), nil
		}
	case expr.AggMin, expr.AggMax:
		if kind != value.KindNull {
			return slidingExtreme(w.b.env, fr, cols[0], a), nil
		}
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		if kind == value.KindUint || kind == value.KindInt {
			return slidingBits(fr, cols[0], a), nil
		}
	case expr.AggStddevPop, expr.AggStddevSamp, expr.AggVarPop, expr.AggVarSamp:
		if kind == value.KindFloat {
			return slidingVariance(fr, cols[0], a), nil
		}
	}
	return w.collected(fr, cols, a)
}

func slidingCount(fr *frames, cols []int) windowFunc {
	s := &sliding[int64]{frames: fr}
	s.push = func(t int64, n int) int64 {
		for _, col := range cols {
			if v, i := s.p.at(col, n); v.Nulls.IsNull(i) {
				return t
			}
		}
		return t + 1
	}
	s.merge = func(a, b int64) int64 { return a + b }
	s.write = func(t int64, dst *vec.Vec, i int) error {
		dst.I64[i] = t
		return nil
	}
	return s
}

func slidingInts(fr *frames, col int, a *expr.Agg, unsigned bool) windowFunc {
	s := &sliding[int128]{frames: fr}
	s.each(col, func(t int128, v *vec.Vec, i, _ int) int128 {
		x := v.I64[i]
		if unsigned {
			t.add(0, uint64(x))
		} else {
			t.add(x>>63, uint64(x))
		}
		t.n++
		return t
	})
	s.merge = func(a, b int128) int128 {
		a.add(b.hi, b.lo)
		a.n += b.n
		return a
	}
	s.write = func(t int128, dst *vec.Vec, i int) error {
		return decimalResult(value.DecimalFromInt128(t.hi, t.lo, 0), t.n, a.Op == expr.AggAvg, a.T, a, dst, i)
	}
	return s
}

func slidingDecimals(fr *frames, col int, a *expr.Agg) windowFunc {
	s := &sliding[decState]{frames: fr}
	s.each(col, func(t decState, v *vec.Vec, i, _ int) decState {
		t.add(&v.Dec[i], 1)
		return t
	})
	s.merge = func(a, b decState) decState {
		if b.sum.n > 0 {
			w := b.value()
			a.add(&w, b.sum.n)
		}
		return a
	}
	s.write = func(t decState, dst *vec.Vec, i int) error {
		return decimalResult(t.value(), t.sum.n, a.Op == expr.AggAvg, a.T, a, dst, i)
	}
	return s
}

type floatSum struct {
	sum float64
	n   int64
}

func slidingFloats(fr *frames, col int, a *expr.Agg) windowFunc {
	s := &sliding[floatSum]{frames: fr}
	s.each(col, func(t floatSum, v *vec.Vec, i, _ int) floatSum { return floatSum{t.sum + v.F64[i], t.n + 1} })
	s.merge = func(a, b floatSum) floatSum { return floatSum{a.sum + b.sum, a.n + b.n} }
	s.write = func(t floatSum, dst *vec.Vec, i int) error {
		return floatResult(t.sum, t.n, a.Op == expr.AggAvg, dst, i)
	}
	return s
}

// slidingExtreme keeps the row of the best value, counted from 1; 0 is none.
func slidingExtreme(env *Env, fr *frames, col int, a *expr.Agg) windowFunc {
	m := env.newMinMax(a.Op == expr.AggMax, a.Args[0].Type())
	s := &sliding[int]{frames: fr}
	s.merge = func(x, y int) int {
		if x == 0 || y == 0 {
			return x + y
		}
		u, i := s.p.at(col, y-1)
		v, j := s.p.at(col, x-1)
		if m.better(m.compare(u, i, v, j)) {
			return y
		}
		return x
	}
	s.each(col, func(t int, _ *vec.Vec, _, n int) int { return s.merge(t, n+1) })
	s.write = func(t int, dst *vec.Vec, i int) error {
		if t == 0 {
			dst.Nulls.Set(i)
			return nil
		}
		s.p.set(dst, i, col, t-1)
		return nil
	}
	return s
}

func slidingBits(fr *frames, col int, a *expr.Agg) windowFunc {
	s := &sliding[uint64]{frames: fr}
	switch a.Op {
	case expr.AggBitAnd:
		s.zero = math.MaxUint64
		s.merge = func(a, b uint64) uint64 { return a & b }
	case expr.AggBitOr:
		s.merge = func(a, b uint64) uint64 { return a | b }
	default:
		s.merge = func(a, b uint64) uint64 { return a ^ b }
	}
	s.each(col, func(t uint64, v *vec.Vec, i, _ int) uint64 { return s.merge(t, uint64(v.I64[i])) })
	s.write = func(t uint64, dst *vec.Vec, i int) error {
		dst.I64[i] = int64(t)
		return nil
	}
	return s
}

func slidingVariance(fr *frames, col int, a *expr.Agg) windowFunc {
	s := &sliding[moments]{frames: fr}
	s.each(col, func(t moments, v *vec.Vec, i, _ int) moments {
		t.add(v.F64[i])
		return t
	})
	s.merge = func(a, b moments) moments {
		a.merge(b)
		return a
	}
	s.write = func(t moments, dst *vec.Vec, i int) error { return t.result(a.Op, dst, i) }
	return s
}

// collecting is an aggregate whose result is as long as the frame: it is made
// again where the frame has lost rows, and else goes on.
type collecting struct {
	w      *windowOp
	frames *frames
	call   *expr.Agg
	cols   []int
	vecs   []*vec.Vec
	acc    accumulator
	held   int64 // the memory that hold took
	let    func()
}

// A result is in so many places when it is written: in a partition on disk it is copied
// to a block, which is compressed, and stays for the next row.
const (
	resultsInMemory = 2
	resultsOnDisk   = 6
)

// hold takes memory for the accumulator and a result of its size: 3170.
func (c *collecting) hold(p *partition) error {
	need := resultsInMemory * c.acc.size()
	if p.big != nil {
		need = resultsOnDisk * c.acc.size()
	}
	if need <= c.held {
		return nil
	}
	c.drop()
	let, err := c.w.b.ec.Hold(need + need/4)
	if err == nil {
		c.let, c.held = let, need+need/4
	}
	return err
}

func (c *collecting) drop() {
	if c.let != nil {
		c.let()
	}
	c.let, c.held = nil, 0
}

func (w *windowOp) collected(fr *frames, cols []int, a *expr.Agg) (windowFunc, error) {
	if a.GroupConcat() != nil {
		return nil, sqlerr.Internal("%s over a window", a)
	}
	return &collecting{w: w, frames: fr, call: a, cols: cols}, nil
}

func (c *collecting) run(ctx context.Context, p *partition) error {
	lastLo, lastHi := -1, -1
	c.acc = nil
	defer c.drop()
	return c.frames.walk(ctx, p, func(n, lo, hi int) error {
		if n > p.start && lo == lastLo && hi == lastHi {
			p.repeat(n)
			return nil
		}
		from := lastHi
		if c.acc == nil || lo != lastLo {
			acc, err := newAccumulator(c.w.b.env, c.w.b.ec, c.call, false)
			if err != nil {
				return err
			}
			acc.grow(1)
			c.acc, from = acc, lo
		}
		lastLo, lastHi = lo, hi
		if err := c.add(ctx, p, from, hi); err != nil {
			return err
		}
		dst, i := p.result(n)
		if err := c.acc.result(0, dst, i); err != nil {
			return err
		}
		if p.big == nil && len(dst.Bytes) > i && !dst.Nulls.IsNull(i) {
			err := c.w.acct.to(c.w.acct.held + int64(len(dst.Bytes[i])))
			if err != nil && c.w.sp.disk != nil {
				err = errResults
			}
			return err
		}
		return nil
	})
}

// collectRows are the rows after which memory and the end of the statement are looked at.
const collectRows = 64

// add gives rows from up to hi to the accumulator.
func (c *collecting) add(ctx context.Context, p *partition, from, hi int) error {
	for from < hi {
		if err := interrupted(ctx); err != nil {
			return err
		}
		n := min(hi-from, p.stretch(from), collectRows)
		i := 0
		c.vecs = c.vecs[:0]
		for _, col := range c.cols {
			var v *vec.Vec
			v, i = p.at(col, from)
			c.vecs = append(c.vecs, v)
		}
		rows := identity[i : i+n]
		if err := c.acc.add(c.vecs, rows, nil); err != nil {
			return err
		}
		if err := c.hold(p); err != nil {
			return err
		}
		from += len(rows)
	}
	return nil
}
