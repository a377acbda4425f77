package ranges

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// toInteger is toColumn for integer columns. Constants outside of the 64-bit
// range become the nearest value of the column's kind; a fraction is rounded
// down.
func toInteger(d value.Datum, to schema.Type) (value.Datum, int, error) {
	unsigned := types.KindOf(to) == value.KindUint
	switch d.Kind() {
	case value.KindInt:
		v := d.Int()
		if !unsigned {
			return d, 0, nil
		}
		if v < 0 {
			return value.Uint(0), -1, nil
		}
		return value.Uint(uint64(v)), 0, nil
	case value.KindUint:
		v := d.Uint()
		if unsigned {
			return d, 0, nil
		}
		if v > math.MaxInt64 {
			return value.Int(math.MaxInt64), 1, nil
		}
		return value.Int(int64(v)), 0, nil
	case value.KindDecimal:
		return decimalToInteger(d.Decimal(), unsigned)
	case value.KindFloat:
		return floatToInteger(d.Float(), unsigned)
	}
	return d, 0, nil
}

func decimalToInteger(v value.Decimal, unsigned bool) (value.Datum, int, error) {
	floor := v.Floor()
	side := 0
	if floor.Cmp(v) != 0 {
		side = 1
	}
	if unsigned {
		if v.Sign() < 0 {
			return value.Uint(0), -1, nil
		}
		u, ok := floor.Uint64()
		if !ok {
			return value.Uint(math.MaxUint64), 1, nil
		}
		return value.Uint(u), side, nil
	}
	i, ok := floor.Int64()
	if !ok {
		if v.Sign() < 0 {
			return value.Int(math.MinInt64), -1, nil
		}
		return value.Int(math.MaxInt64), 1, nil
	}
	return value.Int(i), side, nil
}

func floatToInteger(v float64, unsigned bool) (value.Datum, int, error) {
	floor := math.Floor(v)
	side := 0
	if floor != v {
		side = 1
	}
	if unsigned {
		switch {
		case v < 0:
			return value.Uint(0), -1, nil
		case floor >= 1<<64:
			return value.Uint(math.MaxUint64), 1, nil
		}
		return value.Uint(uint64(floor)), side, nil
	}
	switch {
	case floor < -(1 << 63):
		return value.Int(math.MinInt64), -1, nil
	case floor >= 1<<63:
		return value.Int(math.MaxInt64), 1, nil
	}
	return value.Int(int64(floor)), side, nil
}

// toDecimal is toColumn for DECIMAL columns: the key form of decimals does not
// depend on the scale, so that any decimal is a bound without rounding.
func toDecimal(c *expr.Ctx, d value.Datum, from, _ schema.Type) (value.Datum, int, error) {
	if d.Kind() == value.KindDecimal {
		return d, 0, nil
	}
	dec, err := types.ToDecimal(&c.Env, d, from)
	if err != nil {
		return d, 0, err
	}
	return value.Dec(dec), 0, nil
}

// toSingle is toColumn for FLOAT columns, which hold single-precision values.
func toSingle(f float64) (value.Datum, int, error) {
	s := float64(float32(f))
	switch {
	case s < f:
		return value.Float(s), 1, nil
	case s > f:
		return value.Float(s), -1, nil
	}
	return value.Float(s), 0, nil
}
