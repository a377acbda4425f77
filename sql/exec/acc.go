package exec

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// accumulator computes one aggregate function for many groups. Groups have
// dense numbers; grow makes room for n of them before they are used.
type accumulator interface {
	grow(n int)
	// add folds rows of the argument vectors in; groups[r] is the group of
	// rows[r], and nil groups stand for group 0.
	add(args []*vec.Vec, rows []uint16, groups []uint32) error
	// merge folds the groups of another accumulator of the same call in:
	// group g goes to group to[g], or is left out where that is none.
	merge(o accumulator, to []uint32) error
	// result writes the value of group g to position i of dst.
	result(g int, dst *vec.Vec, i int) error
	// size is an estimate of the bytes held.
	size() int64
	// stateKinds are the kinds of the columns that hold the state of a group:
	// save writes that of group g to row i of them, load makes it that of a
	// group that is new.
	stateKinds() []value.Kind
	save(g int, cols []*vec.Vec, i int)
	load(g int, cols []*vec.Vec, i int) error
}

// newAccumulator makes the accumulator of a call. grouped says that there are
// groups, not one for all rows.
func newAccumulator(env *Env, ec *expr.Ctx, a *expr.Agg, grouped bool) (accumulator, error) {
	acc, err := plainAccumulator(env, ec, a)
	if err != nil || !needsDistinct(a) {
		return acc, err
	}
	return newDistinctAcc(env, acc, a, grouped), nil
}

func plainAccumulator(env *Env, ec *expr.Ctx, a *expr.Agg) (accumulator, error) {
	var kind value.Kind
	if len(a.Args) > 0 {
		kind = types.KindOf(a.Args[0].Type())
	}
	bad := sqlerr.Internal("%s of kind %s", a, kind)
	switch a.Op {
	case expr.AggCount:
		if a.Final {
			return &countSumAcc{}, nil
		}
		return &countAcc{}, nil
	case expr.AggSum, expr.AggAvg:
		if a.Final && a.Op == expr.AggAvg {
			return &avgPartsAcc{sumDecAcc{avg: true, t: a.T, call: a}}, nil
		}
		avg := a.Op == expr.AggAvg
		switch kind {
		case value.KindInt, value.KindUint:
			return &sumIntAcc{avg: avg, unsigned: kind == value.KindUint, t: a.T, call: a}, nil
		case value.KindFloat:
			return &sumFloatAcc{avg: avg}, nil
		case value.KindDecimal, value.KindNull:
			return &sumDecAcc{avg: avg, t: a.T, call: a}, nil
		}
		return nil, bad
	case expr.AggMin, expr.AggMax:
		return env.newMinMax(a.Op == expr.AggMax, a.Args[0].Type()), nil
	case expr.AggAnyValue:
		return &anyAcc{kind: kind}, nil
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		if kind == value.KindBytes {
			return &bitBytesAcc{op: a.Op, width: a.T.Len}, nil
		}
		if kind != value.KindUint && kind != value.KindInt && kind != value.KindNull {
			return nil, bad
		}
		return &bitAcc{op: a.Op}, nil
	case expr.AggStddevPop, expr.AggStddevSamp, expr.AggVarPop, expr.AggVarSamp:
		if kind != value.KindFloat {
			return nil, bad
		}
		return &varAcc{op: a.Op}, nil
	case expr.AggApproxPercentile:
		return newPercentile(ec, kind, a.Percentile())
	case expr.AggGroupConcat:
		return newConcatAcc(env, ec, a), nil
	case expr.AggJSONArrayAgg:
		return &jsonArrayAcc{listAcc{ec: ec, function: "json_arrayagg"}}, nil
	case expr.AggSTCollect:
		return &collectAcc{listAcc{ec: ec, function: "st_collect"}}, nil
	case expr.AggJSONObjectAgg:
		return &jsonObjectAcc{ec: ec}, nil
	}
	return nil, sqlerr.NotSupported("aggregate function " + a.Op.String())
}

// aggArgs are the expressions that an accumulator's add takes: the arguments,
// then the order of GROUP_CONCAT.
func aggArgs(a *expr.Agg) []expr.Expr {
	g := a.GroupConcat()
	if g == nil || len(g.Order) == 0 {
		return a.Args
	}
	args := append([]expr.Expr(nil), a.Args...)
	for _, o := range g.Order {
		args = append(args, o.Expr)
	}
	return args
}

// growTo makes s n long; new elements are zero.
func growTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n, max(n, 2*cap(s)))
	copy(grown, s)
	return grown
}

// countAcc counts rows, those without a NULL argument if there are arguments.
type countAcc struct{ n []int64 }

func (c *countAcc) grow(n int) { c.n = growTo(c.n, n) }

