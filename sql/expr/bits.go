package expr

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func bitDefs() []entry {
	bit := func(name string, words func(a, b uint64) uint64, strings func(a, b byte) byte) entry {
		return special(name, bindBits, def{sig: "bb", b: Builtin{impl: impl{strict: true},
			Row: func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
				if a[0].Kind() != value.KindBytes {
					return value.Uint(words(a[0].Uint(), a[1].Uint())), nil
				}
				return combineBits(a[0].Bytes(), a[1].Bytes(), strings)
			}}})
	}
	shift := func(name string, words func(a, n uint64) uint64, strings func(s []byte, n uint64) []byte) entry {
		return special(name, bindBits, def{sig: "bb", b: Builtin{impl: impl{strict: true},
			Row: func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
				if a[0].Kind() != value.KindBytes {
					return value.Uint(words(a[0].Uint(), a[1].Uint())), nil
				}
				return value.Bytes(strings(a[0].Bytes(), a[1].Uint())), nil
			}}})
	}
	return []entry{
		bit("&", func(a, b uint64) uint64 { return a & b }, func(a, b byte) byte { return a & b }),
		bit("|", func(a, b uint64) uint64 { return a | b }, func(a, b byte) byte { return a | b }),
		bit("^", func(a, b uint64) uint64 { return a ^ b }, func(a, b byte) byte { return a ^ b }),
		shift("<<", func(a, n uint64) uint64 { return a << n }, shiftLeft),
		shift(">>", func(a, n uint64) uint64 { return a >> n }, shiftRight),
		special("~", bindBits, def{sig: "b", b: Builtin{impl: impl{strict: true},
			Row: func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
				if a[0].Kind() != value.KindBytes {
					return value.Uint(^a[0].Uint()), nil
				}
				return combineBits(a[0].Bytes(), a[0].Bytes(), func(a, _ byte) byte { return ^a })
			}}}),
	}
}

// combineBits works byte by byte; 3513 for strings of different length.
func combineBits(a, b []byte, op func(a, b byte) byte) (value.Datum, error) {
	if len(a) != len(b) {
		return value.Null, sqlerr.BitOperandSize()
	}
	out := make([]byte, len(a))
	for i := range out {
		out[i] = op(a[i], b[i])
	}
	return value.Bytes(out), nil
}

func shiftLeft(s []byte, n uint64) []byte {
	out := make([]byte, len(s))
	if n >= 8*uint64(len(s)) {
		return out
	}
	whole, bits := int(n/8), n%8
	for i := 0; i+whole < len(s); i++ {
		out[i] = s[i+whole] << bits
		if i+whole+1 < len(s) {
			out[i] |= s[i+whole+1] >> (8 - bits)
		}
	}
	return out
}

func shiftRight(s []byte, n uint64) []byte {
	out := make([]byte, len(s))
	if n >= 8*uint64(len(s)) {
		return out
	}
	whole, bits := int(n/8), n%8
	for i := whole; i < len(s); i++ {
		out[i] = s[i-whole] >> bits
		if i > whole {
			out[i] |= s[i-whole-1] << (8 - bits)
		}
	}
	return out
}

// isBitString reports a binary string that is no hexadecimal, bit or NULL
// literal: bit operations on it give binary strings (MySQL manual 14.12).
func isBitString(e Expr) bool {
	if c, ok := e.(*Const); ok && c.Hex {
		return false
	}
	return e.Type().IsBinary()
}

// bindBits types &, |, ^, <<, >> and ~: on binary strings, or on numbers of 64
// bits.
func bindBits(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != len(d.sig) {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	out := make([]Expr, len(args))
	null, t := false, uintType()
	strings := 1 // the first operand decides for shifts and ~
	switch name {
	case "&", "|", "^":
		strings = 2
	}
	asStrings := isBitString(args[0]) || strings == 2 && isBitString(args[1])
	for _, a := range args[:strings] {
		asStrings = asStrings && (a.Type().IsBinary())
	}
	for i, a := range args {
		x := a
		if !asStrings || i >= strings {
			var err error
			if x, err = toBits(env, a); err != nil {
				return nil, err
			}
		}
		out[i] = x
		null = null || x.Nullable()
	}
	if asStrings {
		t = textType(textLen(args[0]), schema.CollationBinary)
	}
	return d.call(name, out, t, null, nil), nil
}

// toBits is e as 64 bits: signed integers keep their bit pattern; others are
// rounded.
func toBits(env *BindEnv, e Expr) (Expr, error) {
	switch numClassOf(e.Type()) {
	case numInt:
		if kindOf(e) == value.KindUint || kindOf(e) == value.KindInt {
			if kindOf(e) == value.KindUint {
				return e, nil
			}
			return bitsDef(e), nil
		}
		x, err := NewCast(env, e, intType(), false)
		if err != nil {
			return nil, err
		}
		return bitsDef(x), nil
	}
	if c := hexNumber(e); c != nil {
		return c, nil
	}
	return mustLookup("as_bits").call("as_bits", []Expr{e}, uintType(), e.Nullable(), nil), nil
}

func bitsDef(e Expr) Expr {
	if c, ok := e.(*Const); ok && !c.D.IsNull() {
		return &Const{D: value.Uint(c.D.Bits()), T: uintType(), Text: c.Text}
	}
	return mustLookup("as_bits").call("as_bits", []Expr{e}, uintType(), e.Nullable(), nil)
}

// rowAsBits is the operand of a bit operator as 64 bits.
func rowAsBits(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch d := a[0]; d.Kind() {
	case value.KindInt, value.KindUint:
		return value.Uint(d.Bits()), nil
	case value.KindDecimal:
		dec := d.Decimal()
		if dec.Sign() < 0 {
			v, _ := dec.Int64()
			return value.Uint(uint64(v)), nil
		}
		v, _ := dec.Uint64()
		return value.Uint(v), nil
	case value.KindFloat:
		return value.Uint(floatBits(d.Float())), nil
	}
	v, err := types.ToInt(&c.Env, a[0], f.Args[0].Type())
	return value.Uint(uint64(v)), err
}

func floatBits(f float64) uint64 {
	f = math.RoundToEven(f)
	switch {
	case f < 0:
		if f <= math.MinInt64 {
			return 1 << 63
		}
		return uint64(int64(f))
	case f >= 1<<64:
		return math.MaxUint64
	}
	return uint64(f)
}
