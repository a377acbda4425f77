package exec

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// sumIntAcc sums integers exactly in 128 bits: 2^63 rows cannot overflow it.
type sumIntAcc struct {
	avg, unsigned bool
	t             schema.Type
	call          *expr.Agg
	state         []int128
}

type int128 struct {
	hi int64
	lo uint64
	n  int64
}

func (s *int128) add(hi int64, lo uint64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, lo, 0)
	s.hi += hi + int64(c)
}

func (s *sumIntAcc) grow(n int) { s.state = growTo(s.state, n) }

func (s *sumIntAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	switch {
	case v.Nulls.Any():
		for r, i := range rows {
			if !v.Nulls.IsNull(int(i)) {
				s.one(groupOf(groups, r), v.I64[i])
			}
		}
	case groups == nil:
		s.column(v.I64, rows)
	case s.unsigned:
		for r, i := range rows {
			st := &s.state[groups[r]]
			st.add(0, uint64(v.I64[i]))
			st.n++
		}
	default:
		for r, i := range rows {
			st := &s.state[groups[r]]
			x := v.I64[i]
			st.add(x>>63, uint64(x))
			st.n++
		}
	}
	return nil
}

func (s *sumIntAcc) one(g uint32, x int64) {
	hi := x >> 63
	if s.unsigned {
		hi = 0
	}
	s.state[g].add(hi, uint64(x))
	s.state[g].n++
}

// column sums the halves of the words apart: at most vec.MaxRows of them do
// not overflow 64 bits, and the loop has no carries.
func (s *sumIntAcc) column(x []int64, rows []uint16) {
	var hi, hi2 int64
	var lo, lo2 uint64
	all := x
	if vec.IsDense(rows) {
		x = x[:len(rows)]
		for len(x) >= 4 {
			a, b, c, d := x[0], x[1], x[2], x[3]
			lo += uint64(uint32(a)) + uint64(uint32(b))
			lo2 += uint64(uint32(c)) + uint64(uint32(d))
			hi += a>>32 + b>>32
			hi2 += c>>32 + d>>32
			x = x[4:]
		}
		for _, a := range x {
			lo += uint64(uint32(a))
			hi += a >> 32
		}
	} else {
		for _, i := range rows {
			lo += uint64(uint32(x[i]))
			hi += x[i] >> 32
		}
	}
	hi, lo = hi+hi2, lo+lo2
	st := &s.state[0]
	st.add(0, lo)
	st.add(hi>>32, uint64(hi)<<32)
	if s.unsigned {
		// Words with the top bit were taken for negative ones: x - 2^64.
		for _, i := range rows {
			st.hi += int64(uint64(all[i]) >> 63)
		}
	}
	st.n += int64(len(rows))
}

func (s *sumIntAcc) merge(o accumulator, to []uint32) error {
	for g, f := range o.(*sumIntAcc).state {
		if t := to[g]; t != none {
			s.state[t].add(f.hi, f.lo)
			s.state[t].n += f.n
		}
	}
	return nil
}

func (s *sumIntAcc) result(g int, dst *vec.Vec, i int) error {
	st := s.state[g]
	return decimalResult(value.DecimalFromInt128(st.hi, st.lo, 0), st.n, s.avg, s.t, s.call, dst, i)
}

func (s *sumIntAcc) size() int64 { return int64(cap(s.state)) * 24 }

// decimalResult writes a sum, or the average of n values, in the scale of t.
func decimalResult(sum value.Decimal, n int64, avg bool, t schema.Type, call *expr.Agg, dst *vec.Vec, i int) error {
	if n == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	if avg {
		sum, _ = sum.Div(value.DecimalFromInt(n), call.Increment)
	}
	sum, ok := sum.Result(max(t.Scale, 0))
	if !ok {
		return sqlerr.ValueOutOfRange("DECIMAL", call.String())
	}
	dst.Dec[i] = sum
	return nil
}

