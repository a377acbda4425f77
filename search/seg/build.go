package seg

import (
	"bytes"
	"slices"
)

// live lists the rows that count: the last of each id, with what is nested in
// it.
type liveRows struct {
	rows  []uint32 // row of each document
	docOf []uint32 // document of each row, dropped for superseded ones
	roots int
}

const dropped = ^uint32(0)

func (b *Batch) live() liveRows {
	l := liveRows{docOf: make([]uint32, len(b.rows)), rows: make([]uint32, 0, len(b.rows))}
	keep := false
	for i, r := range b.rows {
		if r.path == 0 {
			keep = b.last[r.id] == i
			if keep {
				l.roots++
			}
		}
		l.docOf[i] = dropped
		if keep {
			l.docOf[i] = uint32(len(l.rows))
			l.rows = append(l.rows, uint32(i))
		}
	}
	return l
}

// build makes a segment of the batch in memory; nil if it has no documents.
func (b *Batch) build() (*file, error) {
	l := b.live()
	docs := len(l.rows)
	if docs == 0 {
		return nil, nil
	}
	var buf bytes.Buffer
	buf.Grow(b.Size() + b.Size()/2 + 4096)
	hasText := b.schema.hasText()
	var inverted int64
	if hasText {
		var err error
		if inverted, err = invert(b, l, &buf); err != nil {
			return nil, err
		}
	}
	w := newFileWriter(&buf, inverted)
	if hasText {
		w.inverted(inverted)
	}
	b.writeIDs(w, l)
	for _, c := range b.byIndex {
		if err := c.write(w, l, docs); err != nil {
			return nil, err
		}
	}
	if err := w.finish(docs, l.roots); err != nil {
		return nil, err
	}
	data := buf.Bytes()
	if cap(data) > len(data)+len(data)/4 {
		data = append(alignedBytes(len(data))[:0], data...)
	}
	return parseFile("(memory)", data)
}

func (b *Batch) writeIDs(w *fileWriter, l liveRows) {
	list := make([][]byte, len(l.rows))
	var roots []uint64
	if l.roots != len(l.rows) {
		roots = make([]uint64, BitWords(len(l.rows)))
		paths := make([]byte, len(l.rows))
		for doc, r := range l.rows {
			paths[doc] = b.rows[r].path
			if paths[doc] == 0 {
				setBit(roots, uint32(doc))
			}
		}
		w.section(0, 0, partPaths, [4]int64{}, paths)
	}
	for doc, r := range l.rows {
		if row := &b.rows[r]; row.path == 0 {
			list[doc] = []byte(row.id)
		}
	}
	writeIDs(w, list, roots)
}

// write writes the values of the rows that count.
func (c *batchCol) write(w *fileWriter, l liveRows, docs int) error {
	f := c.field
	nulls := make([]uint64, BitWords(docs))
	onesInto(nulls, docs)
	// at is the place in the column of each document's value
	at := make([]int32, docs)
	for i := range at {
		at[i] = -1
	}
	for i, r := range c.rows {
		if d := l.docOf[r]; d != dropped {
			at[d] = int32(i)
			nulls[d>>6] &^= 1 << (d & 63)
		}
	}
	var ends []uint32
	flat := []int32{} // place of each value
	if f.Multi {
		ends = make([]uint32, docs)
		for d, i := range at {
			if i >= 0 {
				from := uint32(0)
				if i > 0 {
					from = c.ends[i-1]
				}
				for j := from; j < c.ends[i]; j++ {
					flat = append(flat, int32(j))
				}
			}
			ends[d] = uint32(len(flat))
		}
	} else {
		flat = at
	}
	switch f.Kind {
	case KindWord:
		d := wordData{vals: pick(c.words, flat), nulls: nulls, ends: ends}
		d.write(w, f, docs)
	case KindText:
		d := wordData{vals: pick(c.length, flat), nulls: nulls}
		d.write(w, f, docs)
	case KindPoint:
		d := pointData{lat: pick(c.lat, flat), lon: pick(c.lon, flat), x: pick(c.x, flat), y: pick(c.y, flat), nulls: nulls, ends: ends}
		d.write(w, f, docs)
	case KindKey:
		// only values that count belong into the dictionary
		used := slices.DeleteFunc(slices.Clone(flat), func(i int32) bool { return i < 0 })
		spans := pick(c.spans, used)
		var keys []span
		if f.Collated {
			keys = pick(c.keys, used)
		}
		d := keyData{nulls: nulls, ends: ends}
		d.values, d.keys, d.ords = c.collectKeys(spans, keys)
		if !f.Multi && len(used) != docs {
			all := make([]int64, docs)
			n := 0
			for i, j := range flat {
				if j >= 0 {
					all[i] = d.ords[n]
					n++
				}
			}
			d.ords = all
		}
		d.write(w, f, docs)
	case KindBytes:
		return writeBytes(w, f, docs, nulls, func(doc uint32) ([]byte, error) {
			if at[doc] < 0 {
				return nil, nil
			}
			return c.get(c.spans[at[doc]]), nil
		})
	}
	return nil
}

// pick gives the values at the places, zero for -1.
func pick[T any](v []T, places []int32) []T {
	out := make([]T, len(places))
	for i, p := range places {
		if p >= 0 {
			out[i] = v[p]
		}
	}
	return out
}
