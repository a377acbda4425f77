package searchdoc

import (
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/value"
)

// Places are stored in a search index in units that keep the order of
// coordinates: up to 200 degrees they are 1e-7 degrees, beyond that they grow
// with the number, so that planes of any size can be queried as well. Boxes of
// units are supersets of boxes of coordinates. What is no point of the column's
// system, for which functions give errors, has a place of its own that every
// query finds.

// placeOf is the place of a stored geometry.
func placeOf(b []byte, srid uint32) seg.Place {
	none := seg.Place{Lat: seg.NoPlace, Lon: seg.NoPlace, X: math.NaN(), Y: math.NaN()}
	t, ok := geo.TypeOf(b)
	if !ok || t != geo.TypePoint || len(b) != 25 || geo.SRIDOf(b) != srid {
		return none
	}
	x, y := math.Float64frombits(binary.LittleEndian.Uint64(b[9:])), math.Float64frombits(binary.LittleEndian.Uint64(b[17:]))
	if math.IsNaN(x) || math.IsNaN(y) {
		return none
	}
	return seg.Place{Lat: ToUnit(y), Lon: ToUnit(x), X: x, Y: y}
}

// ToUnit is monotonic; it never is noPlace.
func ToUnit(x float64) int32 {
	if math.Abs(x) <= fineLimit {
		return int32(math.Floor(x * unitsPerDegree))
	}
	u := int32(fineLimit*unitsPerDegree) + int32((math.Float64bits(math.Max(math.Abs(x), 256))-math.Float64bits(256))>>coarseBits)
	if x < 0 {
		return -u
	}
	return u
}

// PointBytes appends the stored form of a point.
func PointBytes(dst []byte, srid uint32, x, y float64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, srid)
	dst = binary.LittleEndian.AppendUint32(append(dst, 1), uint32(geo.TypePoint))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(y))
}

const (
	unitsPerDegree = 1e7
	fineLimit      = 200
	coarseBits     = 35
)

// Around are the values of the field below and above a number of a document. For a
// DOUBLE or DECIMAL field both are the number as the field's type rounds it. inf is
// the number's sign if it is beyond all values.
func (f *Field) Around(doc []byte) (lo, hi value.Datum, inf int) {
	n, _ := value.JSONScalar(doc)
	switch {
	case f.Elem.ID == schema.TypeDouble:
		d := value.Float(floatOf(n))
		return d, d, 0
	case f.Elem.ID == schema.TypeDecimal:
		d, ok := DecimalOf(n)
		if ok {
			if d = d.Round(f.Elem.Scale).Rescale(f.Elem.Scale); d.Digits() <= f.Elem.Len {
				return value.Dec(d), value.Dec(d), 0
			}
		}
		return lo, hi, sign(floatOf(n))
	}
	d, ok := DecimalOf(n)
	if !ok {
		return lo, hi, sign(floatOf(n))
	}
	floor, ceil := d.Floor(), d.Ceil()
	if f.Elem.Unsigned {
		a, okA := floor.Uint64()
		b, okB := ceil.Uint64()
		if !okA || !okB {
			return lo, hi, sign(floatOf(n))
		}
		return value.Uint(a), value.Uint(b), 0
	}
	a, okA := floor.Int64()
	b, okB := ceil.Int64()
	if !okA || !okB {
		return lo, hi, sign(floatOf(n))
	}
	return value.Int(a), value.Int(b), 0
}
