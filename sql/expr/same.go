package expr

import (
	"bytes"
	"reflect"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// Same reports whether two expressions are written the same way and so have
// the same value for the same row: the same calls of the same columns and
// literals, with the same types. It does not know that a+b is b+a. Parameters
// are the same as nothing.
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
