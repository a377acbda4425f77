package expr

import (
	"math"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// An attribute of a row is a variant: a JSON document whose type is known when
// a row is there (schema.Type.Variant). It behaves as a column of the type that
// its value has:
//
//   - with a number it compares as a number, with a text as MySQL compares its
//     own type with a text, with another variant in the order of JSON values;
//   - functions see it as text, a cast as its own type; arithmetic is that of its
//     type and gives a variant;
//   - alternatives (CASE, COALESCE, UNION) of which one is a variant are one;
//   - ORDER BY, GROUP BY, DISTINCT, MIN and MAX take the order of JSON values.
//
// The conversions are made where calls are bound, so that what evaluates them
// need not know of variants.

func variantType() schema.Type { return types.Variant }

// IsVariant reports an expression whose values have types of their own.
func IsVariant(e Expr) bool { return e.Type().Variant }

func variantDefs() []entry {
	return []entry{
		special("attribute", unboundUnit, def{b: Builtin{Row: rowAttribute, impl: impl{strict: true, vec: vecAttribute}}}),
		special("attribute_as", unboundUnit, def{b: Builtin{Row: rowAttributeAs, impl: impl{strict: true}}}),
		special("attribute_document", unboundUnit, def{b: Builtin{Row: rowAttributeDocument, impl: impl{strict: true}}}),
		special("attribute_number", unboundUnit, def{b: Builtin{Row: rowAttributeNumber, impl: impl{strict: true, vec: vecAttributeNumber}}}),
		special("attribute_order", unboundUnit, def{b: Builtin{Row: rowAttributeOrder, impl: impl{vec: vecAttributeOrder}}}),
		special("attribute_arith", unboundUnit, def{b: Builtin{Row: rowAttributeArith, impl: impl{strict: true}}}),
		special("attributes_with", unboundUnit, def{b: Builtin{Row: rowAttributesWith}}),
	}
}

// NewAttribute is the attribute of that name among those of column, NULL where it
// has none of that name.
func NewAttribute(column Expr, name string) Expr {
	fold := string(value.FoldName([]byte(name)))
	return mustLookup("attribute").call("attribute", []Expr{column}, variantType(), true, fold)
}

// AsAttribute takes what NewAttribute made apart; the name is folded.
func AsAttribute(e Expr) (column Expr, name string, ok bool) {
	f, isFunc := e.(*Func)
	if !isFunc || f.Op != OpAttribute {
		return nil, "", false
	}
	return f.Args[0], f.attributeName(), true
}

func rowAttribute(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	doc, name := a[0].Bytes(), f.attributeName()
	v, ok := value.JSONMember(doc, []byte(name))
	if !ok {
		i := findFolded(doc, name) // it is written with capitals
		if i < 0 {
			return value.Null, nil
		}
		v = value.JSONElem(doc, i)
	}
	return value.JSONOf(v), nil
}

// findFolded is the place of a key that folds to a name; -1 if none exists.
func findFolded(doc []byte, fold string) int {
	for i := range value.JSONLen(doc) {
		if k := value.JSONKey(doc, i); len(k) == len(fold) && string(value.FoldName(k)) == fold {
			return i
		}
	}
	return -1
}

// valueOf is the value of a variant with its type.
func valueOf(doc []byte) (value.Datum, schema.Type) {
	d, ok := value.JSONScalar(doc)
	if !ok {
		return value.JSONOf(doc), types.JSON
	}
	t := types.Null
	switch d.Kind() {
	case value.KindInt:
		t = types.BigInt
	case value.KindUint:
		t = types.UBigInt
	case value.KindFloat:
		t = types.Double
	case value.KindDecimal:
		t = types.DecimalOf(max(d.Decimal().Digits(), d.Decimal().Scale(), 1), d.Decimal().Scale())
	case value.KindBytes:
		if _, isText := value.JSONText(doc); isText {
			t = types.Text(schema.CollationUTF8MB4Bin)
		} else {
			t = types.VarbinaryOf(len(d.Bytes()))
		}
	case value.KindTime:
		t = dateType()
		if value.JSONType(doc) != "DATE" {
			t = datetimeType(fractionOf(int(d.Time().Micro())))
		}
	case value.KindDuration:
		t = timeType(fractionOf(int(d.Duration() % 1e6)))
	}
	return d, t
}

// fractionOf is the number of digits that show microseconds: none or six.
func fractionOf(micro int) int {
	if micro == 0 {
		return 0
	}
	return 6
}

func isBoolDoc(doc []byte) bool { return value.JSONType(doc) == "BOOLEAN" }

// variantAs converts a variant to type t.
func variantAs(e Expr, t schema.Type, explicit bool) Expr {
	if t.ID == schema.TypeJSON && t.Variant {
		return e
	}
	return mustLookup("attribute_as").call("attribute_as", []Expr{e}, t, true, &castSpec{explicit: explicit})
}

// VariantText is a variant as text; other expressions do not change.
func VariantText(e Expr) Expr {
	if !IsVariant(e) {
		return e
	}
	return variantAs(e, types.Text(schema.CollationUTF8MB4Bin), false)
}

// VariantJSON is a variant as an ordinary JSON value.
func VariantJSON(e Expr) Expr {
	if !IsVariant(e) {
		return e
	}
	return variantAs(e, jsonType(), false)
}

func rowAttributeAs(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	doc, to := a[0].Bytes(), f.T
	if to.ID == schema.TypeJSON {
		return a[0], nil
	}
	d, t := valueOf(doc)
	spec := f.cast()
	if to.IsString() && isBoolDoc(doc) {
		d, t = value.Bytes(value.AppendJSONText(nil, doc)), types.Text(schema.CollationUTF8MB4Bin)
	}
	if !spec.explicit && to.IsCharacter() {
		to = types.Text(to.Collation)
		if t.IsString() {
			return d, nil // also the bytes of a binary string
		}
	}
	return types.Cast(&c.Env, d, t, to)
}

// rowAttributeDocument is a variant where a document is wanted: text is parsed.
func rowAttributeDocument(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if text, ok := value.JSONText(a[0].Bytes()); ok {
		return c.parseJSONArg(text, 1, "json function")
	}
	return a[0], nil
}

// rowAttributeNumber is a variant as a JSON number. Numbers stay what they are.
func rowAttributeNumber(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	d, t := valueOf(a[0].Bytes())
	switch d.Kind() {
	case value.KindInt, value.KindUint, value.KindFloat, value.KindDecimal:
		if isBoolDoc(a[0].Bytes()) {
			return value.JSONOf(value.JSONInt(d.Int())), nil
		}
		return a[0], nil
	case value.KindBytes:
		if dec, err := value.ParseDecimal(d.Str()); err == nil {
			return value.JSONOf(value.JSONDecimal(dec)), nil
		}
	case value.KindTime, value.KindDuration:
		dec, err := types.ToDecimal(&c.Env, d, t)
		return value.JSONOf(value.JSONDecimal(dec)), err
	}
	x, err := types.ToFloat(&c.Env, d, t)
	return value.JSONOf(value.JSONDouble(x)), err
}

func numberOf(e Expr) Expr {
	return mustLookup("attribute_number").call("attribute_number", []Expr{e}, jsonType(), true, nil)
}

// NewVariant is a value of any type as a variant; TRUE is 1.
func NewVariant(e Expr) Expr {
	switch t := e.Type(); t.ID {
	case schema.TypeJSON:
		return e
	case schema.TypeNull:
		return &Const{T: variantType(), Text: "NULL"}
	default:
		return mustLookup("json_scalar").call("json_scalar", []Expr{e}, variantType(), e.Nullable(), false)
	}
}

func asJSONScalar(e Expr) Expr {
	return mustLookup("json_scalar").call("json_scalar", []Expr{e}, jsonType(), e.Nullable(), false)
}

// bindVariant binds a call with variants among its arguments. It gives the
// call, or the arguments to go on with.
func bindVariant(env *BindEnv, name string, args []Expr) (Expr, []Expr, error) {
	switch name {
	case "=", "<", "<=", ">", ">=", "<>", "!=", "<=>":
		if len(args) == 2 {
			return compareVariant(env, name, args)
		}
	case "in":
		if len(args) > 1 {
			return inVariants(env, args)
		}
	case "row", "is_null", "isnull", "coalesce", "ifnull", "if", "case", "nullif", "let", "and", "or", "not", "xor", "is_true", "is_false", "cast":
		return nil, args, nil
	case "json_type":
		return nil, convertVariants(args, VariantJSON), nil
	case "+", "-", "*", "/", "%", "mod", "neg":
		e, err := variantArith(env, name, args)
		return e, nil, err
	}
	if strings.HasPrefix(name, "json_") || strings.HasPrefix(name, "->") || strings.HasPrefix(name, "member") {
		return nil, args, nil
	}
	return nil, convertVariants(args, VariantText), nil
}

func convertVariants(args []Expr, to func(Expr) Expr) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = a
		if IsVariant(a) {
			out[i] = to(a)
		}
	}
	return out
}

