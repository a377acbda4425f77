package exec

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// percentileAcc is APPROX_PERCENTILE(x, p): the value of nearest rank, the least
// one that at least p percent of the values do not exceed. It is exact: the
// values of a group are kept, equal ones once with their number.
type percentileAcc[T any] struct {
	percentileType[T]
	percent value.Decimal
	state   []percentileState[T]
	held    int64
}

// percentileType is how values are read, written and ordered.
type percentileType[T any] struct {
	at      func(v *vec.Vec, i int) T
	set     func(v *vec.Vec, i int, x T)
	compare func(a, b T) int
	bytes   int64 // of a value in memory
	save    func(dst []byte, x T) []byte
	load    func(item []byte) (T, error)
}

type percentileState[T any] struct {
	fresh   []T // since they were counted last
	counted []counted[T]
	// countAt is the number of fresh values at which they are counted.
	countAt int
}

type counted[T any] struct {
	val T
	n   int64
}

var hundredth = value.DecimalFromInt128(0, 1, 2)

// minCount is the least number of values that are worth counting.
const minCount = 1024

func newPercentile(ec *expr.Ctx, kind value.Kind, p *expr.Percentile) (accumulator, error) {
	d, err := expr.EvalConst(ec, p.Percent)
	if err != nil {
		return nil, err
	}
	var percent value.Decimal
	if !d.IsNull() {
		percent = d.Decimal()
	}
	if percent.Sign() <= 0 || percent.Cmp(value.DecimalFromInt(100)) > 0 {
		return nil, sqlerr.WrongArguments("approx_percentile")
	}
	switch vec.ClassOf(kind) {
	case vec.ClassDecimal:
		return &percentileAcc[value.Decimal]{percent: percent, percentileType: percentileType[value.Decimal]{
			at:      func(v *vec.Vec, i int) value.Decimal { return v.Dec[i] },
			set:     func(v *vec.Vec, i int, x value.Decimal) { v.Dec[i] = x },
			compare: value.Decimal.Cmp,
			bytes:   40,
			save:    func(dst []byte, x value.Decimal) []byte { return appendItem(dst, x.AppendText(nil)) },
			load:    func(item []byte) (value.Decimal, error) { return value.ParseDecimal(string(item)) },
		}}, nil
	case vec.ClassFloat:
		return &percentileAcc[float64]{percent: percent, percentileType: percentileType[float64]{
			at:      func(v *vec.Vec, i int) float64 { return v.F64[i] },
			set:     func(v *vec.Vec, i int, x float64) { v.F64[i] = x },
			compare: cmp.Compare[float64],
			bytes:   8,
			save: func(dst []byte, x float64) []byte {
				return appendItem(dst, binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
			},
			load: func(item []byte) (float64, error) {
				return math.Float64frombits(binary.LittleEndian.Uint64(item)), nil
			},
		}}, nil
	}
	// Words are ordered as signed numbers, or as unsigned ones.
	words := &percentileAcc[int64]{percent: percent, percentileType: percentileType[int64]{
		at:      func(v *vec.Vec, i int) int64 { return v.I64[i] },
		set:     func(v *vec.Vec, i int, x int64) { v.I64[i] = x },
		compare: cmp.Compare[int64],
		bytes:   8,
		save: func(dst []byte, x int64) []byte {
			return appendItem(dst, binary.LittleEndian.AppendUint64(nil, uint64(x)))
		},
		load: func(item []byte) (int64, error) { return int64(binary.LittleEndian.Uint64(item)), nil },
	}}
	if kind == value.KindUint || kind == value.KindTime {
		words.compare = func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }
	}
	return words, nil
}

func (p *percentileAcc[T]) grow(n int) { p.state = growTo(p.state, n) }

func (p *percentileAcc[T]) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	nulls := v.Nulls.Any()
	for r, i := range rows {
		if nulls && v.Nulls.IsNull(int(i)) {
			continue
		}
		st := &p.state[groupOf(groups, r)]
		st.fresh = append(st.fresh, p.at(v, int(i)))
		p.held += p.bytes
		if len(st.fresh) >= max(st.countAt, minCount) {
			p.count(st)
		}
	}
	return nil
}