func (c *countAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	nulls := false
	for _, a := range args {
		nulls = nulls || a.Nulls.Any()
	}
	switch {
	case !nulls && groups == nil:
		c.n[0] += int64(len(rows))
	case !nulls:
		for _, g := range groups {
			c.n[g]++
		}
	default:
		for r, i := range rows {
			if !hasNull(args, int(i)) {
				c.n[groupOf(groups, r)]++
			}
		}
	}
	return nil
}

// countSumAcc adds counts that are not NULL.
type countSumAcc struct{ countAcc }

func (c *countSumAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		c.n[groupOf(groups, r)] += args[0].I64[i]
	}
	return nil
}

func (c *countSumAcc) merge(o accumulator, to []uint32) error {
	return c.countAcc.merge(&o.(*countSumAcc).countAcc, to)
}

func groupOf(groups []uint32, r int) uint32 {
	if groups == nil {
		return 0
	}
	return groups[r]
}

func (c *countAcc) merge(o accumulator, to []uint32) error {
	for g, n := range o.(*countAcc).n {
		if t := to[g]; t != none {
			c.n[t] += n
		}
	}
	return nil
}

func (c *countAcc) result(g int, dst *vec.Vec, i int) error {
	dst.I64[i] = c.n[g]
	return nil
}

func (c *countAcc) size() int64 { return int64(cap(c.n)) * 8 }

// anyAcc keeps the value of the first row.
type anyAcc struct {
	kind value.Kind
	has  []bool
	val  []value.Datum
	held int64
}

func (a *anyAcc) grow(n int) { a.has, a.val = growTo(a.has, n), growTo(a.val, n) }

func (a *anyAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		g := groupOf(groups, r)
		if a.has[g] {
			if groups == nil {
				return nil
			}
			continue
		}
		a.has[g] = true
		a.val[g] = args[0].Datum(int(i)).Clone()
		a.held += int64(len(a.val[g].Bytes()))
	}
	return nil
}

func (a *anyAcc) merge(o accumulator, to []uint32) error {
	from := o.(*anyAcc)
	for g, has := range from.has {
		if t := to[g]; t != none && has && !a.has[t] {
			a.has[t], a.val[t] = true, from.val[g]
			a.held += int64(len(a.val[t].Bytes()))
		}
	}
	return nil
}

func (a *anyAcc) result(g int, dst *vec.Vec, i int) error {
	dst.SetDatum(i, a.val[g])
	return nil
}

func (a *anyAcc) size() int64 { return int64(cap(a.val))*65 + a.held }

// minMaxAcc keeps the least or greatest value by Compare of its type.
type minMaxAcc struct {
	max  bool
	kind value.Kind
	t    schema.Type
	// text: ENUM and SET, which order by their text here, not by number.
	text bool
	has  []bool
	word []int64
	f64  []float64
	dec  []value.Decimal
	byt  [][]byte
	held int64
	a, b []byte
	part keyPart
}

func (env *Env) newMinMax(greatest bool, t schema.Type) *minMaxAcc {
	return &minMaxAcc{max: greatest, kind: types.KindOf(t), t: t, text: t.ID == schema.TypeEnum || t.ID == schema.TypeSet, part: env.newKeyPart(t)}
}

func (m *minMaxAcc) grow(n int) {
	m.has = growTo(m.has, n)
	switch vec.ClassOf(m.kind) {
	case vec.ClassWord:
		m.word = growTo(m.word, n)
	case vec.ClassFloat:
		m.f64 = growTo(m.f64, n)
	case vec.ClassDecimal:
		m.dec = growTo(m.dec, n)
	case vec.ClassBytes:
		m.byt = growTo(m.byt, n)
	}
}

func (m *minMaxAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	v := args[0]
	if m.kind == value.KindNull {
		return nil
	}
	nulls := v.Nulls.Any()
	switch {
	case vec.ClassOf(m.kind) == vec.ClassWord && !m.text:
		m.addWords(v, rows, groups, nulls)
		return nil
	case m.kind == value.KindFloat:
		for r, i := range rows {
			if nulls && v.Nulls.IsNull(int(i)) {
				continue
			}
			g, x := groupOf(groups, r), v.F64[i]
			if !m.has[g] || (x > m.f64[g]) == m.max && x != m.f64[g] {
				m.f64[g], m.has[g] = x, true
			}
		}
		return nil
	}
	for r, i := range rows {
		if nulls && v.Nulls.IsNull(int(i)) {
			continue
		}
		g := groupOf(groups, r)
		switch vec.ClassOf(m.kind) {
		case vec.ClassWord:
			if !m.has[g] || m.better(m.compareList(v.I64[i], m.word[g])) {
				m.word[g] = v.I64[i]
			}
		case vec.ClassDecimal:
			if !m.has[g] || m.better(v.Dec[i].Cmp(m.dec[g])) {
				m.dec[g] = v.Dec[i]
			}
		default:
			m.addBytes(g, v.Bytes[i])
		}
		m.has[g] = true
	}
	return nil
}

