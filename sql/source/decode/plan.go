package decode

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Plan says how the columns of a list are read from rows or from the entries of
// an index. It is immutable except for its pool.
type Plan struct {
	codec *table.Codec
	x     *table.Index // nil: rows
	kinds []value.Kind // of the outputs
	// key reads what the key has; own and pk replace it in entries of unique
	// indexes, which store the primary key in the value.
	key, own, pk keyPlan
	fields       []field
	ids          []uint16 // of fields
	ints         bool     // all fields are as rowenc.AppendInt writes them
	Plain        bool     // decoder.plain may be used
	stamps       []int    // outputs that are TIMESTAMP
	Large        []bool   // outputs whose value may be stored in a cell
	late         []bool   // outputs that are computed
	NeedValue    bool
	outs         int       // outputs that the caller wants; the others are for virtual ones
	Virtual      []virtual // outputs that are computed, in order
	attributes   []string  // that are read by name; nil for all
	Scans        sync.Pool // of *scanOp that read by this plan
}

// keyPlan reads parts of a key: to[i] is the output of part i, -1 to skip it.
type keyPlan struct {
	parts []table.Part
	to    []int
	// When all parts are words, those of a key without NULL are at fixed places
	// in its first length bytes.
	length int // 0: not so
	marks  []keyMark
	words  []keyWord
}

// keyMark is the place of the mark of a part that may be NULL, and the mark
// that says that it is not.
type keyMark struct {
	at   int
	mark byte
}

// keyWord is the place of a wanted word; flip makes it the value.
type keyWord struct {
	at, out int
	flip    uint64
}

// fix finds the fixed places.
func (k *keyPlan) fix() {
	at := 0
	for i := range k.parts {
		p := &k.parts[i]
		if p.Tagged {
			k.marks = append(k.marks, keyMark{at, keyenc.AppendNotNull(nil, p.Desc)[0]})
			at++
		}
		var flip uint64
		switch p.Kind {
		case value.KindInt, value.KindDuration:
			flip = SignBit
		case value.KindUint, value.KindTime:
		default:
			return
		}
		if p.Desc {
			flip = ^flip
		}
		if k.to[i] >= 0 {
			k.words = append(k.words, keyWord{at, k.to[i], flip})
		}
		at += keyenc.WordSize
	}
	k.length = at
}

// field is an output that is read from a rowenc row.
type field struct {
	out   int
	pos   int // in the table
	kind  value.Kind
	added value.Datum
	// attributes: the value is an object of attributes, those of
	// readPlan.attributes.
	attributes bool
	bytes      bool // the value has its stored form
}

// add maps the part of column pos to an output, and extends the plan up to it.
func (k *keyPlan) add(all []table.Part, i, out int) {
	for len(k.parts) <= i {
		k.parts = append(k.parts, all[len(k.parts)])
		k.to = append(k.to, -1)
	}
	k.to[i] = out
}

// Plan finds or makes the plan for reading the columns at positions read from
// x (nil: from rows). Outputs for which want is false are left alone; nil wants
// all. Of attributes those of the names are read, nil for all.
func (k *Table) Plan(x *schema.Index, read []int, want []bool, attributes []string) (*Plan, error) {
	var room [128]byte
	key := room[:0]
	id := schema.PrimaryIndexID
	if x != nil {
		id = x.ID
	}
	key = binary.LittleEndian.AppendUint16(key, uint16(id))
	for i, pos := range read {
		w := uint16(pos) << 1
		if want == nil || want[i] {
			w |= 1
		}
		key = binary.LittleEndian.AppendUint16(key, w)
	}
	for _, name := range attributes {
		key = append(append(key, 0xFF, byte(len(name)), byte(len(name)>>8)), name...)
	}
	k.mu.RLock()
	p := k.plans[string(key)]
	k.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := newReadPlan(k, x, read, want, attributes)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.plans) >= maxPlans {
		clear(k.plans)
	}
	k.plans[string(key)] = p
	return p, nil
}

// maxPlans bounds the plans kept for a table.
const maxPlans = 500