// sumFloatAcc sums doubles.
type sumFloatAcc struct {
	avg bool
	sum []float64
	n   []int64
}

func (s *sumFloatAcc) grow(n int) { s.sum, s.n = growTo(s.sum, n), growTo(s.n, n) }

func (s *sumFloatAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	if !v.Nulls.Any() && groups == nil {
		sum := s.sum[0]
		for _, i := range rows {
			sum += v.F64[i]
		}
		s.sum[0] = sum
		s.n[0] += int64(len(rows))
		return nil
	}
	for r, i := range rows {
		if !v.Nulls.IsNull(int(i)) {
			g := groupOf(groups, r)
			s.sum[g] += v.F64[i]
			s.n[g]++
		}
	}
	return nil
}

func (s *sumFloatAcc) merge(o accumulator, to []uint32) error {
	from := o.(*sumFloatAcc)
	for g, n := range from.n {
		if t := to[g]; t != none {
			s.sum[t] += from.sum[g]
			s.n[t] += n
		}
	}
	return nil
}

func (s *sumFloatAcc) result(g int, dst *vec.Vec, i int) error {
	return floatResult(s.sum[g], s.n[g], s.avg, dst, i)
}

// floatResult writes a sum, or the average of n values.
func floatResult(x float64, n int64, avg bool, dst *vec.Vec, i int) error {
	if n == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	if avg {
		x /= float64(n)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return sqlerr.ValueOutOfRange("DOUBLE", "sum")
	}
	dst.F64[i] = x
	return nil
}

func (s *sumFloatAcc) size() int64 { return int64(cap(s.sum)) * 16 }

// sumDecAcc sums decimals: in 128 bits while all have one scale and fit, else
// by the general addition.
type sumDecAcc struct {
	avg   bool
	t     schema.Type
	call  *expr.Agg
	state []decState
}

type decState struct {
	sum  int128
	wide *value.Decimal
	// scale of sum, valid when sum.n > 0
	scale uint8
}

func (s *sumDecAcc) grow(n int) { s.state = growTo(s.state, n) }

func (s *sumDecAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	if v.Kind != value.KindDecimal {
		return nil // NULL of no type
	}
	nulls := v.Nulls.Any()
	for r, i := range rows {
		if !nulls || !v.Nulls.IsNull(int(i)) {
			s.state[groupOf(groups, r)].add(&v.Dec[i], 1)
		}
	}
	return nil
}

func (s *decState) add(d *value.Decimal, n int64) {
	hi, lo, ok := d.Int128()
	if s.sum.n == 0 {
		s.scale = uint8(d.Scale())
	}
	s.sum.n += n
	if ok && s.wide == nil && d.Scale() == int(s.scale) {
		// 2^62 leaves room: the sum of two such numbers does not overflow.
		if hi < 1<<62 && hi >= -1<<62 && s.sum.hi < 1<<62 && s.sum.hi >= -1<<62 {
			s.sum.add(hi, lo)
			return
		}
	}
	w := s.value().Add(*d)
	s.wide = &w
}

func (s *decState) value() value.Decimal {
	if s.wide != nil {
		return *s.wide
	}
	if s.sum.hi >= 1<<62 || s.sum.hi < -1<<62 {
		return value.DecimalFromBig(s.sum.big(), int(s.scale))
	}
	return value.DecimalFromInt128(s.sum.hi, s.sum.lo, int(s.scale))
}

func (s *int128) big() *big.Int {
	b := big.NewInt(s.hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}

func (s *sumDecAcc) merge(o accumulator, to []uint32) error {
	for g := range o.(*sumDecAcc).state {
		f := &o.(*sumDecAcc).state[g]
		if t := to[g]; t != none && f.sum.n > 0 {
			v := f.value()
			s.state[t].add(&v, f.sum.n)
		}
	}
	return nil
}

func (s *sumDecAcc) result(g int, dst *vec.Vec, i int) error {
	st := &s.state[g]
	return decimalResult(st.value(), st.sum.n, s.avg, s.t, s.call, dst, i)
}

func (s *sumDecAcc) size() int64 { return int64(cap(s.state)) * 48 }

// avgPartsAcc is the average of values whose sums and counts are given. Sums are NULL where
// they are of no values.
type avgPartsAcc struct{ sumDecAcc }

func (s *avgPartsAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		if !args[0].Nulls.IsNull(int(i)) {
			s.state[groupOf(groups, r)].add(&args[0].Dec[i], args[1].I64[i])
		}
	}
	return nil
}

