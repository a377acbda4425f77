package expr

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

func limitDefs() []entry {
	return []entry{special("limit_rows", unboundUnit, def{b: Builtin{Row: rowLimitRows, impl: impl{strict: true}}})}
}

// NewLimitRows is count + offset of a LIMIT, as far as a number of rows can be;
// NULL where one of them is no such number.
func NewLimitRows(count, offset Expr) Expr {
	t := schema.Type{ID: schema.TypeBigInt, Unsigned: true, Len: 20, Collation: schema.CollationBinary}
	return mustLookup("limit_rows").call("limit_rows", []Expr{count, offset}, t, true, nil)
}

func rowLimitRows(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	sum := uint64(0)
	for _, d := range a {
		switch {
		case d.Kind() == value.KindUint, d.Kind() == value.KindInt && d.Int() >= 0:
		default:
			return value.Null, nil
		}
		if sum += d.Bits(); sum < d.Bits() {
			return value.Uint(math.MaxUint64), nil
		}
	}
	return value.Uint(sum), nil
}