func hasVariant(args []Expr) bool {
	for _, a := range args {
		if IsVariant(a) {
			return true
		}
		if r, ok := isRow(a); ok && hasVariant(r.Args) {
			return true
		}
	}
	return false
}

// VariantPair converts a variant and another operand to what they are compared
// as, where that is one type for all rows; ok is false for a text.
func VariantPair(env *BindEnv, a, b Expr) (x, y Expr, ok bool, err error) {
	va, vb := IsVariant(a), IsVariant(b)
	switch {
	case va && vb, va && b.Type().ID == schema.TypeJSON, vb && a.Type().ID == schema.TypeJSON:
		return a, b, true, nil
	case vb:
		y, x, ok, err = VariantPair(env, b, a)
		return x, y, ok, err
	}
	t := b.Type()
	switch {
	case t.ID == schema.TypeNull:
		return VariantText(a), b, true, nil
	case t.ID == schema.TypeEnum, t.ID == schema.TypeSet, t.IsString():
		return a, b, false, nil
	case t.IsNumeric():
		if b, err = toNumber(env, b); err != nil {
			return nil, nil, false, err
		}
		return numberOf(a), asJSONScalar(b), true, nil
	}
	return VariantText(a), b, true, nil
}

func compareVariant(env *BindEnv, name string, args []Expr) (Expr, []Expr, error) {
	for _, a := range args {
		if _, ok := isRow(a); ok {
			return nil, args, nil // compared item by item
		}
	}
	a, b, ok, err := VariantPair(env, args[0], args[1])
	if err != nil || ok {
		return nil, []Expr{a, b}, err
	}
	if IsVariant(b) {
		op, _ := OpOf(name).Swapped()
		name = op.String()
		a, b = b, a
	}
	text, err := convertArg(env, 's', b)
	if err != nil {
		return nil, nil, err
	}
	coll, err := agreeOn(env, name, []Expr{VariantText(a), text})
	if err != nil {
		return nil, nil, err
	}
	if text, err = toCharset(env, text, schema.CollationUTF8MB4Bin); err != nil {
		return nil, nil, err
	}
	order := mustLookup("attribute_order").call("attribute_order", []Expr{a, text}, intType(), true, variantOrder{coll: coll, nullSafe: name == "<=>"})
	if name == "<=>" {
		name, order.Null = "=", false
	}
	e, err := NewFunc(env, name, order, NewConst(value.Int(0), intType()))
	return e, nil, err
}

