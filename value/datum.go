package value

import "math"

// Kind is the class of a value's representation.
type Kind uint8

// The kinds.
const (
	KindNull     Kind = iota
	KindInt           // int64
	KindUint          // uint64
	KindFloat         // float64
	KindDecimal       // Decimal
	KindBytes         // character or binary string
	KindTime          // Time: a date with or without time of day
	KindDuration      // Duration: microseconds, signed
	KindJSON          // binary JSON (package value's own form)
)

// String is the kind's name.
func (k Kind) String() string {
	return [...]string{"null", "int", "uint", "float", "decimal", "bytes", "time", "duration", "json"}[k]
}

// Datum is one value. The zero Datum is NULL. Byte slices are shared, not
// copied; whoever keeps a Datum beyond the life of its source clones it.
type Datum struct {
	k Kind
	x uint64
	b []byte
	d *Decimal
}

// Null is the NULL value.
var Null = Datum{}

// Int makes a KindInt datum.
func Int(v int64) Datum { return Datum{k: KindInt, x: uint64(v)} }

// Uint makes a KindUint datum.
func Uint(v uint64) Datum { return Datum{k: KindUint, x: v} }

// Float makes a KindFloat datum.
func Float(v float64) Datum { return Datum{k: KindFloat, x: math.Float64bits(v)} }

// Bytes makes a KindBytes datum that shares v.
func Bytes(v []byte) Datum { return Datum{k: KindBytes, b: v} }

// String makes a KindBytes datum from a string.
func String(v string) Datum { return Datum{k: KindBytes, b: []byte(v)} }

// Dec makes a KindDecimal datum.
func Dec(v Decimal) Datum { return Datum{k: KindDecimal, d: &v} }

// TimeOf makes a KindTime datum.
func TimeOf(v Time) Datum { return Datum{k: KindTime, x: uint64(v)} }

// DurationOf makes a KindDuration datum.
func DurationOf(v Duration) Datum { return Datum{k: KindDuration, x: uint64(v)} }

// JSONOf makes a KindJSON datum from binary JSON, which it shares.
func JSONOf(v []byte) Datum { return Datum{k: KindJSON, b: v} }

// Bool is 1 or 0 as KindInt.
func Bool(v bool) Datum {
	if v {
		return Int(1)
	}
	return Int(0)
}

// Kind of the value.
func (d Datum) Kind() Kind { return d.k }

// IsNull reports NULL.
func (d Datum) IsNull() bool { return d.k == KindNull }

// The accessors below are defined only for their own kind.

// Int of a KindInt.
func (d Datum) Int() int64 { return int64(d.x) }

// Uint of a KindUint.
func (d Datum) Uint() uint64 { return d.x }

// Float of a KindFloat.
func (d Datum) Float() float64 { return math.Float64frombits(d.x) }

// Bytes of a KindBytes or KindJSON; shared.
func (d Datum) Bytes() []byte { return d.b }

// Size is the number of bytes of a KindBytes or KindJSON, 0 of others.
func (d Datum) Size() int { return len(d.b) }

// Str is Bytes as a string copy.
func (d Datum) Str() string { return string(d.b) }

// Decimal of a KindDecimal.
func (d Datum) Decimal() Decimal { return *d.d }

// Time of a KindTime.
func (d Datum) Time() Time { return Time(d.x) }

// Duration of a KindDuration.
func (d Datum) Duration() Duration { return Duration(d.x) }

// Bits is the raw 64-bit word of KindInt, KindUint, KindFloat, KindTime and
// KindDuration.
func (d Datum) Bits() uint64 { return d.x }

// Clone is a copy that shares no bytes.
func (d Datum) Clone() Datum {
	if d.b != nil {
		d.b = append(make([]byte, 0, len(d.b)), d.b...)
	}
	return d
}
