package table

import (
	"encoding/binary"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/value"
)

// Flags of an entry's value.
const (
	entryHasKey = 1
	entryHasRow = 2
)

// RowOnly is the first byte of the value of an entry that has a row and whose
// primary key is in its key; the row is what follows. Scans test for it before
// they call SplitValue.
const RowOnly = entryHasRow

// Index encodes and decodes the entries of a secondary index. It is immutable.
type Index struct {
	Desc *schema.Index
	// Parts are those of schema.Table.EntryParts: the first Own are the index's
	// and tagged, the rest the primary key's.
	Parts []Part
	Own   int
	// Stored are the positions of the columns in the entry's row, by id.
	Stored []int

	codec  *Codec
	prefix []byte
	ids    []uint16
	uses   []bool // columns on which the entry depends, by position
	// pkFrom says for each part of the primary key which part of the entry
	// has it; -1 when it must be made from the value again.
	pkFrom []int
	pkTail bool // the primary key is what follows the own parts
	// array is the part of a multi-valued index that holds the elements of an array, -1
	// for none. where is the position of the column that says which rows have entries,
	// -1 for none.
	array, where int
}

func newIndex(c *Codec, x *schema.Index) (*Index, error) {
	t := c.Table
	ix := &Index{Desc: x, Own: len(x.Parts), codec: c, prefix: TablePrefix(nil, t.ID, x.ID), uses: make([]bool, len(t.Columns)),
		array: t.ArrayPart(x), where: -1}
	if x.Where != 0 {
		if ix.where = t.ColumnIndex(x.Where); ix.where < 0 {
			return nil, fmt.Errorf("index %s.%s: its condition, column %d, does not exist", t.Name, x.Name, x.Where)
		}
		ix.uses[ix.where] = true
	}
	inKey, stored := map[int]bool{}, map[int]bool{}
	for i, p := range t.EntryParts(x) {
		part, err := newPart(t, p, i < ix.Own)
		if err != nil {
			return nil, fmt.Errorf("index %s: %w", x.Name, err)
		}
		ix.Parts = append(ix.Parts, part)
		ix.uses[part.Pos] = true
		if i == ix.array {
			continue // an element does not give the array back
		}
		if !part.Lossy {
			inKey[part.Pos] = true
		} else if part.Prefix == 0 {
			stored[part.Pos] = true
		}
	}
	for _, id := range x.Include {
		pos := t.ColumnIndex(id)
		if pos < 0 {
			return nil, fmt.Errorf("index %s.%s: included column %d does not exist", t.Name, x.Name, id)
		}
		stored[pos] = true
		ix.uses[pos] = true
	}
	for pos := range stored {
		if !inKey[pos] {
			ix.Stored = append(ix.Stored, pos)
		}
	}
	c.sortByID(ix.Stored)
	ix.ids = c.idsOf(ix.Stored)
	ix.pkTail = len(ix.Parts)-ix.Own == len(c.Key)
	for i, k := range c.Key {
		from := -1
		for j, p := range ix.Parts {
			if p.Pos == k.Pos && p.Prefix == k.Prefix {
				from = j
			}
		}
		ix.pkFrom = append(ix.pkFrom, from)
		ix.pkTail = ix.pkTail && from == ix.Own+i
	}
	return ix, nil
}

// Prefix is the bytes with which the keys of all entries begin. Not to be
// changed.
func (x *Index) Prefix() []byte { return x.prefix }

// IDs are the ids of the columns of Stored, for a rowenc.Reader. Not to be
// changed.
func (x *Index) IDs() []uint16 { return x.ids }

// Codec is the codec of the table.
func (x *Index) Codec() *Codec { return x.codec }

// hasNull reports whether an own part of the row is NULL.
func (x *Index) hasNull(row []value.Datum) bool {
	for i := range x.Parts[:x.Own] {
		if row[x.Parts[i].Pos].IsNull() {
			return true
		}
	}
	return false
}

// holds reports whether the index has entries for rows such as this.
func (x *Index) holds(row []value.Datum) bool {
	if x.Desc.Sparse && x.hasNull(row) {
		return false
	}
	return x.where < 0 || !row[x.where].IsNull() && row[x.where].Bits() != 0
}

// IsUniqueEntry reports whether the row's entry must be the only one of its
// key.
func (x *Index) IsUniqueEntry(row []value.Datum) bool { return x.Desc.Unique && !x.hasNull(row) }

// AppendEntry appends the key and the value of an entry, of a row as Each gives
// it, to dst and returns where the value starts. key is the row's key.
func (x *Index) AppendEntry(dst []byte, b *rowenc.Builder, key []byte, row []value.Datum) (out []byte, valueAt int) {
	unique := x.IsUniqueEntry(row)
	dst = append(dst, x.prefix...)
	dst = AppendParts(dst, x.Parts[:x.Own], row)
	if !unique {
		dst = AppendParts(dst, x.Parts[x.Own:], row)
	}
	valueAt = len(dst)
	dst = append(dst, 0)
	if unique {
		dst[valueAt] |= entryHasKey
		dst = binary.AppendUvarint(dst, uint64(len(key)-prefixLen))
		dst = append(dst, key[prefixLen:]...)
	}
	if len(x.Stored) > 0 {
		dst[valueAt] |= entryHasRow
		b.Reset()
		for _, pos := range x.Stored {
			col := &x.codec.Columns[pos]
			if d := row[pos]; !d.IsNull() || col.explicitNull() {
				b.Datum(col.ID, d)
			}
		}
		dst = b.Append(dst)
	}
	return dst, valueAt
}

