package mysqlwire

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
)

// Header describes the columns of a result set. It is immutable, may be used
// by many connections at once, and keeps its encoded form: a plan makes it
// once.
type Header struct {
	cols  []Column
	cells []cell
	long  []int // columns that may hold a long value
	// text and binary columns have the name of the result character set in
	// their definition, so that each collation in use is a variant.
	variants atomic.Pointer[[]variant]
}

// variant is the encoded column count and definitions, with packet headers
// for an answer that begins at sequence number 1.
type variant struct {
	collation schema.CollationID
	packets   []byte
}

// maxVariants bounds what clients with unusual collations make a header keep.
const maxVariants = 8

// NewHeader makes the header of a result set. It keeps cols.
func NewHeader(cols []Column) *Header {
	h := &Header{cols: cols, cells: make([]cell, len(cols))}
	for i := range cols {
		h.cells[i] = cellOf(&cols[i].Type, wireCollation())
	}
	h.findLong()
	return h
}

// in is the header for text in the character set of coll: h itself for UTF-8.
// CollationNone leaves each column in its own character set.
func (h *Header) in(coll schema.CollationID) *Header {
	to, ok := collate.Lookup(coll)
	if ok && strings.HasPrefix(to.Charset, "utf8") {
		return h
	}
	names := to
	if !ok || to.Charset == "binary" {
		to, names = nil, nil // as with character_set_results = NULL
	}
	out := &Header{cols: slices.Clone(h.cols), cells: make([]cell, len(h.cols))}
	for i := range out.cols {
		c := &out.cols[i]
		out.cells[i] = cellOf(&h.cols[i].Type, to)
		for _, name := range []*string{&c.Name, &c.OrgName, &c.Table, &c.OrgTable, &c.Database} {
			*name = inCharset(*name, names)
		}
	}
	out.findLong()
	return out
}

// inCharset is a UTF-8 text in the character set of to, nil for UTF-8.
func inCharset(text string, to *collate.Collation) string {
	if to == nil || !wireCollation().NeedsConversion([]byte(text), to) {
		return text
	}
	out, _ := wireCollation().Convert(nil, []byte(text), to)
	return string(out)
}

// Columns are the columns. They must not be changed.
func (h *Header) Columns() []Column { return h.cols }

// encoded is the column count and definitions for a result collation.
func (h *Header) encoded(coll schema.CollationID) []byte {
	known := h.variants.Load()
	if known != nil {
		for i := range *known {
			if (*known)[i].collation == coll {
				return (*known)[i].packets
			}
		}
	}
	packets := h.encode(coll)
	var grown []variant
	if known != nil {
		grown = append(grown, *known...)
	}
	if len(grown) < maxVariants {
		grown = append(grown, variant{coll, packets})
		h.variants.CompareAndSwap(known, &grown)
	}
	return packets
}

func (h *Header) encode(coll schema.CollationID) []byte {
	seq := uint8(1)
	out := appendLenEnc(make([]byte, headerLen, 64*(len(h.cols)+1)), uint64(len(h.cols)))
	putHeader(out, len(out)-headerLen, seq)
	for i := range h.cols {
		seq++
		start := len(out)
		out = append(out, 0, 0, 0, 0)
		out = appendColumn(out, &h.cols[i], coll)
		putHeader(out[start:], len(out)-start-headerLen, seq)
	}
	return out
}

// appendPackets appends encoded packets renumbered from seq on and returns
// the next number.
func appendPackets(dst, packets []byte, seq uint8) ([]byte, uint8) {
	start := len(dst)
	dst = append(dst, packets...)
	for p := start; p < len(dst); {
		dst[p+3] = seq
		seq++
		p += headerLen + int(dst[p]) + int(dst[p+1])<<8 + int(dst[p+2])<<16
	}
	return dst, seq
}

// maxNameLen cuts names (of expressions) in column definitions, so that a
// definition is one packet.
const maxNameLen = 16 << 10

func appendName(dst []byte, s string) []byte {
	return appendLenEncString(dst, s[:min(len(s), maxNameLen)])
}

