package expr

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Limits of DECIMAL.
const (
	maxPrecision = 65
	maxScale     = 30
	// defaultDivIncrement is div_precision_increment's default.
	defaultDivIncrement = 4
)

// maxVarchar is the most characters of a computed VARCHAR; longer results are
// LONGTEXT, as MySQL makes of more than 65,535 bytes.
const maxVarchar = 16383

// longText is the length of results without a useful bound.
const longText = 1 << 30

func intType() schema.Type {
	return schema.Type{ID: schema.TypeBigInt, Len: 20, Collation: schema.CollationBinary}
}

func uintType() schema.Type {
	return schema.Type{ID: schema.TypeBigInt, Unsigned: true, Len: 20, Collation: schema.CollationBinary}
}

// boolType is the type of predicates: an INT of one digit.
func boolType() schema.Type { return types.Bool }

func doubleType() schema.Type {
	return schema.Type{ID: schema.TypeDouble, Len: schema.UnspecifiedLength, Scale: schema.UnspecifiedLength, Collation: schema.CollationBinary}
}

func decimalType(precision, scale int) schema.Type {
	scale = min(max(scale, 0), maxScale)
	return schema.Type{ID: schema.TypeDecimal, Len: min(max(precision, scale, 1), maxPrecision), Scale: scale, Collation: schema.CollationBinary}
}

