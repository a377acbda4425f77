package expr

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// coercibility is how firmly an expression holds its collation: the lower
// wins (MySQL manual 12.8.4).
type coercibility uint8

const (
	coerceExplicit  coercibility = iota // COLLATE
	coerceNone                          // a mix of two that do not agree
	coerceImplicit                      // column, CAST
	coerceSysConst                      // USER(), VERSION()
	coerceCoercible                     // literal
	coerceNumeric                       // number or time
	coerceIgnorable                     // NULL
)

// String is the name in messages.
func (c coercibility) String() string {
	return [...]string{"EXPLICIT", "NONE", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "IGNORABLE"}[c]
}

// coercibilityOf derives it from the shape of the expression.
func coercibilityOf(e Expr) coercibility {
	t := e.Type()
	if t.ID == schema.TypeNull {
		return coerceIgnorable
	}
	textual := t.IsString() || t.ID == schema.TypeEnum || t.ID == schema.TypeSet || t.ID == schema.TypeJSON || t.ID == schema.TypeGeometry
	switch e := e.(type) {
	case *Const:
		if e.D.IsNull() {
			return coerceIgnorable
		}
		if !textual {
			return coerceNumeric
		}
		return coerceCoercible
	case *Param:
		if !textual {
			return coerceNumeric
		}
		return coerceCoercible
	case *Func:
		return funcCoercibility(e, textual)
	}
	if !textual {
		return coerceNumeric
	}
	return coerceImplicit
}

func funcCoercibility(f *Func, textual bool) coercibility {
	switch f.Op {
	case OpCollate:
		return coerceExplicit
	case OpDatabase, OpUser, OpCurrentUser, OpVersion, OpCurrentRole:
		return coerceSysConst
	case OpCast:
		if !textual {
			return coerceNumeric
		}
		if spec := f.cast(); !spec.explicit {
			if a := f.Args[0].Type(); !a.IsString() {
				return coerceCoercible // a number as text gives way
			}
			return coercibilityOf(f.Args[0])
		}
		return coerceImplicit
	case OpConvertUsing:
		if !f.cast().explicit {
			return coerceCoercible
		}
		return coerceImplicit
	case OpGetVar:
		return coerceImplicit
	}
	if !textual {
		return coerceNumeric
	}
	best := coerceIgnorable
	for _, a := range f.Args {
		if t := a.Type(); t.IsString() {
			best = min(best, coercibilityOf(a))
		}
	}
	if best > coerceCoercible {
		return coerceCoercible
	}
	return best
}

func collationName(id schema.CollationID) string {
	if c, ok := collate.Lookup(id); ok {
		return c.Name
	}
	return "binary"
}

func charsetName(id schema.CollationID) string {
	if c, ok := collate.Lookup(id); ok {
		return c.Charset
	}
	return "binary"
}

// sameBytes reports whether strings of both collations have one byte form.
func sameBytes(a, b schema.CollationID) bool {
	if a == b || a == schema.CollationBinary || b == schema.CollationBinary {
		return true
	}
	x, y := charsetName(a), charsetName(b)
	return x == y || isUTF8(x) && isUTF8(y)
}

func isUTF8(charset string) bool {
	return charset == "utf8mb4" || charset == "utf8mb3" || charset == "utf8"
}

func isUnicode(charset string) bool {
	return isUTF8(charset) || charset == "ucs2" || strings.HasPrefix(charset, "utf16") || charset == "utf32"
}

// isASCIIOnly reports an expression whose values have ASCII characters only: a
// constant, a function that makes digits, or a text of the character set ascii. It goes
// with any character set.
func isASCIIOnly(e Expr) bool {
	if charsetName(e.Type().Collation) == "ascii" {
		return true
	}
	switch e := e.(type) {
	case *Const:
		return e.D.Kind() != value.KindBytes || isASCII(e.D.Bytes())
	case *Func:
		switch e.Op {
		case OpMD5, OpSHA1, OpSHA2, OpHex, OpBin, OpOct, OpConv, OpUUID, OpToBase64, OpINetNToA, OpINet6NToA:
			return true
		case OpConcat, OpConcatWS, OpLeft, OpRight, OpSubstring, OpLower, OpUpper, OpLPad, OpRPad, OpReverse, OpRepeat:
			return !slices.ContainsFunc(e.Args, func(a Expr) bool { return a.Type().IsString() && !isASCIIOnly(a) })
		}
	}
	return false
}