// appendColumn appends a column definition:
//
//	"def", database, table, original table, name, original name (strings),
//	0c, collation (2), length (4), type (1), flags (2), decimals (1), 00 00
func appendColumn(dst []byte, c *Column, coll schema.CollationID) []byte {
	d := describe(c, coll)
	dst = append(dst, 3, 'd', 'e', 'f')
	dst = appendName(dst, c.Database)
	dst = appendName(dst, c.Table)
	dst = appendName(dst, c.OrgTable)
	dst = appendName(dst, c.Name)
	dst = appendName(dst, c.OrgName)
	dst = append(dst, 0x0c)
	dst = appendUint16(dst, uint16(d.collation))
	dst = appendUint32(dst, d.length)
	dst = append(dst, d.typ)
	dst = appendUint16(dst, d.flags)
	return append(dst, d.decimals, 0, 0)
}

// description is what a column definition says of a type.
type description struct {
	typ       byte
	flags     uint16
	length    uint32
	decimals  byte
	collation schema.CollationID
}

// notFixed is "decimals" of floats without (M,D) and of string expressions.
const notFixed = 31

const maxDecimalScale = 30

// describe gives type, length, flags and decimals as MySQL does for the same
// column; drivers choose their types by them.
func describe(c *Column, coll schema.CollationID) description {
	t := &c.Type
	d := description{collation: schema.CollationBinary}
	if c.NotNull {
		d.flags |= flagNotNull
	}
	for _, f := range roleFlags {
		if c.Role&f.role != 0 {
			d.flags |= f.flag
		}
	}
	if t.Unsigned {
		d.flags |= flagUnsigned
	}
	if t.Zerofill {
		d.flags |= flagZerofill
	}
	switch {
	case t.IsNumeric():
		describeNumber(&d, t)
		if c.OrgName == "" {
			d.flags |= flagBinary // expressions have the binary collation
		}
	case t.IsTemporal():
		describeTemporal(&d, t)
	case t.ID == schema.TypeNull:
		d.typ, d.flags = mysqlNull, d.flags|flagBinary
	default:
		describeString(&d, c, coll)
	}
	return d
}

var roleFlags = [...]struct {
	role schema.Role
	flag uint16
}{
	{schema.RolePrimaryKey, flagPrimaryKey}, {schema.RoleUniqueKey, flagUniqueKey}, {schema.RoleMultipleKey, flagMultipleKey},
	{schema.RolePartOfKey, flagPartOfKey}, {schema.RoleAutoIncrement, flagAutoIncrement}, {schema.RoleNoDefault, flagNoDefault},
	{schema.RoleOnUpdateNow, flagOnUpdateNow},
}

var integerTypes = map[schema.TypeID]struct {
	typ              byte
	signed, unsigned uint32 // display lengths
}{
	schema.TypeTinyInt:   {mysqlTiny, 4, 3},
	schema.TypeSmallInt:  {mysqlShort, 6, 5},
	schema.TypeMediumInt: {mysqlInt24, 9, 8},
	schema.TypeInt:       {mysqlLong, 11, 10},
	schema.TypeBigInt:    {mysqlLongLong, 20, 20},
}

func describeNumber(d *description, t *schema.Type) {
	if it, ok := integerTypes[t.ID]; ok {
		d.typ, d.length = it.typ, it.signed
		if t.Unsigned {
			d.length = it.unsigned
		}
		if t.Len > 0 {
			d.length = uint32(t.Len)
		}
		return
	}
	switch t.ID {
	case schema.TypeFloat:
		d.typ, d.length, d.decimals = mysqlFloat, 12, notFixed
	case schema.TypeDouble:
		d.typ, d.length, d.decimals = mysqlDouble, 22, notFixed
	case schema.TypeDecimal:
		d.typ, d.decimals = mysqlNewDecimal, byte(t.Scale)
		if t.Scale < 0 { // each value with its own
			d.decimals = maxDecimalScale
		}
		d.length = uint32(max(t.Len, 1))
		if d.decimals > 0 {
			d.length++
		}
		if !t.Unsigned {
			d.length++
		}
	case schema.TypeBit:
		d.typ, d.length = mysqlBit, uint32(max(t.Len, 1))
		d.flags |= flagUnsigned
	case schema.TypeYear:
		d.typ, d.length = mysqlYear, 4
		d.flags |= flagUnsigned | flagZerofill
	}
	if t.IsFloat() && t.Len > 0 && t.Scale >= 0 {
		d.length, d.decimals = uint32(t.Len), byte(t.Scale)
	}
}

