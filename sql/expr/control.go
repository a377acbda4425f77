package expr

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

func controlDefs() []entry {
	return []entry{
		special("and", bindLogic, def{b: Builtin{impl: impl{lazy: lazyAnd, vec: vecAnd, filter: filterAnd}}}),
		special("or", bindLogic, def{b: Builtin{impl: impl{lazy: lazyOr, vec: vecOr, filter: filterOr}}}),
		fn("xor", "BB", retBool, rowXor, 0),
		notEntry(),
		isEntry("is_null isnull", "x", func(d value.Datum) bool { return d.IsNull() }),
		isEntry("is_true", "B", func(d value.Datum) bool { t, null := truth(d); return t && !null }),
		isEntry("is_false", "B", func(d value.Datum) bool { t, null := truth(d); return !t && !null }),
		special("case", bindCase, def{b: Builtin{impl: impl{lazy: lazyCase, vec: vecCase}}}),
		special("if", bindIf, def{b: Builtin{impl: impl{lazy: lazyCase, vec: vecCase}}}),
		special("coalesce", bindCoalesce, def{b: Builtin{impl: impl{lazy: lazyCoalesce, vec: vecCoalesce}}}),
		special("ifnull", bindCoalesce, def{b: Builtin{impl: impl{lazy: lazyCoalesce, vec: vecCoalesce}}, hi: 2}),
		special("nullif", bindNullif, def{b: Builtin{impl: impl{lazy: lazyNullif, vec: vecNullif}}}),
	}
}

func notEntry() entry {
	e := fn("not", "B", retBool, rowNot, 0)
	e.d.b.vec = vecNot
	return e
}

// Not is NOT e of a condition.
func Not(e Expr) Expr {
	return mustLookup("not").call("not", []Expr{e}, boolType(), e.Nullable(), nil)
}

func isEntry(names, sig string, test func(value.Datum) bool) entry {
	row := func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) { return value.Bool(test(a[0])), nil }
	e := fn(names, sig, retBool, row, notNull|loose)
	e.d.b.vec = func(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) { return vecIs(c, f, in, test) }
	if sig == "x" {
		e.d.rename = "is_null"
		e.d.b.filter = filterIsNull
	}
	return e
}

func vecIs(c *Ctx, f *Func, in *vec.Batch, test func(value.Datum) bool) (*vec.Vec, error) {
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindInt, in.N)
	if f.Op == OpIsNull {
		for i := 0; i < in.N; i++ {
			out.I64[i] = int64(b2i(v.Nulls.IsNull(i)))
		}
	} else {
		var none vec.Nulls
		eachRow(in, &none, func(i int) { out.I64[i] = int64(b2i(test(v.Datum(i)))) })
	}
	c.Release(v)
	return out, nil
}

func filterIsNull(c *Ctx, f *Func, in *vec.Batch) error {
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return err
	}
	dst := in.SelBuf()
	if v.Nulls.Any() {
		for r, n := 0, in.Live(); r < n; r++ {
			if i := in.Row(r); v.Nulls.IsNull(i) {
				dst = append(dst, uint16(i))
			}
		}
	}
	c.Release(v)
	in.SetSel(dst)
	return nil
}

func rowNot(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	t, _ := truth(a[0])
	return value.Bool(!t), nil
}

func vecNot(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if kindOf(f.Args[0]) != value.KindInt {
		return evalGeneric(c, f, in)
	}
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindInt, in.N)
	out.Nulls.CopyFrom(&v.Nulls)
	for i, x := range v.I64[:in.N] {
		out.I64[i] = int64(b2i(x == 0))
	}
	c.Release(v)
	return out, nil
}

func rowXor(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	x, _ := truth(a[0])
	y, _ := truth(a[1])
	return value.Bool(x != y), nil
}

// bindLogic types AND and OR of any number of operands; nested ones are taken
// apart.
func bindLogic(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) == 0 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	var flat []Expr
	null := false
	for _, a := range args {
		if f, ok := a.(*Func); ok && f.Name == name {
			flat = append(flat, f.Args...)
			null = null || f.Null
			continue
		}
		x, err := convertArg(env, 'B', a)
		if err != nil {
			return nil, err
		}
		flat = append(flat, x)
		null = null || x.Nullable()
	}
	if len(flat) == 1 {
		one, err := NewFunc(env, "not", flat[0])
		if err != nil {
			return nil, err
		}
		return NewFunc(env, "not", one)
	}
	return d.call(name, flat, boolType(), null, nil), nil
}

// lazyAnd stops at the first operand that is false.
func lazyAnd(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	return lazyLogic(c, f, row, false)
}

// lazyOr stops at the first operand that is true.
func lazyOr(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	if l := orListOf(c, f); l != nil {
		found, unknown := l.hasRow(c, row)
		if found || !unknown && !l.null {
			return value.Bool(found), nil
		}
	}
	return lazyLogic(c, f, row, true)
}