// variantOrder is the Extra of attribute_order: how texts compare, and whether
// NULLs are equal.
type variantOrder struct {
	coll     schema.CollationID
	nullSafe bool
}

// rowAttributeOrder compares a variant with a text, as MySQL compares the
// variant's own type with it: -1, 0 or 1.
func rowAttributeOrder(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x := f.order()
	if a[0].IsNull() || a[1].IsNull() {
		switch {
		case !x.nullSafe:
			return value.Null, nil
		case a[0].IsNull() && a[1].IsNull():
			return value.Int(0), nil
		}
		return value.Int(1), nil
	}
	d, t := valueOf(a[0].Bytes())
	text, from := a[1], f.Args[1].Type()
	switch {
	case t.IsNumeric():
		if dec, err := value.ParseDecimal(text.Str()); err == nil && t.ID != schema.TypeDouble {
			return value.Int(int64(types.Compare(d, value.Dec(dec), t))), nil
		}
		y, err := types.ToFloat(&c.Env, text, from)
		if err != nil {
			return value.Null, err
		}
		v, err := types.ToFloat(&c.Env, d, t)
		return value.Int(int64(types.Compare(value.Float(v), value.Float(y), types.Double))), err
	case t.IsTemporal():
		full := t
		full.Scale = 6
		if t.ID == schema.TypeDate {
			full = datetimeType(6)
		}
		y, err := types.Cast(&c.Env, text, from, full)
		if err != nil {
			return value.Null, err
		}
		if !y.IsNull() {
			return value.Int(int64(types.Compare(d, y, full))), nil
		}
		d = value.Bytes(types.AppendText(nil, t, d))
	case t.ID == schema.TypeJSON:
		d = value.Bytes(value.AppendJSONText(nil, d.Bytes()))
	}
	as := types.Text(x.coll)
	if t.IsBinary() || x.coll == schema.CollationBinary {
		as = types.VarbinaryOf(0)
	}
	return value.Int(int64(c.compare(value.Bytes(d.Bytes()), text, as))), nil
}

