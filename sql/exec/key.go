package exec

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// keyPart is how one column of a key is encoded.
type keyPart struct {
	kind value.Kind
	// coll is nil for strings that compare by their bytes.
	coll *collate.Collation
	// stop ends the work of a long text with the statement: what then comes of it is
	// wrong, and not used (Env.drain).
	stop collate.Stop
	desc bool
}

func (env *Env) newKeyPart(t schema.Type) keyPart {
	p := keyPart{kind: types.KindOf(t)}
	if p.kind == value.KindBytes && t.Collation != schema.CollationBinary && t.Collation != schema.CollationNone {
		if c := collate.Must(t.Collation); !c.IsBinary() {
			p.coll, p.stop = c, env.stop
		}
	}
	return p
}

// compare orders two texts, which compare by a collation.
func (p *keyPart) compare(a, b []byte) int {
	d, _ := p.coll.CompareUntil(a, b, p.stop)
	return d
}

// keyEncoder encodes values so that equal ones, under their collations, have
// equal bytes, as types.HashKey does.
type keyEncoder []keyPart

func (env *Env) newKeyEncoder(ts []schema.Type) keyEncoder {
	e := make(keyEncoder, len(ts))
	for i, t := range ts {
		e[i] = env.newKeyPart(t)
	}
	return e
}

// isWord reports a key of one 64-bit word.
func (e keyEncoder) isWord() bool { return len(e) == 1 && vec.ClassOf(e[0].kind) == vec.ClassWord }

// raw is an encoder under which equal keys are equal under e, but not the other way
// round, that spares computing weights; nil where it would spare none.
func (e keyEncoder) raw() keyEncoder {
	out, spares := make(keyEncoder, len(e)), false
	for i := range e {
		if e[i].kind == value.KindJSON {
			return nil
		}
		spares = spares || e[i].coll != nil
		if out[i] = e[i]; e[i].kind == value.KindBytes {
			out[i].coll = nil
		}
	}
	if !spares || len(e) < 2 {
		return nil
	}
	return out
}

// append appends the key of row i.
func (e keyEncoder) append(dst []byte, cols []*vec.Vec, i int) []byte {
	for p := range e {
		dst = e[p].appendHash(dst, cols[p], i)
	}
	return dst
}

// hasNull reports whether a column of row i is NULL.
func hasNull(cols []*vec.Vec, i int) bool {
	for _, c := range cols {
		if c.Nulls.IsNull(i) {
			return true
		}
	}
	return false
}

func (p *keyPart) appendHash(dst []byte, v *vec.Vec, i int) []byte {
	if v.Nulls.IsNull(i) {
		return append(dst, 0)
	}
	switch vec.ClassOf(p.kind) {
	case vec.ClassWord:
		return binary.LittleEndian.AppendUint64(append(dst, 1), uint64(v.I64[i]))
	case vec.ClassFloat:
		f := v.F64[i]
		if f == 0 {
			f = 0 // -0 is 0
		}
		return binary.LittleEndian.AppendUint64(append(dst, 1), math.Float64bits(f))
	case vec.ClassDecimal:
		return v.Dec[i].AppendHash(append(dst, 1))
	}
	dst = append(dst, 1, 0, 0, 0, 0)
	start := len(dst)
	switch {
	case p.kind == value.KindJSON:
		dst = value.AppendJSONHash(dst, v.Bytes[i])
	case p.coll == nil:
		dst = append(dst, v.Bytes[i]...)
	default:
		dst, _ = p.coll.AppendHashKeyUntil(dst, v.Bytes[i], p.stop)
	}
	binary.LittleEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	return dst
}

// sortEncoder encodes sort keys. Without JSON parts keys compare as bytes:
//
//	00                 NULL
//	01 value           word: sign-flipped big endian; float: total order;
//	                   decimal: see appendSortDecimal; bytes: the weights with
//	                   00 as 00 FF, ended by 00 01
//
// with all bytes of a descending part inverted; parts that cannot be NULL have
// no first byte. With JSON parts each part is preceded by its length (4 bytes)
// and compare takes the key apart.
type sortEncoder struct {
	parts   []keyPart
	notNull []bool
	hasJSON bool
}