func (s *avgPartsAcc) merge(o accumulator, to []uint32) error {
	return s.sumDecAcc.merge(&o.(*avgPartsAcc).sumDecAcc, to)
}

// bitAcc is BIT_AND, BIT_OR and BIT_XOR.
type bitAcc struct {
	op    expr.AggOp
	words []uint64
}

func (b *bitAcc) grow(n int) {
	old := len(b.words)
	b.words = growTo(b.words, n)
	if b.op == expr.AggBitAnd {
		for i := old; i < len(b.words); i++ {
			b.words[i] = math.MaxUint64
		}
	}
}

func (b *bitAcc) fold(g uint32, x uint64) {
	switch b.op {
	case expr.AggBitAnd:
		b.words[g] &= x
	case expr.AggBitOr:
		b.words[g] |= x
	default:
		b.words[g] ^= x
	}
}

func (b *bitAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	for r, i := range rows {
		if !v.Nulls.IsNull(int(i)) {
			b.fold(groupOf(groups, r), uint64(v.I64[i]))
		}
	}
	return nil
}

func (b *bitAcc) merge(o accumulator, to []uint32) error {
	for g, x := range o.(*bitAcc).words {
		if t := to[g]; t != none {
			b.fold(t, x)
		}
	}
	return nil
}

func (b *bitAcc) result(g int, dst *vec.Vec, i int) error {
	dst.I64[i] = int64(b.words[g])
	return nil
}

func (b *bitAcc) size() int64 { return int64(cap(b.words)) * 8 }

// varAcc is the variance by Welford's recurrence, as in MySQL.
type varAcc struct {
	op    expr.AggOp
	state []moments
}

type moments struct {
	n        int64
	mean, m2 float64
}

func (a *varAcc) grow(n int) { a.state = growTo(a.state, n) }

func (a *varAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	for r, i := range rows {
		if v.Nulls.IsNull(int(i)) {
			continue
		}
		a.state[groupOf(groups, r)].add(v.F64[i])
	}
	return nil
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

// merge adds the values of f.
func (m *moments) merge(f moments) {
	if f.n == 0 {
		return
	}
	n := m.n + f.n
	d := f.mean - m.mean
	m.m2 += f.m2 + d*d*float64(m.n)*float64(f.n)/float64(n)
	m.mean += d * float64(f.n) / float64(n)
	m.n = n
}

func (a *varAcc) merge(o accumulator, to []uint32) error {
	for g, f := range o.(*varAcc).state {
		if to[g] != none {
			a.state[to[g]].merge(f)
		}
	}
	return nil
}

func (a *varAcc) result(g int, dst *vec.Vec, i int) error {
	return a.state[g].result(a.op, dst, i)
}

// result writes the variance or deviation of op.
func (m moments) result(op expr.AggOp, dst *vec.Vec, i int) error {
	div := m.n
	if op == expr.AggVarSamp || op == expr.AggStddevSamp {
		div--
	}
	if div <= 0 {
		dst.Nulls.Set(i)
		return nil
	}
	x := m.m2 / float64(div)
	if op == expr.AggStddevPop || op == expr.AggStddevSamp {
		x = math.Sqrt(x)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return sqlerr.ValueOutOfRange("DOUBLE", op.String())
	}
	dst.F64[i] = x
	return nil
}

func (a *varAcc) size() int64 { return int64(cap(a.state)) * 24 }
