package query

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/search/seg"
)

// Order is one part of an order of documents: a field, a ranking or the ids. NULL
// comes before all values, or after them with Desc.
type Order struct {
	Field Field
	// By computes what they are ordered by; nil for a field.
	By Ranking
	// ByID orders by the ids of documents, descending with Desc. It is the last
	// part of an order.
	ByID bool
	Desc bool
	// Workers is the most goroutines that compute By, which Stop ends, see Match.
	Workers int
	Stop    Stop
}

// firstFrom is from how many documents on it pays to look for the first of them.
const firstFrom = 256

// First leaves out documents that are not among the first n in an order. Those
// that stay may be more: all of few, all that are equal to the last of them, and of an
// order by keys, n of each segment.
func First(hits []Hits, order []Order, n int) error {
	total := 0
	for i := range hits {
		total += hits[i].Count
	}
	if total < firstFrom {
		return nil
	}
	for _, part := range comparableParts(hits, order) {
		before, equal, err := split(part, order, n)
		if err != nil {
			return err
		}
		for i := range before {
			for j, w := range before[i].Set {
				part[i].Set[j] = w | equal[i].Set[j]
			}
			part[i].Count = countBits(part[i].Set)
		}
	}
	return nil
}

// Skip leaves out documents that are among the first n in an order, not always all
// of them, and returns how many.
func Skip(hits []Hits, order []Order, n int) (int, error) {
	if n < 1 || len(order) == 0 || len(comparableParts(hits, order)) != 1 {
		return 0, nil
	}
	before, _, err := split(hits, order, n)
	if err != nil {
		return 0, err
	}
	skipped := 0
	for i := range before {
		count := before[i].Count
		for j, w := range before[i].Set {
			hits[i].Set[j] &^= w
		}
		hits[i].Count -= count
		skipped += count
	}
	return skipped, nil
}

// comparableParts cuts hits into parts in which the numbers of the order's fields
// can be compared: those of keys are of one segment.
func comparableParts(hits []Hits, order []Order) [][]Hits {
	if len(hits) < 2 {
		return [][]Hits{hits}
	}
	for _, o := range order {
		if o.By != nil || o.ByID || hits[0].Seg.FieldKind(o.Field.ID) == seg.KindWord {
			continue
		}
		var parts [][]Hits
		for i := range hits {
			parts = append(parts, hits[i:i+1])
		}
		return parts
	}
	return [][]Hits{hits}
}

// split finds the last of the first n documents in an order: those that come
// before it for sure, and those of which it is one and that are equal.
func split(hits []Hits, order []Order, n int) (before, equal []Hits, err error) {
	total, nulls := 0, 0
	before, equal = make([]Hits, len(hits)), make([]Hits, len(hits))
	for i := range hits {
		total += hits[i].Count
		if before[i], equal[i] = hits[i], hits[i]; hits[i].Count > 0 { // else they are empty
			before[i] = Hits{Seg: hits[i].Seg, Set: make([]uint64, len(hits[i].Set))}
			equal[i] = Hits{Seg: hits[i].Seg, Set: make([]uint64, len(hits[i].Set))}
		}
	}
	switch {
	case n <= 0:
		return before, equal, nil
	case n >= total:
		return hits, equal, nil
	case len(order) == 0:
		return before, hits, nil
	}
	o := order[0]
	if o.ByID {
		firstByID(hits, before, n, o.Desc)
		return before, equal, nil
	}
	if o.By != nil {
		if before, equal, err = rank(hits, o, n); err != nil {
			return nil, nil, err
		}
		return splitEqual(before, equal, order[1:], n)
	}
	cols := make([]*column, len(hits))
	for i := range hits {
		if cols[i], err = open(hits[i].Seg, o.Field.ID); err != nil {
			return nil, nil, err
		}
		cols[i].zeros = o.Field.Zeros
		for j, w := range hits[i].Set {
			nulls += bits.OnesCount64(w & cols[i].nullWord(j))
		}
	}
	atNull := !o.Desc && nulls >= n || o.Desc && total-nulls < n // the last is NULL
	last := int64(0)
	var list []walked
	isWalked := false
	if want := n; !atNull {
		if !o.Desc {
			want -= nulls
		}
		if list, isWalked = walk(hits, cols, o.Desc, want); isWalked {
			last = lastOf(list, want)
			for _, d := range list {
				switch bit := uint64(1) << (d.doc & 63); {
				case d.val < last:
					before[d.hits].Set[d.doc>>6] |= bit
				case d.val == last:
					equal[d.hits].Set[d.doc>>6] |= bit
				}
			}
		} else {
			last = nth(hits, cols, o.Desc, want)
		}
	}
	for i := range hits {
		h, col := &hits[i], cols[i]
		for j, w := range h.Set {
			null := w & col.nullWord(j)
			switch {
			case atNull && o.Desc:
				before[i].Set[j], equal[i].Set[j] = w&^null, null
			case atNull:
				equal[i].Set[j] = null
			case !o.Desc:
				before[i].Set[j] |= null
			}
		}
		if !atNull && !isWalked {
			h.around(col, last, o.Desc, before[i].Set, equal[i].Set)
		}
		before[i].Count, equal[i].Count = countBits(before[i].Set), countBits(equal[i].Set)
	}
	return splitEqual(before, equal, order[1:], n)
}

