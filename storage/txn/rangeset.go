package txn

import (
	"bytes"
	"slices"

	"github.com/sqlots/sqlots/storage"
)

// rangeSet is a set of keys, as ranges.
type rangeSet struct {
	list []lockedRange // ascending, disjoint
}

// lockedRange is a span that a transaction holds.
type lockedRange struct {
	storage.Span
	// wide: it has keys that were not asked for, so that others may have written them
	// before.
	wide bool
}

func contains(s storage.Span, key []byte) bool {
	return bytes.Compare(s.Start, key) <= 0 && (s.End == nil || bytes.Compare(key, s.End) < 0)
}

// compareEnds compares ends of spans, of which nil is the last.
func compareEnds(a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return bytes.Compare(a, b)
}

// from is the first range that ends after key.
func (r *rangeSet) from(key []byte) int {
	n := len(r.list)
	if n > 0 && r.list[n-1].End != nil && bytes.Compare(r.list[n-1].End, key) <= 0 {
		return n // ascending ranges are the common case
	}
	i, _ := slices.BinarySearchFunc(r.list, key, func(h lockedRange, key []byte) int {
		if h.End != nil && bytes.Compare(h.End, key) <= 0 {
			return -1
		}
		return 1
	})
	return i
}

func (r *rangeSet) holds(key []byte) bool {
	i := r.from(key)
	return i < len(r.list) && contains(r.list[i].Span, key)
}

// covers reports whether the span was locked before, as it was asked for.
func (r *rangeSet) covers(s storage.Span) bool {
	i := r.from(s.Start)
	if i == len(r.list) {
		return false
	}
	h := &r.list[i]
	return !h.wide && bytes.Compare(h.Start, s.Start) <= 0 && compareEnds(h.End, s.End) >= 0
}

// add holds a span, as one with those that it meets.
func (r *rangeSet) add(s storage.Span) {
	if r.covers(s) {
		return
	}
	i := r.from(s.Start)
	if i > 0 && bytes.Equal(r.list[i-1].End, s.Start) {
		i-- // it continues the one before
	}
	j, wide := i, false
	for j < len(r.list) && (s.End == nil || bytes.Compare(r.list[j].Start, s.End) <= 0) {
		wide = wide || r.list[j].wide
		j++
	}
	sum := lockedRange{Span: s, wide: wide}
	if i < j {
		if bytes.Compare(r.list[i].Start, s.Start) < 0 {
			sum.Start = r.list[i].Start
		}
		if compareEnds(r.list[j-1].End, s.End) > 0 {
			sum.End = r.list[j-1].End
		}
	}
	r.list = slices.Replace(r.list, i, j, sum)
}

// maxRanges is how many ranges a set has before neighbours become one.
const maxRanges = 1024

// bound makes the ranges of a large set fewer.
func (r *rangeSet) bound() {
	for len(r.list) > maxRanges {
		r.widen()
	}
}

// widen makes the ranges half as many, or fewer, where neighbours have the longest
// common prefixes.
func (r *rangeSet) widen() {
	common := make([]int, len(r.list)-1)
	for i := range common {
		common[i] = commonPrefix(r.list[i].Start, r.list[i+1].Start)
	}
	least := slices.Sorted(slices.Values(common))[len(common)/2]
	out := r.list[:1]
	for i, h := range r.list[1:] {
		last := &out[len(out)-1]
		if common[i] < least {
			out = append(out, h)
			continue
		}
		last.End, last.wide = h.End, true
	}
	clear(r.list[len(out):])
	r.list = out
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
