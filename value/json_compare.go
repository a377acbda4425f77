package value

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
)

// jsonRank is MySQL's precedence of types: a value of a higher one is greater.
func jsonRank(doc []byte) int {
	switch jsonTag(doc) {
	case jsonOpaque:
		switch opaqueType(doc[1]) {
		case "BLOB":
			return 12
		case "BIT":
			return 11
		}
		return 10
	case jsonDatetime:
		return 9
	case jsonTime:
		return 8
	case jsonDate:
		return 7
	case jsonFalse, jsonTrue:
		return 6
	case jsonArray:
		return 5
	case jsonObject:
		return 4
	case jsonString:
		return 3
	case jsonInt, jsonUint, jsonDouble, jsonDecimal:
		return 2
	}
	return 1
}

// JSONCompare orders two documents by MySQL's precedence: -1, 0 or +1. Numbers
// of all types compare by value. The order of different objects is arbitrary
// but fixed.
func JSONCompare(a, b []byte) int { return jsonCompare(a, b, 0) }

func jsonCompare(a, b []byte, depth int) int {
	ra, rb := jsonRank(a), jsonRank(b)
	if ra != rb || depth > guardDepth {
		return cmpInt(ra, rb)
	}
	x, y := jsonDoc(a), jsonDoc(b)
	switch jsonTag(a) {
	case jsonInt, jsonUint, jsonDouble, jsonDecimal:
		return compareNumbers(a, b)
	case jsonString:
		return bytes.Compare(a[1:], b[1:])
	case jsonOpaque:
		if c := bytes.Compare(a[2:], b[2:]); c != 0 {
			return c
		}
		return cmpInt(int(a[1]), int(b[1]))
	case jsonDate, jsonDatetime:
		return cmpUint(x.word(), y.word())
	case jsonTime:
		return cmpInt(int(int64(x.word())), int(int64(y.word())))
	case jsonFalse, jsonTrue:
		return cmpInt(int(a[0]), int(b[0]))
	case jsonArray:
		n, m := JSONLen(a), JSONLen(b)
		for i := range min(n, m) {
			if c := jsonCompare(JSONElem(a, i), JSONElem(b, i), depth+1); c != 0 {
				return c
			}
		}
		return cmpInt(n, m)
	case jsonObject:
		return compareObjects(a, b, depth)
	}
	return 0
}

func cmpUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareObjects(a, b []byte, depth int) int {
	n, m := JSONLen(a), JSONLen(b)
	if n != m {
		return cmpInt(n, m)
	}
	for i := range n {
		if c := bytes.Compare(JSONKey(a, i), JSONKey(b, i)); c != 0 {
			return c
		}
		if c := jsonCompare(JSONElem(a, i), JSONElem(b, i), depth+1); c != 0 {
			return c
		}
	}
	return 0
}

func compareNumbers(a, b []byte) int {
	x, y := jsonDoc(a), jsonDoc(b)
	ta, tb := jsonTag(a), jsonTag(b)
	switch {
	case ta == jsonInt && tb == jsonInt:
		p, q := int64(x.word()), int64(y.word())
		if p == q {
			return 0
		}
		if p < q {
			return -1
		}
		return 1
	case ta == jsonUint && tb == jsonUint:
		return cmpUint(x.word(), y.word())
	case ta == jsonDouble && tb == jsonDouble:
		p, q := math.Float64frombits(x.word()), math.Float64frombits(y.word())
		switch {
		case p < q:
			return -1
		case p > q:
			return 1
		case p == q:
			return 0
		}
	}
	var bufA, bufB [80]byte
	return canonicalOf(bufA[:0], x).cmp(canonicalOf(bufB[:0], y))
}

// canonical is a number as ±0.digits * 10^exp, digits without zeros at either
// end. A double counts as its shortest text, so that numbers of all types are
// in one exact order.
type canonical struct {
	sign   int
	digits []byte
	exp    int
}

func canonicalOf(buf []byte, doc jsonDoc) canonical {
	var text []byte
	exp := 0
	switch jsonTag(doc) {
	case jsonInt:
		text = strconv.AppendInt(buf, int64(doc.word()), 10)
	case jsonUint:
		text = strconv.AppendUint(buf, doc.word(), 10)
	case jsonDecimal:
		neg, digits, scale := doc.decimal().Coefficient()
		if neg {
			text = append(buf, '-')
		}
		text, exp = append(text, digits...), -scale
	default:
		f := math.Float64frombits(doc.word())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = 0
		}
		d, e := splitFloat(strconv.AppendFloat(buf, f, 'e', -1, 64))
		text, exp = d, e
	}
	c := canonical{sign: 1, digits: text}
	if len(text) > 0 && text[0] == '-' {
		c.sign, c.digits = -1, text[1:]
	}
	for len(c.digits) > 0 && c.digits[0] == '0' {
		c.digits = c.digits[1:]
	}
	c.exp = exp + len(c.digits)
	for n := len(c.digits); n > 0 && c.digits[n-1] == '0'; n-- {
		c.digits = c.digits[:n-1]
	}
	if len(c.digits) == 0 {
		return canonical{}
	}
	return c
}

// splitFloat turns -d.ddde±xx into -dddd (in place) and the exponent of its
// last digit.
func splitFloat(e []byte) (text []byte, exp int) {
	at := len(e) - 1
	for e[at] != 'e' {
		at--
	}
	exp, _ = strconv.Atoi(string(e[at+1:]))
	text = e[:0]
	frac := false
	for _, c := range e[:at] {
		if c == '.' {
			frac = true
			continue
		}
		if frac {
			exp--
		}
		text = append(text, c)
	}
	return text, exp
}

func (c canonical) cmp(o canonical) int {
	switch {
	case c.sign != o.sign:
		return cmpInt(c.sign, o.sign)
	case c.exp != o.exp && c.sign != 0:
		return cmpInt(c.exp, o.exp) * c.sign
	}
	return bytes.Compare(c.digits, o.digits) * c.sign
}

// AppendJSONHash appends bytes that are equal for documents that are equal
// under JSONCompare, and only for those.
func AppendJSONHash(dst, doc []byte) []byte { return appendJSONHash(dst, doc, 0) }

func appendJSONHash(dst, doc []byte, depth int) []byte {
	dst = append(dst, byte(jsonRank(doc)))
	if depth > guardDepth {
		return dst
	}
	switch t := jsonTag(doc); t {
	case jsonInt, jsonUint, jsonDouble, jsonDecimal:
		var buf [80]byte
		c := canonicalOf(buf[:0], jsonDoc(doc))
		dst = append(dst, byte(c.sign+1), byte(len(c.digits)))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(c.exp)))
		return append(dst, c.digits...)
	case jsonString, jsonOpaque:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(doc)))
		return append(dst, doc[1:]...)
	case jsonDate, jsonTime, jsonDatetime:
		return append(dst, doc[1:9]...)
	case jsonFalse, jsonTrue:
		return append(dst, t)
	case jsonArray, jsonObject:
		n, _ := headOf(doc)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
		for i := range n {
			if t == jsonObject {
				k := JSONKey(doc, i)
				dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(k))), k...)
			}
			dst = appendJSONHash(dst, JSONElem(doc, i), depth+1)
		}
	}
	return dst
}