// count takes the fresh values among those that are counted.
func (p *percentileAcc[T]) count(st *percentileState[T]) {
	slices.SortFunc(st.fresh, p.compare)
	var merged []counted[T]
	old := st.counted
	take := func(c counted[T]) {
		if last := len(merged) - 1; last >= 0 && p.compare(merged[last].val, c.val) == 0 {
			merged[last].n += c.n
			return
		}
		merged = append(merged, c)
	}
	for _, x := range st.fresh {
		for len(old) > 0 && p.compare(old[0].val, x) <= 0 {
			take(old[0])
			old = old[1:]
		}
		take(counted[T]{x, 1})
	}
	for _, c := range old {
		take(c)
	}
	p.held += int64(len(merged)-len(st.counted))*(p.bytes+8) - int64(len(st.fresh))*p.bytes
	st.fresh, st.counted, st.countAt = st.fresh[:0], merged, len(merged)
}

func (p *percentileAcc[T]) merge(o accumulator, to []uint32) error {
	from := o.(*percentileAcc[T])
	for g := range from.state {
		if to[g] == none {
			continue
		}
		f, st := &from.state[g], &p.state[to[g]]
		if len(f.counted) > 0 {
			p.count(st)
			p.addCounted(st, f.counted)
		}
		st.fresh = append(st.fresh, f.fresh...)
		p.held += int64(len(f.fresh)) * p.bytes
		if len(st.fresh) >= max(st.countAt, minCount) {
			p.count(st)
		}
	}
	return nil
}

// addCounted adds counted values, in order, to a state without fresh ones.
func (p *percentileAcc[T]) addCounted(st *percentileState[T], list []counted[T]) {
	p.held -= int64(len(st.counted)) * (p.bytes + 8)
	merged := make([]counted[T], 0, len(st.counted)+len(list))
	for a, b := st.counted, list; len(a)+len(b) > 0; {
		switch {
		case len(b) == 0 || len(a) > 0 && p.compare(a[0].val, b[0].val) < 0:
			merged, a = append(merged, a[0]), a[1:]
		case len(a) == 0 || p.compare(a[0].val, b[0].val) > 0:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, counted[T]{a[0].val, a[0].n + b[0].n})
			a, b = a[1:], b[1:]
		}
	}
	st.counted, st.countAt = merged, len(merged)
	p.held += int64(len(merged)) * (p.bytes + 8)
}

func (p *percentileAcc[T]) result(g int, dst *vec.Vec, i int) error {
	st := &p.state[g]
	if len(st.fresh) > 0 {
		p.count(st)
	}
	n := int64(0)
	for _, c := range st.counted {
		n += c.n
	}
	if n == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	rank, _ := p.percent.Mul(value.DecimalFromInt(n)).Mul(hundredth).Ceil().Int64()
	for _, c := range st.counted {
		if rank -= c.n; rank <= 0 {
			p.set(dst, i, c.val)
			break
		}
	}
	return nil
}

func (p *percentileAcc[T]) size() int64 { return p.held + int64(cap(p.state))*56 }

func (p *percentileAcc[T]) stateKinds() []value.Kind { return []value.Kind{value.KindBytes} }

func (p *percentileAcc[T]) save(g int, cols []*vec.Vec, i int) {
	st := &p.state[g]
	p.count(st)
	var list []byte
	for _, c := range st.counted {
		list = binary.AppendUvarint(p.percentileType.save(list, c.val), uint64(c.n))
	}
	cols[0].Bytes[i] = cols[0].Own(list)
}

func (p *percentileAcc[T]) load(g int, cols []*vec.Vec, i int) error {
	var counts []counted[T]
	for list := cols[0].Bytes[i]; len(list) > 0; {
		item, rest, err := nextItem(list)
		if err != nil {
			return err
		}
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return sqlerr.Internal("the saved state of an aggregate is damaged")
		}
		val, err := p.percentileType.load(item)
		if err != nil {
			return err
		}
		counts, list = append(counts, counted[T]{val, int64(n)}), rest[size:]
	}
	p.addCounted(&p.state[g], counts)
	return nil
}
