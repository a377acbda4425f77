package seg

import (
	"bytes"
	"container/heap"
	"fmt"
	"slices"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// merger writes the documents of several segments that are not dropped into
// one, in the order of the segments.
type merger struct {
	in    []*file
	newOf [][]uint32 // of each segment: new number of each document, or dropped
	docs  int
	roots int
	stop  <-chan struct{}
	// schema, unless nil, is what the index holds now: of other fields, which it has
	// dropped, nothing is written but terms.
	schema *Schema
}

func (m *merger) stopped() error {
	select {
	case <-m.stop:
		return segment.ErrClosed
	default:
		return nil
	}
}

// write writes all columns.
func (m *merger) write(w *fileWriter) error {
	if err := m.writeIDs(w); err != nil {
		return err
	}
	kinds := map[FieldID]Kind{}
	for _, f := range m.in {
		for id, k := range f.fields() {
			if m.schema != nil && m.schema.field(id) == nil {
				continue
			}
			if kinds[id] != 0 && kinds[id] != k {
				return fmt.Errorf("field %d is a %s and a %s", id, kinds[id], k)
			}
			kinds[id] = k
		}
	}
	ids := make([]FieldID, 0, len(kinds))
	for id := range kinds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := m.stopped(); err != nil {
			return err
		}
		f := m.field(id, kinds[id])
		var err error
		switch f.Kind {
		case KindWord, KindText:
			err = m.words(w, f)
		case KindKey:
			err = m.keys(w, f)
		case KindPoint:
			err = m.points(w, f)
		case KindBytes:
			err = m.bytes(w, f)
		default:
			err = fmt.Errorf("field %d is a %s, which this program does not know", id, f.Kind)
		}
		if err != nil {
			return err
		}
	}
	return w.finish(m.docs, m.roots)
}

// field finds out from the files how the field is stored.
func (m *merger) field(id FieldID, k Kind) Field {
	f := Field{ID: id, Kind: k, Unsorted: k == KindWord || k == KindKey}
	for _, in := range m.in {
		has := func(part uint8) bool { return in.dir[partKey(id, part)] != nil }
		if has(partOffsets) {
			f.Multi = true
		}
		if has(partClasses) {
			f.Collated = true
		}
		if k == KindWord && has(partPerm) {
			f.Unsorted = false
		}
		if k == KindKey && has(partListEnds) {
			f.Unsorted = false
		}
	}
	return f
}

// each calls back with the documents that are kept.
func (m *merger) each(i int, visit func(old, to uint32)) {
	for old, to := range m.newOf[i] {
		if to != dropped {
			visit(uint32(old), to)
		}
	}
}

func (m *merger) writeIDs(w *fileWriter) error {
	list := make([][]byte, m.docs)
	roots := make([]uint64, BitWords(m.docs))
	paths := make([]byte, m.docs)
	for i, f := range m.in {
		r, err := openIDs(f)
		if err != nil {
			return err
		}
		n, err := openNested(f, nil)
		if err != nil {
			return err
		}
		m.each(i, func(old, to uint32) {
			if n.paths != nil && n.paths[old] != 0 {
				paths[to] = n.paths[old]
				return
			}
			list[to] = r.at(old)
			setBit(roots, to)
			m.roots++
		})
	}
	if m.roots == m.docs {
		roots = nil
	} else {
		w.section(0, 0, partPaths, [4]int64{}, paths)
	}
	writeIDs(w, list, roots)
	return nil
}

// nulls collects the NULL documents, and of arrays the ends of the values,
// together with the old places of the values.
type merged struct {
	nulls  []uint64
	ends   []uint32
	places [][]uint32 // of each segment, in the order of the new documents
}

// arrange finds which values of each segment are kept.
func (m *merger) arrange(f Field, cols []*column) merged {
	r := merged{nulls: make([]uint64, BitWords(m.docs)), places: make([][]uint32, len(m.in))}
	if f.Multi {
		r.ends = make([]uint32, m.docs)
	}
	total := uint32(0)
	for i, c := range cols {
		places := make([]uint32, 0, c.docs)
		m.each(i, func(old, to uint32) {
			null := c.IsNull(old)
			if null {
				setBit(r.nulls, to)
			}
			if !f.Multi {
				places = append(places, old)
				return
			}
			if !null {
				from, end := c.Span(old)
				for p := from; p < end; p++ {
					places = append(places, uint32(p))
				}
				total += uint32(end - from)
			}
			r.ends[to] = total
		})
		r.places[i] = places
	}
	return r
}

