package rewrite

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
)

// Hashable reports whether equality of the operands of f is equality of their
// hash keys: same kind, and compared in their own collation. Grouping by one of
// the operands then groups what is equal to a value of the other.
func Hashable(f *expr.Func) bool {
	x, y := f.Args[0].Type(), f.Args[1].Type()
	if types.KindOf(x) != types.KindOf(y) {
		return MixedSign(x, y)
	}
	if x.IsString() || y.IsString() {
		c, ok := expr.CompareCollation(f)
		return ok && x.Collation == y.Collation && c == x.Collation
	}
	if x.ID == schema.TypeEnum || x.ID == schema.TypeSet || y.ID == schema.TypeEnum || y.ID == schema.TypeSet {
		return false
	}
	return (x.ID == schema.TypeFloat) == (y.ID == schema.TypeFloat)
}

// MixedSign reports a signed and an unsigned integer: they are hashed as
// decimals.
func MixedSign(x, y schema.Type) bool {
	return x.IsInteger() && y.IsInteger() && x.Unsigned != y.Unsigned
}
