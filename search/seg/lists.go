package seg

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v16"
)

// Lists of documents are read from the bytes that zap wrote, many at a time: its own
// iterator takes ten times as long. In zap's version 16, the number that the dictionary
// has for a term is followed by:
//
//	list     offset of frequencies · offset of places · length and bytes of a
//	         roaring bitmap of the documents
//	both     number of chunks · end of each · chunks; those of a list are of
//	         equally many documents, about 1024 of the list in each
//	a chunk of frequencies has, for each document of the list, the frequency
//	         times two, plus one if it has places, and a norm
//	one of places, for each that has some, the number of bytes, and five numbers
//	         a place: field · position · start · end · 0
//
// all of them as uvarints.

// chunkMode is the only one in which zap writes here.
const chunkMode = 1026

// dictionary is where the dictionary of a field begins in an inverted part, 0 if
// it has none.
func dictionary(part []byte, name string) (at uint64) {
	foot := part[len(part)-zapFooter:]
	pos := binary.BigEndian.Uint64(foot[24:])
	n, size := binary.Uvarint(part[pos:])
	pos += uint64(size)
	for range n {
		at := binary.BigEndian.Uint64(part[pos:])
		if pos += 8; at == 0 {
			continue
		}
		length, size := binary.Uvarint(part[at:])
		at += uint64(size)
		found := string(part[at:at+length]) == name
		at += length
		sections, size := binary.Uvarint(part[at:])
		at += uint64(size)
		for range sections {
			kind, begin := binary.BigEndian.Uint16(part[at:]), binary.BigEndian.Uint64(part[at+2:])
			if at += 10; !found || kind != zap.SectionInvertedTextIndex || begin == 0 {
				continue
			}
			for range 2 { // doc values
				_, size := binary.Uvarint(part[begin:])
				begin += uint64(size)
			}
			dict, _ := binary.Uvarint(part[begin:])
			return dict
		}
	}
	return 0
}

// openLists prepares the lists of a field's terms.
func (t *Text) openLists(part []byte) error {
	at := dictionary(part, zapName(t.id))
	if at == 0 {
		return nil
	}
	if mode := binary.BigEndian.Uint32(part[len(part)-zapFooter+40:]); mode != chunkMode {
		return fmt.Errorf("%s: chunk mode %d", t.name, mode)
	}
	length, size := binary.Uvarint(part[at:])
	at += uint64(size)
	fst, err := vellum.Load(part[at : at+length])
	if err != nil {
		return fmt.Errorf("terms of field %d: %w", t.id, err)
	}
	t.fst, t.part = fst, part
	return nil
}

// List is the documents of a term, with how often and where they have it. Not for
// concurrent use.
type List struct {
	part        []byte
	docs        *roaring.Bitmap
	one         uint32 // the only document, where docs is nil
	chunkDocs   uint32
	all         uint32 // documents of the segment
	freqs, locs chunks
}

// chunks are numbers of a list.
type chunks struct {
	ends uint64 // where the ends of the chunks begin
	n    uint64
	data uint64
	// end is that of the chunk before next.
	next, end uint64
}

// List finds a term; nil if no document has it.
func (r *Terms) List(term []byte) (*List, error) {
	if r.t.fst == nil {
		return nil, nil
	}
	if r.lists == nil {
		var err error
		if r.lists, err = r.t.fst.Reader(); err != nil {
			return nil, fmt.Errorf("terms of field %d: %w", r.t.id, err)
		}
	}
	at, ok, err := r.lists.Get(term)
	if err != nil {
		return nil, fmt.Errorf("terms of field %d: %w", r.t.id, err)
	}
	if !ok {
		return nil, nil
	}
	if at&zap.FSTValEncodingMask == zap.FSTValEncoding1Hit {
		doc, _ := zap.FSTValDecode1Hit(at)
		return &List{one: uint32(doc)}, nil
	}
	l := &List{part: r.t.part, docs: roaring.New(), all: uint32(r.t.lengths.docs)}
	var head [3]uint64
	for i := range head {
		head[i], at = uvarint(l.part, at)
	}
	if _, err := l.docs.FromBuffer(l.part[at : at+head[2]]); err != nil {
		return nil, fmt.Errorf("documents of field %d: %w", r.t.id, err)
	}
	l.chunkDocs = uint32(uint64(l.all) / (l.docs.GetCardinality()/1024 + 1))
	if l.chunkDocs == 0 {
		return nil, fmt.Errorf("documents of field %d: chunks without documents", r.t.id)
	}
	l.freqs, l.locs = l.chunks(head[0]), l.chunks(head[1])
	return l, nil
}

func (l *List) chunks(at uint64) (c chunks) {
	if at == 0 {
		return c
	}
	c.n, at = uvarint(l.part, at)
	c.ends = at
	for range c.n {
		_, at = uvarint(l.part, at)
	}
	c.data = at
	return c
}

// chunk gives the bytes of a chunk; calls are in ascending order of i.
func (l *List) chunk(c *chunks, i uint32) []byte {
	if uint64(i) >= c.n {
		return nil
	}
	from := c.end
	for c.next <= uint64(i) {
		from = c.end
		c.end, c.ends = uvarint(l.part, c.ends)
		c.next++
	}
	return l.part[c.data+from : c.data+c.end]
}

// Count is the number of documents, deleted ones included.
func (l *List) Count() int {
	if l.docs == nil {
		return 1
	}
	return int(l.docs.GetCardinality())
}

// Has reports whether the list has a document.
func (l *List) Has(doc uint32) bool {
	if l.docs == nil {
		return doc == l.one
	}
	return l.docs.Contains(doc)
}