// SplitValue takes the value of an entry apart: the primary key's parts (nil
// when they are in the key) and the row (nil if the entry has none). Both share
// val.
func SplitValue(val []byte) (pk, row []byte, err error) {
	if len(val) > 0 && val[0] == entryHasRow {
		return nil, val[1:], nil
	}
	if len(val) == 0 || val[0]&^(entryHasKey|entryHasRow) != 0 {
		return nil, nil, errEntry
	}
	flags := val[0]
	val = val[1:]
	if flags&entryHasKey != 0 {
		n, used := binary.Uvarint(val)
		if used <= 0 || n > uint64(len(val)-used) {
			return nil, nil, errEntry
		}
		pk = val[used : used+int(n) : used+int(n)]
		val = val[used+int(n):]
	}
	if flags&entryHasRow != 0 {
		row = val
	} else if len(val) > 0 {
		return nil, nil, errEntry
	}
	return pk, row, nil
}

var errEntry = fmt.Errorf("%w: malformed index entry", storage.ErrCorruption)

// AppendRowKey appends the key of the row to which an entry belongs.
func (x *Index) AppendRowKey(dst, key, val []byte) ([]byte, error) {
	pk, row, err := SplitValue(val)
	if err != nil {
		return dst, x.corrupt(key, err)
	}
	dst = append(dst, x.codec.prefix...)
	if pk != nil {
		return append(dst, pk...), nil
	}
	if len(key) < prefixLen {
		return dst, x.corrupt(key, errEntry)
	}
	if !x.pkTail {
		return x.rebuildKey(dst, key, row)
	}
	rest := key[prefixLen:]
	for i := range x.Parts[:x.Own] {
		if rest, err = x.Parts[i].Skip(rest); err != nil {
			return dst, x.corrupt(key, err)
		}
	}
	return append(dst, rest...), nil
}

// rebuildKey collects the parts of the primary key from those of the entry.
func (x *Index) rebuildKey(dst, key, row []byte) ([]byte, error) {
	var room [16][]byte
	parts := room[:0]
	rest := key[prefixLen:]
	for i := range x.Parts {
		next, err := x.Parts[i].Skip(rest)
		if err != nil {
			return dst, x.corrupt(key, err)
		}
		parts = append(parts, rest[:len(rest)-len(next)])
		rest = next
	}
	for i := range x.codec.Key {
		k := &x.codec.Key[i]
		from := x.pkFrom[i]
		if from < 0 {
			d, err := x.value(key, parts, row, k.Pos)
			if err != nil {
				return dst, err
			}
			dst = k.Append(dst, d)
			continue
		}
		b := parts[from]
		if x.Parts[from].Tagged {
			b = b[1:]
		}
		start := len(dst)
		dst = append(dst, b...)
		if x.Parts[from].Desc != k.Desc {
			for j := range dst[start:] {
				dst[start+j] = ^dst[start+j]
			}
		}
	}
	return dst, nil
}

// value is a column that the entry holds whole.
func (x *Index) value(key []byte, parts [][]byte, row []byte, pos int) (value.Datum, error) {
	for i := range x.Parts {
		if p := &x.Parts[i]; p.Pos == pos && !p.Lossy {
			d, _, err := p.Decode(parts[i])
			if err != nil {
				return value.Null, x.corrupt(key, err)
			}
			return d, nil
		}
	}
	if row != nil {
		col := &x.codec.Columns[pos]
		r := rowenc.NewReader([]uint16{col.ID})
		if err := r.Reset(row); err != nil {
			return value.Null, x.corrupt(key, err)
		}
		if b, st := r.Field(0); st == rowenc.Value {
			if d, ok := rowenc.Datum(b, col.Kind); ok {
				return d, nil
			}
		}
	}
	return value.Null, x.corrupt(key, errEntry)
}

func (x *Index) corrupt(key []byte, err error) error {
	t := x.codec.Table
	return fmt.Errorf("index %s of %s.%s, entry %x: %w", x.Desc.Name, t.Database, t.Name, key, err)
}

// KeyHasRow reports whether AppendRowKey needs nothing of an entry's value:
// PlainValue may be passed for it.
func (x *Index) KeyHasRow() bool {
	if x.Desc.Unique {
		return false
	}
	for _, from := range x.pkFrom {
		if from < 0 {
			return false
		}
	}
	return true
}

// PlainValue is the value of an entry that has nothing but its key.
func PlainValue() []byte { return plainValue }

var plainValue = []byte{0}
