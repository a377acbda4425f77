package value

import (
	"encoding/binary"
	"slices"
)

// The compact form of a scalar is its tag and the bytes of its word that say anything:
// integers without the high bytes that repeat the sign or are 0, floats, dates and
// datetimes without the low bytes that are 0. Every other value is unchanged.

// AppendCompactJSON appends the compact form of a document.
func AppendCompactJSON(dst, doc []byte) []byte {
	switch jsonTag(doc) {
	case jsonInt, jsonTime:
		v := int64(binary.LittleEndian.Uint64(doc[1:]))
		n := 8
		for n > 1 && v<<(64-8*(n-1))>>(64-8*(n-1)) == v {
			n--
		}
		return append(dst, doc[:1+n]...)
	case jsonUint:
		n := 8
		for n > 1 && doc[n] == 0 {
			n--
		}
		return append(dst, doc[:1+n]...)
	case jsonDouble, jsonDate, jsonDatetime:
		low := 1
		for low < 8 && doc[low] == 0 {
			low++
		}
		return append(append(dst, doc[0]), doc[low:9]...)
	}
	return append(dst, doc...)
}

// AppendExpandedJSON appends the document whose compact form is b; false when
// that is none.
func AppendExpandedJSON(dst, b []byte) ([]byte, bool) {
	if len(b) == 0 {
		return dst, false
	}
	switch b[0] {
	case jsonInt, jsonTime, jsonUint:
		if len(b) < 2 || len(b) > 9 {
			return dst, false
		}
		pad := byte(0)
		if b[0] != jsonUint && b[len(b)-1] >= 0x80 {
			pad = 0xFF
		}
		dst = append(dst, b...)
		for range 9 - len(b) {
			dst = append(dst, pad)
		}
		return dst, true
	case jsonDouble, jsonDate, jsonDatetime:
		if len(b) < 2 || len(b) > 9 {
			return dst, false
		}
		dst = append(dst, b[0])
		for range 9 - len(b) {
			dst = append(dst, 0)
		}
		return append(dst, b[1:]...), true
	}
	if jsonTag(b) != b[0] {
		return dst, false
	}
	return append(dst, b...), true
}

// FoldName is an attribute's name without the case of ASCII letters, by which
// it is found and ordered. It shares name if there is nothing to fold.
func FoldName(name []byte) []byte {
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			out := slices.Clone(name)
			for j := i; j < len(out); j++ {
				if 'A' <= out[j] && out[j] <= 'Z' {
					out[j] += 'a' - 'A'
				}
			}
			return out
		}
	}
	return name
}
