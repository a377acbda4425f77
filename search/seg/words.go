package seg

import (
	"fmt"
	"math"
	"slices"
)

// column is what the fields of all kinds have: which documents are NULL and,
// of arrays, where the values of each begin.
type column struct {
	docs  int
	nulls []uint64 // nil when no document is NULL
	empty bool     // every document is NULL
	// absent: the file does not have the field.
	absent bool
	multi  bool
	offs   packed
}

func (c *column) open(f *file, id FieldID, k Kind) error {
	c.docs = f.docs
	s, err := f.section(id, partNulls)
	if err != nil {
		return err
	}
	if s != nil {
		if s.kind != k {
			return fmt.Errorf("field %d is a %s, not a %s", id, s.kind, k)
		}
		c.nulls = view[uint64](s.data)
		c.empty = s.params[0] == int64(f.docs)
	}
	o, err := f.section(id, partOffsets)
	if err != nil {
		return err
	}
	if o != nil {
		c.multi, c.offs = true, asPacked(o)
	}
	return nil
}

// missing makes the column of a field that the file does not have.
func (c *column) missing(docs int) {
	c.docs, c.empty, c.absent = docs, true, c.nulls == nil
	c.nulls = make([]uint64, BitWords(docs))
	onesInto(c.nulls, docs)
}

// filled makes the column one of which each document has a value; false where the file
// has the field.
func (c *column) filled(v *Value) bool {
	if v == nil || !c.absent {
		return false
	}
	c.nulls, c.empty = nil, false
	return true
}

// Docs is the number of documents, deleted ones included.
func (c *column) Docs() int { return c.docs }

// Nulls is the bitset of the documents without a value; nil when all have one.
func (c *column) Nulls() []uint64 { return c.nulls }

// IsNull reports whether the document has no value.
func (c *column) IsNull(doc uint32) bool { return c.nulls != nil && hasBit(c.nulls, doc) }

// AllNull reports whether no document has a value.
func (c *column) AllNull() bool { return c.empty }

// Multi reports whether documents have arrays.
func (c *column) Multi() bool { return c.multi }

// Span gives the places of a document's values in the flat list of an array
// field, in their order.
func (c *column) Span(doc uint32) (from, to int) {
	if c.empty {
		return 0, 0
	}
	if !c.multi {
		return int(doc), int(doc) + 1
	}
	return int(c.offs.get(int(doc))), int(c.offs.get(int(doc) + 1))
}

// Words is a Word field of a segment. It may be used concurrently. Slices of
// values that it returns are valid until the snapshot is closed.
type Words struct {
	column
	vals   packed
	perm   perm
	sorted bool
}

func openWords(f *file, id FieldID, kind Kind) (*Words, error) {
	w := &Words{}
	if err := w.open(f, id, kind); err != nil {
		return nil, err
	}
	v, err := f.section(id, partValues)
	if err != nil {
		return nil, err
	}
	if v == nil {
		w.missing(f.docs)
		return w, nil
	}
	if v.kind != kind {
		return nil, fmt.Errorf("field %d is a %s, not a %s", id, v.kind, kind)
	}
	w.vals = asPacked(v)
	p, err := f.section(id, partPerm)
	if err != nil {
		return nil, err
	}
	if p != nil {
		w.perm, w.sorted = asPerm(p), true
	}
	return w, nil
}

// fill gives all documents a value if the file does not have the field.
func (w *Words) fill(v *Value) {
	if w.filled(v) {
		w.vals = constant(v.Word, w.docs)
	}
}

// Gather decodes the values of the documents of a field without arrays. What
// it gives for a NULL is undefined. Documents in ascending order are faster.
func (w *Words) Gather(docs []uint32, out []int64) {
	if w.empty {
		return
	}
	w.vals.gather(docs, out)
}

// Histogram adds one for each document of a set, which begins with document from, a
// multiple of BlockDocs, to the number of its value less base. Each has a value. Of a field
// without arrays.
func (w *Words) Histogram(set []uint64, from int, base int64, counts []int64) {
	if !w.empty {
		w.vals.histogram(set, from, base, counts)
	}
}

// Get is the value of one document.
func (w *Words) Get(doc uint32) (int64, bool) {
	if w.IsNull(doc) {
		return 0, false
	}
	return w.vals.get(int(doc)), true
}

// Block decodes values in their order: from place (of a field without arrays:
// document) from on, as many as come cheaply and out takes. It returns how
// many, 0 at the end.
func (w *Words) Block(from int, out []int64) int {
	if from >= w.Values() || len(out) == 0 {
		return 0
	}
	return w.vals.block(from, out)
}

