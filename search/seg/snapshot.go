package seg

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Snapshot is the index at one checkpoint. It does not change. It may be used
// concurrently until Close, after which nothing that came from it may be used.
type Snapshot struct {
	ix    *Index
	root  *scorch.IndexSnapshot
	state state
	segs  []*Segment
	refs  atomic.Int64
}

// Checkpoint is that of the last batch in the snapshot, 0 before the first.
func (s *Snapshot) Checkpoint() uint64 { return s.state.checkpoint }

// Docs is the number of documents, nested ones not counted.
func (s *Snapshot) Docs() int { return int(s.state.docs) }

// Value is what a batch set under the key, nil if none did.
func (s *Snapshot) Value(key string) []byte { return s.root.Internal()["u"+key] }

// Segments lists the parts of the index.
func (s *Snapshot) Segments() []*Segment { return s.segs }

// Close gives the snapshot back. Files that newer snapshots do not need are
// removed when the last one closes.
func (s *Snapshot) Close() error {
	if s.refs.Add(-1) > 0 {
		return nil
	}
	return s.root.Close()
}

// acquire takes another reference, unless the snapshot is gone.
func (s *Snapshot) acquire() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Segment is a part of a snapshot. Its documents have numbers from 0 on.
type Segment struct {
	id      uint64
	c       *core
	schema  *Schema
	deleted *roaring.Bitmap
	live    *liveSet
	onError func(error)
}

// liveSet is which documents are not deleted, shared by the snapshots in which
// they are the same.
type liveSet struct {
	made  sync.Mutex
	done  atomic.Bool
	all   []uint64
	roots []uint64
	nAll  int
	nRoot int

	mu         sync.Mutex
	texts      map[FieldID]textStats
	countedFor any // see Counted
	counted    int
}

// Docs is the number of documents, deleted and nested ones included.
func (s *Segment) Docs() int { return s.c.f.docs }

// ID names the segment in its index. A segment of the same number has the same
// documents, of which more may be deleted in later snapshots.
func (s *Segment) ID() uint64 { return s.id }

// Deleted is the number of deleted documents, nested ones included.
func (s *Segment) Deleted() int {
	if s.deleted == nil {
		return 0
	}
	return int(s.deleted.GetCardinality())
}

func (s *Segment) liveSet() *liveSet {
	l := s.live
	if l.done.Load() {
		return l
	}
	l.made.Lock()
	defer l.made.Unlock() // what a fault leaves is made again
	if !l.done.Load() {
		docs := s.Docs()
		l.all = make([]uint64, BitWords(docs))
		onesInto(l.all, docs)
		if s.deleted != nil {
			it := s.deleted.ManyIterator()
			var buf [256]uint32
			for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
				for _, d := range buf[:n] {
					l.all[d>>6] &^= 1 << (d & 63)
				}
			}
		}
		l.nAll = countBits(l.all)
		l.roots, l.nRoot = l.all, l.nAll
		if r := s.c.ids.roots; r != nil {
			l.roots = make([]uint64, len(l.all))
			for i := range r {
				l.roots[i] = r[i] & l.all[i]
			}
			l.nRoot = countBits(l.roots)
		}
		l.done.Store(true)
	}
	return l
}

// Live is the bitset of the documents that are not deleted, nested ones
// included, and their number. It must not be changed.
func (s *Segment) Live() ([]uint64, int) { l := s.liveSet(); return l.all, l.nAll }

// Roots is Live without nested documents.
func (s *Segment) Roots() ([]uint64, int) { l := s.liveSet(); return l.roots, l.nRoot }

// Find gives the document with the id, unless it is deleted. What is nested in
// it follows, up to Nested().End.
func (s *Segment) Find(id []byte) (doc uint32, ok bool) {
	doc, ok = s.c.ids.find(id)
	return doc, ok && (s.deleted == nil || !s.deleted.Contains(doc))
}

// DocNumbers appends the documents with the ids that the segment has and that
// are not deleted, with what is nested in them.
func (s *Segment) DocNumbers(ids [][]byte, out []uint32) []uint32 {
	for _, id := range ids {
		if doc, ok := s.Find(id); ok {
			for end := s.c.ids.end(doc); doc < end; doc++ {
				out = append(out, doc)
			}
		}
	}
	return out
}

// IDs appends the ids of documents; of nested ones, that of the document
// around them. They are valid until the snapshot is closed.
func (s *Segment) IDs(docs []uint32, out [][]byte) [][]byte {
	r := s.c.ids
	if n := r.stride; n != 0 {
		for _, d := range docs {
			off := int(d) * n
			out = append(out, r.data[off:off+n:off+n])
		}
		return out
	}
	for _, d := range docs {
		out = append(out, r.at(d))
	}
	return out
}

// IDOf is the id of one document.
func (s *Segment) IDOf(doc uint32) []byte { return s.c.ids.at(doc) }

