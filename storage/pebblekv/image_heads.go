package pebblekv

import (
	"bytes"
	"sort"
)

// heads are eight bytes of each of sorted keys, as numbers: those at the first places
// at which the keys differ, padded with zeros for short keys. A binary search in them
// reads one cache line a step, and the last three steps share one.
//
// Bytes that all keys share are left out, also between places, as keys of
// several numbers have them: the heads of the messages of one queue differ.
type heads struct {
	same   []byte // the first key, up to the last place; its bytes at places do not count
	prefix int    // bytes before the first place
	places []int32
	of     []uint64
}

// headWindow is how many bytes after the common beginning are looked at.
const headWindow = 32

// newHeads takes n sorted keys, at least one.
func newHeads(n int, key func(int) []byte) heads {
	first, last := key(0), key(n-1)
	same := 0
	for same < min(len(first), len(last)) && first[same] == last[same] {
		same++
	}
	h := heads{prefix: same, of: make([]uint64, n)}
	var differ [headWindow]byte
	shared := len(first) // what all keys have
	for i := range n {
		k := key(i)
		shared = min(shared, len(k))
		for j := range min(headWindow, shared-same) {
			differ[j] |= k[same+j] ^ first[same+j]
		}
	}
	end := same
	for j := range headWindow {
		if p := same + j; len(h.places) < 8 && (p >= shared || differ[j] != 0) {
			h.places = append(h.places, int32(p))
			end = min(p+1, len(first))
		}
	}
	h.same = first[:end:end]
	for i := range h.of {
		h.of[i] = h.head(key(i))
	}
	return h
}

// head is the number of one of the keys.
func (h *heads) head(k []byte) (head uint64) {
	for i, p := range h.places {
		if int(p) >= len(k) {
			break // zeros
		}
		head |= uint64(k[p]) << (56 - 8*i)
	}
	return head
}

// headOf is the number of any key. side is 0 when k has what all keys have between the
// places; otherwise k sorts before (-1) or after (1) all keys of this number.
func (h *heads) headOf(k []byte) (head uint64, side int) {
	at := int32(h.prefix)
	for i, p := range h.places {
		for ; at < p; at++ {
			switch {
			case int(at) >= len(k) || k[at] < h.same[at]:
				return head, -1
			case k[at] > h.same[at]:
				return head | (1<<(64-8*i) - 1), 1
			}
		}
		at = p + 1
		if int(p) < len(k) {
			head |= uint64(k[p]) << (56 - 8*i)
		}
	}
	return head, 0
}

// seek is the number of keys < k; at returns a key where heads do not decide. k is one
// of the keys only if decided is false.
func (h *heads) seek(k []byte, at func(int) []byte) (n int, decided bool) {
	lo, hi := h.within(k)
	if lo == hi {
		return lo, true
	}
	// Between lo and hi the heads are equal.
	return lo + sort.Search(hi-lo, func(i int) bool { return bytes.Compare(at(lo+i), k) >= 0 }), false
}

// within are the keys whose heads are that of k; those before are less than k and those
// after are greater.
func (h *heads) within(k []byte) (lo, hi int) {
	prefix := h.same[:h.prefix]
	if !bytes.HasPrefix(k, prefix) {
		if bytes.Compare(k, prefix) <= 0 {
			return 0, 0
		}
		return len(h.of), len(h.of)
	}
	want, side := h.headOf(k)
	if side > 0 {
		if want == 1<<64-1 {
			return len(h.of), len(h.of)
		}
		want++
	}
	lo = h.search(0, want)
	if side != 0 {
		return lo, lo
	}
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