func dateType() schema.Type {
	return schema.Type{ID: schema.TypeDate, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
}

func datetimeType(fsp int) schema.Type {
	return schema.Type{ID: schema.TypeDatetime, Len: schema.UnspecifiedLength, Scale: fsp, Collation: schema.CollationBinary}
}

func timeType(fsp int) schema.Type {
	return schema.Type{ID: schema.TypeTime, Len: schema.UnspecifiedLength, Scale: fsp, Collation: schema.CollationBinary}
}

func jsonType() schema.Type {
	return schema.Type{ID: schema.TypeJSON, Len: schema.UnspecifiedLength, Collation: schema.CollationUTF8MB4Bin}
}

func nullType() schema.Type {
	return schema.Type{ID: schema.TypeNull, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
}

// textType is a string of at most n characters.
func textType(n int, coll schema.CollationID) schema.Type {
	n = max(n, 0)
	if coll == schema.CollationBinary {
		if n > 65535 {
			return schema.Type{ID: schema.TypeLongBlob, Len: n, Collation: coll}
		}
		return schema.Type{ID: schema.TypeVarbinary, Len: n, Collation: coll}
	}
	if n > maxVarchar {
		return schema.Type{ID: schema.TypeLongText, Len: schema.UnspecifiedLength, Collation: coll}
	}
	return schema.Type{ID: schema.TypeVarchar, Len: n, Collation: coll}
}

func kindOf(e Expr) value.Kind { return types.KindOf(e.Type()) }

// textLen is the most characters of e's value as text.
func textLen(e Expr) int {
	t := e.Type()
	if c, ok := e.(*Const); ok && t.IsString() && !c.D.IsNull() {
		return charCount(c.D.Bytes(), t.Collation)
	}
	switch t.ID {
	case schema.TypeNull:
		return 0
	case schema.TypeTinyInt:
		return 4
	case schema.TypeSmallInt:
		return 6
	case schema.TypeMediumInt:
		return 8
	case schema.TypeInt:
		if t.Len == 1 {
			return 1
		}
		return 11
	case schema.TypeBigInt:
		if t.Len > 0 {
			return t.Len
		}
		return 20
	case schema.TypeYear:
		return 4
	case schema.TypeFloat:
		return 12
	case schema.TypeDouble:
		return 23
	case schema.TypeDecimal:
		return t.Len + 1 + b2i(t.Scale > 0) + b2i(t.Len == t.Scale)
	case schema.TypeBit:
		return (t.Len + 7) / 8
	case schema.TypeDate:
		return 10
	case schema.TypeDatetime, schema.TypeTimestamp:
		return 19 + fspLen(t.Scale)
	case schema.TypeTime:
		return 10 + fspLen(t.Scale)
	case schema.TypeEnum:
		n := 0
		for _, m := range t.Elems {
			n = max(n, len(m))
		}
		return n
	case schema.TypeSet:
		n := len(t.Elems)
		for _, m := range t.Elems {
			n += len(m)
		}
		return n
	}
	if t.Len > 0 && t.IsString() {
		return t.Len
	}
	switch t.ID {
	case schema.TypeTinyText, schema.TypeTinyBlob:
		return 255
	case schema.TypeText, schema.TypeBlob:
		return 65535
	case schema.TypeMediumText, schema.TypeMediumBlob:
		return 1<<24 - 1
	}
	return longText
}

func fspLen(fsp int) int {
	if fsp > 0 {
		return fsp + 1
	}
	return 0
}

// precisionOf is the number of all digits of the exact number e, and of those
// after the point.
func precisionOf(e Expr) (precision, scale int) {
	t := e.Type()
	if c, ok := e.(*Const); ok && !c.D.IsNull() {
		switch c.D.Kind() {
		case value.KindInt:
			v := c.D.Int()
			if v < 0 {
				v = -v
			}
			return digits(uint64(v)), 0
		case value.KindUint:
			return digits(c.D.Uint()), 0
		case value.KindDecimal:
			d := c.D.Decimal()
			return max(d.Digits(), d.Scale(), 1), d.Scale()
		}
	}
	switch t.ID {
	case schema.TypeTinyInt:
		return 3, 0
	case schema.TypeSmallInt:
		return 5, 0
	case schema.TypeMediumInt:
		return 8, 0
	case schema.TypeInt:
		if t.Len == 1 {
			return 1, 0
		}
		return 10, 0
	case schema.TypeBigInt:
		if t.Unsigned {
			return 20, 0
		}
		return 19, 0
	case schema.TypeYear:
		return 4, 0
	case schema.TypeBit:
		return digits(1<<min(max(t.Len, 1), 63) - 1), 0
	case schema.TypeDecimal:
		return t.Len, t.Scale
	case schema.TypeDate:
		return 8, 0
	case schema.TypeDatetime, schema.TypeTimestamp:
		return 14 + t.Scale, t.Scale
	case schema.TypeTime:
		return 7 + t.Scale, t.Scale
	}
	return maxPrecision, maxScale
}

func digits(v uint64) int {
	n := 1
	for v >= 10 {
		v /= 10
		n++
	}
	return n
}

// numClass is the class of number that arithmetic sees in a type.
type numClass uint8

const (
	numInt numClass = iota
	numDecimal
	numFloat
)

func numClassOf(t schema.Type) numClass {
	switch {
	case t.IsInteger(), t.ID == schema.TypeBit, t.ID == schema.TypeYear:
		return numInt
	case t.ID == schema.TypeDecimal:
		return numDecimal
	case t.IsTemporal():
		if t.Scale > 0 {
			return numDecimal
		}
		return numInt
	}
	return numFloat
}

// isUnsigned reports whether e is unsigned as an integer.
func isUnsigned(t schema.Type) bool {
	return t.Unsigned || t.ID == schema.TypeBit || t.ID == schema.TypeYear
}

// toNumber converts e to the number that arithmetic sees in it.
func toNumber(env *BindEnv, e Expr) (Expr, error) {
	t := e.Type()
	switch numClassOf(t) {
	case numInt:
		if k := kindOf(e); k == value.KindInt || k == value.KindUint {
			return e, nil
		}
		return NewCast(env, e, intType(), false)
	case numDecimal:
		return toDecimal(env, e)
	}
	return NewCast(env, e, doubleType(), false)
}

func toDecimal(env *BindEnv, e Expr) (Expr, error) {
	if kindOf(e) == value.KindDecimal {
		return e, nil
	}
	p, s := precisionOf(e)
	return NewCast(env, e, decimalType(p, s), false)
}

// convertArg converts an argument to its class:
//
//	s  text (character or binary)     i  integer, signed or unsigned
//	n  number of any class            f  DOUBLE
//	t  date and time; zero parts in dates are allowed
//	T  TIME                           B  truth value: any number
//	j  JSON document: text is parsed  v  JSON value: text is a JSON string
//	g  geometry: also binary strings that hold one
//	x  anything
func convertArg(env *BindEnv, class byte, e Expr) (Expr, error) {
	t := e.Type()
	if t.Variant {
		switch class {
		case 'v', 'x':
			return e, nil
		case 'j':
			return mustLookup("attribute_document").call("attribute_document", []Expr{e}, jsonType(), true, nil), nil
		case 'f', 'n', 'B':
			return variantAs(e, doubleType(), false), nil
		}
		return convertArg(env, class, VariantText(e))
	}
	switch class {
	case 's':
		if t.IsString() {
			return e, nil
		}
		coll := env.collation()
		switch t.ID {
		case schema.TypeBit, schema.TypeGeometry: // its text is bytes
			coll = schema.CollationBinary
		case schema.TypeEnum, schema.TypeSet:
			coll = t.Collation
		}
		return NewCast(env, e, textType(textLen(e), coll), false)
	case 'i':
		if k := types.KindOf(t); k == value.KindInt || k == value.KindUint {
			if t.ID != schema.TypeEnum && t.ID != schema.TypeSet {
				return e, nil
			}
		}
		if t.Unsigned {
			return NewCast(env, e, uintType(), false)
		}
		return NewCast(env, e, intType(), false)
	case 'f':
		return NewCast(env, e, doubleType(), false)
	case 'n':
		return toNumber(env, e)
	case 'B':
		if k := types.KindOf(t); k == value.KindBytes || k == value.KindJSON {
			return NewCast(env, e, doubleType(), false)
		}
		return e, nil
	case 't':
		if t.HasDate() {
			return e, nil
		}
		return newDateCast(env, e, datetimeType(6)), nil
	case 'd':
		if t.HasDate() {
			return e, nil
		}
		return newWholeDateCast(e, datetimeType(6)), nil
	case 'T':
		if t.ID == schema.TypeTime {
			return e, nil
		}
		fsp := 6
		if t.HasDate() {
			fsp = t.Scale
		}
		return NewCast(env, e, timeType(fsp), false)
	case 'j', 'v', 'p':
		return convertJSONArg(env, class, e)
	case 'g':
		if t.ID == schema.TypeGeometry {
			return e, nil
		}
		return convertArg(env, 's', e)
	}
	return e, nil
}

// argFsp is the fractional seconds that a time made of e has.
func argFsp(e Expr) int {
	t := e.Type()
	switch {
	case t.IsTemporal():
		return max(t.Scale, 0)
	case t.IsInteger(), t.ID == schema.TypeYear, t.ID == schema.TypeNull:
		return 0
	case t.ID == schema.TypeDecimal:
		return min(t.Scale, 6)
	}
	if c, ok := e.(*Const); ok && c.D.Kind() == value.KindBytes {
		return textFsp(c.D.Bytes())
	}
	return 6
}

// textFsp counts the digits after the last point of a time literal.
func textFsp(s []byte) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return min(len(s)-1-i, 6)
		}
		if s[i] < '0' || s[i] > '9' {
			break
		}
	}
	return 0
}