// Values is the number of values of all documents; of a field without arrays,
// the number of documents.
func (w *Words) Values() int {
	if w.empty {
		return 0
	}
	return w.vals.n
}

// Array appends the values of one document.
func (w *Words) Array(doc uint32, out []int64) []int64 {
	from, to := w.Span(doc)
	if w.IsNull(doc) {
		return out
	}
	n := len(out)
	out = slices.Grow(out, to-from)[:n+to-from]
	for i := from; i < to; {
		i += w.vals.block(i, out[n+i-from:])
	}
	return out
}

// Bounds gives the smallest and the largest value, including those of deleted
// documents and those that represent NULL: no value is outside.
func (w *Words) Bounds() (lo, hi int64, ok bool) {
	if w.empty || w.vals.n == 0 {
		return 0, 0, false
	}
	lo, hi = math.MaxInt64, math.MinInt64
	for i := 0; i < len(w.vals.minmx); i += 2 {
		lo, hi = min(lo, w.vals.minmx[i]), max(hi, w.vals.minmx[i+1])
	}
	return lo, hi, true
}

// Sorted is the number of entries of the permutation: the documents that are
// not NULL in the order of their values, of arrays one entry a value. It is 0
// when the field has none.
func (w *Words) Sorted() int { return w.perm.n }

// SortedDocs appends the documents at places from to to of the permutation.
// Documents of equal values ascend.
func (w *Words) SortedDocs(from, to int, out []uint32) []uint32 {
	n := len(out)
	out = w.perm.list(from, to, out)
	if w.multi {
		for i := n; i < len(out); i++ {
			out[i] = w.docOf(int(out[i]))
		}
	}
	return out
}

// HasPerm reports whether the field has a permutation.
func (w *Words) HasPerm() bool { return w.sorted || w.empty }