func (e *sortEncoder) append(dst []byte, cols []*vec.Vec, i int) []byte {
	for p := range e.parts {
		start := len(dst)
		if e.hasJSON {
			dst = append(dst, 0, 0, 0, 0)
		}
		body := len(dst)
		dst = e.appendPart(dst, p, cols[p], i)
		if e.hasJSON {
			binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-body))
			if e.parts[p].kind == value.KindJSON {
				continue // compare looks at desc
			}
		}
		if e.parts[p].desc {
			for j := body; j < len(dst); j++ {
				dst[j] = ^dst[j]
			}
		}
	}
	return dst
}

func (e *sortEncoder) appendPart(dst []byte, part int, v *vec.Vec, i int) []byte {
	if v.Nulls.IsNull(i) {
		return append(dst, 0)
	}
	if !e.notNull[part] {
		dst = append(dst, 1)
	}
	p := &e.parts[part]
	switch p.kind {
	case value.KindInt, value.KindDuration:
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])^1<<63)
	case value.KindUint, value.KindTime:
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[i]))
	case value.KindFloat:
		return binary.BigEndian.AppendUint64(dst, floatOrder(v.F64[i]))
	case value.KindDecimal:
		return appendSortDecimal(dst, v.Dec[i])
	case value.KindJSON:
		return append(dst, v.Bytes[i]...)
	case value.KindBytes:
		if p.coll == nil {
			return appendEscaped(dst, v.Bytes[i])
		}
		var room [128]byte
		key, _ := p.coll.AppendKeyUntil(room[:0], v.Bytes[i], p.stop)
		return appendEscaped(dst, key)
	}
	return dst
}

// floatOrder maps floats to words of the same order; -0 is 0.
func floatOrder(f float64) uint64 {
	if f == 0 {
		f = 0
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func appendEscaped(dst, s []byte) []byte {
	for {
		n := bytes.IndexByte(s, 0)
		if n < 0 {
			return append(append(dst, s...), 0, 1)
		}
		dst = append(append(dst, s[:n]...), 0, 0xff)
		s = s[n+1:]
	}
}

// appendSortDecimal appends 02 for 0, 03 E D… 00 for positive numbers and
// 01 and the inverse of E D… 00 for negative ones: E is the exponent of the
// number 0.D… plus 128, D the digits without zeros at either end, plus 1.
func appendSortDecimal(dst []byte, d value.Decimal) []byte {
	neg, digits, scale := d.Coefficient()
	digits = bytes.TrimLeft(digits, "0")
	exp := len(digits) - scale
	digits = bytes.TrimRight(digits, "0")
	if len(digits) == 0 {
		return append(dst, 2)
	}
	if !neg {
		dst = append(dst, 3, byte(exp+128))
	} else {
		dst = append(dst, 1, byte(exp+128))
	}
	start := len(dst) - 1
	for _, c := range digits {
		dst = append(dst, c-'0'+1)
	}
	dst = append(dst, 0)
	if neg {
		for j := start; j < len(dst); j++ {
			dst[j] = ^dst[j]
		}
	}
	return dst
}

// compare orders two keys.
func (e *sortEncoder) compare(a, b []byte) int {
	if !e.hasJSON {
		return bytes.Compare(a, b)
	}
	for p := range e.parts {
		na, nb := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
		x, y := a[4:4+na], b[4:4+nb]
		a, b = a[4+na:], b[4+nb:]
		c := 0
		if e.parts[p].kind == value.KindJSON {
			c = e.compareJSON(p, x, y)
		} else {
			c = bytes.Compare(x, y)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (e *sortEncoder) compareJSON(p int, x, y []byte) int {
	c := 0
	if e.notNull[p] {
		c = value.JSONCompare(x, y)
	} else if c = int(x[0]) - int(y[0]); c == 0 && x[0] != 0 {
		c = value.JSONCompare(x[1:], y[1:])
	}
	if e.parts[p].desc {
		return -c
	}
	return c
}

// prefix is the start of a key as a number of the same order; 0 with JSON.
func (e *sortEncoder) prefix(key []byte) uint64 {
	if e.hasJSON {
		return 0
	}
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var room [8]byte
	copy(room[:], key)
	return binary.BigEndian.Uint64(room[:])
}
