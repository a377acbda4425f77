package expr

import (
	"reflect"

	"github.com/sqlots/sqlots/schema"
)

// Equal reports whether two expressions of one statement are the same computation
// (Same is stricter, for expressions bound apart), which gives
// the same value for the same row. A volatile one equals nothing but itself.
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

// sameCall compares the types of two calls. Decimal operators have that of
// their operands, but one inside a larger expression may keep more digits.
func sameCall(x, y *Func) bool {
	if x.T.ID == schema.TypeDecimal && y.T.ID == schema.TypeDecimal {
		switch x.Name {
		case "+", "-", "*", "/", "neg":
			return true
		}
	}
	return reflect.DeepEqual(x.T, y.T)
}
