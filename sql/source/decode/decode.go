package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// KeyPrefix is the length of the table and index ids before the parts of a key.
const KeyPrefix = 7

// SignBit is that of a word of 64 bits: with it flipped, numbers order as bits do.
const SignBit = 1 << 63

// decoder decodes pairs into the columns of a batch. It belongs to one
// goroutine.
type decoder struct {
	Plan *Plan
	rd   *rowenc.Reader
	cols []*vec.Vec
	// Cells are values that have to be fetched; their rows' keys are in keys.
	Cells     []cellRef
	keys      []byte
	CellBytes int
	buf       []byte
	ints      []int64 // of a row, with readPlan.ints
	bounds    [][2]uint
	attrs     *rowenc.AttributeReader
	object    []byte
	Blocks    []blockRef
}

// blockRef are attributes some of which are stored in cells.
type blockRef struct {
	row, out int
	key      []byte
	block    []byte
}

// cellRef is a value that is stored in a cell of its own.
type cellRef struct {
	row, out int
	pos      int // of the column in the table
	length   int
	at, end  int // the row's key in decoder.keys
}

func (d *decoder) init(p *Plan) {
	d.Plan = p
	if len(p.fields) > 0 && d.rd == nil {
		d.rd = rowenc.NewReader(p.ids)
		d.ints = make([]int64, len(p.fields))
		d.bounds = make([][2]uint, len(p.fields))
	}
}

// begin starts a batch.
func (d *decoder) begin() {
	d.Cells, d.keys, d.CellBytes, d.Blocks = d.Cells[:0], d.keys[:0], 0, d.Blocks[:0]
}

// Pair decodes a row or an entry into row i.
func (d *decoder) Pair(key, val []byte, i int) error {
	if d.Plan.x == nil {
		return d.row(key, val, i)
	}
	return d.entry(key, val, i)
}

func (d *decoder) row(key, val []byte, i int) error {
	p := d.Plan
	if len(p.key.parts) > 0 {
		if err := d.parts(&p.key, key[KeyPrefix:], i); err != nil {
			return d.corrupt(key, err)
		}
	}
	if len(p.fields) > 0 {
		return d.fields(key, val, i)
	}
	return nil
}

func (d *decoder) entry(key, val []byte, i int) error {
	p := d.Plan
	var pk, row []byte
	if p.NeedValue {
		var err error
		if len(val) > 0 && val[0] == table.RowOnly {
			row = val[1:]
		} else if pk, row, err = table.SplitValue(val); err != nil {
			return d.corrupt(key, err)
		}
	}
	kp := &p.key
	if pk != nil {
		if len(p.pk.parts) > 0 {
			if err := d.parts(&p.pk, pk, i); err != nil {
				return d.corrupt(key, err)
			}
		}
		kp = &p.own
	}
	if len(kp.parts) > 0 {
		if err := d.parts(kp, key[KeyPrefix:], i); err != nil {
			return d.corrupt(key, err)
		}
	}
	if len(p.fields) > 0 {
		return d.fields(key, row, i)
	}
	return nil
}

// Plain decodes a pair into row i, with byte values that share the pair's memory.
// It needs a plan that is plain, and returns false for a pair that is not: one
// with NULL or with a value elsewhere, or a damaged one.
func (d *decoder) Plain(key, val []byte, i int) bool {
	p := d.Plan
	if p.x != nil && p.NeedValue {
		if len(val) == 0 || val[0] != table.RowOnly {
			return false
		}
		val = val[1:]
	}
	if len(key) < KeyPrefix+p.key.length {
		return false
	}
	b := key[KeyPrefix:]
	for _, w := range p.key.words {
		d.cols[w.out].I64[i] = int64(binary.BigEndian.Uint64(b[w.at:]) ^ w.flip)
	}
	if len(p.fields) == 0 {
		return true
	}
	data, ok := d.rd.Bounds(val, d.bounds)
	if !ok {
		return false
	}
	for k := range p.fields {
		f := &p.fields[k]
		at := &d.bounds[k]
		value, v := data[at[0]:at[1]:at[1]], d.cols[f.out]
		if f.bytes {
			v.Bytes[i] = value
		} else if v.I64[i], ok = rowenc.Int(value); !ok {
			return false
		}
	}
	return true
}

func (d *decoder) corrupt(key []byte, err error) error {
	t := d.Plan.codec.Table
	return fmt.Errorf("table %s.%s, key %x: %w", t.Database, t.Name, key, err)
}

// parts decodes parts of a key into row i.
func (d *decoder) parts(k *keyPlan, b []byte, i int) error {
	if k.length > 0 && len(b) >= k.length {
		b := b[:k.length]
		for _, m := range k.marks {
			if b[m.at] != m.mark {
				return d.anyParts(k, b, i)
			}
		}
		for _, w := range k.words {
			d.cols[w.out].I64[i] = int64(binary.BigEndian.Uint64(b[w.at:]) ^ w.flip)
		}
		return nil
	}
	return d.anyParts(k, b, i)
}

// anyParts is parts for keys of all forms.
func (d *decoder) anyParts(k *keyPlan, b []byte, i int) error {
	for j := range k.parts {
		p := &k.parts[j]
		var v *vec.Vec
		if k.to[j] >= 0 {
			v = d.cols[k.to[j]]
		}
		var err error
		if b, err = d.part(p, b, v, i); err != nil {
			return err
		}
	}
	return nil
}