func isASCII(s []byte) bool {
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// mixed is a collation with what holds it, while operands are joined.
type mixed struct {
	coll   schema.CollationID
	coerce coercibility
	ascii  bool
	// param: the value is not known yet and taken to be convertible.
	param bool
	// text is the value of a literal; nil if the operand is none.
	text []byte
}

// fits reports whether the operand can take the collation of o without losing
// a character.
func (m mixed) fits(o mixed) bool {
	if m.ascii || m.param {
		return true
	}
	if m.text == nil {
		return false
	}
	from, ok := collate.Lookup(m.coll)
	to, ok2 := collate.Lookup(o.coll)
	if !ok || !ok2 {
		return false
	}
	_, lost := from.Convert(nil, m.text, to)
	return lost < 0
}

func mixedOf(e Expr) mixed {
	_, param := e.(*Param)
	if f, ok := e.(*Func); ok && f.Op == OpConvertUsing && !f.cast().explicit {
		e = Fold(quietCtx().ctx, e) // CHAR(… USING …) of numbers is as good as a literal
	}
	m := mixed{coll: e.Type().Collation, coerce: coercibilityOf(e), ascii: isASCIIOnly(e), param: param}
	if m.coerce >= coerceNumeric {
		m.ascii = true
	}
	if c, ok := e.(*Const); ok && c.D.Kind() == value.KindBytes {
		m.text = c.D.Bytes()
	}
	return m
}

// join is MySQL's aggregation of two collations; ok is false when they do not
// go together.
func (m mixed) join(o mixed) (mixed, bool) {
	if m.coerce == coerceIgnorable {
		return o, true
	}
	if o.coerce == coerceIgnorable || m.coll == o.coll {
		m.coerce = min(m.coerce, o.coerce)
		m.ascii = m.ascii && o.ascii
		m.text = nil
		return m, true
	}
	// Binary strings: the bytes decide.
	if m.coll == schema.CollationBinary || o.coll == schema.CollationBinary {
		switch {
		case m.coerce < o.coerce:
			return m, true
		case o.coerce < m.coerce:
			return o, true
		case m.coll == schema.CollationBinary:
			return m, true
		}
		return o, true
	}
	a, b := charsetName(m.coll), charsetName(o.coll)
	if !sameBytes(m.coll, o.coll) {
		switch {
		case m.coerce < o.coerce && (isUnicode(a) || o.fits(m)):
			return m, true
		case o.coerce < m.coerce && (isUnicode(b) || m.fits(o)):
			return o, true
		case isUnicode(a) && !isUnicode(b) && m.coerce <= o.coerce, o.ascii && m.coerce <= o.coerce:
			return m, true
		case isUnicode(b) && !isUnicode(a) && o.coerce <= m.coerce, m.ascii && o.coerce <= m.coerce:
			return o, true
		}
		return m, false
	}
	switch {
	case m.coerce < o.coerce:
		return m, true
	case o.coerce < m.coerce:
		return o, true
	case a != b: // utf8mb3 and utf8mb4
		if a == "utf8mb4" {
			return m, true
		}
		return o, true
	case m.coerce == coerceExplicit:
		return m, false
	case strings.HasSuffix(collationName(m.coll), "_bin"):
		return m, true
	case strings.HasSuffix(collationName(o.coll), "_bin"):
		return o, true
	case m.coerce == coerceCoercible || m.coerce == coerceSysConst || m.coerce == coerceNumeric:
		return m, true
	}
	return m, false
}

// agreeOn is the collation that the textual ones of the operands agree on, the
// connection's if none is textual. Errors: 1267, 1270, 1271 when they do not.
func agreeOn(env *BindEnv, operation string, operands []Expr) (schema.CollationID, error) {
	acc := mixed{coerce: coerceIgnorable}
	for i, e := range operands {
		t := e.Type()
		if t.ID == schema.TypeJSON {
			t.Collation = schema.CollationUTF8MB4Bin
		} else if !t.IsString() && t.ID != schema.TypeEnum && t.ID != schema.TypeSet && t.ID != schema.TypeGeometry {
			continue
		}
		m := mixedOf(e)
		m.coll = t.Collation
		next, ok := acc.join(m)
		if !ok {
			return 0, collationMix(operation, operands, acc, m, i)
		}
		acc = next
	}
	if acc.coerce == coerceIgnorable || acc.coll == schema.CollationNone {
		return env.collation(), nil
	}
	return acc.coll, nil
}

// AgreedCollation is the common collation of several expressions whose values
// share one column. Errors: 1267, 1271 with operation when none exists.
func AgreedCollation(env *BindEnv, operation string, operands []Expr) (schema.CollationID, error) {
	return agreeOn(env, operation, operands)
}

func collationMix(operation string, operands []Expr, a, b mixed, _ int) error {
	if len(operands) > 2 {
		return sqlerr.IllegalCollationMixN(operation)
	}
	return sqlerr.IllegalCollationMix(collationName(a.coll), a.coerce.String(), collationName(b.coll), b.coerce.String(), operation)
}

// agree makes the listed arguments strings of one character set and gives the
// collation they agree on.
func (b *binding) agree(idx []int) (schema.CollationID, error) {
	list := make([]Expr, len(idx))
	for i, j := range idx {
		list[i] = b.orig[j]
	}
	coll, err := agreeOn(b.env, strings.ToLower(b.name), list)
	if err != nil {
		return 0, err
	}
	for _, j := range idx {
		if b.args[j], err = toCharset(b.env, b.args[j], coll); err != nil {
			return 0, err
		}
	}
	return coll, nil
}

// toCharset converts a string to the character set of coll when the bytes
// differ.
func toCharset(env *BindEnv, e Expr, coll schema.CollationID) (Expr, error) {
	t := e.Type()
	if !t.IsString() || sameBytes(t.Collation, coll) {
		return e, nil
	}
	return NewCast(env, e, textType(textLen(e), coll), false)
}

// charCount is the number of characters of s.
func charCount(s []byte, coll schema.CollationID) int {
	if coll == schema.CollationBinary {
		return len(s)
	}
	if c, ok := collate.Lookup(coll); ok {
		return c.CharLen(s)
	}
	return len(s)
}