// openColumn opens a field once.
func openColumn[T any](s *Segment, id FieldID, k Kind, open func() (T, error)) (T, error) {
	var zero T
	f := s.schema.field(id)
	if f == nil {
		return zero, fmt.Errorf("no field %d", id)
	}
	if f.Kind != k {
		return zero, fmt.Errorf("field %d is a %s, not a %s", id, f.Kind, k)
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if c, ok := s.c.fields[id]; ok {
		return c.(T), nil
	}
	c, err := open()
	if err != nil {
		s.onError(err)
		return zero, err
	}
	s.c.fields[id] = c
	return c, nil
}

// Words opens a Word field.
func (s *Segment) Words(id FieldID) (*Words, error) {
	return openColumn(s, id, KindWord, func() (*Words, error) {
		w, err := openWords(s.c.f, id, KindWord)
		if err == nil {
			w.fill(s.schema.missing(id))
		}
		return w, err
	})
}

// Keys opens a Key field.
func (s *Segment) Keys(id FieldID) (*Keys, error) {
	return openColumn(s, id, KindKey, func() (*Keys, error) {
		k, err := openKeys(s.c.f, id)
		if err == nil {
			k.fill(s.schema.missing(id), s.schema.field(id).Collated)
		}
		return k, err
	})
}

// Bytes opens a Bytes field.
func (s *Segment) Bytes(id FieldID) (*BytesColumn, error) {
	return openColumn(s, id, KindBytes, func() (*BytesColumn, error) {
		c, err := openBytes(s.c.f, id)
		if err == nil {
			c.fill(s.schema.missing(id))
		}
		return c, err
	})
}

// Points opens a Point field.
func (s *Segment) Points(id FieldID) (*Points, error) {
	return openColumn(s, id, KindPoint, func() (*Points, error) { return openPoints(s.c.f, id) })
}

// Text opens a Text field.
func (s *Segment) Text(id FieldID) (*Text, error) {
	return openColumn(s, id, KindText, func() (*Text, error) {
		l, err := openWords(s.c.f, id, KindText)
		if err != nil {
			return nil, err
		}
		sb, err := s.c.zap()
		if err != nil {
			return nil, err
		}
		t := &Text{lengths: l, sb: sb, name: s.c.f.name, id: id}
		if v := s.c.f.dir[partKey(id, partValues)]; v != nil {
			t.total, t.texts = v.params[2], int(v.params[3])
		}
		part, err := s.c.f.section(0, partInverted)
		if err != nil || part == nil {
			return t, err
		}
		return t, t.openLists(part.data)
	})
}

// textStats are the texts that are not NULL and the sum of their lengths.
type textStats struct {
	texts  int
	length int64
}

// TextStats gives the number of live documents that have a text and the sum of
// the texts' lengths, exactly, nested documents included.
func (s *Segment) TextStats(id FieldID) (texts int, length int64, err error) {
	t, err := s.Text(id)
	if err != nil {
		return 0, 0, err
	}
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	st, ok := s.live.texts[id]
	if !ok {
		st.texts, st.length = t.Total()
		if s.deleted != nil {
			it := s.deleted.ManyIterator()
			var docs [256]uint32
			for n := it.NextMany(docs[:]); n > 0; n = it.NextMany(docs[:]) {
				for _, d := range docs[:n] {
					if v, ok := t.lengths.Get(d); ok {
						st.texts--
						st.length -= v
					}
				}
			}
		}
		if s.live.texts == nil {
			s.live.texts = map[FieldID]textStats{}
		}
		s.live.texts[id] = st
	}
	return st.texts, st.length, nil
}

// Counted is what count gives. The result is kept with the state of the segment
// until it is called with another key.
func (s *Segment) Counted(key any, count func() (int, error)) (int, error) {
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.countedFor == key {
		return l.counted, nil
	}
	n, err := count()
	if err == nil {
		l.countedFor, l.counted = key, n
	}
	return n, err
}

// TextStats is that of all segments.
func (s *Snapshot) TextStats(id FieldID) (texts int, length int64, err error) {
	for _, g := range s.segs {
		n, l, err := g.TextStats(id)
		if err != nil {
			return 0, 0, err
		}
		texts += n
		length += l
	}
	return texts, length, nil
}

// Nested describes the nested documents.
func (s *Segment) Nested() (*Nested, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.c.nested == nil {
		n, err := openNested(s.c.f, s.schema.Paths)
		if err == nil {
			err = n.check()
		}
		if err != nil {
			s.onError(err)
			return nil, err
		}
		s.c.nested = n
	}
	return s.c.nested, nil
}

// FieldKind is the kind of a field, 0 if the field does not exist.
func (s *Segment) FieldKind(id FieldID) Kind {
	if f := s.schema.field(id); f != nil {
		return f.Kind
	}
	return 0
}
