package expr

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func lenExportSet(b *binding) int {
	sep := 1
	if len(b.args) > 3 {
		sep = textLen(b.args[3])
	}
	return min(64*max(textLen(b.args[1]), textLen(b.args[2]))+63*sep, longText)
}

func retElt(b *binding) (schema.Type, error) {
	idx := make([]int, 0, len(b.args))
	n := 0
	for i := 1; i < len(b.args); i++ {
		idx = append(idx, i)
		n = max(n, textLen(b.args[i]))
	}
	if b.name == "make_set" {
		n = min(lenSum(b)+len(b.args), longText)
	}
	coll, err := b.agree(idx)
	b.null = b.name == "elt" || b.args[0].Nullable()
	return textType(n, coll), err
}

func retLocate(b *binding) (schema.Type, error) {
	_, err := b.agree([]int{0, 1})
	t := intType()
	t.Len = 11
	return t, err
}

func rowLocate(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	pos := int64(1)
	if len(a) > 2 {
		pos = asInt(a[2])
	}
	return locate(c, f, a[0].Bytes(), a[1].Bytes(), pos)
}

func rowInstr(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return locate(c, f, a[1].Bytes(), a[0].Bytes(), 1)
}

// locate finds needle in s from character pos (1 based) on, in the collation
// that the two agree on; 0 if it is not there.
func locate(c *Ctx, f *Func, needle, s []byte, pos int64) (value.Datum, error) {
	coll := collate.Must(stringCollation(f.Args[:2]))
	chars := int64(coll.CharLen(s))
	if pos < 1 || pos > chars+1 {
		return value.Int(0), nil
	}
	at := coll.PrefixLen(s, int(pos-1))
	if len(needle) == 0 {
		return value.Int(pos), nil
	}
	if coll.IsBinary() || strings.HasSuffix(coll.Name, "_bin") {
		i := bytes.Index(s[at:], needle)
		if i < 0 {
			return value.Int(0), nil
		}
		return value.Int(pos + int64(coll.CharLen(s[at:at+i]))), nil
	}
	// As MySQL does, only parts of as many bytes as needle has are compared:
	// LOCATE('é', 'Hello') is 0, although é and e are equal.
	i, err := coll.Find(s[at:], needle, func(n int) error { return c.Work(workOfChar * n) })
	if err != nil || i < 0 {
		return value.Int(0), err
	}
	return value.Int(pos + int64(coll.CharLen(s[at:at+i]))), nil
}

// bindField types FIELD(x, a, b…): text if none is a number, integers or exact
// numbers if all are, DOUBLE otherwise.
func bindField(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	text, ints, exact := true, true, true
	for _, a := range args {
		t := a.Type()
		number := t.IsNumeric()
		text = text && !number
		ints = ints && number && kindOf(a) == value.KindInt
		exact = exact && number && numClassOf(t) != numFloat
	}
	x := &comparison{cmpEQ, doubleType()}
	switch {
	case text:
		coll, err := agreeOn(env, name, args)
		if err != nil {
			return nil, err
		}
		x.t = types.Text(coll)
	case ints:
		x.t = intType()
	case exact:
		x.t = unifyDecimal(args)
	}
	out, err := castAll(env, args, x.t)
	if err != nil {
		return nil, err
	}
	t := intType()
	t.Len = 3
	return d.call(name, out, t, false, x), nil
}

func rowField(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	t := f.comparison().t
	if !a[0].IsNull() {
		for i, d := range a[1:] {
			if !d.IsNull() && c.compare(a[0], d, t) == 0 {
				return value.Int(int64(i + 1)), nil
			}
		}
	}
	return value.Int(0), nil
}

// workOfItem is the least work of an item of a list.
const workOfItem = 30

func rowFindInSet(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll := collate.Must(stringCollation(f.Args))
	needle, list := a[0].Bytes(), a[1].Bytes()
	if len(list) == 0 || bytes.IndexByte(needle, ',') >= 0 {
		return value.Int(0), nil
	}
	// Also where a collation pads, spaces at the end matter here.
	spaces := len(bytes.TrimRight(needle, " ")) - len(needle)
	for n := int64(1); ; n++ {
		item, rest, more := bytes.Cut(list, []byte{','})
		if err := c.Work(workOfItem + len(item)); err != nil {
			return value.Null, err
		}
		if len(bytes.TrimRight(item, " "))-len(item) == spaces && c.compareText(coll, item, needle) == 0 {
			if of := membersOf(f); of != nil {
				n = int64(slices.IndexFunc(of, func(m string) bool { return c.compareText(coll, []byte(m), needle) == 0 }) + 1)
			}
			return value.Int(n), nil
		}
		if !more {
			return value.Int(0), nil
		}
		list = rest
	}
}

// membersOf is the members of the SET column in which FIND_IN_SET looks for a constant.
// Its place is then that in the type, as in MySQL, not that in the value.
func membersOf(f *Func) []string {
	to, ok := f.Args[1].(*Func)
	if !ok || to.Op != OpCast || to.cast().explicit || !IsConst(f.Args[0]) {
		return nil
	}
	if c, ok := to.Args[0].(*Col); ok && c.T.ID == schema.TypeSet {
		return c.T.Elems
	}
	return nil
}

func rowElt(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	n := asInt(a[0])
	if n < 1 || n >= int64(len(a)) {
		return value.Null, nil
	}
	return a[n], nil
}

func rowMakeSet(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	var out []byte
	first := true
	bits := asUint(a[0])
	for i, d := range a[1:] {
		if i >= 64 || bits>>i&1 == 0 || d.IsNull() {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, d.Bytes()...)
	}
	return value.Bytes(out), nil
}

func rowExportSet(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	bits, on, off, sep, n := asUint(a[0]), a[1].Bytes(), a[2].Bytes(), []byte(","), int64(64)
	if len(a) > 3 {
		sep = a[3].Bytes()
	}
	if len(a) > 4 {
		n = min(int64(uint32(a[4].Bits())), 64) // MySQL reads 32 bits
	}
	if ok, err := c.room("export_set", n*int64(max(len(on), len(off))+len(sep))); !ok || err != nil {
		return value.Null, err
	}
	var out []byte
	for i := int64(0); i < n; i++ {
		if i > 0 {
			out = append(out, sep...)
		}
		if bits>>i&1 != 0 {
			out = append(out, on...)
		} else {
			out = append(out, off...)
		}
	}
	return value.Bytes(out), nil
}
