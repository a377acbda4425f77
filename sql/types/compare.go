package types

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// Compare orders two values of type t that are not NULL: -1, 0 or +1. Strings
// compare in the collation of t, ENUM and SET by their numbers.
func Compare(a, b value.Datum, t schema.Type) int {
	if a.Kind() != b.Kind() {
		return compareMixed(a, b)
	}
	switch a.Kind() {
	case value.KindInt, value.KindDuration:
		return cmpOrdered(int64(a.Bits()), int64(b.Bits()))
	case value.KindUint, value.KindTime:
		return cmpOrdered(a.Bits(), b.Bits())
	case value.KindFloat:
		return cmpOrdered(a.Float(), b.Float())
	case value.KindDecimal:
		return a.Decimal().Cmp(b.Decimal())
	case value.KindJSON:
		return value.JSONCompare(a.Bytes(), b.Bytes())
	case value.KindBytes:
		if t.Collation == schema.CollationBinary || t.Collation == schema.CollationNone {
			return bytes.Compare(a.Bytes(), b.Bytes())
		}
		return collate.Must(t.Collation).Compare(a.Bytes(), b.Bytes())
	}
	return 0
}

// CompareUntil is Compare that ends with the error of stop.
func CompareUntil(a, b value.Datum, t schema.Type, stop collate.Stop) (int, error) {
	if a.Kind() == b.Kind() && (isLongText(a, t) || isLongText(b, t)) {
		return collate.Must(t.Collation).CompareUntil(a.Bytes(), b.Bytes(), stop)
	}
	return Compare(a, b, t), nil
}

// isLongText reports a text that a collation reads in parts.
func isLongText(d value.Datum, t schema.Type) bool {
	return d.Kind() == value.KindBytes && len(d.Bytes()) >= collate.LongText && t.Collation != schema.CollationBinary && t.Collation != schema.CollationNone
}

func cmpOrdered[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareMixed compares numbers of different kinds, as the exact ones that
// they are; other mixtures in the order of the kinds, so that sorting stays
// well defined.
func compareMixed(a, b value.Datum) int {
	if !isNumberKind(a.Kind()) || !isNumberKind(b.Kind()) {
		return cmpOrdered(int64(a.Kind()), int64(b.Kind()))
	}
	if a.Kind() == value.KindFloat || b.Kind() == value.KindFloat {
		x, _ := ToFloat(nil, a, Double)
		y, _ := ToFloat(nil, b, Double)
		return cmpOrdered(x, y)
	}
	x, _ := ToDecimal(nil, a, BigInt)
	y, _ := ToDecimal(nil, b, BigInt)
	return x.Cmp(y)
}

func isNumberKind(k value.Kind) bool { return k >= value.KindInt && k <= value.KindDecimal }

// CompareNull is Compare with NULL before everything else.
func CompareNull(a, b value.Datum, t schema.Type) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return -1
	case b.IsNull():
		return 1
	}
	return Compare(a, b, t)
}

// HashKey appends bytes that are equal exactly when two values of type t are
// equal under CompareNull. Keys of several values may be joined: none is a
// prefix of another one.
func HashKey(dst []byte, d value.Datum, t schema.Type) []byte {
	dst, _ = HashKeyUntil(dst, d, t, nil)
	return dst
}

// HashKeyUntil is HashKey that ends with the error of stop, if it is not nil.
func HashKeyUntil(dst []byte, d value.Datum, t schema.Type, stop collate.Stop) (_ []byte, err error) {
	switch d.Kind() {
	case value.KindNull:
		return append(dst, 0), nil
	case value.KindFloat:
		f := d.Float()
		if f == 0 {
			f = 0 // -0 is 0
		}
		return binary.LittleEndian.AppendUint64(append(dst, 1), math.Float64bits(f)), nil
	case value.KindDecimal:
		return d.Decimal().AppendHash(append(dst, 1)), nil
	case value.KindBytes, value.KindJSON:
		dst = append(dst, 1, 0, 0, 0, 0)
		start := len(dst)
		switch {
		case d.Kind() == value.KindJSON:
			dst = value.AppendJSONHash(dst, d.Bytes())
		case t.Collation == schema.CollationBinary || t.Collation == schema.CollationNone:
			dst = append(dst, d.Bytes()...)
		case stop == nil:
			dst = collate.Must(t.Collation).AppendHashKey(dst, d.Bytes())
		default:
			dst, err = collate.Must(t.Collation).AppendHashKeyUntil(dst, d.Bytes(), stop)
		}
		binary.LittleEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
		return dst, err
	}
	return binary.LittleEndian.AppendUint64(append(dst, 1), d.Bits()), nil
}
