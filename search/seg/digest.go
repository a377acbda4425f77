package seg

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// Segment is what Apply would make of the batch, for comparison with what an
// index has; nil when it has no documents.
func (b *Batch) Segment() (*Segment, error) {
	if b.err != nil {
		return nil, b.err
	}
	f, err := b.build()
	if f == nil || err != nil {
		return nil, err
	}
	c, err := newCore(f)
	if err != nil {
		return nil, err
	}
	return &Segment{c: c, schema: b.schema, live: c.liveOf(nil), onError: func(error) {}}, nil
}

// digest hashes one value after the other.
type digest struct {
	h   xxhash.Digest
	num [8]byte
}

func (d *digest) reset(tag uint64) {
	d.h.Reset()
	d.word(tag)
}

func (d *digest) word(v uint64) {
	binary.LittleEndian.PutUint64(d.num[:], v)
	_, _ = d.h.Write(d.num[:])
}

func (d *digest) bytes(b []byte) {
	d.word(uint64(len(b)))
	_, _ = d.h.Write(b)
}

// Digests gives, for each document, a hash of its values in a field: the same for
// the same values in every segment, 0 for NULL. The values of nested documents
// are in the hash of the document that contains them.
func (s *Segment) Digests(id FieldID) ([]uint64, error) {
	out := make([]uint64, s.Docs())
	var err error
	switch kind := s.FieldKind(id); kind {
	case KindWord:
		err = s.digestWords(id, out)
	case KindKey:
		err = s.digestKeys(id, out)
	case KindBytes:
		err = s.digestBytes(id, out)
	case KindPoint:
		err = s.digestPoints(id, out)
	case KindText:
		err = s.digestText(id, out)
	default:
		err = fmt.Errorf("no field %d", id)
	}
	if err != nil {
		return nil, err
	}
	n, err := s.Nested()
	if err != nil || !n.Any() {
		return out, err
	}
	var d digest
	for doc := range out {
		if root := n.Root(uint32(doc)); root != uint32(doc) {
			d.reset(out[root])
			d.word(uint64(n.Path(uint32(doc))))
			d.word(out[doc])
			out[root] = d.h.Sum64()
		}
	}
	return out, nil
}

func (s *Segment) digestWords(id FieldID, out []uint64) error {
	w, err := s.Words(id)
	if err != nil {
		return err
	}
	var d digest
	var vals []int64
	for doc := range out {
		if w.AllNull() || w.IsNull(uint32(doc)) {
			continue
		}
		d.reset(1)
		if !w.Multi() {
			v, _ := w.Get(uint32(doc))
			d.word(uint64(v))
		} else {
			vals = w.Array(uint32(doc), vals[:0])
			for _, v := range vals {
				d.word(uint64(v))
			}
		}
		out[doc] = d.h.Sum64()
	}
	return nil
}

func (s *Segment) digestKeys(id FieldID, out []uint64) error {
	k, err := s.Keys(id)
	if err != nil {
		return err
	}
	var d digest
	var ords []uint32
	for doc := range out {
		if k.AllNull() || k.IsNull(uint32(doc)) {
			continue
		}
		d.reset(2)
		if ords = ords[:0]; k.Multi() {
			ords = k.Array(uint32(doc), ords)
		} else {
			ords = append(ords, 0)
			k.Gather([]uint32{uint32(doc)}, ords)
		}
		for _, o := range ords {
			d.bytes(k.Value(o))
			d.bytes(k.Key(k.ClassOf(o)))
		}
		out[doc] = d.h.Sum64()
	}
	return nil
}

func (s *Segment) digestBytes(id FieldID, out []uint64) error {
	c, err := s.Bytes(id)
	if err != nil {
		return err
	}
	var d digest
	r := c.Reader()
	for doc := range out {
		b, ok, err := r.Get(uint32(doc))
		if err != nil {
			return err
		}
		if ok {
			d.reset(3)
			d.bytes(b)
			out[doc] = d.h.Sum64()
		}
	}
	return nil
}

func (s *Segment) digestPoints(id FieldID, out []uint64) error {
	p, err := s.Points(id)
	if err != nil {
		return err
	}
	var d digest
	lat, lon := p.Coordinates()
	x, y := p.Exact()
	for doc := range out {
		if p.AllNull() || p.IsNull(uint32(doc)) {
			continue
		}
		d.reset(4)
		for from, to := p.Span(uint32(doc)); from < to; from++ {
			d.word(uint64(uint32(lat[from]))<<32 | uint64(uint32(lon[from])))
			d.word(math.Float64bits(x[from]))
			d.word(math.Float64bits(y[from]))
		}
		out[doc] = d.h.Sum64()
	}
	return nil
}

// digestText adds the hashes of the terms of a document.
func (s *Segment) digestText(id FieldID, out []uint64) error {
	t, err := s.Text(id)
	if err != nil {
		return err
	}
	var d digest
	for doc := range out {
		if l := t.Lengths(); !l.AllNull() && !l.IsNull(uint32(doc)) {
			v, _ := l.Get(uint32(doc))
			d.reset(5)
			d.word(uint64(v))
			out[doc] = d.h.Sum64()
		}
	}
	terms, err := t.Terms()
	if err != nil {
		return err
	}
	var p *Postings
	eachErr := terms.Each(nil, nil, nil, func(term []byte, _ int) bool {
		if p, err = terms.Postings(term, p); err != nil {
			return false
		}
		var hits *Hits
		if hits, err = p.Scan(true, nil); err != nil {
			return false
		}
		word := xxhash.Sum64(term)
		for {
			var h *Hit
			if h, err = hits.Next(); h == nil || err != nil {
				return err == nil
			}
			d.reset(word)
			d.word(uint64(h.Freq))
			for _, o := range h.At {
				d.word(uint64(o.Pos))
				d.word(uint64(o.Start)<<32 | uint64(o.End))
			}
			out[h.Doc] += d.h.Sum64()
		}
	})
	if err == nil {
		err = eachErr
	}
	return err
}