// AttributeNumber is the attribute that e compares as a number.
func AttributeNumber(e Expr) (Expr, bool) {
	f, ok := e.(*Func)
	if !ok || f.Op != OpAttributeNumber {
		return nil, false
	}
	return f.Args[0], true
}

// AttributeOrder takes the comparison of an attribute with a text, byte by byte,
// apart: it is below, equal to or above 0.
func AttributeOrder(e Expr) (attribute, text Expr, ok bool) {
	f, ok := e.(*Func)
	if !ok || f.Op != OpAttributeOrder {
		return nil, nil, false
	}
	x := f.order()
	return f.Args[0], f.Args[1], x.coll == schema.CollationUTF8MB4Bin && !x.nullSafe
}

// AttributeText is the attribute whose text e is; nil for others.
func AttributeText(e Expr) Expr {
	f, ok := e.(*Func)
	if !ok || f.Op != OpAttributeAs || !f.T.IsCharacter() || f.cast().explicit {
		return nil
	}
	return f.Args[0]
}

// arithOp is the Extra of attribute_arith.
type arithOp struct {
	op    Op
	extra int // digits that a quotient has more than its dividend
}

// variantArith is arithmetic with a variant: a variant, of the class of number
// that the values of a row make.
func variantArith(env *BindEnv, name string, args []Expr) (Expr, error) {
	op := OpOf(name)
	if len(args) != 2 && (op != OpNeg || len(args) != 1) {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		if IsVariant(a) {
			out[i] = numberOf(a)
			continue
		}
		n, err := toNumber(env, a)
		if err != nil {
			return nil, err
		}
		out[i] = asJSONScalar(n)
	}
	switch op {
	case OpNone: // MOD, by its name
		op = OpMod
	case OpNeg:
		out, op = []Expr{asJSONScalar(NewConst(value.Int(0), intType())), out[0]}, OpMinus
	}
	return mustLookup("attribute_arith").call("attribute_arith", out, variantType(), true, arithOp{op, env.divIncrement()}), nil
}

func rowAttributeArith(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	arith := f.arith()
	x, tx := valueOf(a[0].Bytes())
	y, ty := valueOf(a[1].Bytes())
	if tx.IsFloat() || ty.IsFloat() {
		return floatArith(c, arith.op, x, y, tx, ty)
	}
	p, err := types.ToDecimal(&c.Env, x, tx)
	if err != nil {
		return value.Null, err
	}
	q, err := types.ToDecimal(&c.Env, y, ty)
	if err != nil {
		return value.Null, err
	}
	var r value.Decimal
	ok := true
	switch arith.op {
	case OpPlus:
		r = p.Add(q)
	case OpMinus:
		r = p.Sub(q)
	case OpTimes:
		r = p.Mul(q)
	case OpDivide:
		if r, ok = p.Div(q, arith.extra); ok {
			r = r.Round(min(p.Scale()+arith.extra, maxScale))
		}
	default:
		r, ok = p.Mod(q)
	}
	if !ok {
		return divByZero(c)
	}
	if r.Overflows() {
		return value.Null, sqlerr.ValueOutOfRange("DECIMAL", f.String())
	}
	if !tx.IsInteger() || !ty.IsInteger() || arith.op == OpDivide {
		return value.JSONOf(value.JSONDecimal(r)), nil
	}
	if v, ok := r.Int64(); ok {
		return value.JSONOf(value.JSONInt(v)), nil
	}
	if v, ok := r.Uint64(); ok {
		return value.JSONOf(value.JSONUint(v)), nil
	}
	return value.Null, sqlerr.ValueOutOfRange("BIGINT", f.String())
}

