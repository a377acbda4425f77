package expr

import (
	"bytes"
	"reflect"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// Two expressions have the same value for the same row if they are the same
// computation. There are two tests, both without algebra: a+b is not b+a.
//
//	              Same                             Equal
//	for           expressions bound apart, such    expressions of one statement
//	              as a condition and the text of
//	              a key part
//	one pointer   compared like any other          equal
//	columns       the same ID                      the same ID
//	outer values  never                            the same slot
//	parameters    never                            the same index
//	literals      the same value and type, of      the same value and type, with
//	              any length                       its length
//	calls         the same builtin, Extra and      the same name, Extra and type;
//	              type                             +, -, *, / and negation of
//	                                               decimals with any digits
//	volatile      never                            only one pointer
//	subqueries    never                            only one pointer

// Same reports whether two expressions are written the same way, with the same
// types; see above.
func Same(a, b Expr) bool {
	switch x := a.(type) {
	case *Col:
		y, ok := b.(*Col)
		return ok && x.ID == y.ID
	case *Const:
		y, ok := b.(*Const)
		return ok && x.Hex == y.Hex && x.T.ID == y.T.ID && sameLiteral(x.D, y.D)
	case *Func:
		y, ok := b.(*Func)
		if !ok || x.Name != y.Name || x.B != y.B || len(x.Args) != len(y.Args) || !sameResult(x.T, y.T) || x.B.Volatile {
			return false
		}
		for i := range x.Args {
			if !Same(x.Args[i], y.Args[i]) {
				return false
			}
		}
		return reflect.DeepEqual(x.Extra, y.Extra)
	}
	return false
}

// Equal reports whether two expressions of one statement are the same
// computation; see above.
func Equal(a, b Expr) bool {
	if a == b {
		return true
	}
	switch x := a.(type) {
	case *Col:
		y, ok := b.(*Col)
		return ok && x.ID == y.ID
	case *Outer:
		y, ok := b.(*Outer)
		return ok && x.Slot == y.Slot
	case *Param:
		y, ok := b.(*Param)
		return ok && x.Index == y.Index
	case *Const:
		y, ok := b.(*Const)
		return ok && reflect.DeepEqual(x.T, y.T) && reflect.DeepEqual(x.D, y.D)
	case *Func:
		y, ok := b.(*Func)
		if !ok || x.Name != y.Name || len(x.Args) != len(y.Args) || !sameCall(x, y) || IsVolatile(x) {
			return false
		}
		if !reflect.DeepEqual(x.Extra, y.Extra) {
			return false
		}
		for i := range x.Args {
			if !Equal(x.Args[i], y.Args[i]) {
				return false
			}
		}
		return true
	}
	return false
}

func sameResult(a, b schema.Type) bool {
	return a.ID == b.ID && a.Unsigned == b.Unsigned && a.Len == b.Len && a.Scale == b.Scale && a.Collation == b.Collation
}

func sameLiteral(a, b value.Datum) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.KindBytes, value.KindJSON:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case value.KindDecimal:
		x, y := a.Decimal(), b.Decimal()
		return x.Scale() == y.Scale() && x.Cmp(y) == 0
	}
	return a.Bits() == b.Bits()
}

// sameCall compares the types of two calls. Decimal operators have that of
// their operands, but one inside a larger expression may keep more digits.
func sameCall(x, y *Func) bool {
	if x.T.ID == schema.TypeDecimal && y.T.ID == schema.TypeDecimal {
		switch x.Op {
		case OpPlus, OpMinus, OpTimes, OpDivide, OpNeg:
			return true
		}
	}
	return reflect.DeepEqual(x.T, y.T)
}