// compare orders two values that are not NULL.
func (m *minMaxAcc) compare(a *vec.Vec, i int, b *vec.Vec, j int) int {
	switch {
	case m.text:
		return m.compareList(a.I64[i], b.I64[j])
	case vec.ClassOf(m.kind) == vec.ClassBytes:
		return m.compareBytes(a.Bytes[i], b.Bytes[j])
	}
	return compareKeys(m.kind, a, i, b, j)
}

func (m *minMaxAcc) better(cmp int) bool { return cmp > 0 && m.max || cmp < 0 && !m.max }

// addWords compares unsigned words, also times, with the top bit flipped.
func (m *minMaxAcc) addWords(v *vec.Vec, rows []uint16, groups []uint32, nulls bool) {
	flip := int64(0)
	if m.kind == value.KindUint || m.kind == value.KindTime {
		flip = -1 << 63
	}
	if groups == nil && !nulls {
		m.addColumn(v.I64, rows, flip)
		return
	}
	for r, i := range rows {
		if nulls && v.Nulls.IsNull(int(i)) {
			continue
		}
		g, x := groupOf(groups, r), v.I64[i]
		if !m.has[g] || (x^flip > m.word[g]^flip) == m.max && x != m.word[g] {
			m.word[g], m.has[g] = x, true
		}
	}
}

// addColumn is the loop for one group without NULLs.
func (m *minMaxAcc) addColumn(x []int64, rows []uint16, flip int64) {
	if len(rows) == 0 {
		return
	}
	best := x[rows[0]] ^ flip
	if m.has[0] {
		best = m.word[0] ^ flip
	}
	if m.max {
		for _, i := range rows {
			best = max(best, x[i]^flip)
		}
	} else {
		for _, i := range rows {
			best = min(best, x[i]^flip)
		}
	}
	m.word[0], m.has[0] = best^flip, true
}

func (m *minMaxAcc) addBytes(g uint32, b []byte) {
	if m.has[g] && !m.better(m.compareBytes(b, m.byt[g])) {
		return
	}
	m.held += int64(len(b) - len(m.byt[g]))
	m.byt[g] = append(m.byt[g][:0], b...)
	if m.byt[g] == nil {
		m.byt[g] = []byte{}
	}
}

func (m *minMaxAcc) compareBytes(a, b []byte) int {
	switch {
	case m.kind == value.KindJSON:
		return value.JSONCompare(a, b)
	case m.part.coll != nil:
		return m.part.compare(a, b)
	}
	return types.Compare(value.Bytes(a), value.Bytes(b), types.VarbinaryOf(0))
}

// compareList compares members of ENUM or SET by their text.
func (m *minMaxAcc) compareList(a, b int64) int {
	m.a = types.AppendText(m.a[:0], m.t, value.Uint(uint64(a)))
	m.b = types.AppendText(m.b[:0], m.t, value.Uint(uint64(b)))
	return types.Compare(value.Bytes(m.a), value.Bytes(m.b), types.Text(m.t.Collation))
}

func (m *minMaxAcc) merge(o accumulator, to []uint32) error {
	from := o.(*minMaxAcc)
	v := vec.NewSized(m.kind, 1)
	for g, has := range from.has {
		if to[g] == none || !has {
			continue
		}
		switch vec.ClassOf(m.kind) {
		case vec.ClassWord:
			v.I64[0] = from.word[g]
		case vec.ClassFloat:
			v.F64[0] = from.f64[g]
		case vec.ClassDecimal:
			v.Dec[0] = from.dec[g]
		case vec.ClassBytes:
			v.Bytes[0] = from.byt[g]
		}
		if err := m.add([]*vec.Vec{v}, identity[:1], to[g:g+1]); err != nil {
			return err
		}
	}
	return nil
}

func (m *minMaxAcc) result(g int, dst *vec.Vec, i int) error {
	if !m.has[g] {
		dst.Nulls.Set(i)
		return nil
	}
	switch vec.ClassOf(m.kind) {
	case vec.ClassWord:
		dst.I64[i] = m.word[g]
	case vec.ClassFloat:
		dst.F64[i] = m.f64[g]
	case vec.ClassDecimal:
		dst.Dec[i] = m.dec[g]
	case vec.ClassBytes:
		dst.Bytes[i] = dst.Own(m.byt[g])
	}
	return nil
}

func (m *minMaxAcc) size() int64 {
	return int64(cap(m.has)+cap(m.word)*8+cap(m.f64)*8+cap(m.dec)*32+cap(m.byt)*24) + m.held
}