func lazyLogic(c *Ctx, f *Func, row []value.Datum, stop bool) (value.Datum, error) {
	unknown := false
	for _, a := range f.Args {
		d, err := EvalRow(c, a, row)
		if err != nil {
			return value.Null, err
		}
		t, null := truth(d)
		if null {
			unknown = true
		} else if t == stop {
			return value.Bool(stop), nil
		}
	}
	if unknown {
		return value.Null, nil
	}
	return value.Bool(!stop), nil
}

func vecAnd(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) { return vecLogic(c, f, in, false) }

func vecOr(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if l := orListOf(c, f); l != nil {
		return l.eval(c, f, in)
	}
	return vecLogic(c, f, in, true)
}

// vecLogic evaluates each operand for the rows that the ones before did not
// decide.
func vecLogic(c *Ctx, f *Func, in *vec.Batch, stop bool) (*vec.Vec, error) {
	out := c.getVec(value.KindInt, in.N)
	fill(out.I64[:in.N], int64(b2i(!stop)))
	open := c.openRows(in)
	for _, a := range f.Args {
		if len(open) == 0 {
			break
		}
		sub := c.subBatch(in, open)
		d, v, err := evalOperand(c, a, sub)
		c.putBatch(sub)
		if err != nil {
			return nil, err
		}
		word := v != nil && vec.ClassOf(v.Kind) == vec.ClassWord
		kept := open[:0]
		for _, i := range open {
			var t, null bool
			switch {
			case word:
				t, null = v.I64[i] != 0, v.Nulls.IsNull(int(i))
			case v != nil:
				t, null = truth(v.Datum(int(i)))
			default:
				t, null = truth(d)
			}
			switch {
			case null:
				out.Nulls.Set(int(i))
			case t == stop:
				out.Nulls.Unset(int(i))
				out.I64[i] = int64(b2i(stop))
				continue
			}
			kept = append(kept, i)
		}
		open = kept
		if v != nil {
			c.Release(v)
		}
	}
	c.putSel(open)
	return out, nil
}

// filterAnd applies one conjunct after the other to what is left. A NULL drops
// the row at once: the conjunction cannot become true any more.
func filterAnd(c *Ctx, f *Func, in *vec.Batch) error {
	for _, a := range f.Args {
		if err := EvalFilter(c, a, in); err != nil {
			return err
		}
		if in.Live() == 0 {
			return nil
		}
	}
	return nil
}

// filterOr tries each operand on the rows that no one before accepted.
func filterOr(c *Ctx, f *Func, in *vec.Batch) error {
	if l := orListOf(c, f); l != nil && l.filter(c, in) {
		return nil
	}
	var accepted [vec.MaxRows / 64]uint64
	rest := c.openRows(in)
	for _, a := range f.Args {
		if len(rest) == 0 {
			break
		}
		sub := c.subBatch(in, rest)
		if err := EvalFilter(c, a, sub); err != nil {
			return err
		}
		for r, n := 0, sub.Live(); r < n; r++ {
			i := sub.Row(r)
			accepted[i>>6] |= 1 << (i & 63)
		}
		c.putBatch(sub)
		kept := rest[:0]
		for _, i := range rest {
			if accepted[i>>6]&(1<<(i&63)) == 0 {
				kept = append(kept, i)
			}
		}
		rest = kept
	}
	c.putSel(rest)
	dst := in.SelBuf()
	for r, n := 0, in.Live(); r < n; r++ {
		i := in.Row(r)
		if accepted[i>>6]&(1<<(i&63)) != 0 {
			dst = append(dst, uint16(i))
		}
	}
	in.SetSel(dst)
	return nil
}

// unify is the common type of alternatives, with the collation that they
// agree on, and the alternatives converted to it.
func unify(env *BindEnv, name string, args []Expr) ([]Expr, schema.Type, error) {
	if err := rejectRows(args); err != nil {
		return nil, schema.Type{}, err
	}
	ts := make([]schema.Type, 0, len(args))
	for _, a := range args {
		if t := a.Type(); t.ID != schema.TypeNull {
			ts = append(ts, t)
		}
	}
	if len(ts) == 0 {
		return args, nullType(), nil
	}
	t := types.Unify(ts...)
	if t.IsString() {
		coll, err := agreeOn(env, name, args)
		if err != nil {
			return nil, t, err
		}
		n := 0
		for _, a := range args {
			n = max(n, textLen(a))
		}
		t = textType(n, coll)
	}
	if t.ID == schema.TypeDecimal {
		t = unifyDecimal(args)
	}
	out, err := castAll(env, args, t)
	return out, t, err
}

