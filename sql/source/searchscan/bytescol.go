package searchscan

import (
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/vec"
)

// bytesRoom is how many bytes of fields that are only read a batch of documents
// decodes at a time; one document may have more.
const bytesRoom = 4 << 20

// fit are as many of docs, at least one, as may be decoded at a time.
func fit(s *seg.Segment, cols []searchColumn, docs []uint32) ([]uint32, error) {
	n := 0
	for i := range cols {
		if cols[i].Bytes && !cols[i].absent {
			n++
		}
	}
	for i := range cols {
		if !cols[i].Bytes || cols[i].absent {
			continue
		}
		c, err := s.Bytes(cols[i].ID)
		if err != nil {
			return nil, err
		}
		some, err := c.Fit(docs, bytesRoom/n)
		if err != nil {
			return nil, err
		}
		docs = docs[:some]
	}
	return docs, nil
}

// readBytes decodes values that are only read. Batches may keep them.
func (c *searchColumn) readBytes(s *seg.Segment, docs []uint32, out *vec.Vec) error {
	col, err := s.Bytes(c.ID)
	if err != nil {
		return err
	}
	if col.AllNull() {
		out.Nulls.SetAll(len(docs))
		return nil
	}
	r := col.Reader()
	var room []byte
	ends := make([]int, len(docs))
	for i, d := range docs {
		b, ok, err := r.Get(d)
		if err != nil {
			return err
		}
		if !ok {
			out.Nulls.Set(i)
		}
		room = append(room, b...)
		ends[i] = len(room)
	}
	from := 0
	for i, end := range ends {
		out.Bytes[i] = room[from:end:end]
		from = end
	}
	return nil
}
