package seg

import (
	"fmt"
	"math"
	"unsafe"
)

// Batch is a list of changes that become visible and durable together. It is
// written front to back: Upsert or Child begins a document, the calls after it
// give values to its fields. A field without a value is NULL. Not for
// concurrent use; after Apply it can be reset and used again.
type Batch struct {
	schema *Schema
	rows   []batchRow
	ids    []byte
	// last is the row or deletion that counts for each id.
	last    map[string]int
	deletes []string
	cols    map[FieldID]*batchCol
	// byIndex holds the columns in the order of the schema.
	byIndex []*batchCol

	checkpoint    uint64
	hasCheckpoint bool
	internal      map[string][]byte
	err           error
}

// batchRow is one document or nested document.
type batchRow struct {
	id   string // of a root
	path uint8  // index into the schema's paths plus one, zero of a root
}

// batchCol collects the values of one field, in the order of rows.
type batchCol struct {
	field Field
	rows  []uint32 // the row of each value
	ends  []uint32 // Multi: end of each row's values in the flat lists
	words []int64
	lat   []int32
	lon   []int32
	x, y  []float64
	// keys and values lie one after the other in arena.
	arena  []byte
	spans  []span // Key: value; Bytes: value
	keys   []span // Key, collated: sort key
	terms  []span // Text: one a token
	tokens []Token
	tokEnd []uint32 // Text: end of each row's tokens
	length []int64  // Text
}

type span struct{ off, end uint32 }

func (c *batchCol) put(b []byte) span {
	off := len(c.arena)
	c.arena = append(c.arena, b...)
	return span{uint32(off), uint32(len(c.arena))}
}

func (c *batchCol) get(s span) []byte { return c.arena[s.off:s.end:s.end] }

// NewBatch returns an empty batch for the fields of the index.
func (ix *Index) NewBatch() *Batch { return newBatch(&ix.schema) }

func newBatch(s *Schema) *Batch {
	b := &Batch{schema: s, last: map[string]int{}, cols: make(map[FieldID]*batchCol, len(s.Fields)), internal: map[string][]byte{}}
	for _, f := range s.Fields {
		c := &batchCol{field: f}
		b.cols[f.ID] = c
		b.byIndex = append(b.byIndex, c)
	}
	return b
}

// Reset empties the batch. It must not be called before Apply has returned.
func (b *Batch) Reset() { *b = *newBatch(b.schema) }

// Len counts documents and deletions, superseded ones included.
func (b *Batch) Len() int { return len(b.rows) + len(b.deletes) }

// Size estimates the bytes of the batch.
func (b *Batch) Size() int {
	n := len(b.ids) + len(b.rows)*int(unsafe.Sizeof(batchRow{})) + len(b.deletes)*16
	for _, c := range b.byIndex {
		n += len(c.arena) + 8*len(c.words) + 4*len(c.rows) + 24*len(c.lat) + 24*len(c.tokens)
	}
	return n
}

// Upsert begins the document with this id, which replaces the one that the
// index has. The id is not empty.
func (b *Batch) Upsert(id []byte) {
	if len(id) == 0 {
		b.fail(fmt.Errorf("a document without an id"))
	}
	s := string(id)
	b.last[s] = len(b.rows)
	b.rows = append(b.rows, batchRow{id: s})
}

// Child begins a nested document of the path. It belongs to the document or
// nested document of the path's parent that was begun last.
func (b *Batch) Child(path uint16) {
	for i, p := range b.schema.Paths {
		if p.ID != path {
			continue
		}
		if !b.opened(p.Parent) {
			b.fail(fmt.Errorf("a nested document of path %d without one of path %d before it", path, p.Parent))
		}
		b.rows = append(b.rows, batchRow{path: uint8(i + 1)})
		return
	}
	b.fail(fmt.Errorf("no nested path %d", path))
}

// opened reports whether the current document has a row of the path.
func (b *Batch) opened(path uint16) bool {
	for i := len(b.rows) - 1; i >= 0; i-- {
		r := b.rows[i]
		if r.path == 0 || path == 0 {
			return path == 0
		}
		if b.schema.Paths[r.path-1].ID == path {
			return true
		}
	}
	return false
}

// Delete removes the document with this id and its nested documents, also one
// that the batch itself has put.
func (b *Batch) Delete(id []byte) {
	s := string(id)
	b.last[s] = -1
	b.deletes = append(b.deletes, s)
}

