package table

import (
	"fmt"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/value"
)

// KindOf is the representation of stored values of type t.
func KindOf(t schema.Type) value.Kind {
	switch t.ID {
	case schema.TypeNull:
		return value.KindNull
	case schema.TypeTinyInt, schema.TypeSmallInt, schema.TypeMediumInt, schema.TypeInt, schema.TypeBigInt:
		if t.Unsigned {
			return value.KindUint
		}
		return value.KindInt
	case schema.TypeFloat, schema.TypeDouble:
		return value.KindFloat
	case schema.TypeDecimal:
		return value.KindDecimal
	case schema.TypeBit, schema.TypeYear, schema.TypeEnum, schema.TypeSet:
		return value.KindUint
	case schema.TypeDate, schema.TypeDatetime, schema.TypeTimestamp:
		return value.KindTime
	case schema.TypeTime:
		return value.KindDuration
	case schema.TypeJSON:
		return value.KindJSON
	}
	return value.KindBytes
}

// Part is a part of a key: a column, whole or a prefix, ascending or
// descending. It is immutable.
type Part struct {
	// Pos is the column's position in schema.Table.Columns.
	Pos  int
	Kind value.Kind
	Desc bool
	// Tagged parts begin with a NULL mark.
	Tagged bool
	// Prefix is the number of leading characters (bytes of binary strings) that
	// the key has, 0 for whole values.
	Prefix int
	// Lossy parts do not give the value back.
	Lossy bool
	// Scale of decimals.
	Scale int

	coll *collate.Collation // nil: the bytes themselves
	char bool               // Prefix counts characters
}

// NewPart is the part of a key that has a whole column, ascending, without a mark
// of NULL.
func NewPart(t *schema.Table, column schema.ColumnID) (Part, error) {
	return newPart(t, schema.KeyPart{Column: column}, false)
}

func newPart(t *schema.Table, p schema.KeyPart, tagged bool) (Part, error) {
	pos := t.ColumnIndex(p.Column)
	if pos < 0 {
		return Part{}, fmt.Errorf("table %s: key column %d does not exist", t.Name, p.Column)
	}
	typ := t.Columns[pos].KeyType()
	part := Part{Pos: pos, Kind: KindOf(typ), Desc: p.Desc, Tagged: tagged, Scale: max(typ.Scale, 0)}
	switch part.Kind {
	case value.KindJSON, value.KindNull:
		return Part{}, fmt.Errorf("table %s: column %s of type %s cannot be a key", t.Name, t.Columns[pos].Name, typ)
	case value.KindBytes:
		part.Prefix = p.Prefix
		part.char = typ.IsCharacter()
		if typ.IsCharacter() && typ.Collation != schema.CollationNone {
			c, ok := collate.Lookup(typ.Collation)
			if !ok {
				return Part{}, fmt.Errorf("table %s: column %s has unknown collation %d", t.Name, t.Columns[pos].Name, typ.Collation)
			}
			part.coll = c
		}
		part.Lossy = part.Prefix > 0 || part.coll != nil && !part.coll.IsBinary()
	}
	return part, nil
}

// cut is the part of a string that the key has.
func (p *Part) cut(s []byte) []byte {
	if p.Prefix == 0 || len(s) <= p.Prefix {
		return s
	}
	if p.char && p.coll != nil {
		return s[:p.coll.PrefixLen(s, p.Prefix)]
	}
	return s[:p.Prefix]
}

// Append appends the part's encoding of d, which is NULL (tagged parts only)
// or of the part's kind.
func (p *Part) Append(dst []byte, d value.Datum) []byte {
	if p.Tagged {
		if d.IsNull() {
			return keyenc.AppendNull(dst, p.Desc)
		}
		dst = keyenc.AppendNotNull(dst, p.Desc)
	}
	switch p.Kind {
	case value.KindInt, value.KindDuration:
		return keyenc.AppendInt(dst, int64(d.Bits()), p.Desc)
	case value.KindUint, value.KindTime:
		return keyenc.AppendUint(dst, d.Bits(), p.Desc)
	case value.KindFloat:
		return keyenc.AppendFloat(dst, d.Float(), p.Desc)
	case value.KindDecimal:
		return keyenc.AppendDecimal(dst, d.Decimal(), p.Desc)
	}
	return p.appendBytes(dst, d.Bytes())
}

func (p *Part) appendBytes(dst, s []byte) []byte {
	s = p.cut(s)
	if p.coll == nil || p.coll.IsBinary() {
		return keyenc.AppendBytes(dst, s, p.Desc)
	}
	var buf [256]byte
	return keyenc.AppendBytes(dst, p.coll.AppendKey(buf[:0], s), p.Desc)
}

// AppendStartsWith appends the bytes with which the part's encodings of all
// strings begin that start with s; false if the encodings share no such bytes
// (some collations), with nothing appended.
func (p *Part) AppendStartsWith(dst, s []byte) ([]byte, bool) {
	if p.Kind != value.KindBytes {
		return dst, false
	}
	s = p.cut(s)
	if p.coll != nil && !p.coll.IsBinary() {
		k, ok := p.coll.AppendKeyPrefix(nil, s)
		if !ok {
			return dst, false
		}
		s = k
	}
	if p.Tagged {
		dst = keyenc.AppendNotNull(dst, p.Desc)
	}
	return keyenc.AppendBytesPrefix(dst, s, p.Desc), true
}

// Skip skips the part at the start of b.
func (p *Part) Skip(b []byte) (rest []byte, err error) {
	if p.Tagged {
		null, rest, err := keyenc.IsNull(b, p.Desc)
		if null || err != nil {
			return rest, err
		}
		b = rest
	}
	switch p.Kind {
	case value.KindBytes:
		return keyenc.SkipBytes(b, p.Desc)
	case value.KindDecimal:
		return keyenc.SkipDecimal(b, p.Desc)
	}
	return keyenc.SkipWord(b)
}

// Decode reads the part at the start of b. For lossy parts the value is what
// the key has, in its key form. Bytes may share b.
func (p *Part) Decode(b []byte) (d value.Datum, rest []byte, err error) {
	if p.Tagged {
		null, rest, err := keyenc.IsNull(b, p.Desc)
		if null || err != nil {
			return value.Null, rest, err
		}
		b = rest
	}
	switch p.Kind {
	case value.KindInt:
		v, rest, err := keyenc.Int(b, p.Desc)
		return value.Int(v), rest, err
	case value.KindDuration:
		v, rest, err := keyenc.Int(b, p.Desc)
		return value.DurationOf(value.Duration(v)), rest, err
	case value.KindUint:
		v, rest, err := keyenc.Uint(b, p.Desc)
		return value.Uint(v), rest, err
	case value.KindTime:
		v, rest, err := keyenc.Uint(b, p.Desc)
		return value.TimeOf(value.Time(v)), rest, err
	case value.KindFloat:
		v, rest, err := keyenc.Float(b, p.Desc)
		return value.Float(v), rest, err
	case value.KindDecimal:
		v, rest, err := keyenc.Decimal(b, p.Desc)
		if err != nil {
			return value.Null, nil, err
		}
		return value.Dec(v.Rescale(p.Scale)), rest, nil
	}
	s, rest, err := keyenc.Bytes(b, nil, p.Desc)
	return value.Bytes(s), rest, err
}

// AppendParts appends the encodings of the parts of a row.
func AppendParts(dst []byte, parts []Part, row []value.Datum) []byte {
	for i := range parts {
		dst = parts[i].Append(dst, row[parts[i].Pos])
	}
	return dst
}