func describeTemporal(d *description, t *schema.Type) {
	d.flags |= flagBinary
	switch t.ID {
	case schema.TypeDate:
		d.typ, d.length = mysqlDate, 10
		return
	case schema.TypeDatetime:
		d.typ, d.length = mysqlDatetime, 19
	case schema.TypeTimestamp:
		d.typ, d.length = mysqlTimestamp, 19
		d.flags |= flagTimestamp
	case schema.TypeTime:
		d.typ, d.length = mysqlTime, 10
	}
	if t.Scale > 0 {
		d.length += 1 + uint32(t.Scale)
		d.decimals = byte(t.Scale)
	}
}

// textLength is the number of bytes of the TEXT and BLOB types. MySQL names
// characters times bytes per character for TEXT, up to 2^32-1.
var textLength = map[schema.TypeID]uint64{
	schema.TypeTinyText: 1<<8 - 1, schema.TypeText: 1<<16 - 1,
	schema.TypeMediumText: 1<<24 - 1, schema.TypeLongText: 1<<32 - 1,
	schema.TypeTinyBlob: 1<<8 - 1, schema.TypeBlob: 1<<16 - 1,
	schema.TypeMediumBlob: 1<<24 - 1, schema.TypeLongBlob: 1<<32 - 1,
	schema.TypeJSON: 1<<32 - 1, schema.TypeGeometry: 1<<32 - 1,
}

func describeString(d *description, c *Column, coll schema.CollationID) {
	t := &c.Type
	length := textLength[t.ID]
	width := uint64(1)
	if t.IsCharacter() || t.ID == schema.TypeEnum || t.ID == schema.TypeSet {
		d.collation = coll
		if coll == schema.CollationNone {
			d.collation = t.Collation
		}
		if t.Collation == schema.CollationBinary {
			d.collation = schema.CollationBinary
		}
		width = bytesPerChar(d.collation)
		if isBinaryCollation(t.Collation) {
			d.flags |= flagBinary
		}
		if c.OrgName == "" {
			d.decimals = notFixed
		}
	} else {
		d.flags |= flagBinary
	}
	switch t.ID {
	case schema.TypeChar, schema.TypeBinary:
		d.typ, length = mysqlString, uint64(max(t.Len, 0))
	case schema.TypeVarchar, schema.TypeVarbinary:
		d.typ, length = mysqlVarString, uint64(t.Len)
		if t.Len < 0 {
			length = 1<<16 - 1
		}
	case schema.TypeEnum:
		d.typ, d.flags, length = mysqlString, d.flags|flagEnum, longest(t.Elems)
	case schema.TypeSet:
		d.typ, d.flags, length = mysqlString, d.flags|flagSet, joined(t.Elems)
	case schema.TypeJSON:
		d.typ, d.flags = mysqlJSON, d.flags|flagBlob
	case schema.TypeGeometry:
		d.typ, d.flags = mysqlGeometry, d.flags|flagBlob
	default:
		d.typ, d.flags = mysqlBlob, d.flags|flagBlob
	}
	d.length = uint32(min(length*width, 1<<32-1))
}

// longest is the length in characters of the longest of elems, joined that of
// all of them with commas.
func longest(elems []string) uint64 {
	n := 0
	for _, e := range elems {
		n = max(n, len([]rune(e)))
	}
	return uint64(n)
}

func joined(elems []string) uint64 {
	n := max(len(elems)-1, 0)
	for _, e := range elems {
		n += len([]rune(e))
	}
	return uint64(n)
}

// bytesPerChar is the largest length of a character in a collation's
// character set; unknown ones count as utf8mb4.
func bytesPerChar(id schema.CollationID) uint64 {
	switch {
	case id == 5 || id == 8 || id == 15 || id == 31 || id == 47 || id == 48 || id == 49 || id == 94, // latin1
		id == 11 || id == 65, // ascii
		id == schema.CollationBinary:
		return 1
	case id == 33 || id == 76 || id == 83 || id >= 192 && id <= 223: // utf8mb3
		return 3
	}
	return 4
}

// isBinaryCollation reports binary and the _bin collations in use.
func isBinaryCollation(id schema.CollationID) bool {
	switch id {
	case schema.CollationBinary, schema.CollationUTF8MB4Bin, 47, 65, 83, 309:
		return true
	}
	return false
}