func unifyDecimal(args []Expr) schema.Type {
	whole, scale := 0, 0
	for _, a := range args {
		if a.Type().ID == schema.TypeNull {
			continue
		}
		p, s := precisionOf(a)
		whole, scale = max(whole, p-s), max(scale, s)
	}
	return decimalType(whole+scale, scale)
}

func castAll(env *BindEnv, args []Expr, t schema.Type) ([]Expr, error) {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = a
		if a.Type().ID == schema.TypeNull {
			if _, ok := a.(*Const); ok {
				out[i] = &Const{T: t, Text: "NULL"}
				continue
			}
		}
		x, err := NewCast(env, a, t, false)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// bindCase types CASE: (condition, value)… [else].
func bindCase(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	var values []Expr
	var at []int
	out := make([]Expr, len(args))
	for i, a := range args {
		if i%2 == 0 && i+1 < len(args) {
			x, err := convertArg(env, 'B', a)
			if err != nil {
				return nil, err
			}
			out[i] = x
			continue
		}
		values = append(values, a)
		at = append(at, i)
	}
	cast, t, err := unify(env, name, values)
	if err != nil {
		return nil, err
	}
	null := len(args)%2 == 0
	for j, i := range at {
		out[i] = cast[j]
		null = null || cast[j].Nullable()
	}
	return d.call(name, out, t, null, nil), nil
}

func bindIf(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 3 {
		return nil, wrongCount(name)
	}
	return bindCase(d, env, name, args)
}

func lazyCase(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	i := 0
	for ; i+1 < len(f.Args); i += 2 {
		d, err := EvalRow(c, f.Args[i], row)
		if err != nil {
			return value.Null, err
		}
		if t, null := truth(d); t && !null {
			return EvalRow(c, f.Args[i+1], row)
		}
	}
	if i < len(f.Args) {
		return EvalRow(c, f.Args[i], row)
	}
	return value.Null, nil
}

// vecCase evaluates each branch for the rows that take it.
func vecCase(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	out := c.getVec(kindOf(f), in.N)
	open := c.openRows(in)
	i := 0
	for ; i+1 < len(f.Args) && len(open) > 0; i += 2 {
		sub := c.subBatch(in, open)
		if err := c.condition(f.Args[i], sub); err != nil {
			return nil, err
		}
		if err := c.branch(out, f.Args[i+1], sub); err != nil {
			return nil, err
		}
		open = without(open, sub)
		c.putBatch(sub)
	}
	if i < len(f.Args) && len(open) > 0 {
		sub := c.subBatch(in, open)
		if err := c.branch(out, f.Args[i], sub); err != nil {
			return nil, err
		}
		c.putBatch(sub)
	} else {
		for _, r := range open {
			out.Nulls.Set(int(r))
		}
	}
	c.putSel(open)
	return out, nil
}

// condition keeps the rows for which a WHEN holds. EvalFilter gives up a row
// at the first NULL of a conjunction, where the value of AND goes on and may
// meet an error: here the value counts.
func (c *Ctx) condition(e Expr, sub *vec.Batch) error {
	if f, ok := e.(*Func); ok && (f.Op == OpAnd || f.Op == OpOr) {
		return filterByValue(c, e, sub)
	}
	return EvalFilter(c, e, sub)
}

// branch stores the values of e for the live rows of sub.
func (c *Ctx) branch(out *vec.Vec, e Expr, sub *vec.Batch) error {
	if sub.Live() == 0 {
		return nil
	}
	d, v, err := evalOperand(c, e, sub)
	switch {
	case err != nil:
		return err
	case v == nil:
		fillRows(out, sub, d)
		return nil
	}
	_, isCol := e.(*Col)
	copyRows(out, v, sub, isCol)
	c.Release(v)
	return nil
}

// fillRows stores d, which is NULL or of out's kind, in the live rows of sub. Its bytes
// are shared.
func fillRows(out *vec.Vec, sub *vec.Batch, d value.Datum) {
	n := sub.Live()
	if d.IsNull() {
		for l := range n {
			out.Nulls.Set(sub.Row(l))
		}
		return
	}
	unsetRows(out, sub)
	switch vec.ClassOf(out.Kind) {
	case vec.ClassWord:
		fillLive(out.I64, int64(d.Bits()), sub)
	case vec.ClassFloat:
		fillLive(out.F64, d.Float(), sub)
	case vec.ClassDecimal:
		fillLive(out.Dec, d.Decimal(), sub)
	case vec.ClassBytes:
		fillLive(out.Bytes, d.Bytes(), sub)
	}
}

func unsetRows(out *vec.Vec, sub *vec.Batch) {
	if out.Nulls.Any() {
		for l := range sub.Live() {
			out.Nulls.Unset(sub.Row(l))
		}
	}
}

func fillLive[T any](dst []T, x T, sub *vec.Batch) {
	if sub.Live() == sub.N {
		fill(dst[:sub.N], x)
		return
	}
	for _, i := range sub.Sel {
		dst[i] = x
	}
}

// copyRows copies the live rows of sub from v, a vector of the same kind or of no type.
// Bytes are shared where v is a column of the input.
func copyRows(out, v *vec.Vec, sub *vec.Batch, share bool) {
	if v.Kind == value.KindNull {
		fillRows(out, sub, value.Null)
		return
	}
	unsetRows(out, sub)
	if v.Nulls.Any() {
		for l := range sub.Live() {
			if i := sub.Row(l); v.Nulls.IsNull(i) {
				out.Nulls.Set(i)
			}
		}
	}
	switch vec.ClassOf(out.Kind) {
	case vec.ClassWord:
		copyLive(out.I64, v.I64, sub)
	case vec.ClassFloat:
		copyLive(out.F64, v.F64, sub)
	case vec.ClassDecimal:
		copyLive(out.Dec, v.Dec, sub)
	case vec.ClassBytes:
		if share {
			copyLive(out.Bytes, v.Bytes, sub)
			return
		}
		for l := range sub.Live() {
			if i := sub.Row(l); !v.Nulls.IsNull(i) {
				out.Bytes[i] = out.Own(v.Bytes[i])
			}
		}
	}
}

func copyLive[T any](dst, src []T, sub *vec.Batch) {
	if sub.Live() == sub.N {
		copy(dst[:sub.N], src)
		return
	}
	for _, i := range sub.Sel {
		dst[i] = src[i]
	}
}

// without removes the live rows of sub from sel; both ascend.
func without(sel []uint16, sub *vec.Batch) []uint16 {
	kept := sel[:0]
	r, n := 0, sub.Live()
	for _, i := range sel {
		if r < n && sub.Row(r) == int(i) {
			r++
			continue
		}
		kept = append(kept, i)
	}
	return kept
}

func bindCoalesce(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) == 0 || d.hi > 0 && len(args) != d.hi {
		return nil, wrongCount(name)
	}
	out, t, err := unify(env, name, args)
	if err != nil {
		return nil, err
	}
	null := true
	for _, a := range out {
		null = null && a.Nullable()
	}
	return d.call(name, out, t, null, nil), nil
}