// Checkpoint names the state that the index has after this batch.
func (b *Batch) Checkpoint(n uint64) { b.checkpoint, b.hasCheckpoint = n, true }

// Set stores a small value of the caller's together with the checkpoint; nil
// removes it.
func (b *Batch) Set(key string, value []byte) {
	if value != nil {
		value = append([]byte{}, value...)
	}
	b.internal["u"+key] = value
}

func (b *Batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// begin gives the column for a value of the current row.
func (b *Batch) begin(f FieldID, k Kind, multi bool) *batchCol {
	c := b.cols[f]
	switch {
	case c == nil:
		b.fail(fmt.Errorf("no field %d", f))
	case c.field.Kind != k || c.field.Multi != multi:
		b.fail(fmt.Errorf("field %d takes another kind of value", f))
	case len(b.rows) == 0:
		b.fail(fmt.Errorf("a value before the first document"))
	case len(c.rows) > 0 && c.rows[len(c.rows)-1] == uint32(len(b.rows)-1):
		b.fail(fmt.Errorf("two values of field %d", f))
	case len(c.arena) > maxArena:
		b.fail(fmt.Errorf("a batch of more than %d bytes", maxArena))
	default:
		c.rows = append(c.rows, uint32(len(b.rows)-1))
		return c
	}
	return &batchCol{}
}

// maxArena bounds the bytes of one field in a batch: offsets have 32 bits.
const maxArena = 1 << 30

// Word gives a value to a Word field.
func (b *Batch) Word(f FieldID, v int64) {
	c := b.begin(f, KindWord, false)
	c.words = append(c.words, v)
}

// Words gives an array to a Word field; it may be empty, which is not NULL.
func (b *Batch) Words(f FieldID, vs []int64) {
	c := b.begin(f, KindWord, true)
	c.words = append(c.words, vs...)
	c.ends = append(c.ends, uint32(len(c.words)))
}

// Key gives a value to a Key field. The sort key is ignored unless the field
// is collated.
func (b *Batch) Key(f FieldID, key, value []byte) {
	c := b.begin(f, KindKey, false)
	c.key(key, value)
}

// Keys gives an array to a Key field; keys may be nil unless it is collated.
func (b *Batch) Keys(f FieldID, keys, values [][]byte) {
	c := b.begin(f, KindKey, true)
	if c.field.Collated && len(keys) != len(values) {
		b.fail(fmt.Errorf("field %d: %d sort keys of %d values", f, len(keys), len(values)))
		return
	}
	for i, v := range values {
		if c.field.Collated {
			c.key(keys[i], v)
		} else {
			c.key(nil, v)
		}
	}
	c.ends = append(c.ends, uint32(len(c.spans)))
}

func (c *batchCol) key(key, value []byte) {
	c.spans = append(c.spans, c.put(value))
	if c.field.Collated {
		c.keys = append(c.keys, c.put(key))
	}
}

// Bytes gives a value to a Bytes field.
func (b *Batch) Bytes(f FieldID, v []byte) {
	c := b.begin(f, KindBytes, false)
	c.spans = append(c.spans, c.put(v))
}

// Text gives the terms of a text to a Text field. The length is what scores
// count, usually the number of positions.
func (b *Batch) Text(f FieldID, tokens []Token, length int) {
	c := b.begin(f, KindText, false)
	for _, t := range tokens {
		c.terms = append(c.terms, c.put(t.Term))
		t.Term = nil
		c.tokens = append(c.tokens, t)
	}
	c.tokEnd = append(c.tokEnd, uint32(len(c.tokens)))
	c.length = append(c.length, int64(length))
}

// Place is a place in units of 1e-7 degrees, by which it is found, and its
// coordinates. No place has NoPlace, and NaN.
type Place struct {
	Lat, Lon int32
	X, Y     float64
}

// NoPlace is the latitude and longitude of what is no place, and not NULL.
const NoPlace = math.MinInt32

// Point gives a place to a Point field.
func (b *Batch) Point(f FieldID, p Place) {
	b.begin(f, KindPoint, false).place(p)
}

// Points gives an array of places to a Point field.
func (b *Batch) Points(f FieldID, list []Place) {
	c := b.begin(f, KindPoint, true)
	for _, p := range list {
		c.place(p)
	}
	c.ends = append(c.ends, uint32(len(c.lat)))
}

func (c *batchCol) place(p Place) {
	c.lat, c.lon, c.x, c.y = append(c.lat, p.Lat), append(c.lon, p.Lon), append(c.x, p.X), append(c.y, p.Y)
}