func floatArith(c *Ctx, op Op, x, y value.Datum, tx, ty schema.Type) (value.Datum, error) {
	p, err := types.ToFloat(&c.Env, x, tx)
	if err != nil {
		return value.Null, err
	}
	q, err := types.ToFloat(&c.Env, y, ty)
	if err != nil {
		return value.Null, err
	}
	switch op {
	case OpPlus:
		p += q
	case OpMinus:
		p -= q
	case OpTimes:
		p *= q
	case OpDivide:
		if q == 0 {
			return divByZero(c)
		}
		p /= q
	default:
		if q == 0 {
			return divByZero(c)
		}
		p = math.Mod(p, q)
	}
	if math.IsInf(p, 0) || math.IsNaN(p) {
		return value.Null, sqlerr.ValueOutOfRange("DOUBLE", op.String())
	}
	return value.JSONOf(value.JSONDouble(p)), nil
}

// inVariants is IN with variants: a list of numbers compares as numbers, others
// item by item.
func inVariants(env *BindEnv, args []Expr) (Expr, []Expr, error) {
	numbers := IsVariant(args[0])
	for _, a := range args[1:] {
		numbers = numbers && a.Type().IsNumeric()
	}
	if numbers {
		out := []Expr{numberOf(args[0])}
		for _, a := range args[1:] {
			n, err := toNumber(env, a)
			if err != nil {
				return nil, nil, err
			}
			out = append(out, asJSONScalar(n))
		}
		return nil, out, nil
	}
	e, err := WithValue(args[0], func(left Expr) (Expr, error) {
		parts := make([]Expr, len(args)-1)
		for i, a := range args[1:] {
			var err error
			if parts[i], err = NewFunc(env, "=", left, a); err != nil {
				return nil, err
			}
		}
		if len(parts) == 1 {
			return parts[0], nil
		}
		return NewFunc(env, "or", parts...)
	})
	return e, nil, err
}

// NewAttributesWith is the object doc with members set to values, or removed
// where the value is NULL.
func NewAttributesWith(doc Expr, names []string, vals []Expr) Expr {
	args := append(make([]Expr, 0, len(vals)+1), doc)
	for _, v := range vals {
		args = append(args, NewVariant(v))
	}
	return mustLookup("attributes_with").call("attributes_with", args, jsonType(), false, names)
}

func rowAttributesWith(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return WithAttributes(a[0], f.attributeNames(), a[1:]), nil
}

// WithAttributes is the object doc with members set to values, which are
// variants, or removed where the value is NULL.
func WithAttributes(doc value.Datum, names []string, set []value.Datum) value.Datum {
	at := make(map[string]int, len(names))
	for i, n := range names {
		at[string(value.FoldName([]byte(n)))] = i
	}
	var keys, vals [][]byte
	done := make([]bool, len(names))
	add := func(key []byte, d value.Datum) {
		if !d.IsNull() && value.JSONType(d.Bytes()) != "NULL" {
			keys, vals = append(keys, key), append(vals, d.Bytes())
		}
	}
	if doc := doc.Bytes(); value.JSONType(doc) == "OBJECT" {
		for i := range value.JSONLen(doc) {
			key := value.JSONKey(doc, i)
			if i, ok := at[string(value.FoldName(key))]; ok {
				done[i] = true
				add(key, set[i])
				continue
			}
			keys, vals = append(keys, key), append(vals, value.JSONElem(doc, i))
		}
	}
	for i, n := range names {
		if !done[i] {
			add([]byte(n), set[i])
		}
	}
	return value.JSONOf(value.JSONObject(keys, vals))
}

// TakeAttribute takes the attribute of a name out of an object: the rest, and
// its value with its type; ok is false when none exists.
func TakeAttribute(doc []byte, name string) (rest []byte, d value.Datum, t schema.Type, ok bool) {
	at := findFolded(doc, string(value.FoldName([]byte(name))))
	if at < 0 {
		return doc, value.Null, types.Null, false
	}
	var keys, vals [][]byte
	for i := range value.JSONLen(doc) {
		if i != at {
			keys, vals = append(keys, value.JSONKey(doc, i)), append(vals, value.JSONElem(doc, i))
		}
	}
	d, t = valueOf(value.JSONElem(doc, at))
	return value.JSONObject(keys, vals), d, t, true
}

// ToVariant is a value of a type as a variant.
func ToVariant(c *Ctx, d value.Datum, t schema.Type) (value.Datum, error) {
	if d.IsNull() || d.Kind() == value.KindJSON {
		return d, nil
	}
	f := &Func{Args: []Expr{&Param{T: t}}, Extra: false}
	return rowJSONOf(c, f, []value.Datum{d})
}
