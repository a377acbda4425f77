package pebblekv

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// heads are the first eight bytes of sorted keys behind what all of them begin
// with, as numbers, with zeros behind short keys: a binary search in them
// reads one cache line a step, and the last three steps share one.
type heads struct {
	prefix []byte
	of     []uint64
}

// newHeads takes n sorted keys, at least one.
func newHeads(n int, key func(int) []byte) heads {
	first, last := key(0), key(n-1)
	same := 0
	for same < min(len(first), len(last)) && first[same] == last[same] {
		same++
	}
	h := heads{prefix: first[:same:same], of: make([]uint64, n)}
	for i := range h.of {
		h.of[i] = head(key(i)[same:])
	}
	return h
}

func head(rest []byte) uint64 {
	if len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest)
	}
	var b [8]byte
	copy(b[:], rest)
	return binary.BigEndian.Uint64(b[:])
}

// seek is the number of keys < k; at tells a key where heads do not decide.
func (h *heads) seek(k []byte, at func(int) []byte) int {
	lo, hi := h.within(k)
	// Between lo and hi the heads are equal.
	return lo + sort.Search(hi-lo, func(i int) bool { return bytes.Compare(at(lo+i), k) >= 0 })
}

// within are the keys whose heads are that of k; those before are less than k
// and those behind are greater.
func (h *heads) within(k []byte) (lo, hi int) {
	n := len(h.prefix)
	if len(k) < n || !bytes.Equal(k[:n], h.prefix) {
		if bytes.Compare(k, h.prefix) <= 0 {
			return 0, 0
		}
		return len(h.of), len(h.of)
	}
	want := head(k[n:])
	lo = h.search(0, want)
	hi = lo
	for step := 1; hi < len(h.of) && h.of[hi] == want; step *= 2 {
		if next := hi + step; next < len(h.of) && h.of[next] == want {
			hi = next
			continue
		}
		if step == 1 {
			hi++
			break
		}
		if want == 1<<64-1 {
			return lo, len(h.of)
		}
		return lo, h.search(hi+1, want+1)
	}
	return lo, hi
}

// search is the first place from lo on whose head is >= want.
func (h *heads) search(lo int, want uint64) int {
	n := len(h.of) - lo
	of := h.of[lo:]
	base := 0
	for n > 1 {
		half := n / 2
		if of[base+half-1] < want {
			base += half
		}
		n -= half
	}
	if n == 1 && of[base] < want {
		base++
	}
	return lo + base
}
