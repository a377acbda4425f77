package seg

import "math/bits"

// Bitsets are slices of words, the bit of document n is bit n%64 of word n/64;
// bits past the last document are zero.

// BitWords is the length of a bitset of n documents.
func BitWords(n int) int { return (n + 63) / 64 }

// onesInto sets the first n bits.
func onesInto(b []uint64, n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] >>= 64 - n%64
	}
}

func hasBit(b []uint64, i uint32) bool { return b[i>>6]>>(i&63)&1 != 0 }

func setBit(b []uint64, i uint32) { b[i>>6] |= 1 << (i & 63) }

func countBits(b []uint64) int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// prevBit is the last set bit at or before i.
func prevBit(b []uint64, i uint32) (uint32, bool) {
	w := int(i >> 6)
	v := b[w] << (63 - i&63) >> (63 - i&63)
	for v == 0 {
		if w--; w < 0 {
			return 0, false
		}
		v = b[w]
	}
	return uint32(w<<6 + 63 - bits.LeadingZeros64(v)), true
}

// nextBit is the first set bit at or after i, or n.
func nextBit(b []uint64, i uint32, n int) uint32 {
	if int(i) >= n {
		return uint32(n)
	}
	w := int(i >> 6)
	v := b[w] >> (i & 63) << (i & 63)
	for v == 0 {
		if w++; w == len(b) {
			return uint32(n)
		}
		v = b[w]
	}
	return uint32(w<<6 + bits.TrailingZeros64(v))
}
