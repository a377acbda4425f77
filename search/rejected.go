package search

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
)

// A value that a field cannot take is not in the document; the document says so,
// as it does of values that the field has not exactly. Where a statement uses such
// a field, in its question, its order or as a column, it looks at the row itself
// (View.Except).

// rejectedField lists, in a document, the fields that could not take their value.
const rejectedField = seg.FieldID(math.MaxUint16)

// MaxField is the largest number that a field of an index may have.
const MaxField = rejectedField - 1

// Mark is what a document says of a field.
type Mark struct {
	Field seg.FieldID
	Why   Why
}

// Why is a reason for a Mark.
type Why uint8

// Reasons. What they mean beyond Rejected is up to those who make documents.
const (
	Rejected Why = iota // the field could not take the value
	Unlike              // the value is another than the field has
	Blank               // the field has nothing for a value that is something
	Single              // the value is no array
	Differs             // an expression that the field replaces in queries has another value
)

// Marks is the field that the files of an index need whose fields may not be able
// to take a value.
func Marks() seg.Field { return seg.Field{ID: rejectedField, Kind: seg.KindKey, Multi: true} }

// Reject gives the document that was begun last its marks. It is called once a
// document, before its nested documents.
func Reject(b *seg.Batch, list []Mark) {
	if len(list) == 0 {
		return
	}
	marks := make([][]byte, len(list))
	for i, m := range list {
		marks[i] = m.bytes()
	}
	b.Keys(rejectedField, nil, marks)
}

// rejectedLen is the length of the marks of Rejected: a field's number alone.
const rejectedLen = 2

func (m Mark) bytes() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(m.Field))
	if m.Why != Rejected {
		b = append(b, byte(m.Why))
	}
	return b
}

// marksOf are the marks of a segment; nil when it has none.
func marksOf(s *seg.Segment) (*seg.Keys, error) {
	if s.FieldKind(rejectedField) == 0 {
		return nil, nil
	}
	k, err := s.Keys(rejectedField)
	if err != nil || k.AllNull() {
		return nil, err
	}
	return k, nil
}

// noPlace has the values of a Point field that are no places.
var noPlace = seg.Box{MinLat: seg.NoPlace, MaxLat: seg.NoPlace, MinLon: seg.NoPlace, MaxLon: seg.NoPlace}

// Except takes out of what the documents say the rows that have one of the marks,
// or what is no place in a field of places: they come to v.Changed.
func (v *View) Except(list []Mark) error {
	before := len(v.Changed)
	for _, s := range v.Segments() {
		marks, err := marksOf(s)
		if err != nil {
			return err
		}
		var docs []uint32
		for _, m := range list {
			if s.FieldKind(m.Field) == seg.KindPoint {
				p, err := s.Points(m.Field)
				if err != nil {
					return err
				}
				docs = p.BoxPlaces(noPlace, docs)
			}
			if marks == nil {
				continue
			}
			if class, ok := marks.FindKey(m.bytes()); ok {
				docs = marks.ClassDocs(class, docs)
			}
		}
		if docs == nil {
			continue
		}
		live, _ := s.Roots()
		docs = slices.DeleteFunc(docs, func(d uint32) bool { return live[d>>6]&(1<<(d&63)) == 0 })
		v.Changed = s.IDs(docs, v.Changed)
	}
	if len(v.Changed) > before {
		slices.SortFunc(v.Changed, bytes.Compare)
		v.Changed = slices.CompactFunc(v.Changed, bytes.Equal)
	}
	return nil
}

// CountMarked is about how many documents Except would take out.
func CountMarked(s *seg.Snapshot, list []Mark) (float64, error) {
	sum := 0.0
	for _, g := range s.Segments() {
		marks, err := marksOf(g)
		if err != nil {
			return 0, err
		}
		n := 0
		for _, m := range list {
			if g.FieldKind(m.Field) == seg.KindPoint {
				p, err := g.Points(m.Field)
				if err != nil {
					return 0, err
				}
				n += p.CountBox(noPlace)
			}
			if marks == nil {
				continue
			}
			if class, ok := marks.FindKey(m.bytes()); ok {
				n += marks.Count(class, class+1)
			}
		}
		_, live := g.Roots()
		sum += float64(min(n, g.Docs())) * float64(live) / float64(max(g.Docs(), 1))
	}
	return sum, nil
}

// foundRejected are the documents of a segment that a field of the index could not
// take the value of; nil for none.
func foundRejected(g *seg.Segment, x *schema.SearchIndex) (marks *seg.Keys, found []uint64, err error) {
	if marks, err = marksOf(g); err != nil || marks == nil {
		return nil, nil, err
	}
	for class := range uint32(marks.Classes()) {
		if !isRejected(x, marks.Key(class)) {
			continue
		}
		if found == nil {
			found = make([]uint64, seg.BitWords(g.Docs()))
		}
		marks.Into(class, class+1, found)
	}
	return marks, found, nil
}

// isRejected reports whether a mark is about a field of x that could not take a
// value. Files may have marks of fields that were dropped.
func isRejected(x *schema.SearchIndex, mark []byte) bool {
	return len(mark) == rejectedLen && slices.ContainsFunc(x.Fields, func(f schema.SearchField) bool { return f.ID == binary.BigEndian.Uint16(mark) })
}

// EachRejected calls fn with the live documents of which a field of the index could
// not take the value, until it returns false; fields is valid until it returns.
func EachRejected(s *seg.Snapshot, x *schema.SearchIndex, fn func(id []byte, fields []seg.FieldID) bool) error {
	for _, g := range s.Segments() {
		marks, found, err := foundRejected(g, x)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		live, _ := g.Roots()
		var ords []uint32
		var fields []seg.FieldID
		for i, w := range live {
			for w &= found[i]; w != 0; w &= w - 1 {
				d := uint32(i<<6 + bits.TrailingZeros64(w))
				ords, fields = marks.Array(d, ords[:0]), fields[:0]
				for _, o := range ords {
					if m := marks.Value(o); isRejected(x, m) {
						fields = append(fields, seg.FieldID(binary.BigEndian.Uint16(m)))
					}
				}
				if !fn(g.IDOf(d), fields) {
					return nil
				}
			}
		}
	}
	return nil
}

// countRejected is how many documents EachRejected has, counted once for each state
// of a segment.
func countRejected(s *seg.Snapshot, x *schema.SearchIndex) (n int, err error) {
	for _, g := range s.Segments() {
		k, err := g.Counted(x, func() (int, error) {
			_, found, err := foundRejected(g, x)
			if found == nil {
				return 0, err
			}
			live, _ := g.Roots()
			k := 0
			for i, w := range live {
				k += bits.OnesCount64(w & found[i])
			}
			return k, nil
		})
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}
