package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/value"
)

// Column is what the codec knows of a column.
type Column struct {
	// ID is the column's id in rows.
	ID   uint16
	Kind value.Kind
	// KeyPart is the part of the primary key that gives the value back, -1 if
	// it is in the row.
	KeyPart int
	// Added is the value of rows that were written before the column existed.
	Added value.Datum
	// MayBeCell: large values are kept in cells of their own.
	MayBeCell bool
	// Scale of decimals.
	Scale int
	// Virtual columns are in no row: Codec.Virtual computes them.
	Virtual bool
	// Attributes: the value is stored as rowenc.Attributes, with cells of its
	// own.
	Attributes bool
}

// explicitNull reports whether NULL must be distinguished from absence.
func (c *Column) explicitNull() bool { return !c.Added.IsNull() }

// Codec encodes and decodes the rows and entries of a table. It is immutable
// and safe for concurrent use.
type Codec struct {
	Table *schema.Table
	// Key are the parts of the primary key.
	Key []Part
	// Columns are parallel to Table.Columns.
	Columns []Column
	// Indexes are parallel to Table.Indexes.
	Indexes []*Index
	// ordered are the Indexes by schema.Table.IndexClass: the order in which
	// entries are written, so that of several duplicates the right one is found.
	ordered []*Index
	// Virtual makes a function that computes the virtual columns of a decoded
	// row in place, for one goroutine; nil if the table has no such columns. It is
	// set once, before the codec is used.
	Virtual func() func(row []value.Datum) error
	// Keyed is as Virtual for those of which index entries are made; the others
	// become NULL.
	Keyed func() func(row []value.Datum) error
	// KeyedAttributes are the names of the attributes that Keyed reads; nil for
	// all.
	KeyedAttributes []string
	// Marks are the table's; nil when only one writer changes it, or when older
	// views are not known. Set once, as Virtual.
	Marks *Marks

	stored  []int // positions of the columns in the row's value, by id
	ids     []uint16
	prefix  []byte // of rows
	cells   []byte // of cells
	hasCell bool   // some column may be a cell
	attrs   int    // position of the column of attributes, -1 for none
}

// DefaultFunc gives the value of a column in rows older than the column
// (schema.Column.AddedDefault); it is called only for columns that have one.
type DefaultFunc func(c *schema.Column) (value.Datum, error)

// NewCodec makes the codec of t. added may be nil when no column was added
// with a default.
func NewCodec(t *schema.Table, added DefaultFunc) (*Codec, error) {
	c := &Codec{
		Table: t, attrs: t.AttributesColumn(),
		prefix: TablePrefix(nil, t.ID, schema.PrimaryIndexID), cells: TablePrefix(nil, t.ID, CellIndexID),
	}
	if len(t.PrimaryKey) == 0 {
		return nil, fmt.Errorf("table %s has no primary key", t.Name)
	}
	c.Columns = make([]Column, len(t.Columns))
	for i := range t.Columns {
		col := &t.Columns[i]
		c.Columns[i] = Column{ID: uint16(col.ID), Kind: KindOf(col.Type), KeyPart: -1, Scale: max(col.Type.Scale, 0)}
		k := c.Columns[i].Kind
		c.Columns[i].Virtual = col.IsVirtual()
		c.Columns[i].MayBeCell = (k == value.KindBytes || k == value.KindJSON) && !t.IsPrimaryKeyPart(col.ID) && !col.IsVirtual()
		if col.Attributes {
			c.Columns[i].MayBeCell, c.Columns[i].Attributes, c.Columns[i].Added = false, true, noAttributes
			continue
		}
		if d := col.AddedDefault; d != nil && !d.Null {
			if added == nil {
				return nil, fmt.Errorf("column %s.%s: no way to evaluate its default", t.Name, col.Name)
			}
			v, err := added(col)
			if err != nil {
				return nil, fmt.Errorf("default of column %s.%s: %w", t.Name, col.Name, err)
			}
			c.Columns[i].Added = v
		}
	}
	for i, p := range t.PrimaryKey {
		part, err := newPart(t, p, false)
		if err != nil {
			return nil, err
		}
		c.Key = append(c.Key, part)
		if !part.Lossy {
			c.Columns[part.Pos].KeyPart = i
		}
	}
	for i := range c.Columns {
		c.hasCell = c.hasCell || c.Columns[i].MayBeCell
		if c.Columns[i].KeyPart < 0 && !c.Columns[i].Virtual {
			c.stored = append(c.stored, i)
		}
	}
	c.sortByID(c.stored)
	c.ids = c.idsOf(c.stored)
	for i := range t.Indexes {
		x, err := newIndex(c, &t.Indexes[i])
		if err != nil {
			return nil, err
		}
		c.Indexes = append(c.Indexes, x)
	}
	c.ordered = slices.Clone(c.Indexes)
	slices.SortStableFunc(c.ordered, func(a, b *Index) int { return t.IndexClass(a.Desc) - t.IndexClass(b.Desc) })
	return c, nil
}

