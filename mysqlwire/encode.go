package mysqlwire

import "encoding/binary"

// Integers of the protocol are little-endian; a length-encoded integer is
//
//	00..fa              itself
//	fc  2 bytes         up to 2^16-1
//	fd  3 bytes         up to 2^24-1
//	fe  8 bytes         up to 2^64-1
//	fb                  NULL, in rows

func appendLenEnc(dst []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
}

func appendLenEncString(dst []byte, s string) []byte {
	return append(appendLenEnc(dst, uint64(len(s))), s...)
}

func appendLenEncBytes(dst, s []byte) []byte {
	return append(appendLenEnc(dst, uint64(len(s))), s...)
}

// closeLenEnc turns the byte at p and all that follows it into a
// length-encoded string: the byte is the place that was kept for its length.
func closeLenEnc(dst []byte, p int) []byte {
	n := len(dst) - p - 1
	if n < 251 {
		dst[p] = byte(n)
		return dst
	}
	var head [9]byte
	h := appendLenEnc(head[:0], uint64(n))
	dst = append(dst, h[1:]...) // room
	copy(dst[p+len(h):], dst[p+1:p+1+n])
	copy(dst[p:], h)
	return dst
}

func appendUint16(dst []byte, v uint16) []byte { return append(dst, byte(v), byte(v>>8)) }

func appendUint32(dst []byte, v uint32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

const digitPairs = "0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// appendTextUint appends v as a length-encoded decimal string.
func appendTextUint(dst []byte, v uint64, negative bool) []byte {
	if v < 10 && !negative {
		return append(dst, 1, '0'+byte(v))
	}
	var b [21]byte
	i := len(b)
	for v >= 100 {
		q := v / 100
		r := (v - q*100) * 2
		i -= 2
		b[i+1], b[i] = digitPairs[r+1], digitPairs[r]
		v = q
	}
	if v >= 10 {
		i -= 2
		b[i+1], b[i] = digitPairs[v*2+1], digitPairs[v*2]
	} else {
		i--
		b[i] = '0' + byte(v)
	}
	if negative {
		i--
		b[i] = '-'
	}
	dst = append(dst, byte(len(b)-i))
	return append(dst, b[i:]...)
}

func appendTextInt(dst []byte, v int64) []byte {
	if v < 0 {
		return appendTextUint(dst, -uint64(v), true)
	}
	return appendTextUint(dst, uint64(v), false)
}
