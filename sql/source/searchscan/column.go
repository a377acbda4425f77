package searchscan

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// searchColumn reads a column of documents.
type searchColumn struct {
	searchdoc.Field
	z *decode.Zone
	// absent: the column is not read.
	absent bool
	// inKey: the index has no field of the column, which is read from part at of
	// the documents' keys.
	inKey bool
	parts []table.Part
	at    int
	ids   [][]byte
	words []int64
	ords  []uint32
	// values are those of ordinals of seg that were met, where there are not too
	// many: copies, as the files may go before the batch.
	seg    *seg.Segment
	values []value.Datum
}

// maxValues is the most ordinals whose values are kept, valuesPerDoc the most for
// each document of a batch.
const (
	maxValues    = 1 << 16
	valuesPerDoc = 4
)

// searchColumns are the columns of n.Read.
func (s *Searcher) searchColumns(k *decode.Table, n *physical.Scan, z *decode.Zone) ([]searchColumn, error) {
	out := make([]searchColumn, len(n.Read))
	for i, pos := range n.Read {
		kind := types.KindOf(n.Table.Columns[pos].Type)
		d := n.Search().Index.Values(n.Table.Columns[pos].ID)
		part := k.Columns[pos].KeyPart
		switch {
		case n.Search().Unread != nil && n.Search().Unread[i]:
			out[i] = searchColumn{Field: searchdoc.Field{Kind: kind}, absent: true}
		case d == nil && part < 0:
			return nil, sqlerr.Internal("search index %s has no column %s", n.Search().Index.Name, n.Table.Columns[pos].Name)
		case d == nil:
			stamp := n.Table.Columns[pos].Type.ID == schema.TypeTimestamp
			out[i] = searchColumn{Field: searchdoc.Field{Pos: pos, Kind: kind, Stamp: stamp}, z: z, inKey: true, parts: k.Key, at: part}
		default:
			f, err := searchdoc.NewField(k.Table, d)
			if err != nil {
				return nil, err
			}
			out[i] = searchColumn{Field: f, z: z}
		}
	}
	return out, nil
}