// sampledPlaces is from how many parts of the segment a sample is taken.
const sampledPlaces = 8

// Sample is at most n documents of the list: all of a short one, some from each part of
// the segment of a long one.
func (l *List) Sample(n int) (out []uint32) {
	if l.docs == nil {
		return []uint32{l.one}
	}
	if l.Count() <= n {
		return l.docs.ToArray()
	}
	out = make([]uint32, 0, n)
	it := l.docs.Iterator()
	for i := range uint64(sampledPlaces) {
		it.AdvanceIfNeeded(uint32(i * uint64(l.all) / sampledPlaces))
		end := uint32((i + 1) * uint64(l.all) / sampledPlaces)
		for range n / sampledPlaces {
			if !it.HasNext() || it.PeekNext() >= end {
				break
			}
			out = append(out, it.Next())
		}
	}
	return out
}

// Into adds the documents to the bitset.
func (l *List) Into(set []uint64) {
	if l.docs == nil {
		setBit(set, l.one)
		return
	}
	orRoaring(l.docs, set)
}

// Keep leaves those documents in a bitset, at most n, that the list has, too.
func (l *List) Keep(set []uint64, n int) {
	if l.docs == nil {
		has := hasBit(set, l.one)
		clear(set)
		if has {
			setBit(set, l.one)
		}
		return
	}
	if keepByDocument*n < l.Count()+len(set) {
		for i, w := range set {
			for ; w != 0; w &= w - 1 {
				if bit := w & -w; !l.docs.Contains(uint32(i<<6 + bits.TrailingZeros64(w))) {
					set[i] &^= bit
				}
			}
		}
		return
	}
	other := make([]uint64, len(set))
	l.Into(other)
	for i, w := range other {
		set[i] &= w
	}
}

// keepByDocument is how many documents of a list, and words of a bitset, are read in the
// time that it takes to look one document up.
const keepByDocument = 16

// Run are some documents of a list, ascending.
type Run struct {
	Docs, Freqs []uint32
	// Pos has the positions of all, in the order of the texts; Ends is where those
	// of each end. Empty if positions were not requested.
	Pos  []int
	Ends []int
}

const runDocs = 1024

// Read calls fn with the documents that are in among (nil: all), some at a time,
// and with their positions if places is set. A list is read once.
func (l *List) Read(places bool, among []uint64, fn func(r *Run)) {
	if l.docs == nil {
		if among == nil || hasBit(among, l.one) {
			fn(&Run{Docs: []uint32{l.one}, Freqs: []uint32{1}, Ends: []int{0}})
		}
		return
	}
	r := &Run{Docs: make([]uint32, 0, runDocs), Freqs: make([]uint32, 0, runDocs)}
	if places {
		r.Ends = make([]int, 0, runDocs)
	}
	var freqs, locs []byte
	end, at, place := uint32(0), 0, 0 // end: the first document after the chunk
	it := l.docs.ManyIterator()
	var docs [runDocs]uint32
	for n := it.NextMany(docs[:]); n > 0; n = it.NextMany(docs[:]) {
		r.Docs, r.Freqs, r.Pos, r.Ends = r.Docs[:0], r.Freqs[:0], r.Pos[:0], r.Ends[:0]
		for _, d := range docs[:n] {
			if d >= end {
				i := d / l.chunkDocs
				end = min((i+1)*l.chunkDocs, l.all)
				if freqs, locs, at, place = nil, nil, 0, 0; among == nil || anyBit(among, d, end) {
					freqs = l.chunk(&l.freqs, i)
					if places {
						locs = l.chunk(&l.locs, i)
					}
				}
			}
			if len(freqs) == 0 { // nothing of the chunk is in among
				continue
			}
			var f uint64
			if f = uint64(freqs[at]); f < 0x80 {
				at++
			} else {
				f, at = varint(freqs, at)
			}
			if f >= 2 { // the norm follows
				for freqs[at] >= 0x80 {
					at++
				}
				at++
			}
			wanted := among == nil || hasBit(among, d)
			if wanted {
				r.Docs, r.Freqs = append(r.Docs, d), append(r.Freqs, uint32(f>>1))
			}
			if !places {
				continue
			}
			if f&1 != 0 {
				var size uint64
				size, place = varint(locs, place)
				if to := place + int(size); wanted {
					r.Pos = positions(locs[place:to], r.Pos)
					place = to
				} else {
					place = to
				}
			}
			if wanted {
				r.Ends = append(r.Ends, len(r.Pos))
			}
		}
		if len(r.Docs) > 0 {
			fn(r)
		}
	}
}

// positions appends those of one document.
func positions(b []byte, out []int) []int {
	for at := 0; at < len(b); {
		for b[at] >= 0x80 { // field
			at++
		}
		at++
		var pos uint64
		if pos = uint64(b[at]); pos < 0x80 {
			at++
		} else {
			pos, at = varint(b, at)
		}
		out = append(out, int(pos))
		for range 3 { // start, end, no array
			for b[at] >= 0x80 {
				at++
			}
			at++
		}
	}
	return out
}

// anyBit reports a document from one on and before another that is in a set.
func anyBit(set []uint64, from, to uint32) bool {
	w := set[from>>6] >> (from & 63) << (from & 63)
	for i := from >> 6; ; w = set[i] {
		if next := (i + 1) << 6; next >= to {
			return w<<(next-to) != 0
		}
		if w != 0 {
			return true
		}
		i++
	}
}

func uvarint(b []byte, at uint64) (v, next uint64) {
	v, n := binary.Uvarint(b[at:])
	return v, at + uint64(n)
}

func varint(b []byte, at int) (v uint64, next int) {
	v, n := binary.Uvarint(b[at:])
	return v, at + n
}
