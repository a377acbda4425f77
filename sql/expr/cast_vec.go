package expr

import (
	"math"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// castRow converts row i of a. It reports false for a value that rowCast has to look
// at: one that is rounded, is out of range, or may warn.
type castRow func(out, a *vec.Vec, i int) bool

// castWords converts the rows one after the other, with the row form for those that
// one does not take.
func castWords(c *Ctx, f *Func, in *vec.Batch, makeRow func(f *Func) castRow) (*vec.Vec, error) {
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(types.KindOf(f.T), in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	one := makeRow(f)
	if one == nil { // the bits are the same
		copy(out.I64[:in.N], a.I64)
		c.Release(a)
		return out, nil
	}
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) || one(out, a, i) {
			continue
		}
		keep := c.arena
		d, err := c.call(f, []value.Datum{a.Datum(i)})
		if err == nil {
			err = c.store(out, i, d, f)
		}
		if err != nil {
			return nil, err
		}
		c.rewind(keep)
	}
	c.Release(a)
	return out, nil
}

// pickCast is the conversion from one kind to another, nil without a kernel.
func pickCast(spec *castSpec, from, to value.Kind, t schema.Type) func(f *Func) castRow {
	if spec.stored != "" || spec.literal != "" || spec.boolean {
		return nil
	}
	switch to {
	case value.KindInt, value.KindUint:
		if !t.IsInteger() {
			return nil
		}
		switch from {
		case value.KindInt, value.KindUint:
			return func(*Func) castRow { return nil }
		case value.KindFloat:
			return func(*Func) castRow { return castFloatToInt }
		case value.KindDecimal:
			return castDecimalToInt
		case value.KindTime:
			return castTimeToInt
		}
	case value.KindDecimal:
		switch from {
		case value.KindInt, value.KindUint:
			return castIntToDecimal
		case value.KindDecimal:
			return castDecimals
		}
	case value.KindTime:
		if from == value.KindTime {
			return castTimes
		}
	case value.KindDuration:
		if from == value.KindTime || from == value.KindDuration {
			return castToTimeOfDay
		}
	case value.KindBytes:
		if isWordy(from) && t.IsCharacter() && collate.Must(t.Collation).Charset == "utf8mb4" {
			return castToText
		}
	}
	return nil
}

// isWordy reports kinds whose text is short and ASCII.
func isWordy(k value.Kind) bool {
	switch k {
	case value.KindInt, value.KindUint, value.KindFloat, value.KindDecimal, value.KindTime, value.KindDuration:
		return true
	}
	return false
}

// castFloatToInt takes what fits both integers of 64 bits.
func castFloatToInt(out, a *vec.Vec, i int) bool {
	x := math.RoundToEven(a.F64[i])
	if !(x < 1<<63 && (x >= 0 || x >= -1<<63 && out.Kind == value.KindInt)) {
		return false
	}
	out.I64[i] = int64(x)
	return true
}

func castDecimalToInt(f *Func) castRow {
	if types.KindOf(f.T) == value.KindUint {
		return func(out, a *vec.Vec, i int) bool {
			n, ok := a.Dec[i].Uint64()
			out.I64[i] = int64(n)
			return ok
		}
	}
	return func(out, a *vec.Vec, i int) (ok bool) {
		out.I64[i], ok = a.Dec[i].Int64()
		return ok
	}
}

func castTimeToInt(f *Func) castRow {
	date := f.Args[0].Type().ID == schema.TypeDate
	return func(out, a *vec.Vec, i int) bool {
		t := value.Time(a.I64[i])
		out.I64[i] = types.FullTimeNumber(t, date)
		return t.Micro() == 0
	}
}

// castIntToDecimal takes integers with at most the digits that the type has before the
// point.
func castIntToDecimal(f *Func) castRow {
	whole, scale := f.T.Len-f.T.Scale, f.T.Scale
	if f.T.Len <= 0 || scale < 0 || whole < 0 {
		return func(_, _ *vec.Vec, _ int) bool { return false }
	}
	limit := uint64(math.MaxUint64)
	if whole < 20 {
		limit = 1
		for range whole {
			limit *= 10
		}
		limit--
	}
	return func(out, a *vec.Vec, i int) bool {
		x := a.I64[i]
		mag := uint64(x)
		if a.Kind == value.KindInt {
			mag, _ = magnitude(x)
		}
		if mag > limit {
			return false
		}
		if a.Kind == value.KindInt {
			out.Dec[i] = value.DecimalFromInt(x).Rescale(scale)
		} else {
			out.Dec[i] = value.DecimalFromUint(mag).Rescale(scale)
		}
		return true
	}
}

func castDecimals(f *Func) castRow {
	t := f.T
	if t.Scale < 0 || t.Len <= 0 {
		return func(_, _ *vec.Vec, _ int) bool { return false }
	}
	return func(out, a *vec.Vec, i int) bool {
		d := a.Dec[i]
		if d.Scale() > t.Scale {
			d = d.Rescale(t.Scale)
		}
		if !d.Fits(t.Len, t.Scale) {
			return false
		}
		out.Dec[i] = d.Rescale(t.Scale)
		return true
	}
}

// castTimes takes times that need no rounding; CAST looks at zero dates.
func castTimes(f *Func) castRow {
	explicit := f.cast().explicit
	if f.T.ID == schema.TypeDate {
		return func(out, a *vec.Vec, i int) bool {
			t := value.Time(a.I64[i])
			out.I64[i] = int64(t.Date())
			return !explicit || !t.HasZeroPart()
		}
	}
	fsp := max(f.T.Scale, 0)
	return func(out, a *vec.Vec, i int) bool {
		t := value.Time(a.I64[i])
		out.I64[i] = int64(t)
		return (fsp == 6 || t.Micro() == 0 || t.TruncateFSP(fsp) == t) && !(explicit && t.HasZeroPart())
	}
}

// castToTimeOfDay takes times, and times of day of dates, that need no rounding.
func castToTimeOfDay(f *Func) castRow {
	fsp := max(f.T.Scale, 0)
	return func(out, a *vec.Vec, i int) bool {
		d := value.Duration(a.I64[i])
		if a.Kind == value.KindTime {
			d = value.Time(a.I64[i]).TimeOfDay()
		}
		out.I64[i] = int64(d)
		return fsp == 6 || d.TruncateFSP(fsp) == d
	}
}

// castToText takes values whose text is not cut.
func castToText(f *Func) castRow {
	from, limit := f.Args[0].Type(), math.MaxInt
	if f.cast().explicit && f.T.Len > 0 {
		limit = f.T.Len
	}
	var buf []byte
	return func(out, a *vec.Vec, i int) bool {
		buf = types.AppendText(buf[:0], from, a.Datum(i))
		if len(buf) > limit {
			return false
		}
		out.Bytes[i] = out.Own(buf)
		return true
	}
}