func (m *merger) words(w *fileWriter, f Field) error {
	ins := make([]*Words, len(m.in))
	cols := make([]*column, len(m.in))
	for i, in := range m.in {
		c, err := openWords(in, f.ID, f.Kind)
		if err != nil {
			return err
		}
		c.fill(m.schema.missing(f.ID))
		ins[i], cols[i] = c, &c.column
	}
	a := m.arrange(f, cols)
	d := wordData{nulls: a.nulls, ends: a.ends}
	var buf []int64
	for i, in := range ins {
		if in.empty {
			d.vals = append(d.vals, make([]int64, len(a.places[i]))...)
			continue
		}
		buf = in.vals.all(buf)
		for _, p := range a.places[i] {
			d.vals = append(d.vals, buf[p])
		}
	}
	d.write(w, f, m.docs)
	return nil
}

func (m *merger) points(w *fileWriter, f Field) error {
	ins := make([]*Points, len(m.in))
	cols := make([]*column, len(m.in))
	for i, in := range m.in {
		c, err := openPoints(in, f.ID)
		if err != nil {
			return err
		}
		ins[i], cols[i] = c, &c.column
	}
	a := m.arrange(f, cols)
	d := pointData{nulls: a.nulls, ends: a.ends}
	for i, in := range ins {
		for _, p := range a.places[i] {
			if in.empty {
				d.lat, d.lon, d.x, d.y = append(d.lat, 0), append(d.lon, 0), append(d.x, 0), append(d.y, 0)
			} else {
				d.lat, d.lon = append(d.lat, in.lat[p]), append(d.lon, in.lon[p])
				d.x, d.y = append(d.x, in.x[p]), append(d.y, in.y[p])
			}
		}
	}
	d.write(w, f, m.docs)
	return nil
}

func (m *merger) bytes(w *fileWriter, f Field) error {
	cols := make([]*column, len(m.in))
	readers := make([]*BytesReader, len(m.in))
	for i, in := range m.in {
		c, err := openBytes(in, f.ID)
		if err != nil {
			return err
		}
		c.fill(m.schema.missing(f.ID))
		cols[i], readers[i] = &c.column, c.Reader()
	}
	a := m.arrange(f, cols)
	i, at := 0, 0
	return writeBytes(w, f, m.docs, a.nulls, func(uint32) ([]byte, error) {
		for at == len(a.places[i]) {
			i, at = i+1, 0
		}
		v, _, err := readers[i].Get(a.places[i][at])
		at++
		return v, err
	})
}

func (m *merger) keys(w *fileWriter, f Field) error {
	ins := make([]*Keys, len(m.in))
	cols := make([]*column, len(m.in))
	for i, in := range m.in {
		c, err := openKeys(in, f.ID)
		if err != nil {
			return err
		}
		c.fill(m.schema.missing(f.ID), f.Collated)
		ins[i], cols[i] = c, &c.column
	}
	a := m.arrange(f, cols)
	ords := make([][]int64, len(ins)) // kept values
	dicts := make([]*keySource, 0, len(ins))
	rank := make([][]int64, len(ins))
	var buf []int64
	for i, in := range ins {
		ords[i] = make([]int64, len(a.places[i]))
		if in.empty {
			continue
		}
		buf = in.ords.all(buf)
		used := make([]uint64, BitWords(in.values.n))
		for j, p := range a.places[i] {
			ords[i][j] = buf[p]
			if f.Multi || !in.IsNull(p) {
				setBit(used, uint32(buf[p]))
			}
		}
		rank[i] = make([]int64, in.values.n)
		if s := (&keySource{seg: i, in: in, used: used}); s.next(0) {
			dicts = append(dicts, s)
		}
	}
	d := keyData{nulls: a.nulls, ends: a.ends}
	h := keyHeap(dicts)
	heap.Init(&h)
	for len(h) > 0 {
		s := h[0]
		n := len(d.values)
		if n == 0 || !bytes.Equal(d.values[n-1], s.value) {
			d.values = append(d.values, s.value)
			if f.Collated {
				d.keys = append(d.keys, s.key)
			}
			n++
		}
		rank[s.seg][s.ord] = int64(n - 1)
		if s.next(s.ord + 1) {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	for i := range ins {
		for _, o := range ords[i] {
			if rank[i] != nil {
				o = rank[i][o]
			}
			d.ords = append(d.ords, o)
		}
	}
	d.write(w, f, m.docs)
	return nil
}

// keySource walks over the dictionary of one segment.
type keySource struct {
	seg        int
	in         *Keys
	used       []uint64
	ord        uint32
	key, value []byte
}

// next goes to the first used ordinal from ord on.
func (s *keySource) next(ord uint32) bool {
	s.ord = nextBit(s.used, ord, s.in.values.n)
	if int(s.ord) == s.in.values.n {
		return false
	}
	s.value = s.in.Value(s.ord)
	s.key = s.value
	if s.in.collated {
		s.key = s.in.Key(s.in.ClassOf(s.ord))
	}
	return true
}

type keyHeap []*keySource

func (h keyHeap) Len() int { return len(h) }
func (h keyHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return bytes.Compare(h[i].value, h[j].value) < 0
}
func (h keyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *keyHeap) Push(x any)   { *h = append(*h, x.(*keySource)) }
func (h *keyHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
