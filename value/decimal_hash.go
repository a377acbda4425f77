package value

import (
	"encoding/binary"
	"math/big"
)

// AppendHash appends bytes that are equal for decimals of equal value, whatever
// their scales; none is a prefix of another one.
func (d Decimal) AppendHash(dst []byte) []byte {
	d = d.trimmed()
	if d.wide == nil {
		dst = append(dst, d.scale)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(d.hi))
		return binary.LittleEndian.AppendUint64(dst, d.lo)
	}
	b := d.wide.Bytes()
	sign := byte(0x80)
	if d.wide.Sign() < 0 {
		sign = 0xC0
	}
	dst = append(dst, sign, d.scale, byte(len(b)))
	return append(dst, b...)
}

// DecimalFromHash is a decimal of the value whose bytes AppendHash gave; false where
// they are none.
func DecimalFromHash(b []byte) (Decimal, bool) {
	switch {
	case len(b) == 17 && b[0]&0x80 == 0:
		return DecimalFromInt128(int64(binary.LittleEndian.Uint64(b[1:])), binary.LittleEndian.Uint64(b[9:]), int(b[0])), true
	case len(b) < 3 || b[0]&0x80 == 0 || len(b) != 3+int(b[2]):
		return Decimal{}, false
	}
	n := new(big.Int).SetBytes(b[3:])
	if b[0]&0x40 != 0 {
		n.Neg(n)
	}
	return fromBig(n, int(b[1])), true
}

// trimmed is d without trailing zeros after the point.
func (d Decimal) trimmed() Decimal {
	for d.scale > 0 && d.wide != nil {
		q, r := new(big.Int).QuoRem(d.wide, big.NewInt(10), new(big.Int))
		if r.Sign() != 0 {
			return d
		}
		d = fromBig(q, int(d.scale)-1)
	}
	if d.scale == 0 || d.wide != nil {
		return d
	}
	neg, m := d.parts()
	scale := int(d.scale)
	for scale > 0 {
		q, r := m.divMod64(10)
		if r != 0 {
			break
		}
		m, scale = q, scale-1
	}
	return narrow(neg, m, scale)
}