// splitEqual splits the documents that are equal by the rest of an order, for those
// of the first n that are not before them.
func splitEqual(before, equal []Hits, order []Order, n int) (_, _ []Hits, err error) {
	for i := range before {
		n -= before[i].Count
	}
	more, equal, err := split(equal, order, n)
	if err != nil {
		return nil, nil, err
	}
	for i := range more {
		for j, w := range more[i].Set {
			before[i].Set[j] |= w
		}
		before[i].Count += more[i].Count
	}
	return before, equal, nil
}

// around adds the documents whose value comes before last, and those that have it.
func (h *Hits) around(col *column, last int64, desc bool, before, equal []uint64) {
	flip := flipOf(desc)
	if last ^= flip; col.all {
		return
	}
	var b block
	_ = h.each(&b, func() error {
		b.keepUpTo(col, last, flip)
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
func nth(hits []Hits, cols []*column, desc bool, n int) int64 {
	flip := flipOf(desc)
	total := 0
	for i := range hits {
		total += hits[i].Count
	}
	list := make([]int64, 0, min(2*n+blockDocs, total))
	worst := int64(math.MaxInt64)
	var b block
	var col *column
	add := func() error {
		b.keepUpTo(col, worst, flip)
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
	}
	for i := range hits {
		if col = cols[i]; !col.all {
			_ = hits[i].each(&b, add)
		}
	}
	selectNth(list, n-1)
	return list[n-1] ^ flip
}

// keepUpTo leaves those documents of a run of a whole block whose values, in the order
// of flip, may be up to most: found by comparing what is packed.
func (b *block) keepUpTo(col *column, most, flip int64) {
	if b.docs != nil || b.n != seg.BlockDocs || b.from%seg.BlockDocs != 0 || most == math.MaxInt64 || col.all || col.words == nil || col.zeros || col.words.Multi() {
		return
	}
	lo, hi := int64(math.MinInt64), most
	if flip != 0 {
		lo, hi = most^flip, math.MaxInt64
	}
	var set [seg.BlockDocs / 64]uint64
	col.words.BlockBetween(b.from, lo, hi, set[:])
	b.some = b.some[:0]
	for i, w := range set {
		if w != 0 {
			b.some = appendDocs(b.some, int(b.from>>6)+i, w)
		}
	}
	b.docs, b.n, b.read = b.some, len(b.some), nil
	if b.docs == nil {
		b.docs = noDocs
	}
}

// noDocs is a list without documents, which is not a run.
var noDocs = []uint32{}

// selectNth moves the nth element of the ascending order to place n, smaller ones
// before it and greater ones after it.
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

// numbers are the values of a block as numbers that order alike: words, or classes of
// keys. They are undefined for NULL.
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
