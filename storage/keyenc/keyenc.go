package keyenc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sqlots/sqlots/storage"
)

// ErrMalformed is a key that no encoder wrote; it is a storage.ErrCorruption.
var ErrMalformed = fmt.Errorf("%w: malformed key", storage.ErrCorruption)

const signBit = 1 << 63

// Bytes of the NULL mark.
const (
	nullMark    = 0x00
	notNullMark = 0x01
)

// WordSize is the length of every encoding but those of bytes and decimals.
const WordSize = 8

// AppendNull appends the NULL mark of a part that may be NULL; nothing else of
// the part follows.
func AppendNull(dst []byte, desc bool) []byte { return appendMark(dst, nullMark, desc) }

// AppendNotNull appends the mark that precedes the value of a part that may be
// NULL.
func AppendNotNull(dst []byte, desc bool) []byte { return appendMark(dst, notNullMark, desc) }

func appendMark(dst []byte, mark byte, desc bool) []byte {
	if desc {
		mark = ^mark
	}
	return append(dst, mark)
}

// IsNull reads the mark of a part that may be NULL.
func IsNull(b []byte, desc bool) (null bool, rest []byte, err error) {
	if len(b) == 0 {
		return false, nil, ErrMalformed
	}
	mark := b[0]
	if desc {
		mark = ^mark
	}
	if mark > notNullMark {
		return false, nil, ErrMalformed
	}
	return mark == nullMark, b[1:], nil
}

// AppendInt appends a signed integer or a duration.
func AppendInt(dst []byte, v int64, desc bool) []byte {
	return AppendUint(dst, uint64(v)^signBit, desc)
}

// Int reads what AppendInt wrote.
func Int(b []byte, desc bool) (v int64, rest []byte, err error) {
	u, rest, err := Uint(b, desc)
	return int64(u ^ signBit), rest, err
}

// AppendUint appends an unsigned integer or a time.
func AppendUint(dst []byte, v uint64, desc bool) []byte {
	if desc {
		v = ^v
	}
	return binary.BigEndian.AppendUint64(dst, v)
}

// Uint reads what AppendUint wrote.
func Uint(b []byte, desc bool) (v uint64, rest []byte, err error) {
	if len(b) < WordSize {
		return 0, nil, ErrMalformed
	}
	v = binary.BigEndian.Uint64(b)
	if desc {
		v = ^v
	}
	return v, b[WordSize:], nil
}

// AppendFloat appends a float; -0 is encoded as 0. NaN has no order and must
// not be passed.
func AppendFloat(dst []byte, f float64, desc bool) []byte {
	if f == 0 {
		f = 0 // drops the sign of -0
	}
	u := math.Float64bits(f)
	if u&signBit != 0 {
		u = ^u
	} else {
		u |= signBit
	}
	return AppendUint(dst, u, desc)
}

// Float reads what AppendFloat wrote.
func Float(b []byte, desc bool) (f float64, rest []byte, err error) {
	u, rest, err := Uint(b, desc)
	if u&signBit != 0 {
		u &^= signBit
	} else {
		u = ^u
	}
	return math.Float64frombits(u), rest, err
}

// SkipWord skips an integer, float, time or duration.
func SkipWord(b []byte) (rest []byte, err error) {
	if len(b) < WordSize {
		return nil, ErrMalformed
	}
	return b[WordSize:], nil
}

// AppendBytes appends a byte string.
func AppendBytes(dst, s []byte, desc bool) []byte {
	start := len(dst)
	dst = append(escape(dst, s), 0x00, 0x01)
	if desc {
		complement(dst[start:])
	}
	return dst
}

// AppendBytesPrefix appends the bytes with which the encodings of all strings
// begin that start with s.
func AppendBytesPrefix(dst, s []byte, desc bool) []byte {
	start := len(dst)
	dst = escape(dst, s)
	if desc {
		complement(dst[start:])
	}
	return dst
}

func escape(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, 0)
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:i]...), 0x00, 0xFF)
		s = s[i+1:]
	}
}

func complement(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// Bytes reads what AppendBytes wrote. s shares memory with b where it can, and
// else is appended to buf[:0].
func Bytes(b, buf []byte, desc bool) (s, rest []byte, err error) {
	if desc {
		return bytesDesc(b, buf)
	}
	i := bytes.IndexByte(b, 0)
	if i >= 0 && i+1 < len(b) && b[i+1] == 0x01 {
		return b[:i:i], b[i+2:], nil
	}
	s = buf[:0]
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 || i+1 >= len(b) {
			return nil, nil, ErrMalformed
		}
		s = append(s, b[:i]...)
		next := b[i+1]
		b = b[i+2:]
		switch next {
		case 0x01:
			return s, b, nil
		case 0xFF:
			s = append(s, 0)
		default:
			return nil, nil, ErrMalformed
		}
	}
}

func bytesDesc(b, buf []byte) (s, rest []byte, err error) {
	s = buf[:0]
	for i := 0; i < len(b); i++ {
		if b[i] != 0xFF {
			s = append(s, ^b[i])
			continue
		}
		i++
		if i == len(b) {
			break
		}
		switch b[i] {
		case 0xFE:
			return s, b[i+1:], nil
		case 0x00:
			s = append(s, 0)
		default:
			return nil, nil, ErrMalformed
		}
	}
	return nil, nil, ErrMalformed
}

// SkipBytes skips what AppendBytes wrote.
func SkipBytes(b []byte, desc bool) (rest []byte, err error) {
	stop, end, esc := byte(0x00), byte(0x01), byte(0xFF)
	if desc {
		stop, end, esc = ^stop, ^end, ^esc
	}
	for {
		i := bytes.IndexByte(b, stop)
		if i < 0 || i+1 >= len(b) {
			return nil, ErrMalformed
		}
		next := b[i+1]
		b = b[i+2:]
		switch next {
		case end:
			return b, nil
		case esc:
		default:
			return nil, ErrMalformed
		}
	}
}

// PrefixEnd is the least key after all keys that start with prefix, in new
// memory; nil if no key is, because the prefix is empty or all FF.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := append(make([]byte, 0, i+1), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// ToPrefixEnd is PrefixEnd in the memory of the prefix.
func ToPrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			prefix[i]++
			return prefix[:i+1]
		}
	}
	return nil
}
