package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/value"
)

// noAttributes is what a row without attributes has.
var noAttributes = value.JSONOf(value.JSONObject(nil, nil))

// attributesOf are the attributes of a row in their stored form.
func (c *Codec) attributesOf(row []value.Datum) rowenc.Attributes {
	if c.attrs < 0 {
		return rowenc.Attributes{}
	}
	return rowenc.EncodeAttributes(row[c.attrs].Bytes())
}

// appendAttributeKey appends the key of a cell of attributes; key is the row's.
func (c *Codec) appendAttributeKey(dst, key, suffix []byte) []byte {
	return append(c.AppendCellKey(dst, key, c.attrs), suffix...)
}

// decodeAttributes reads the block of a row; with cells, Fetch goes on.
func (r *RowReader) decodeAttributes(block []byte, row []value.Datum) error {
	if r.attrs == nil {
		r.attrs = rowenc.NewAttributeReader(nil)
	}
	if err := r.attrs.Reset(block); err != nil {
		return err
	}
	if len(r.attrs.Cells) > 0 {
		row[r.c.attrs] = value.Null
		r.Cells, r.Lengths = append(r.Cells, r.c.attrs), append(r.Lengths, 0)
		return nil
	}
	row[r.c.attrs] = value.JSONOf(r.attrs.Object())
	return nil
}

// fillAttributes reads the cells that ar needs.
func (c *Codec) fillAttributes(ctx context.Context, kv storage.Reader, key []byte, ar *rowenc.AttributeReader) error {
	_, err := c.FillAttributes(ctx, kv, key, ar)
	return err
}

// FillAttributes reads from kv the cells that ar needs, which was reset to the
// attributes of the row at key, and returns how many bytes that took.
func (c *Codec) FillAttributes(ctx context.Context, kv storage.Reader, key []byte, ar *rowenc.AttributeReader) (read AttributeCost, err error) {
	for len(ar.Cells) > 0 {
		want := slices.Clone(ar.Cells)
		ar.Cells = ar.Cells[:0]
		slices.SortFunc(want, func(a, b rowenc.AttributeWant) int { return bytes.Compare(a.Suffix, b.Suffix) })
		keys := make([][]byte, len(want))
		for i := range want {
			keys[i] = c.appendAttributeKey(nil, key, want[i].Suffix)
		}
		err := kv.BatchGet(ctx, keys, func(i int, val []byte) error {
			if val == nil {
				return c.corrupt(keys[i], "a cell of attributes is missing")
			}
			read.Cells++
			read.Bytes += int64(len(keys[i]) + len(val))
			if err := ar.Give(want[i], bytes.Clone(val)); err != nil {
				return c.corrupt(keys[i], err.Error())
			}
			return nil
		})
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// AttributeCost is what reading attributes took.
type AttributeCost struct{ Cells, Bytes int64 }

// EachCell calls fn with the key and the length of each cell that a row must
// have; row is whole, key is its key. The key is fn's.
func (c *Codec) EachCell(key []byte, row []value.Datum, fn func(key []byte, length int)) {
	for pos := range c.Columns {
		if c.isCell(pos, row[pos]) {
			fn(c.AppendCellKey(nil, key, pos), len(row[pos].Bytes()))
		}
	}
	for _, cell := range c.attributesOf(row).Cells {
		fn(c.appendAttributeKey(nil, key, cell.Suffix), len(cell.Value))
	}
}

// SplitCellKey takes the key of a cell apart: the key of its row, and its
// column.
func (c *Codec) SplitCellKey(cell []byte) (key []byte, column schema.ColumnID, err error) {
	if len(cell) < prefixLen {
		return nil, 0, c.corrupt(cell, "short key")
	}
	rest := cell[prefixLen:]
	for i := range c.Key {
		if rest, err = c.Key[i].Skip(rest); err != nil {
			return nil, 0, c.corrupt(cell, err.Error())
		}
	}
	if len(rest) < cellSuffixLen {
		return nil, 0, c.corrupt(cell, "malformed key of a cell")
	}
	key = append(append([]byte(nil), c.prefix...), cell[prefixLen:len(cell)-len(rest)]...)
	return key, schema.ColumnID(binary.BigEndian.Uint16(rest)), nil
}

// checkAttributes tests the sizes of the cells of attributes.
func (w *Writer) checkAttributes(m *image) error {
	for _, cell := range m.attrs.Cells {
		if err := w.checkPair(m.key+cellSuffixLen+len(cell.Suffix), len(cell.Value)); err != nil {
			return fmt.Errorf("attribute %q: %w", cell.Suffix[1:], err)
		}
	}
	return nil
}

// putAttributes writes the cells of attributes of w.new, except those that old,
// the image of a row of the same key, has alike.
func (w *Writer) putAttributes(ctx context.Context, old *image) error {
	var have []rowenc.AttributeCell
	if old != nil {
		have = old.attrs.Cells
	}
	for _, cell := range w.new.attrs.Cells {
		var found bool
		if have, found = seekCell(have, cell.Suffix); found && bytes.Equal(have[0].Value, cell.Value) {
			continue
		}
		w.buf = w.c.appendAttributeKey(w.buf[:0], w.new.rowKey(), cell.Suffix)
		if err := w.txn.Put(ctx, w.buf, cell.Value); err != nil {
			return err
		}
	}
	return nil
}

// seekCell leaves out the cells before a suffix; found reports that the first cell left
// has the suffix.
func seekCell(cells []rowenc.AttributeCell, suffix []byte) (rest []rowenc.AttributeCell, found bool) {
	for len(cells) > 0 && bytes.Compare(cells[0].Suffix, suffix) < 0 {
		cells = cells[1:]
	}
	return cells, len(cells) > 0 && bytes.Equal(cells[0].Suffix, suffix)
}

// dropAttributes removes the cells of attributes of w.old, except those that
// row, the image of a row of the same key, has too.
func (w *Writer) dropAttributes(ctx context.Context, row *image) error {
	var have []rowenc.AttributeCell
	if row != nil {
		have = row.attrs.Cells
	}
	for _, cell := range w.old.attrs.Cells {
		var found bool
		if have, found = seekCell(have, cell.Suffix); found {
			continue
		}
		w.buf = w.c.appendAttributeKey(w.buf[:0], w.old.rowKey(), cell.Suffix)
		if err := w.txn.Delete(ctx, w.buf); err != nil {
			return err
		}
	}
	return nil
}
