package expr

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// bindIn types left IN (list…). Items that compare with left in different
// types make an OR of INs, as MySQL compares each in its own type.
func bindIn(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	if row, ok := isRow(args[0]); ok {
		return inRows(env, row, args[1:])
	}
	if err := rejectRows(args[1:]); err != nil {
		return nil, err
	}
	return WithValue(args[0], func(left Expr) (Expr, error) {
		return inList(d, env, name, append([]Expr{left}, args[1:]...))
	})
}

func inList(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	coll, err := textListCollation(env, name, args)
	if err != nil {
		return nil, err
	}
	var groups []*Func
	// x IN (y) is x = y; in a longer list only a YEAR on the left makes years of
	// the constants.
	whole := len(args) > 2 && slices.ContainsFunc(args[1:], func(a Expr) bool { return !IsConst(a) || ReadsOuter(a) }) &&
		slices.ContainsFunc(args, func(a Expr) bool { return a.Type().ID == schema.TypeYear })
	for _, item := range args[1:] {
		first := args[0]
		if whole {
			var err error
			if first, item, err = wholeYears(env, first, item); err != nil {
				return nil, err
			}
		}
		left, right, t, err := comparePair(env, name, first, item)
		if err != nil {
			return nil, err
		}
		if coll != schema.CollationNone && t.IsString() && sameBytes(t.Collation, coll) {
			t.Collation = coll
		}
		groups = addToGroup(d, groups, left, right, t)
	}
	parts := make([]Expr, len(groups))
	for i, g := range groups {
		for _, a := range g.Args {
			g.Null = g.Null || a.Nullable()
		}
		parts[i] = g
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return NewFunc(env, "or", parts...)
}

// textListCollation is the collation on which all operands agree if all are
// text: a list of texts is searched in one. CollationNone otherwise.
func textListCollation(env *BindEnv, name string, args []Expr) (schema.CollationID, error) {
	for _, a := range args {
		if t := a.Type(); !t.IsString() && t.ID != schema.TypeNull {
			return schema.CollationNone, nil
		}
	}
	return agreeOn(env, name, args)
}

func addToGroup(d *def, groups []*Func, left, item Expr, t schema.Type) []*Func {
	isNull := item.Type().ID == schema.TypeNull
	for _, g := range groups {
		// NULL goes anywhere.
		if have := g.comparison().t; isNull || sameComparison(have, t) && sameExpr(g.Args[0], left) {
			g.Args, g.varies = append(g.Args, item), g.varies || !IsConst(item)
			g.large = g.large || isOrHasLarge(item)
			return groups
		}
	}
	return append(groups, d.call("in", []Expr{left, item}, boolType(), false, &comparison{cmpEQ, t}))
}

func sameComparison(a, b schema.Type) bool {
	return types.KindOf(a) == types.KindOf(b) && a.Collation == b.Collation && (a.IsString() || a.ID == b.ID || a.HasDate() && b.HasDate())
}

// sameExpr reports whether two conversions of one operand are the same.
func sameExpr(a, b Expr) bool {
	if a == b {
		return true
	}
	x, ok1 := a.(*Func)
	y, ok2 := b.(*Func)
	if ok1 && ok2 && x.Op == OpCast && y.Op == OpCast {
		return x.Args[0] == y.Args[0] && types.KindOf(x.T) == types.KindOf(y.T) && x.T.ID == y.T.ID && x.T.Scale == y.T.Scale && x.T.Collation == y.T.Collation
	}
	p, ok1 := a.(*Const)
	q, ok2 := b.(*Const)
	return ok1 && ok2 && p.T.ID == q.T.ID && !p.D.IsNull() && !q.D.IsNull() && p.D.Kind() == q.D.Kind() && types.Compare(p.D, q.D, binaryOrder(p.T)) == 0
}

func binaryOrder(t schema.Type) schema.Type {
	if t.IsString() {
		t.Collation = schema.CollationBinary
	}
	return t
}

func inRows(env *BindEnv, left *Func, items []Expr) (Expr, error) {
	parts := make([]Expr, len(items))
	for i, item := range items {
		r, ok := isRow(item)
		if !ok || len(r.Args) != len(left.Args) {
			return nil, sqlerr.OperandColumns(len(left.Args))
		}
		x, y := left.Args, r.Args
		if len(items) > 1 {
			var err error
			if x, y, err = wholeYearRows(env, x, y); err != nil {
				return nil, err
			}
		}
		eq, err := compareRows(env, "=", x, y)
		if err != nil {
			return nil, err
		}
		parts[i] = eq
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return NewFunc(env, "or", parts...)
}

// wholeYearRows is wholeYears of the operands of two rows.
func wholeYearRows(env *BindEnv, a, b []Expr) ([]Expr, []Expr, error) {
	x, y := a, b
	for i := range a {
		p, row := isRow(a[i])
		q, both := isRow(b[i])
		row = row && both && len(p.Args) == len(q.Args)
		if !row && a[i].Type().ID != schema.TypeYear && b[i].Type().ID != schema.TypeYear {
			continue
		}
		if &x[0] == &a[0] {
			x, y = slices.Clone(a), slices.Clone(b)
		}
		var err error
		if row {
			v, w := *p, *q
			v.Args, w.Args, err = wholeYearRows(env, p.Args, q.Args)
			x[i], y[i] = &v, &w
		} else {
			x[i], y[i], err = wholeYears(env, a[i], b[i])
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return x, y, nil
}

// wholeYears makes a number of a YEAR that would otherwise take a number of one
// or two digits for a year: 2 is 2002 for y = 2 and y IN (2, 3), but not for
// lists of rows and lists in which something varies.
func wholeYears(env *BindEnv, a, b Expr) (Expr, Expr, error) {
	plain := func(e Expr) bool { // it is the same as a year and as a number
		c, ok := e.(*Const)
		if !ok {
			return !IsConst(e)
		}
		year, ok := yearOf(c.D)
		n, err := types.ToFloat(&types.Env{}, c.D, c.T)
		return !ok || err == nil && n == float64(year)
	}
	var err error
	switch {
	case a.Type().ID == b.Type().ID:
	case a.Type().ID == schema.TypeYear && !plain(b):
		a, err = NewCast(env, a, uintType(), true)
	case b.Type().ID == schema.TypeYear && !plain(a):
		b, err = NewCast(env, b, uintType(), true)
	}
	return a, b, err
}

// lazyIn compares with one item after the other and stops at the first that
// is equal.
func lazyIn(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	x := f.comparison()
	left, err := EvalRow(c, f.Args[0], row)
	if err != nil || left.IsNull() {
		return value.Null, err
	}
	if set := rowSet(c, f); set != nil {
		switch found := set.hasDatum(c, left); {
		case found:
			return value.Int(1), nil
		case set.null:
			return value.Null, nil
		}
		return value.Int(0), nil
	}
	null := false
	for _, a := range f.Args[1:] {
		d, err := EvalRow(c, a, row)
		if err != nil {
			return value.Null, err
		}
		if d.IsNull() {
			null = true
		} else if c.compare(left, d, x.t) == 0 {
			return value.Int(1), nil
		}
	}
	if null {
		return value.Null, nil
	}
	return value.Int(0), nil
}

// inSet is the constant list of an IN, prepared for lookups.
type inSet struct {
	null  bool // NULL is in the list
	kind  value.Kind
	t     schema.Type
	words []int64 // ascending by bits, for word kinds
	// table is an open hash over words, of a power of two.
	table []int64
	used  []bool
	keys  map[string]struct{} // types.HashKey of the other kinds
	buf   []byte
	// counted is freed with the set: expr.Memory counts the keys for as long.
	counted []byte
}

// listSet prepares the list of f if all of it is constant and of one kind.
func listSet(c *Ctx, f *Func) (*inSet, error) {
	return cached(c, f, func() (*inSet, error) {
		x := f.comparison()
		s := &inSet{t: x.t, kind: types.KindOf(x.t)}
		var list []value.Datum
		for _, a := range f.Args[1:] {
			d, err := EvalRow(c, a, nil)
			if err != nil {
				return nil, err
			}
			if d.IsNull() {
				s.null = true
				continue
			}
			d, sign := alignSign(kindOf(f.Args[0]), d)
			if sign == 0 { // otherwise equal to nothing
				list = append(list, d)
			}
		}
		s.kind = kindOf(f.Args[0])
		if vec.ClassOf(s.kind) == vec.ClassWord && s.kind != value.KindNull {
			s.addWords(list)
			return s, nil
		}
		s.keys = make(map[string]struct{}, len(list))
		held := 0
		for _, d := range list {
			key := c.hashKey(nil, d, x.t)
			if err := c.Work(workOfCall + 8*len(key)); err != nil {
				return nil, err
			}
			if held += len(key); held >= sampleStep && c.Memory != nil {
				if err := c.Memory.Reserve(int64(held)); err != nil {
					return nil, err
				}
				if s.counted == nil {
					s.counted = make([]byte, 64) // more than what the allocator puts together
				}
				c.Memory.KeepAs(s.counted, int64(held))
				held = 0
			}
			s.keys[string(key)] = struct{}{}
		}
		return s, nil
	})
}

// noSet marks in a Ctx that a list has no set.
type noSet struct{}

// rowSet is the set of a list that is long enough to be worth one for single
// rows; nil otherwise.
func rowSet(c *Ctx, f *Func) *inSet {
	if len(f.Args) <= minOrList {
		return nil
	}
	switch s := c.cache[f].(type) {
	case *inSet:
		return s
	case noSet:
		return nil
	}
	if constList(f) {
		if set, err := listSet(c, f); err == nil {
			return set
		}
	}
	if c.cache == nil {
		c.cache = map[*Func]any{}
	}
	c.cache[f] = noSet{}
	return nil
}

func (s *inSet) addWords(list []value.Datum) {
	for _, d := range list {
		s.words = append(s.words, int64(d.Bits()))
	}
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	if len(s.words) <= 4 {
		return
	}
	size := 16
	for size < 4*len(s.words) {
		size *= 2
	}
	s.table, s.used = make([]int64, size), make([]bool, size)
	for _, w := range s.words {
		p := hashWord(w) & uint64(size-1)
		for s.used[p] {
			p = (p + 1) & uint64(size-1)
		}
		s.table[p], s.used[p] = w, true
	}
}

func hashWord(w int64) uint64 {
	h := uint64(w) * 0x9E3779B97F4A7C15
	return h ^ h>>32
}

func (s *inSet) hasWord(w int64) bool {
	if s.table == nil {
		for _, x := range s.words {
			if x == w {
				return true
			}
		}
		return false
	}
	mask := uint64(len(s.table) - 1)
	for p := hashWord(w) & mask; s.used[p]; p = (p + 1) & mask {
		if s.table[p] == w {
			return true
		}
	}
	return false
}

// has reports whether row i of v, not null, is in the list.
func (s *inSet) has(c *Ctx, v *vec.Vec, i int) bool {
	if s.keys == nil {
		return s.hasWord(v.I64[i])
	}
	return s.hasDatum(c, v.Datum(i))
}

func (s *inSet) hasDatum(c *Ctx, d value.Datum) bool {
	if s.keys == nil {
		return s.hasWord(int64(d.Bits()))
	}
	s.buf = c.hashKey(s.buf[:0], d, s.t)
	_, ok := s.keys[string(s.buf)]
	return ok
}

// constList reports whether the list can be prepared: constant, and of the
// kind of the left operand as it arrives.
func constList(f *Func) bool {
	left := kindOf(f.Args[0])
	for _, a := range f.Args[1:] {
		if !IsConst(a) {
			return false
		}
		k := kindOf(a)
		ints := (k == value.KindInt || k == value.KindUint) && (left == value.KindInt || left == value.KindUint)
		if k != left && k != value.KindNull && !ints {
			return false
		}
	}
	return !isNaNProne(left)
}

func isNaNProne(k value.Kind) bool { return k == value.KindNull || k == value.KindJSON }

// batchSet is the set of a list; nil if it has none, or if an item fails, which
// may not be reached: a NULL or an equal one comes first.
func batchSet(c *Ctx, f *Func) *inSet {
	if len(f.Args) > minOrList {
		return rowSet(c, f)
	}
	if !constList(f) {
		return nil
	}
	set, err := listSet(c, f)
	if err != nil {
		return nil
	}
	return set
}

func vecIn(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	set := batchSet(c, f)
	if set == nil || in.Live() == 0 {
		return evalLazyLoop(c, f, in)
	}
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindInt, in.N)
	out.Nulls.CopyFrom(&v.Nulls)
	eachRow(in, &v.Nulls, func(i int) {
		found := set.has(c, v, i)
		out.I64[i] = int64(b2i(found))
		if !found && set.null {
			out.Nulls.Set(i)
		}
	})
	c.Release(v)
	return out, nil
}

func filterIn(c *Ctx, f *Func, in *vec.Batch) error {
	set := batchSet(c, f)
	if set == nil {
		return filterByValue(c, f, in)
	}
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return err
	}
	dst := in.SelBuf()
	for r, n := 0, in.Live(); r < n; r++ {
		i := in.Row(r)
		if !v.Nulls.IsNull(i) && set.has(c, v, i) {
			dst = append(dst, uint16(i))
		}
	}
	c.Release(v)
	in.SetSel(dst)
	return nil
}