func (c *Codec) sortByID(positions []int) {
	sort.Slice(positions, func(i, j int) bool { return c.Columns[positions[i]].ID < c.Columns[positions[j]].ID })
}

func (c *Codec) idsOf(positions []int) []uint16 {
	ids := make([]uint16, len(positions))
	for i, pos := range positions {
		ids[i] = c.Columns[pos].ID
	}
	return ids
}

// Index finds the codec of a secondary index by id; nil if it does not exist.
func (c *Codec) Index(id schema.IndexID) *Index {
	for _, x := range c.Indexes {
		if x.Desc.ID == id {
			return x
		}
	}
	return nil
}

// IndexOf is the index that has a key; nil for other keys.
func (c *Codec) IndexOf(key []byte) *Index {
	_, id, _, ok := SplitKey(key)
	if !ok {
		return nil
	}
	return c.Index(id)
}

// Prefix is the bytes with which the keys of all rows begin. Not to be changed.
func (c *Codec) Prefix() []byte { return c.prefix }

// AppendKey appends the key of a row.
func (c *Codec) AppendKey(dst []byte, row []value.Datum) []byte {
	return AppendParts(append(dst, c.prefix...), c.Key, row)
}

// AppendCellKey appends the key of the cell of a column; key is the row's.
func (c *Codec) AppendCellKey(dst, key []byte, pos int) []byte {
	dst = append(append(dst, c.cells...), key[prefixLen:]...)
	return binary.BigEndian.AppendUint16(dst, c.Columns[pos].ID)
}

// isCell reports whether a row keeps d in a cell.
func (c *Codec) isCell(pos int, d value.Datum) bool {
	return c.Columns[pos].MayBeCell && len(d.Bytes()) > CellThreshold
}

// AppendRow appends the value of a row. Of large values only the length is in
// it: their cells are the writer's.
func (c *Codec) AppendRow(dst []byte, b *rowenc.Builder, row []value.Datum) []byte {
	return c.appendRow(dst, b, row, c.attributesOf(row).Block)
}

// appendRow is AppendRow of a row whose attributes are encoded.
func (c *Codec) appendRow(dst []byte, b *rowenc.Builder, row []value.Datum, attrs []byte) []byte {
	b.Reset()
	for _, pos := range c.stored {
		d := row[pos]
		col := &c.Columns[pos]
		switch {
		case col.Attributes:
			if len(attrs) > 0 {
				b.Datum(col.ID, value.Bytes(attrs))
			}
		case d.IsNull():
			if col.explicitNull() {
				b.Datum(col.ID, d)
			}
		case c.isCell(pos, d):
			b.External(col.ID, len(d.Bytes()))
		default:
			b.Datum(col.ID, d)
		}
	}
	return b.Append(dst)
}

// corrupt is the error of a row that cannot be read.
func (c *Codec) corrupt(key []byte, what string) error {
	return fmt.Errorf("%w: table %s.%s, key %x: %s", storage.ErrCorruption, c.Table.Database, c.Table.Name, key, what)
}

// RowReader decodes whole rows. It belongs to one goroutine.
type RowReader struct {
	c *Codec
	r *rowenc.Reader
	// Cells of the row that was decoded last: positions of the columns whose
	// values are elsewhere, and their lengths.
	Cells   []int
	Lengths []int
	virtual func(row []value.Datum) error
	attrs   *rowenc.AttributeReader
	bare    bool   // without attributes
	only    []bool // see NewBuildReader; nil: all
}

// SkipAttributes says whether Decode leaves attributes alone: they are NULL then.
func (r *RowReader) SkipAttributes(skip bool) { r.bare = skip }

// NewRowReader makes a reader of whole rows.
func (c *Codec) NewRowReader() *RowReader {
	r := &RowReader{c: c, r: rowenc.NewReader(c.ids)}
	if c.Virtual != nil {
		r.virtual = c.Virtual()
	}
	return r
}

