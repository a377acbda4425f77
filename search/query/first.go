package query

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/search/seg"
)

// Order is a field by which documents are ordered: NULL before all values, or
// behind them with Desc.
type Order struct {
	Field Field
	Desc  bool
}

// First leaves out documents that are not among the first n in an order. Those
// that stay may be more: n of each segment, and all that are equal to the last of
// them.
func First(hits []Hits, order []Order, n int) error {
	for i := range hits {
		if err := hits[i].first(order, n); err != nil {
			return err
		}
	}
	return nil
}

// first finds the documents before the last of the first n by the first field;
// of those equal to it, the first by the other fields.
func (h *Hits) first(order []Order, n int) error {
	if n >= h.Count || len(order) == 0 {
		return nil
	}
	if n <= 0 {
		clear(h.Set)
		h.Count = 0
		return nil
	}
	o := order[0]
	col, err := open(h.Seg, o.Field.ID)
	if err != nil {
		return err
	}
	col.zeros = o.Field.Zeros
	nulls := 0
	for i, w := range h.Set {
		nulls += bits.OnesCount64(w & col.nullWord(i))
	}
	before := &Hits{Seg: h.Seg, Set: make([]uint64, len(h.Set))} // what stays for sure
	equal := &Hits{Seg: h.Seg, Set: make([]uint64, len(h.Set))}  // of which some stay
	switch {
	case !o.Desc && nulls >= n, o.Desc && h.Count-nulls < n: // the last is NULL
		for i, w := range h.Set {
			equal.Set[i] = w & col.nullWord(i)
			before.Set[i] = w &^ equal.Set[i]
			if !o.Desc {
				before.Set[i] = 0
			}
		}
	default:
		want := n
		if !o.Desc {
			want -= nulls
			for i, w := range h.Set {
				before.Set[i] = w & col.nullWord(i)
			}
		}
		last := h.nth(col, o.Desc, want)
		h.around(col, last, o.Desc, before.Set, equal.Set)
	}
	before.Count, equal.Count = countBits(before.Set), countBits(equal.Set)
	if err := equal.first(order[1:], n-before.Count); err != nil {
		return err
	}
	for i, w := range equal.Set {
		h.Set[i] = before.Set[i] | w
	}
	h.Count = before.Count + equal.Count
	return nil
}

// around adds the documents whose value comes before last, and those that have it.
func (h *Hits) around(col *column, last int64, desc bool, before, equal []uint64) {
	flip := flipOf(desc)
	last ^= flip
	var b block
	_ = h.each(&b, func() error {
		for i, v := range b.numbers(col) {
			if v ^= flip; v > last {
				continue
			}
			d := b.doc(i)
			bit := uint64(1) << (d & 63) &^ col.nullWord(int(d>>6))
			if v == last {
				equal[d>>6] |= bit
			} else {
				before[d>>6] |= bit
			}
		}
		return nil
	})
}

// flipOf gives numbers, by XOR, the other order for desc.
func flipOf(desc bool) int64 {
	if desc {
		return -1
	}
	return 0
}

// nth is the n-th value in order; there are so many.
func (h *Hits) nth(col *column, desc bool, n int) int64 {
	flip := flipOf(desc)
	list := make([]int64, 0, min(2*n+blockDocs, h.Count))
	worst := int64(math.MaxInt64)
	var b block
	_ = h.each(&b, func() error {
		for i, v := range b.numbers(col) {
			if v ^= flip; v > worst {
				continue
			}
			if col.nulls != nil {
				if d := b.doc(i); col.nulls[d>>6]>>(d&63)&1 != 0 {
					continue
				}
			}
			if len(list) == cap(list) {
				selectNth(list, n-1)
				// Others are needed only where they come before the last of these.
				worst, list = max(list[n-1], math.MinInt64+1)-1, list[:n]
				if v > worst {
					continue
				}
			}
			list = append(list, v)
		}
		return nil
	})
	selectNth(list, n-1)
	return list[n-1] ^ flip
}

// selectNth puts the element of place n of the ascending order there, smaller
// ones before and greater ones behind it.
func selectNth(v []int64, n int) {
	for len(v) > 12 {
		a, b, c := v[0], v[len(v)/2], v[len(v)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		lo, hi := 0, len(v)-1
		for lo <= hi {
			for v[lo] < pivot {
				lo++
			}
			for v[hi] > pivot {
				hi--
			}
			if lo <= hi {
				v[lo], v[hi] = v[hi], v[lo]
				lo++
				hi--
			}
		}
		switch {
		case n <= hi:
			v = v[:hi+1]
		case n >= lo:
			v, n = v[lo:], n-lo
		default:
			return
		}
	}
	slices.Sort(v)
}

// column is a field as numbers that order as its values do.
type column struct {
	words *seg.Words
	keys  *seg.Keys
	nulls []uint64
	all   bool
	zeros bool // -1 is 0
}

func open(s *seg.Segment, id seg.FieldID) (*column, error) {
	c := &column{}
	if s.FieldKind(id) == seg.KindWord {
		w, err := s.Words(id)
		if err != nil {
			return nil, err
		}
		c.words, c.nulls, c.all = w, w.Nulls(), w.AllNull()
		return c, nil
	}
	k, err := s.Keys(id)
	if err != nil {
		return nil, err
	}
	c.keys, c.nulls, c.all = k, k.Nulls(), k.AllNull()
	return c, nil
}

// nullWord is a word of the set of documents without a value.
func (c *column) nullWord(i int) uint64 {
	switch {
	case c.all:
		return ^uint64(0)
	case c.nulls == nil:
		return 0
	}
	return c.nulls[i]
}

// numbers are the values of a block as numbers that order as they do, undefined
// where there is none: words, or classes of keys.
func (b *block) numbers(c *column) []int64 {
	if c.all {
		return b.vals[:b.n]
	}
	if c.words != nil {
		vals := b.words(c)
		if c.zeros {
			for i, v := range vals {
				if v == -1 {
					vals[i] = 0
				}
			}
		}
		return vals
	}
	vals := b.ordinals(c)
	b.read = nil // they are no ordinals any more
	class, upTo, is := uint32(0), uint32(0), int64(0)
	for i, v := range vals {
		o := uint32(v)
		if o < class || o >= upTo {
			n := c.keys.ClassOf(o)
			class, upTo = c.keys.ClassOrdinals(n)
			is = int64(n)
		}
		vals[i] = is
	}
	return vals
}