func newReadPlan(k *Table, x *schema.Index, read []int, want []bool, attributes []string) (*Plan, error) {
	c := k.Codec
	p := &Plan{codec: c, outs: len(read), attributes: slices.Clone(attributes)}
	if x == nil && c.Virtual != nil {
		read, want = p.addVirtual(k.Exprs, read, want)
	}
	p.kinds, p.Large, p.late = make([]value.Kind, len(read)), make([]bool, len(read)), make([]bool, len(read))
	if x != nil {
		if p.x = c.Index(x.ID); p.x == nil {
			return nil, sqlerr.Internal("table %s has no index %s", c.Table.Name, x.Name)
		}
	}
	for out, pos := range read {
		typ := c.Table.Columns[pos].Type
		p.kinds[out] = types.KindOf(typ)
		if want != nil && !want[out] {
			continue
		}
		if x == nil && c.Columns[pos].Virtual {
			p.late[out] = true
			continue
		}
		if typ.ID == schema.TypeTimestamp {
			p.stamps = append(p.stamps, out)
		}
		if x == nil {
			p.addRow(out, pos)
		} else if !p.addEntry(out, pos) {
			return nil, sqlerr.Internal("index %s of table %s does not hold column %s", x.Name, c.Table.Name, c.Table.Columns[pos].Name)
		}
	}
	p.NeedValue = p.NeedValue || len(p.fields) > 0
	p.key.fix()
	p.own.fix()
	p.pk.fix()
	p.ints = len(p.fields) > 0
	p.Plain = len(p.key.marks) == 0 && (len(p.key.parts) == 0 || p.key.length > 0) && len(p.pk.parts) == 0 && !hasAttributes(p.fields)
	for i := range p.fields {
		f := &p.fields[i]
		f.bytes = f.kind == value.KindBytes || f.kind == value.KindJSON
		p.Plain = p.Plain && (f.bytes || f.kind == value.KindInt || f.kind == value.KindDuration)
		p.ints = p.ints && (f.kind == value.KindInt || f.kind == value.KindDuration)
		p.ids = append(p.ids, c.Columns[f.pos].ID)
	}
	return p, nil
}

func hasAttributes(list []field) bool {
	return slices.ContainsFunc(list, func(f field) bool { return f.attributes })
}

func (p *Plan) addField(out, pos int) {
	col := &p.codec.Columns[pos]
	p.fields = append(p.fields, field{out: out, pos: pos, kind: col.Kind, added: col.Added, attributes: col.Attributes && p.x == nil})
}

func (p *Plan) addRow(out, pos int) {
	col := &p.codec.Columns[pos]
	if col.KeyPart >= 0 {
		p.key.add(p.codec.Key, col.KeyPart, out)
		return
	}
	p.Large[out] = col.Attributes || col.MayBeCell && maxBytes(p.codec.Table.Columns[pos].Type) > table.CellThreshold
	p.addField(out, pos)
}

// maxBytes is the most bytes that a string of type t can have.
func maxBytes(t schema.Type) int {
	if t.ID == schema.TypeChar || t.ID == schema.TypeVarchar {
		return 4 * t.Len
	}
	if t.ID == schema.TypeBinary || t.ID == schema.TypeVarbinary {
		return t.Len
	}
	return 1 << 30
}

// addEntry maps a column that the entry holds; false when it does not.
func (p *Plan) addEntry(out, pos int) bool {
	x := p.x
	for _, s := range x.Stored {
		if s == pos {
			p.addField(out, pos)
			return true
		}
	}
	for i := range x.Parts[:x.Own] {
		if x.Parts[i].Pos == pos && !x.Parts[i].Lossy {
			p.key.add(x.Parts, i, out)
			p.own.add(x.Parts, i, out)
			return true
		}
	}
	for i := x.Own; i < len(x.Parts); i++ {
		if x.Parts[i].Pos == pos && !x.Parts[i].Lossy {
			p.key.add(x.Parts, i, out)
			k := p.codec.Columns[pos].KeyPart
			p.pk.add(p.codec.Key, k, out)
			p.NeedValue = p.NeedValue || x.Desc.Unique
			return true
		}
	}
	return false
}