// part decodes a part into row i of v, or skips it when v is nil.
func (d *decoder) part(p *table.Part, b []byte, v *vec.Vec, i int) ([]byte, error) {
	if v == nil {
		return p.Skip(b)
	}
	if p.Tagged {
		null, rest, err := keyenc.IsNull(b, p.Desc)
		if err != nil {
			return nil, err
		}
		b = rest
		if null {
			setNull(v, i)
			return b, nil
		}
	}
	switch p.Kind {
	case value.KindInt, value.KindDuration, value.KindUint, value.KindTime:
		if len(b) < keyenc.WordSize {
			return nil, keyenc.ErrMalformed
		}
		u := binary.BigEndian.Uint64(b)
		if p.Desc {
			u = ^u
		}
		if p.Kind == value.KindInt || p.Kind == value.KindDuration {
			u ^= SignBit
		}
		v.I64[i] = int64(u)
		return b[keyenc.WordSize:], nil
	case value.KindFloat:
		f, rest, err := keyenc.Float(b, p.Desc)
		v.F64[i] = f
		return rest, err
	case value.KindDecimal:
		x, rest, err := keyenc.Decimal(b, p.Desc)
		v.Dec[i] = x.Rescale(p.Scale)
		return rest, err
	}
	s, rest, err := keyenc.Bytes(b, d.buf, p.Desc)
	if err != nil {
		return nil, err
	}
	if cap(s) > cap(d.buf) && p.Desc {
		d.buf = s
	}
	v.Bytes[i] = v.Own(s)
	return rest, nil
}

// setNull makes row i null; byte values stay readable.
func setNull(v *vec.Vec, i int) {
	v.Nulls.Set(i)
	if v.Kind == value.KindBytes || v.Kind == value.KindJSON {
		v.Bytes[i] = nil
	}
}

// fields decodes the wanted columns of a rowenc row into row i.
func (d *decoder) fields(key, row []byte, i int) error {
	if d.Plan.ints && d.rd.Ints(row, d.ints) {
		for k, x := range d.ints {
			d.cols[d.Plan.fields[k].out].I64[i] = x
		}
		return nil
	}
	if err := d.rd.Reset(row); err != nil {
		return d.corrupt(key, err)
	}
	fields := d.Plan.fields
	for k := range fields {
		f := &fields[k]
		v := d.cols[f.out]
		if f.kind == value.KindInt || f.kind == value.KindDuration {
			if x, st := d.rd.Int(k); st == rowenc.Value {
				v.I64[i] = x
				continue
			}
		}
		b, st := d.rd.Field(k)
		ok := true
		switch st {
		case rowenc.Value:
			if f.attributes {
				ok = d.addAttributes(key, f, b, v, i)
				break
			}
			ok = setField(v, i, f.kind, b)
		case rowenc.Null:
			setNull(v, i)
		case rowenc.Absent:
			if f.added.IsNull() {
				setNull(v, i)
			} else {
				v.SetDatum(i, f.added)
			}
		case rowenc.External:
			ok = d.addCell(key, f, b, v, i)
		default:
			ok = false
		}
		if !ok {
			return d.corrupt(key, fmt.Errorf("%w: column %s", storage.ErrCorruption, d.Plan.codec.Table.Columns[f.pos].Name))
		}
	}
	return nil
}

// setField decodes a value into row i of v; false when it is malformed.
func setField(v *vec.Vec, i int, k value.Kind, b []byte) (ok bool) {
	switch k {
	case value.KindInt, value.KindDuration:
		v.I64[i], ok = rowenc.Int(b)
	case value.KindUint:
		var u uint64
		u, ok = rowenc.Uint(b)
		v.I64[i] = int64(u)
	case value.KindTime:
		var t value.Time
		t, ok = rowenc.Time(b)
		v.I64[i] = int64(t)
	case value.KindFloat:
		v.F64[i], ok = rowenc.Float(b)
	case value.KindDecimal:
		v.Dec[i], ok = rowenc.Decimal(b)
	case value.KindBytes, value.KindJSON:
		v.Bytes[i] = v.Own(b)
		ok = true
	}
	return ok
}

func (d *decoder) addCell(key []byte, f *field, b []byte, v *vec.Vec, i int) bool {
	n, ok := rowenc.Uint(b)
	if !ok || v.Kind != value.KindBytes && v.Kind != value.KindJSON {
		return false
	}
	v.Bytes[i] = nil
	d.CellBytes += int(n)
	at := len(d.keys)
	d.keys = append(d.keys, key...)
	d.Cells = append(d.Cells, cellRef{row: i, out: f.out, pos: f.pos, length: int(n), at: at, end: len(d.keys)})
	return true
}

// addAttributes decodes the wanted attributes into row i, or notes that they
// have to be fetched; false when they are malformed.
func (d *decoder) addAttributes(key []byte, f *field, block []byte, v *vec.Vec, i int) bool {
	if d.attrs == nil {
		d.attrs = rowenc.NewAttributeReader(d.Plan.attributes)
	}
	if d.attrs.Reset(block) != nil {
		return false
	}
	if len(d.attrs.Cells) > 0 {
		v.Bytes[i] = nil
		for _, w := range d.attrs.Cells {
			d.CellBytes += w.Length
		}
		d.Blocks = append(d.Blocks, blockRef{row: i, out: f.out, key: bytes.Clone(key), block: bytes.Clone(block)})
		return true
	}
	d.object = d.attrs.AppendObject(d.object[:0])
	v.Bytes[i] = v.Own(d.object)
	return true
}