// NewEntryReader makes a reader of rows for their index entries: the virtual
// columns that are in none are NULL.
func (c *Codec) NewEntryReader() *RowReader {
	r := &RowReader{c: c, r: rowenc.NewReader(c.ids)}
	if c.Keyed != nil {
		r.virtual = c.Keyed()
	}
	return r
}

// NewBuildReader makes a reader of what the entries of the table's indexes are
// made of: other columns may be NULL, and no cell is read for them.
func (c *Codec) NewBuildReader() *RowReader {
	r := c.NewEntryReader()
	r.only = c.Table.KeyedColumns()
	if c.attrs >= 0 {
		r.bare = !r.only[c.attrs]
		r.attrs = rowenc.NewAttributeReader(c.KeyedAttributes)
	}
	return r
}

// Decode fills row, one datum for each column of the table. Bytes share key
// and val. Columns in Cells are NULL, virtual columns are left alone: Fetch
// computes them.
func (r *RowReader) Decode(key, val []byte, row []value.Datum) error {
	c := r.c
	r.Cells, r.Lengths = r.Cells[:0], r.Lengths[:0]
	if len(key) < prefixLen {
		return c.corrupt(key, "short key")
	}
	rest := key[prefixLen:]
	var err error
	for i := range c.Key {
		p := &c.Key[i]
		var d value.Datum
		if d, rest, err = p.Decode(rest); err != nil {
			return c.corrupt(key, err.Error())
		}
		if !p.Lossy {
			row[p.Pos] = d
		}
	}
	if len(rest) > 0 {
		return c.corrupt(key, "key has a tail")
	}
	if err := r.r.Reset(val); err != nil {
		return c.corrupt(key, err.Error())
	}
	for i, pos := range c.stored {
		b, st := r.r.Field(i)
		col := &c.Columns[pos]
		ok := true
		switch st {
		case rowenc.Value:
			if col.Attributes && r.bare {
				row[pos] = value.Null
				continue
			}
			if col.Attributes {
				if err := r.decodeAttributes(b, row); err != nil {
					return c.corrupt(key, err.Error())
				}
				continue
			}
			row[pos], ok = rowenc.Datum(b, col.Kind)
		case rowenc.Null:
			row[pos] = value.Null
		case rowenc.Absent:
			row[pos] = col.Added
		case rowenc.External:
			var n uint64
			n, ok = rowenc.Uint(b)
			ok = ok && col.MayBeCell
			row[pos] = value.Null
			if r.only != nil && !r.only[pos] {
				break
			}
			r.Cells, r.Lengths = append(r.Cells, pos), append(r.Lengths, int(n))
		default:
			ok = false
		}
		if !ok {
			return c.corrupt(key, "column "+c.Table.Columns[pos].Name)
		}
	}
	return nil
}

// Fetch decodes a row, reads its cells from kv, which must show the state that
// the row is of, and computes its virtual columns.
func (r *RowReader) Fetch(ctx context.Context, kv storage.Reader, key, val []byte, row []value.Datum) error {
	if err := r.Decode(key, val, row); err != nil {
		return err
	}
	for i, pos := range r.Cells {
		if pos == r.c.attrs {
			if err := r.c.fillAttributes(ctx, kv, key, r.attrs); err != nil {
				return err
			}
			row[pos] = value.JSONOf(r.attrs.Object())
			continue
		}
		b, err := r.c.Cell(ctx, kv, key, pos, r.Lengths[i])
		if err != nil {
			return err
		}
		row[pos] = r.c.CellDatum(pos, b)
	}
	if r.virtual != nil {
		return r.virtual(row)
	}
	return nil
}

// CellDatum is the value that a cell of a column holds; it shares b.
func (c *Codec) CellDatum(pos int, b []byte) value.Datum {
	if c.Columns[pos].Kind == value.KindJSON {
		return value.JSONOf(b)
	}
	return value.Bytes(b)
}

// Cell reads the cell of a column of the row at key.
func (c *Codec) Cell(ctx context.Context, kv storage.Reader, key []byte, pos, length int) ([]byte, error) {
	b, err := kv.Get(ctx, c.AppendCellKey(nil, key, pos), nil)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, c.corrupt(key, "the cell of column "+c.Table.Columns[pos].Name+" is missing")
	case err != nil:
		return nil, err
	case len(b) != length:
		return nil, c.corrupt(key, "the cell of column "+c.Table.Columns[pos].Name+" has a wrong length")
	}
	return b, nil
}