// Fixed result types.

func retInt(n int) typeFunc {
	return func(*binding) (schema.Type, error) {
		t := intType()
		t.Len = n
		return t, nil
	}
}

func retUint(*binding) (schema.Type, error)   { return uintType(), nil }
func retBool(*binding) (schema.Type, error)   { return boolType(), nil }
func retDouble(*binding) (schema.Type, error) { return doubleType(), nil }
func retDate(*binding) (schema.Type, error)   { return dateType(), nil }
func retJSON(*binding) (schema.Type, error)   { return jsonType(), nil }

// retASCII is a string of the connection's character set of at most n
// characters.
func retASCII(n int) typeFunc {
	return func(b *binding) (schema.Type, error) { return textType(n, b.env.collation()), nil }
}

// retUTF8 is a string of system text (utf8mb4).
func retUTF8(n int) typeFunc {
	return func(b *binding) (schema.Type, error) { return textType(n, schema.CollationUTF8MB40900AICI), nil }
}

func retBinary(n int) typeFunc {
	return func(*binding) (schema.Type, error) { return textType(n, schema.CollationBinary), nil }
}

// retText is a string in the collation that the listed arguments agree on,
// which are converted to its character set; length is a function of the
// arguments.
func retText(length func(b *binding) int, argIndexes ...int) typeFunc {
	return func(b *binding) (schema.Type, error) {
		idx := argIndexes
		if idx == nil {
			idx = make([]int, len(b.args))
			for i := range idx {
				idx[i] = i
			}
		}
		coll, err := b.agree(idx)
		if err != nil {
			return schema.Type{}, err
		}
		return textType(min(length(b), longText), coll), nil
	}
}

func lenOf(i int) func(b *binding) int { return func(b *binding) int { return textLen(b.args[i]) } }

func lenSum(b *binding) int {
	n := 0
	for _, a := range b.args {
		n = min(n+textLen(a), longText)
	}
	return n
}

// constInt is the value of an integer literal argument.
func constInt(e Expr) (int64, bool) {
	c, ok := e.(*Const)
	if !ok {
		return 0, false
	}
	switch c.D.Kind() {
	case value.KindInt:
		return c.D.Int(), true
	case value.KindUint:
		return int64(min(c.D.Uint(), 1<<63-1)), true
	}
	return 0, false
}

// asInt is an integer datum as int64; unsigned values beyond saturate.
func asInt(d value.Datum) int64 {
	if d.Kind() == value.KindUint && d.Uint() > 1<<63-1 {
		return 1<<63 - 1
	}
	return d.Int()
}

// asUint is the bits of an integer datum.
func asUint(d value.Datum) uint64 { return d.Bits() }