// openColumns opens the columns of all hits, which verifies their checksums:
// damage is seen while the table can still be read instead.
func openColumns(cols []searchColumn, hits []query.Hits) error {
	for i := range hits {
		if hits[i].Count == 0 {
			continue
		}
		for j := range cols {
			if cols[j].absent || cols[j].inKey {
				continue
			}
			var err error
			if cols[j].Geo {
				_, err = hits[i].Seg.Points(cols[j].ID)
			} else if cols[j].Bytes {
				_, err = hits[i].Seg.Bytes(cols[j].ID)
			} else if cols[j].Word {
				_, err = hits[i].Seg.Words(cols[j].ID)
			} else {
				_, err = hits[i].Seg.Keys(cols[j].ID)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// read decodes the values of documents.
func (c *searchColumn) read(s *seg.Segment, docs []uint32, out *vec.Vec) error {
	if c.absent {
		out.Nulls.SetAll(len(docs))
		return nil
	}
	if c.inKey {
		return c.readIDs(s, docs, out)
	}
	if c.Geo {
		return c.readPlaces(s, docs, out)
	}
	if c.Bytes {
		return c.readBytes(s, docs, out)
	}
	if !c.Word {
		return c.readKeys(s, docs, out)
	}
	w, err := s.Words(c.ID)
	if err != nil {
		return err
	}
	if w.AllNull() {
		out.Nulls.SetAll(len(docs))
		return nil
	}
	if cap(c.words) < len(docs) {
		c.words = make([]int64, vec.MaxRows)
	}
	c.words = c.words[:len(docs)]
	w.Gather(docs, c.words)
	if w.Nulls() != nil {
		for i, d := range docs {
			if w.IsNull(d) {
				out.Nulls.Set(i)
			}
		}
	}
	c.fill(c.words, out)
	return nil
}

// isPlain reports a column whose values are decoded by runs of documents.
func (c *searchColumn) isPlain() bool { return c.absent || c.Word && !c.inKey && !c.Geo }

func allPlain(cols []searchColumn) bool {
	for i := range cols {
		if !cols[i].isPlain() {
			return false
		}
	}
	return true
}

// readRun decodes the values of n documents from one on, of a plain column.
func (c *searchColumn) readRun(s *seg.Segment, from, n int, out *vec.Vec) error {
	if c.absent {
		out.Nulls.SetAll(n)
		return nil
	}
	w, err := s.Words(c.ID)
	if err != nil {
		return err
	}
	if w.AllNull() {
		out.Nulls.SetAll(n)
		return nil
	}
	out.Nulls.CopyBits(w.Nulls(), from, n)
	words := out.I64
	if vec.ClassOf(c.Kind) != vec.ClassWord {
		if cap(c.words) < n {
			c.words = make([]int64, vec.MaxRows)
		}
		words = c.words
	}
	words = words[:n]
	for at := 0; at < n; {
		at += w.Block(from+at, words[at:])
	}
	c.fill(words, out)
	return nil
}

// decodeRun makes b a batch of n documents from one on. All columns are plain.
func decodeRun(s *seg.Segment, from, n int, cols []searchColumn, b *vec.Batch) error {
	initBatch(b, cols, n)
	for i := range cols {
		if err := cols[i].readRun(s, from, n, b.Cols[i]); err != nil {
			return err
		}
	}
	return nil
}

// readIDs decodes the values from the documents' keys.
func (c *searchColumn) readIDs(s *seg.Segment, docs []uint32, out *vec.Vec) error {
	c.ids = s.IDs(docs, c.ids[:0])
	for i, id := range c.ids {
		var d value.Datum
		var err error
		for p := range c.at {
			if id, err = c.parts[p].Skip(id); err != nil {
				return err
			}
		}
		if d, _, err = c.parts[c.at].Decode(id); err != nil {
			return err
		}
		if c.Stamp && !c.z.UTC {
			d = value.TimeOf(c.z.Local(d.Time()))
		}
		out.SetDatum(i, d)
	}
	return nil
}

func (c *searchColumn) readKeys(s *seg.Segment, docs []uint32, out *vec.Vec) error {
	keys, err := s.Keys(c.ID)
	if err != nil {
		return err
	}
	if cap(c.ords) < len(docs) {
		c.ords = make([]uint32, vec.MaxRows)
	}
	c.ords = c.ords[:len(docs)]
	keys.Gather(docs, c.ords)
	if c.seg != s {
		c.seg, c.values = s, nil
		if n := keys.Ordinals(); n <= maxValues && n <= valuesPerDoc*len(docs) {
			c.values = make([]value.Datum, n)
		}
	}
	if c.values == nil && out.Kind == value.KindBytes {
		keys.CopyValues(c.ords, out.Alloc, out.Bytes)
		for i, o := range c.ords {
			if o == seg.NoOrdinal {
				out.Nulls.Set(i)
			}
		}
		return nil
	}
	for i, o := range c.ords {
		switch {
		case o == seg.NoOrdinal:
			out.Nulls.Set(i)
		case c.values == nil:
			out.SetDatum(i, c.Datum(keys.Value(o)))
		default:
			if c.values[o].IsNull() {
				c.values[o] = c.Datum(keys.Value(o)).Clone()
			}
			if out.Kind == value.KindBytes {
				out.Bytes[i] = c.values[o].Bytes()
			} else {
				out.SetDatum(i, c.values[o])
			}
		}
	}
	return nil
}

// decodeDocs makes b a batch of documents.
func decodeDocs(s *seg.Segment, docs []uint32, cols []searchColumn, b *vec.Batch) error {
	initBatch(b, cols, len(docs))
	for i := range cols {
		if err := cols[i].read(s, docs, b.Cols[i]); err != nil {
			return err
		}
	}
	return nil
}

// initBatch makes b a batch of n rows without values.
func initBatch(b *vec.Batch, cols []searchColumn, n int) {
	if len(b.Cols) != len(cols) {
		b.Cols = make([]*vec.Vec, len(cols))
		for i := range cols {
			b.Cols[i] = vec.New(cols[i].Kind)
		}
	}
	b.N, b.HasSel, b.Sel = n, false, nil
	for i := range cols {
		b.Cols[i].Init(cols[i].Kind, n)
	}
}

// fill turns words into values. They may be in out.
func (c *searchColumn) fill(words []int64, out *vec.Vec) {
	switch c.Kind {
	case value.KindUint, value.KindTime:
		for i, w := range words {
			out.I64[i] = int64(uint64(w) ^ decode.SignBit)
		}
		if c.Stamp && !c.z.UTC {
			for i := range words {
				if !out.Nulls.IsNull(i) {
					out.I64[i] = int64(c.z.Local(value.Time(out.I64[i])))
				}
			}
		}
	case value.KindFloat:
		for i, w := range words {
			u := uint64(w)
			if w < 0 {
				u = ^(u ^ decode.SignBit)
			}
			out.F64[i] = math.Float64frombits(u)
		}
	case value.KindDecimal:
		for i, w := range words {
			out.Dec[i] = value.DecimalFromInt128(w>>63, uint64(w), c.Scale)
		}
	default:
		if len(words) > 0 && &words[0] != &out.I64[0] {
			copy(out.I64, words)
		}
	}
}

// readPlaces makes points of the places of documents.
func (c *searchColumn) readPlaces(s *seg.Segment, docs []uint32, out *vec.Vec) error {
	p, err := s.Points(c.ID)
	if err != nil {
		return err
	}
	if p.AllNull() {
		out.Nulls.SetAll(len(docs))
		return nil
	}
	x, y := p.Exact()
	room := make([]byte, 0, 25*len(docs)) // batches may keep it
	for i, d := range docs {
		if p.IsNull(d) {
			out.Nulls.Set(i)
			continue
		}
		from := len(room)
		room = searchdoc.PointBytes(room, c.SRID, x[d], y[d])
		out.Bytes[i] = room[from:len(room):len(room)]
	}
	return nil
}
