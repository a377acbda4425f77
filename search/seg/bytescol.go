package seg

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Values of a Bytes field lie in blocks of about 16 KiB before compression:
//
//	n ends     uint32 each, of the values in the data
//	data       the values
//
// The index of blocks is a list of pairs: the first document of the block, the
// offset of its compressed bytes.
const bytesBlock = 16 << 10

var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		return e
	})
	zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
		return d
	})
)

// BytesColumn is a Bytes field of a segment. It may be used concurrently, its
// readers not.
type BytesColumn struct {
	column
	name  string
	id    FieldID
	index []uint64 // pairs; one more at the end: docs, length
	data  []byte
	same  *Value // that of all documents; nil for none
}

// fill gives all documents a value if the file does not have the field.
func (c *BytesColumn) fill(v *Value) {
	if c.filled(v) {
		c.same = v
	}
}

func openBytes(f *file, id FieldID) (*BytesColumn, error) {
	c := &BytesColumn{name: f.name, id: id}
	if err := c.open(f, id, KindBytes); err != nil {
		return nil, err
	}
	ix, err := f.section(id, partBlockIndex)
	if err != nil {
		return nil, err
	}
	b, err := f.section(id, partBlocks)
	if err != nil {
		return nil, err
	}
	if b == nil || ix == nil {
		c.missing(f.docs)
		return c, nil
	}
	c.index, c.data = view[uint64](ix.data), b.data
	return c, nil
}

// BytesReader reads the values of a Bytes field.
type BytesReader struct {
	c     *BytesColumn
	block int // that buf holds
	buf   []byte
}

// Reader returns a reader, which keeps one block.
func (c *BytesColumn) Reader() *BytesReader { return &BytesReader{c: c, block: -1} }

// block is the number of the block that has a document.
func (c *BytesColumn) block(doc uint32) int {
	lo, hi := 0, len(c.index)/2-2
	for lo < hi {
		m := int(uint(lo+hi+1) >> 1)
		if c.index[2*m] <= uint64(doc) {
			lo = m
		} else {
			hi = m - 1
		}
	}
	return lo
}

// Fit is how many of docs, which ascend, have their values in blocks of so many bytes
// in all; at least one.
func (c *BytesColumn) Fit(docs []uint32, bytes int) (int, error) {
	if c.empty || c.same != nil {
		return len(docs), nil
	}
	last := -1
	for i, d := range docs {
		b := c.block(d)
		if b == last {
			continue
		}
		last = b
		var h zstd.Header
		if err := h.Decode(c.data[c.index[2*b+1]:c.index[2*b+3]]); err != nil {
			return 0, damaged(c.name, "block %d of field %d: %v", b, c.id, err)
		}
		if bytes -= int(h.FrameContentSize); bytes < 0 && i > 0 {
			return i, nil
		}
	}
	return len(docs), nil
}

// Get is the value of one document, valid until the next call. Documents in
// ascending order are faster.
func (r *BytesReader) Get(doc uint32) ([]byte, bool, error) {
	c := r.c
	if c.IsNull(doc) || c.empty {
		return nil, false, nil
	}
	if c.same != nil {
		return c.same.Bytes, true, nil
	}
	lo := c.block(doc)
	if lo != r.block {
		r.block = -1
		var err error
		r.buf, err = zstdDecoder().DecodeAll(c.data[c.index[2*lo+1]:c.index[2*lo+3]], r.buf[:0])
		if err != nil {
			return nil, false, damaged(c.name, "block %d of field %d: %v", lo, c.id, err)
		}
		r.block = lo
	}
	first := c.index[2*lo]
	n := int(c.index[2*lo+2] - first)
	i := int(uint64(doc) - first)
	if len(r.buf) < 4*n {
		return nil, false, damaged(c.name, "block %d of field %d is short", lo, c.id)
	}
	from, to := uint32(0), binary.LittleEndian.Uint32(r.buf[4*i:])
	if i > 0 {
		from = binary.LittleEndian.Uint32(r.buf[4*i-4:])
	}
	v := r.buf[4*n:]
	if from > to || int(to) > len(v) {
		return nil, false, damaged(c.name, "block %d of field %d is short", lo, c.id)
	}
	return v[from:to:to], true, nil
}

// writeBytes writes a Bytes field; next gives the values of all documents in
// order, nil for NULL.
func writeBytes(w *fileWriter, f Field, docs int, nulls []uint64, next func(doc uint32) ([]byte, error)) error {
	if _, all := writeNulls(w, f, nulls, docs); all {
		return nil
	}
	var index []uint64
	var data, block, packed []byte
	var ends []uint32
	blocks := w.begin(f.ID, f.Kind, partBlocks)
	for doc := range uint32(docs) {
		v, err := next(doc)
		if err != nil {
			return err
		}
		if uint64(len(data))+uint64(len(v)) > 1<<31 {
			return fmt.Errorf("field %d: a value of %d bytes", f.ID, len(v))
		}
		if len(ends) == 0 {
			index = append(index, uint64(doc), blocks.len)
		}
		data = append(data, v...)
		ends = append(ends, uint32(len(data)))
		if len(data)+4*len(ends) >= bytesBlock || int(doc) == docs-1 {
			block = append(append(block[:0], bytesOf(ends)...), data...)
			packed = zstdEncoder().EncodeAll(block, packed[:0])
			w.add(blocks, packed)
			data, ends = data[:0], ends[:0]
		}
	}
	index = append(index, uint64(docs), blocks.len)
	w.end(blocks)
	w.section(f.ID, f.Kind, partBlockIndex, [4]int64{}, bytesOf(index))
	return nil
}