// find is the first place of the permutation whose value is not below v.
func (w *Words) find(v int64) int {
	lo, hi := 0, w.perm.n
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if w.sortedValue(m) < v {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// sortedValue is the value at a place of the permutation, which lists places
// of values.
func (w *Words) sortedValue(i int) int64 { return w.vals.get(int(w.perm.at(i))) }

// Range gives the places of the permutation with values from lo to hi, both
// included. The field must have a permutation.
func (w *Words) Range(lo, hi int64) (from, to int) {
	if lo > hi || w.perm.n == 0 {
		return 0, 0
	}
	from = w.find(lo)
	to = w.perm.n
	if hi != math.MaxInt64 {
		to = w.find(hi + 1)
	}
	return from, to
}

// RangeCount is the number of values from lo to hi, deleted documents
// included: exact in microseconds with a permutation, otherwise -1.
func (w *Words) RangeCount(lo, hi int64) int {
	if w.empty {
		return 0
	}
	if !w.sorted {
		return -1
	}
	from, to := w.Range(lo, hi)
	return to - from
}

// Scans reports that RangeInto reads all values.
func (w *Words) Scans(lo, hi int64) bool {
	if w.empty || lo > hi {
		return false
	}
	if !w.sorted {
		return true
	}
	from, to := w.Range(lo, hi)
	return (to-from)*permFactor >= w.vals.n
}

// RangeInto adds to the bitset the documents that have a value from lo to hi,
// both included; a NULL has none. Deleted documents are not left out.
func (w *Words) RangeInto(lo, hi int64, set []uint64) {
	if w.empty || lo > hi {
		return
	}
	if w.sorted {
		if from, to := w.Range(lo, hi); (to-from)*permFactor < w.vals.n {
			if !w.multi {
				w.perm.into(from, to, set)
				return
			}
			for i := from; i < to; i++ {
				setBit(set, w.docOf(int(w.perm.at(i))))
			}
			return
		}
	}
	if !w.multi {
		w.vals.between(lo, hi, set, w.nulls)
		return
	}
	hits := make([]uint64, BitWords(w.vals.n))
	w.vals.between(lo, hi, hits, nil)
	w.spread(hits, set)
}

// ScanInto is RangeInto by the values of the documents from one up to another, both of
// which are multiples of BlockDocs, or the last is Docs. It may run for different parts
// at the same time. Of a field without arrays.
func (w *Words) ScanInto(lo, hi int64, from, to int, set []uint64) {
	if !w.empty {
		w.vals.betweenSome(lo, hi, from, to, set, w.nulls)
	}
}

// BlockBetween adds to a bitset the documents from one on, a multiple of BlockDocs,
// whose values are from lo to hi, both included: at most BlockDocs. The bitset begins
// with the first of them. Of a field without arrays; a NULL has any value.
func (w *Words) BlockBetween(from uint32, lo, hi int64, set []uint64) {
	if !w.empty {
		w.vals.betweenBlocks(lo, hi, int(from), min(int(from)+blockLen, w.vals.n), set)
	}
}

// BlockBounds are the smallest and the largest value of BlockDocs documents from one on,
// a multiple of that, deleted ones included. Of a field without arrays and NULLs that has
// values.
func (w *Words) BlockBounds(from uint32) (lo, hi int64) {
	b := from / blockLen
	return w.vals.minmx[2*b], w.vals.minmx[2*b+1]
}

// BlockSum is the sum of the values of these documents, each less base, modulo 2^64.
func (w *Words) BlockSum(from uint32, base int64) uint64 {
	return w.vals.sum(int(from/blockLen), base)
}

// BlockDocs is the number of documents whose values are packed together.
const BlockDocs = blockLen

// permFactor is how many values the scan tests in the time that the
// permutation takes for one.
const permFactor = 4

// docOf is the document of a place in the flat list of an array field.
func (c *column) docOf(place int) uint32 {
	lo, hi := 0, c.docs // the last document that begins at or before place
	for lo < hi {
		m := int(uint(lo+hi+1) >> 1)
		if m < c.docs && int(c.offs.get(m)) <= place {
			lo = m
		} else {
			hi = m - 1
		}
	}
	return uint32(lo)
}

// spread adds the documents of which a value's bit is set.
func (c *column) spread(hits, set []uint64) {
	n := len(hits) * 64
	var offs [blockLen]int64
	for base := 0; base < c.docs; base += blockLen {
		k := c.offs.block(base, offs[:])
		end := c.offs.get(min(base+k, c.docs))
		if k > c.docs-base {
			k = c.docs - base
		}
		for i := range k {
			to := end
			if i+1 < k {
				to = offs[i+1]
			}
			if from := offs[i]; from < to && int64(nextBit(hits, uint32(from), n)) < to {
				setBit(set, uint32(base+i))
			}
		}
	}
}

// wordData is a Word field before it is written: of a field without arrays one
// value a document, those of NULL documents undefined.
type wordData struct {
	vals  []int64
	nulls []uint64
	// ends of each document's values, of arrays
	ends []uint32
}

// write writes the field's sections.
func (d *wordData) write(w *fileWriter, f Field, docs int) {
	nulls, all := writeNulls(w, f, d.nulls, docs)
	if all {
		return
	}
	if !f.Multi {
		fillNulls(d.vals, nulls)
	} else {
		writeOffsets(w, f, d.ends)
	}
	params, data := packInts(d.vals)
	if f.Kind == KindText {
		for i, v := range d.vals {
			if nulls == nil || !hasBit(nulls, uint32(i)) {
				params[2] += v
				params[3]++
			}
		}
	}
	w.section(f.ID, f.Kind, partValues, params, data)
	if f.Unsorted || f.Kind != KindWord {
		return
	}
	places := make([]uint32, 0, len(d.vals))
	for i := range uint32(len(d.vals)) {
		if f.Multi || nulls == nil || !hasBit(nulls, i) {
			places = append(places, i)
		}
	}
	params, data = packPerm(sortDocs(d.vals, places), len(d.vals))
	w.section(f.ID, f.Kind, partPerm, params, data)
}

// writeNulls writes the bitset if it has NULLs, and reports whether all documents are
// NULL.
func writeNulls(w *fileWriter, f Field, nulls []uint64, docs int) (set []uint64, all bool) {
	n := countBits(nulls)
	if n == 0 {
		return nil, docs == 0
	}
	w.section(f.ID, f.Kind, partNulls, [4]int64{int64(n)}, bytesOf(nulls))
	return nulls, n == docs
}

// writeOffsets writes where the values of each document begin.
func writeOffsets(w *fileWriter, f Field, ends []uint32) {
	offs := make([]int64, len(ends)+1)
	for i, e := range ends {
		offs[i+1] = int64(e)
	}
	params, data := packInts(offs)
	w.section(f.ID, f.Kind, partOffsets, params, data)
}

// fillNulls gives the NULL documents values that cost nothing.
func fillNulls(v []int64, nulls []uint64) {
	if nulls == nil {
		return
	}
	first := nextZero(nulls, len(v))
	if first == len(v) {
		return
	}
	last := v[first]
	for i := range v {
		if hasBit(nulls, uint32(i)) {
			v[i] = last
		} else {
			last = v[i]
		}
	}
}

func nextZero(b []uint64, n int) int {
	for i := range n {
		if !hasBit(b, uint32(i)) {
			return i
		}
	}
	return n
}
