package expr

import (
	"bytes"
	"math"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// number are the element types of vectors with a native order.
type number interface{ ~int64 | ~float64 }

// filterCompare keeps the rows for which a comparison holds.
func filterCompare(c *Ctx, f *Func, in *vec.Batch) error {
	x := f.comparison()
	ad, av, err := evalOperand(c, f.Args[0], in)
	if err != nil {
		return err
	}
	bd, bv, err := evalOperand(c, f.Args[1], in)
	if err != nil {
		return err
	}
	op := x.op
	if av == nil { // constant first: exchange
		ad, av, bd, bv = bd, bv, ad, av
		op = op.swapped()
	}
	switch {
	case av == nil:
		hold := !ad.IsNull() && !bd.IsNull() && op.holds(c.compare(bd, ad, x.t))
		if av, bv = nil, nil; !hold {
			in.SetSel(in.SelBuf())
		}
		return nil
	case bv == nil && bd.IsNull():
		in.SetSel(in.SelBuf())
	case bv == nil:
		in.SetSel(selectConst(c, op, x.t, in, av, bd))
	default:
		in.SetSel(selectVec(c, op, x.t, in, av, bv))
		c.Release(bv)
	}
	c.Release(av)
	return nil
}

// selectConst is the selection of the live rows with a op k, none where a is
// null.
func selectConst(c *Ctx, op cmpOp, t schema.Type, in *vec.Batch, a *vec.Vec, k value.Datum) []uint16 {
	dst := in.SelBuf()
	k, sign := alignSign(a.Kind, k)
	if sign != 0 {
		if !op.holds(sign) {
			return dst
		}
		return selectBy(dst, in, &a.Nulls, func(int) bool { return true })
	}
	switch {
	case a.Kind == k.Kind() && vec.ClassOf(a.Kind) == vec.ClassWord:
		lo, hi, negate, some := wordRange(op, a.Kind, int64(k.Bits()))
		if !some {
			return dst
		}
		dst = selectRange(dst, in, a.I64, uint64(lo), uint64(hi)-uint64(lo), negate)
	case a.Kind == value.KindFloat && k.Kind() == value.KindFloat:
		dst = selectFloat(op, dst, in, a.F64, k.Float())
	case a.Kind == value.KindDecimal && k.Kind() == value.KindDecimal:
		kd := k.Decimal()
		return selectBy(dst, in, &a.Nulls, func(i int) bool { return op.holds(a.Dec[i].Cmp(kd)) })
	case a.Kind == value.KindBytes && k.Kind() == value.KindBytes:
		return selectBytes(c, op, t, dst, in, a, k.Bytes())
	case a.Kind == value.KindJSON && k.Kind() == value.KindJSON:
		compare := compareJSONTo(c, k, t)
		return selectBy(dst, in, &a.Nulls, func(i int) bool { return op.holds(compare(a.Bytes[i])) })
	default:
		return selectBy(dst, in, &a.Nulls, func(i int) bool { return op.holds(c.compare(a.Datum(i), k, t)) })
	}
	return dropNulls(dst, &a.Nulls)
}

// alignSign makes an integer constant one of the kind that it is compared
// with. If it does not fit, sign is the order of all values to it.
func alignSign(kind value.Kind, k value.Datum) (_ value.Datum, sign int) {
	switch {
	case kind == value.KindUint && k.Kind() == value.KindInt:
		if k.Int() < 0 {
			return k, 1
		}
		return value.Uint(k.Uint()), 0
	case kind == value.KindInt && k.Kind() == value.KindUint:
		if k.Uint() > math.MaxInt64 {
			return k, -1
		}
		return value.Int(k.Int()), 0
	}
	return k, 0
}

// wordRange turns "x op k" into lo <= x <= hi, negated for <>. some is false
// when no x fits.
func wordRange(op cmpOp, kind value.Kind, k int64) (lo, hi int64, negate, some bool) {
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if kind == value.KindUint || kind == value.KindTime {
		least, most = 0, -1 // as unsigned
	}
	switch op {
	case cmpEQ:
		return k, k, false, true
	case cmpNE:
		return k, k, true, true
	case cmpLT:
		return least, k - 1, false, k != least
	case cmpLE:
		return least, k, false, true
	case cmpGT:
		return k + 1, most, false, k != most
	}
	return k, most, false, true
}

// selectRange keeps x with lo <= x <= lo+width; one unsigned comparison serves
// signed and unsigned numbers.
func selectRange(dst []uint16, in *vec.Batch, vals []int64, lo, width uint64, negate bool) []uint16 {
	out := dst[:cap(dst)]
	n := 0
	flip := 0
	if negate {
		flip = 1
	}
	if in.HasSel {
		for _, i := range in.Sel {
			out[n] = i
			n += b2i(uint64(vals[i])-lo <= width) ^ flip
		}
		return out[:n]
	}
	vals = vals[:in.N]
	for i := range vals {
		out[n] = uint16(i)
		n += b2i(uint64(vals[i])-lo <= width) ^ flip
	}
	return out[:n]
}

func b2i(b bool) int {
	var x int
	if b {
		x = 1
	}
	return x
}

// loop splits an operator into one that has a loop (< or =), whether the
// operands are exchanged, and whether the answer is negated.
func (op cmpOp) loop() (less, swap bool, flip int) {
	switch op {
	case cmpEQ:
		return false, false, 0
	case cmpNE:
		return false, false, 1
	case cmpLT:
		return true, false, 0
	case cmpGE:
		return true, false, 1
	case cmpGT:
		return true, true, 0
	}
	return true, true, 1
}

func selectFloat(op cmpOp, dst []uint16, in *vec.Batch, vals []float64, k float64) []uint16 {
	out := dst[:cap(dst)]
	n := 0
	less, swap, flip := op.loop()
	if in.HasSel {
		lt, eq, gt := int(op&1), int(op>>1&1), int(op>>2&1)
		for _, i := range in.Sel {
			v := vals[i]
			out[n] = i
			n += b2i(v < k)&lt | b2i(v == k)&eq | b2i(v > k)&gt
		}
		return out[:n]
	}
	vals = vals[:in.N]
	switch {
	case !less:
		for i, v := range vals {
			out[n] = uint16(i)
			n += b2i(v == k) ^ flip
		}
	case swap:
		for i, v := range vals {
			out[n] = uint16(i)
			n += b2i(k < v) ^ flip
		}
	default:
		for i, v := range vals {
			out[n] = uint16(i)
			n += b2i(v < k) ^ flip
		}
	}
	return out[:n]
}

func selectBy(dst []uint16, in *vec.Batch, nulls *vec.Nulls, keep func(i int) bool) []uint16 {
	for r, n := 0, in.Live(); r < n; r++ {
		if i := in.Row(r); !nulls.IsNull(i) && keep(i) {
			dst = append(dst, uint16(i))
		}
	}
	return dst
}

func dropNulls(sel []uint16, nulls *vec.Nulls) []uint16 {
	if !nulls.Any() {
		return sel
	}
	n := 0
	for _, i := range sel {
		sel[n] = i
		n += 1 - b2i(nulls.IsNull(int(i)))
	}
	return sel[:n]
}

// comparer orders strings by a collation; it is a value so that no closure is
// made for each batch.
type comparer struct {
	c    *Ctx
	coll *collate.Collation
}

func (c *Ctx) comparer(t schema.Type) comparer { return comparer{c, collate.Must(t.Collation)} }

func (c comparer) binary() bool { return c.coll.IsBinary() }

func (c comparer) compare(a, b []byte) int { return c.c.compareText(c.coll, a, b) }

func selectBytes(c *Ctx, op cmpOp, t schema.Type, dst []uint16, in *vec.Batch, a *vec.Vec, k []byte) []uint16 {
	cmp := c.comparer(t)
	n := in.Live()
	if cmp.binary() && (op == cmpEQ || op == cmpNE) {
		want := op == cmpEQ
		for r := 0; r < n; r++ {
			i := in.Row(r)
			if bytes.Equal(a.Bytes[i], k) == want && !a.Nulls.IsNull(i) {
				dst = append(dst, uint16(i))
			}
		}
		return dst
	}
	for r := 0; r < n; r++ {
		i := in.Row(r)
		if !a.Nulls.IsNull(i) && op.holds(cmp.compare(a.Bytes[i], k)) {
			dst = append(dst, uint16(i))
		}
	}
	return dst
}

// selectVec is the selection of the live rows with a op b.
func selectVec(c *Ctx, op cmpOp, t schema.Type, in *vec.Batch, a, b *vec.Vec) []uint16 {
	dst := in.SelBuf()
	switch {
	case a.Kind == b.Kind && (a.Kind == value.KindInt || a.Kind == value.KindDuration):
		dst = selectPair(op, dst, in, a.I64, b.I64)
	case a.Kind == b.Kind && vec.ClassOf(a.Kind) == vec.ClassWord:
		dst = selectUnsigned(op, dst, in, a.I64, b.I64)
	case a.Kind == value.KindFloat && b.Kind == value.KindFloat:
		dst = selectPair(op, dst, in, a.F64, b.F64)
	case a.Kind == value.KindBytes && b.Kind == value.KindBytes:
		cmp := c.comparer(t)
		return selectBy(dst, in, &a.Nulls, func(i int) bool { return !b.Nulls.IsNull(i) && op.holds(cmp.compare(a.Bytes[i], b.Bytes[i])) })
	default:
		return selectBy(dst, in, &a.Nulls, func(i int) bool {
			return !b.Nulls.IsNull(i) && op.holds(c.compare(a.Datum(i), b.Datum(i), t))
		})
	}
	return dropNulls(dropNulls(dst, &a.Nulls), &b.Nulls)
}

func selectPair[T number](op cmpOp, dst []uint16, in *vec.Batch, a, b []T) []uint16 {
	out := dst[:cap(dst)]
	n := 0
	less, swap, flip := op.loop()
	if swap {
		a, b = b, a
	}
	if in.HasSel {
		for _, i := range in.Sel {
			hit := b2i(a[i] == b[i])
			if less {
				hit = b2i(a[i] < b[i])
			}
			out[n] = i
			n += hit ^ flip
		}
		return out[:n]
	}
	a, b = a[:in.N], b[:in.N]
	if !less {
		for i := range a {
			out[n] = uint16(i)
			n += b2i(a[i] == b[i]) ^ flip
		}
		return out[:n]
	}
	for i := range a {
		out[n] = uint16(i)
		n += b2i(a[i] < b[i]) ^ flip
	}
	return out[:n]
}

func selectUnsigned(op cmpOp, dst []uint16, in *vec.Batch, a, b []int64) []uint16 {
	out := dst[:cap(dst)]
	n := 0
	lt, eq, gt := int(op&1), int(op>>1&1), int(op>>2&1)
	for r, live := 0, in.Live(); r < live; r++ {
		i := in.Row(r)
		x, y := uint64(a[i]), uint64(b[i])
		out[n] = uint16(i)
		n += b2i(x < y)&lt | b2i(x == y)&eq | b2i(x > y)&gt
	}
	return out[:n]
}

// vecCompare gives 1, 0 or NULL for each row.
func vecCompare(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	x := f.comparison()
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	b, err := Eval(c, f.Args[1], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindInt, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	out.Nulls.Or(&b.Nulls)
	n := in.N
	switch {
	case a.Kind == b.Kind && (a.Kind == value.KindInt || a.Kind == value.KindDuration):
		valuePair(x.op, out.I64[:n], a.I64, b.I64)
	case a.Kind == b.Kind && (a.Kind == value.KindUint || a.Kind == value.KindTime):
		valueUnsigned(x.op, out.I64[:n], a.I64, b.I64)
	case a.Kind == value.KindFloat && b.Kind == value.KindFloat:
		valuePair(x.op, out.I64[:n], a.F64, b.F64)
	case a.Kind == value.KindBytes && b.Kind == value.KindBytes:
		cmp := c.comparer(x.t)
		eachRow(in, &out.Nulls, func(i int) { out.I64[i] = int64(b2i(x.op.holds(cmp.compare(a.Bytes[i], b.Bytes[i])))) })
	case a.Kind == value.KindNull || b.Kind == value.KindNull:
		out.Nulls.SetAll(n)
	default:
		eachRow(in, &out.Nulls, func(i int) { out.I64[i] = int64(b2i(x.op.holds(c.compare(a.Datum(i), b.Datum(i), x.t)))) })
	}
	c.Release(a)
	c.Release(b)
	return out, nil
}

func valuePair[T number](op cmpOp, out []int64, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	less, swap, flip := op.loop()
	if swap {
		a, b = b, a
	}
	if !less {
		for i := range out {
			out[i] = int64(b2i(a[i] == b[i]) ^ flip)
		}
		return
	}
	for i := range out {
		out[i] = int64(b2i(a[i] < b[i]) ^ flip)
	}
}

func valueUnsigned(op cmpOp, out, a, b []int64) {
	a, b = a[:len(out)], b[:len(out)]
	less, swap, flip := op.loop()
	if !less {
		valuePair(op, out, a, b)
		return
	}
	if swap {
		a, b = b, a
	}
	for i := range out {
		out[i] = int64(b2i(uint64(a[i]) < uint64(b[i])) ^ flip)
	}
}
