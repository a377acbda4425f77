package types

import (
	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// CmpType is the type in which MySQL compares values of types a and b; both
// sides are to be cast to it. Where strings of different collations meet, that
// of a column wins over that of a constant.
//
// JSON compares with anything as JSON: use ToJSON for the other side, since
// Cast would read a string as JSON text.
func CmpType(a, b schema.Type, aConst, bConst bool) schema.Type {
	switch {
	case a.ID == schema.TypeNull && b.ID == schema.TypeNull:
		return Null
	case a.ID == schema.TypeNull:
		return comparableType(b)
	case b.ID == schema.TypeNull:
		return comparableType(a)
	case a.ID == schema.TypeJSON || b.ID == schema.TypeJSON:
		return JSON
	case isTextLike(a) && isTextLike(b):
		if a.ID == schema.TypeEnum && sameElems(a, b) {
			return a
		}
		return Text(mergeCollations(a, b, aConst, bConst))
	case a.IsTemporal() || b.IsTemporal():
		return cmpTemporal(a, b)
	case isTextLike(a) && !isListType(a) || isTextLike(b) && !isListType(b):
		return Double
	}
	return cmpNumbers(a, b)
}

// comparableType is the type in which values of t compare with their like.
func comparableType(t schema.Type) schema.Type {
	if t.IsString() {
		return Text(t.Collation)
	}
	return t
}

func isListType(t schema.Type) bool { return t.ID == schema.TypeEnum || t.ID == schema.TypeSet }

// isTextLike reports strings and what compares with strings as a string.
func isTextLike(t schema.Type) bool {
	return t.IsString() || isListType(t) || t.ID == schema.TypeGeometry
}

func sameElems(a, b schema.Type) bool {
	if a.ID != b.ID || len(a.Elems) != len(b.Elems) || a.Collation != b.Collation {
		return false
	}
	for i := range a.Elems {
		if a.Elems[i] != b.Elems[i] {
			return false
		}
	}
	return true
}

func cmpTemporal(a, b schema.Type) schema.Type {
	switch {
	case a.ID == schema.TypeDate && b.ID == schema.TypeDate:
		return Date
	case a.ID == schema.TypeTime && (b.ID == schema.TypeTime || isTextLike(b)),
		b.ID == schema.TypeTime && isTextLike(a):
		return TimeOf(6)
	case a.IsTemporal() && b.IsTemporal(), isTextLike(a), isTextLike(b):
		return DatetimeOf(6)
	}
	return cmpNumbers(numberOf(a), numberOf(b))
}

// numberOf is the numeric type as which a value of t counts.
func numberOf(t schema.Type) schema.Type {
	switch {
	case t.ID == schema.TypeDate:
		return BigInt
	case t.IsTemporal():
		if fspOf(t) == 0 {
			return BigInt
		}
		return DecimalOf(14+fspOf(t), fspOf(t))
	case t.ID == schema.TypeBit, isListType(t):
		return UBigInt
	case t.ID == schema.TypeYear:
		return UBigInt
	case t.IsString(), t.ID == schema.TypeJSON:
		return Double
	case t.ID == schema.TypeNull:
		return BigInt
	}
	return t
}

func cmpNumbers(a, b schema.Type) schema.Type {
	a, b = numberOf(a), numberOf(b)
	switch {
	case a.IsFloat() || b.IsFloat():
		return Double
	case a.ID == schema.TypeDecimal || b.ID == schema.TypeDecimal:
		return DecimalOf(value.MaxDecimalDigits, value.MaxDecimalScale)
	case a.Unsigned && b.Unsigned:
		return UBigInt
	case a.Unsigned != b.Unsigned:
		return DecimalOf(20, 0)
	}
	return BigInt
}

// mergeCollations is the collation in which strings of a and b compare.
func mergeCollations(a, b schema.Type, aConst, bConst bool) schema.CollationID {
	x, y := a.Collation, b.Collation
	switch {
	case x == y || y == schema.CollationNone:
		return x
	case x == schema.CollationNone:
		return y
	case aConst && !bConst:
		return y
	case bConst && !aConst:
		return x
	case x == schema.CollationBinary || y == schema.CollationBinary:
		return schema.CollationBinary
	}
	c, d := collate.Must(x), collate.Must(y)
	if c.Charset != d.Charset {
		switch { // the larger character set
		case d.Charset == "utf8mb4" || c.Charset == "ascii":
			return y
		case c.Charset == "utf8mb4" || d.Charset == "ascii":
			return x
		}
		return schema.CollationUTF8MB4Bin
	}
	if c.IsCaseSensitive() && !d.IsCaseSensitive() {
		return x
	}
	if d.IsCaseSensitive() && !c.IsCaseSensitive() {
		return y
	}
	if bin, ok := collate.BinaryForCharset(c.Charset); ok {
		return bin.ID
	}
	return x
}

// Unify is the type of the result of CASE, COALESCE, UNION, GREATEST and the
// like over values of the given types. It can hold them all without loss.
func Unify(ts ...schema.Type) schema.Type {
	out := Null
	for _, t := range ts {
		out = unify2(out, t)
	}
	return out
}

func unify2(a, b schema.Type) schema.Type {
	switch {
	case a.ID == schema.TypeNull:
		return b
	case b.ID == schema.TypeNull:
		return a
	case a.Variant || b.Variant:
		return Variant
	case a.ID == b.ID && (a.IsTemporal()):
		a.Scale = max(a.Scale, b.Scale)
		return a
	case a.ID == b.ID && a.ID == schema.TypeJSON:
		return a
	case a.ID == b.ID && a.ID == schema.TypeGeometry:
		if a.Geometry != b.Geometry {
			return Geometry
		}
		return GeometryOf(a.Geometry)
	case isListType(a) && sameElems(a, b):
		return a
	case a.ID == schema.TypeYear && b.ID == schema.TypeYear:
		return a
	case a.ID == schema.TypeBit && b.ID == schema.TypeBit:
		a.Len = max(a.Len, b.Len)
		return a
	case a.IsTemporal() && b.IsTemporal():
		return DatetimeOf(max(fspOf(a), fspOf(b)))
	case a.IsNumeric() && b.IsNumeric():
		return unifyNumbers(a, b)
	}
	return unifyText(a, b)
}

// unifyNumbers merges number types; of integers the wider one, or one that
// holds the values of both signs.
func unifyNumbers(a, b schema.Type) schema.Type {
	a, b = plainNumber(a), plainNumber(b)
	switch {
	case a.IsFloat() || b.IsFloat():
		if a.ID == b.ID && a.ID == schema.TypeFloat && !isFixedFloat(a) && !isFixedFloat(b) {
			return a
		}
		t := Double
		if a.IsFloat() && b.IsFloat() && isFixedFloat(a) && isFixedFloat(b) {
			t.Scale = max(a.Scale, b.Scale)
			t.Len = max(a.Len-a.Scale, b.Len-b.Scale) + t.Scale
		}
		return t
	case a.ID == schema.TypeDecimal || b.ID == schema.TypeDecimal:
		p, s := precisionOf(a)
		q, u := precisionOf(b)
		scale := max(s, u)
		return DecimalOf(max(p-s, q-u)+scale, scale)
	case a.Unsigned == b.Unsigned:
		t := a
		if b.ID > a.ID {
			t = b
		}
		t.Len, t.Zerofill = widest(a.Len, b.Len, 0), a.Zerofill && b.Zerofill
		return t
	}
	u, s := a, b // unsigned and signed
	if b.Unsigned {
		u, s = b, a
	}
	if u.ID == schema.TypeBigInt {
		return DecimalOf(20, 0)
	}
	t := s
	if u.ID >= s.ID {
		t = schema.Type{ID: u.ID + 1, Collation: schema.CollationBinary}
	}
	t.Len = widest(a.Len, b.Len, 1)
	return t
}

// widest is the greater display width, and more for a sign; what has none is as
// wide as its type. (An INT of one digit is a truth value.)
func widest(a, b, more int) int {
	if a == schema.UnspecifiedLength || b == schema.UnspecifiedLength {
		return schema.UnspecifiedLength
	}
	return max(a, b) + more
}

// plainNumber turns BIT and YEAR into integers.
func plainNumber(t schema.Type) schema.Type {
	switch t.ID {
	case schema.TypeBit:
		return UBigInt
	case schema.TypeYear:
		return schema.Type{ID: schema.TypeSmallInt, Unsigned: true, Len: 4, Collation: schema.CollationBinary}
	}
	return t
}

// precisionOf is digits and scale of an exact number type.
func precisionOf(t schema.Type) (prec, scale int) {
	if t.ID == schema.TypeDecimal {
		return t.Len, max(t.Scale, 0)
	}
	switch t.ID {
	case schema.TypeTinyInt:
		return 3, 0
	case schema.TypeSmallInt:
		return 5, 0
	case schema.TypeMediumInt:
		return 8, 0
	case schema.TypeInt:
		return 10, 0
	}
	if t.Unsigned {
		return 20, 0
	}
	return 19, 0
}

func unifyText(a, b schema.Type) schema.Type {
	coll := unifyCollation(a, b)
	n, m := MaxChars(a), MaxChars(b)
	if n < 0 || m < 0 || max(n, m) > 16383 {
		return Text(coll)
	}
	return VarcharOf(max(n, m), coll)
}

// unifyCollation is the collation of the strings among a and b; numbers and
// times have none of their own.
func unifyCollation(a, b schema.Type) schema.CollationID {
	x, y := hasCharset(a), hasCharset(b)
	switch {
	case a.IsBinary() || b.IsBinary() || a.ID == schema.TypeGeometry || b.ID == schema.TypeGeometry:
		return schema.CollationBinary
	case x && y:
		return mergeCollations(a, b, false, false)
	case x:
		return a.Collation
	case y:
		return b.Collation
	}
	return schema.CollationUTF8MB40900AICI
}

func hasCharset(t schema.Type) bool {
	return t.IsCharacter() || isListType(t) || t.ID == schema.TypeJSON
}

// MaxChars is the most characters (bytes of binary strings) of the text of a
// value of type t; -1 when there is no useful limit.
func MaxChars(t schema.Type) int {
	switch {
	case t.IsInteger():
		p, _ := precisionOf(t)
		return max(p+1, zerofillLen(t))
	case t.ID == schema.TypeFloat:
		return max(14, t.Len+2)
	case t.ID == schema.TypeDouble:
		return max(24, t.Len+2)
	case t.ID == schema.TypeDecimal:
		return t.Len + 2
	case t.ID == schema.TypeBit:
		return bitBytes(t)
	case t.ID == schema.TypeYear:
		return 4
	case t.ID == schema.TypeDate:
		return 10
	case t.ID == schema.TypeTime:
		return 10 + withPoint(fspOf(t))
	case t.IsTemporal():
		return 19 + withPoint(fspOf(t))
	case t.ID == schema.TypeChar, t.ID == schema.TypeVarchar, t.ID == schema.TypeBinary, t.ID == schema.TypeVarbinary:
		return t.Len
	case t.ID == schema.TypeTinyText, t.ID == schema.TypeTinyBlob:
		return 255
	case isListType(t):
		return listChars(t)
	case t.ID == schema.TypeNull:
		return 0
	}
	return -1
}

// zerofillLen is the width to which ZEROFILL pads, 0 without it. FLOAT and DOUBLE
// without a width are 12 and 22 wide.
func zerofillLen(t schema.Type) int {
	switch {
	case !t.Zerofill:
		return 0
	case isFixedFloat(t) || !t.IsFloat():
		return t.Len
	case t.ID == schema.TypeFloat:
		return 12
	}
	return 22
}

func withPoint(fsp int) int {
	if fsp > 0 {
		return fsp + 1
	}
	return 0
}

func listChars(t schema.Type) int {
	c := collate.Must(t.Collation)
	sum, most := 0, 0
	for _, e := range t.Elems {
		n := c.CharLen([]byte(e))
		sum += n + 1
		most = max(most, n)
	}
	if t.ID == schema.TypeEnum {
		return most
	}
	return max(sum-1, 0)
}