func lazyCoalesce(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	for _, a := range f.Args {
		d, err := EvalRow(c, a, row)
		if err != nil || !d.IsNull() {
			return d, err
		}
	}
	return value.Null, nil
}

// vecCoalesce evaluates each alternative for the rows that have no value yet.
func vecCoalesce(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	out := c.getVec(kindOf(f), in.N)
	open := c.openRows(in)
	for _, a := range f.Args {
		if len(open) == 0 {
			break
		}
		sub := c.subBatch(in, open)
		err := c.branch(out, a, sub)
		c.putBatch(sub)
		if err != nil {
			return nil, err
		}
		if !out.Nulls.Any() {
			break
		}
		kept := open[:0]
		for _, i := range open {
			if out.Nulls.IsNull(int(i)) {
				kept = append(kept, i)
			}
		}
		open = kept
	}
	c.putSel(open)
	return out, nil
}

// openRows is a scratch selection of the live rows of in.
func (c *Ctx) openRows(in *vec.Batch) []uint16 {
	open := c.getSel()
	if in.HasSel {
		return append(open, in.Sel...)
	}
	open = open[:in.N]
	for i := range open {
		open[i] = uint16(i)
	}
	return open
}

// bindNullif types NULLIF(a, b): a unless a = b. The comparison may convert
// both, the value does not.
func bindNullif(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	equal, err := NewFunc(env, "=", args[0], args[1])
	if err != nil {
		return nil, err
	}
	t := args[0].Type()
	switch t.ID {
	case schema.TypeEnum, schema.TypeSet:
		a, err := convertArg(env, 's', args[0])
		if err != nil {
			return nil, err
		}
		return d.call(name, []Expr{equal, a}, a.Type(), true, nil), nil
	}
	return d.call(name, []Expr{equal, args[0]}, t, true, nil), nil
}

func lazyNullif(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	d, err := EvalRow(c, f.Args[0], row)
	if err != nil {
		return value.Null, err
	}
	if t, null := truth(d); t && !null {
		return value.Null, nil
	}
	return EvalRow(c, f.Args[1], row)
}

func vecNullif(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	out := c.getVec(kindOf(f), in.N)
	open := c.openRows(in)
	sub := c.subBatch(in, open)
	if err := c.condition(f.Args[0], sub); err != nil {
		return nil, err
	}
	for l := range sub.Live() {
		out.Nulls.Set(sub.Row(l))
	}
	open = without(open, sub)
	sub.SetSel(open)
	err := c.branch(out, f.Args[1], sub)
	c.putBatch(sub)
	c.putSel(open)
	return out, err
}
