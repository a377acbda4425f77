package define

import (
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Limits of column types, MySQL's.
const (
	maxChar        = 255
	maxRowBytes    = 65535
	maxDecimal     = 65
	maxScale       = 30
	maxFSP         = 6
	maxBits        = 64
	maxWidth       = 255
	maxEnumMembers = 65535
	maxSetMembers  = 64
)

// TypeSpec is the type of a column as written.
type TypeSpec struct {
	// ID is the type that is named. Those of binary strings are written as the
	// types of text with the character set binary.
	ID schema.TypeID
	// Len and Scale are the numbers in parentheses, UnspecifiedLength without.
	Len, Scale         int
	Unsigned, Zerofill bool
	// Charset and Collate are the names of CHARACTER SET and COLLATE, "" for none.
	Charset, Collate string
	// BinaryCollation: the word BINARY, for the binary collation of the character
	// set.
	BinaryCollation bool
	// Elems are the members of ENUM and SET.
	Elems []string
	// Geometry is the name of a geometry type, SRID its attribute, "" for none.
	Geometry, SRID string
}

// ColumnType is the type of the column of a name. table is the collation of its
// table.
//
// Errors: 1063, 1074, 1097, 1115, 1253, 1273, 1291, 1367, 1425 to 1427, 1439,
// 1818, 3013, 3548.
func ColumnType(name string, s *TypeSpec, table schema.CollationID) (schema.Type, error) {
	t := schema.Type{ID: s.ID, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary, Unsigned: s.Unsigned || s.Zerofill, Zerofill: s.Zerofill}
	var err error
	switch s.ID {
	case schema.TypeGeometry:
		return geometryType(s)
	case schema.TypeTinyInt, schema.TypeSmallInt, schema.TypeMediumInt, schema.TypeInt, schema.TypeBigInt:
		err = integerType(name, s, &t)
	case schema.TypeFloat, schema.TypeDouble:
		err = floatType(name, s, &t)
	case schema.TypeDecimal:
		t.Len, t.Scale = s.Len, max(s.Scale, 0)
		if t.Len <= 0 {
			t.Len = 10
		}
		err = CheckDecimal(t.Len, t.Scale, name)
	case schema.TypeBit:
		t.Len = s.Len
		if t.Len == 0 {
			return t, sqlerr.InvalidSizeOfType(name)
		}
		if t.Len > maxBits {
			return t, sqlerr.InvalidDisplayWidth(name, maxBits)
		}
	case schema.TypeYear:
		t.Len, t.Unsigned, t.Zerofill = 4, false, false
		if s.Len != schema.UnspecifiedLength && s.Len != 4 {
			return t, sqlerr.InvalidYearLength()
		}
	case schema.TypeDate:
	case schema.TypeDatetime, schema.TypeTimestamp, schema.TypeTime:
		t.Scale = max(s.Scale, 0)
		if t.Scale > maxFSP {
			return t, sqlerr.PrecisionTooBig(t.Scale, name, maxFSP)
		}
	case schema.TypeJSON:
		t.Collation = schema.CollationUTF8MB4Bin
	default:
		err = textType(name, s, table, &t)
	}
	return t, err
}

// geometryType is the type of a geometry column: 3548.
func geometryType(s *TypeSpec) (schema.Type, error) {
	kind, _ := geo.TypeByName(s.Geometry)
	t := types.Geometry
	if kind != geo.TypeGeometry {
		t = types.GeometryOf(kind.String())
	}
	if s.SRID != "" {
		n, err := strconv.ParseUint(s.SRID, 10, 32)
		if err != nil {
			return t, sqlerr.ValueOutOfRange("SRID", "SRID")
		}
		t.HasSRID, t.SRID = true, uint32(n)
		if _, ok := geo.Lookup(t.SRID); !ok {
			return t, sqlerr.SRSNotFound(t.SRID)
		}
	}
	return t, nil
}

// integerWidths are the widths at which ZEROFILL pads the integer types.
var integerWidths = map[schema.TypeID]int{
	schema.TypeTinyInt: 3, schema.TypeSmallInt: 5, schema.TypeMediumInt: 8, schema.TypeInt: 10, schema.TypeBigInt: 20,
}

func integerType(name string, s *TypeSpec, t *schema.Type) error {
	switch {
	case s.Len > maxWidth:
		return sqlerr.InvalidDisplayWidth(name, maxWidth)
	case s.Len != schema.UnspecifiedLength:
		t.Len = s.Len
	case t.Zerofill:
		t.Len = integerWidths[t.ID]
	}
	return nil
}

func floatType(name string, s *TypeSpec, t *schema.Type) error {
	t.Scale = schema.UnspecifiedLength
	if s.Scale == schema.UnspecifiedLength {
		if s.Len > 53 {
			return sqlerr.IncorrectColumnSpecifier(name)
		}
		return nil
	}
	switch {
	case s.Scale > maxScale:
		return sqlerr.ScaleTooBig(s.Scale, name, maxScale)
	case s.Len > maxWidth:
		return sqlerr.InvalidDisplayWidth(name, maxWidth)
	case s.Len < s.Scale:
		return sqlerr.MBiggerThanD(name)
	}
	t.Len, t.Scale = s.Len, s.Scale
	return nil
}

// CheckDecimal checks the digits of DECIMAL(p, s): 1425 to 1427.
func CheckDecimal(p, s int, name string) error {
	switch {
	case s > maxScale:
		return sqlerr.ScaleTooBig(s, name, maxScale)
	case p > maxDecimal:
		return sqlerr.PrecisionTooBig(p, name, maxDecimal)
	case p < s:
		return sqlerr.MBiggerThanD(name)
	}
	return nil
}

// textType is a character or binary string, ENUM or SET.
func textType(name string, s *TypeSpec, table schema.CollationID, t *schema.Type) error {
	c, err := textCollation(s, table)
	if err != nil {
		return err
	}
	if k := collate.Must(c); k.IsStandIn() {
		return sqlerr.NotSupported("collation " + k.Name + " of a column")
	}
	t.Collation, t.Unsigned, t.Zerofill = c, false, false
	binary := c == schema.CollationBinary
	switch s.ID {
	case schema.TypeChar:
		t.Len = s.Len
		if binary {
			t.ID = schema.TypeBinary
		}
		if s.Len == schema.UnspecifiedLength {
			t.Len = 1
		}
		if t.Len > maxChar {
			return sqlerr.ColumnTooLong(name, maxChar)
		}
	case schema.TypeVarchar:
		t.Len = s.Len
		if binary {
			t.ID = schema.TypeVarbinary
		}
		if limit := maxRowBytes / maxBytes(c); s.Len > limit {
			return sqlerr.ColumnTooLong(name, limit)
		}
		if s.Len < 0 {
			t.Len = 1
		}
	case schema.TypeEnum, schema.TypeSet:
		return memberType(name, s, t)
	default:
		t.ID = blobType(s, maxBytes(c))
		t.Len = blobBytes[t.ID]
		if binary {
			t.ID += schema.TypeTinyBlob - schema.TypeTinyText
		}
	}
	return nil
}

var blobBytes = map[schema.TypeID]int{
	schema.TypeTinyText: 255, schema.TypeText: 65535, schema.TypeMediumText: 1<<24 - 1, schema.TypeLongText: 1<<32 - 1,
}

// blobType is the TEXT type; TEXT(n) is the smallest that holds n characters of
// the given size.
func blobType(s *TypeSpec, bytes int) schema.TypeID {
	if s.ID != schema.TypeText || s.Len == schema.UnspecifiedLength || s.Len == 0 {
		return s.ID
	}
	for _, id := range [...]schema.TypeID{schema.TypeTinyText, schema.TypeText, schema.TypeMediumText} {
		if s.Len*bytes <= blobBytes[id] {
			return id
		}
	}
	return schema.TypeLongText
}

// textCollation: CHARACTER SET and COLLATE of the column, else the table's.
func textCollation(s *TypeSpec, table schema.CollationID) (schema.CollationID, error) {
	if s.Charset == "binary" {
		if s.Collate != "" && !strings.EqualFold(s.Collate, "binary") {
			return 0, sqlerr.CollationCharsetMismatch(s.Collate, "binary")
		}
		return schema.CollationBinary, nil
	}
	if s.Charset == "" && s.Collate != "" {
		c, ok := collate.ByName(s.Collate)
		if !ok {
			return 0, sqlerr.UnknownCollation(s.Collate)
		}
		return c.ID, nil
	}
	c := table
	if s.Charset != "" {
		var err error
		if c, err = CharsetCollation(s.Charset, s.Collate); err != nil {
			return 0, err
		}
	}
	if s.BinaryCollation && s.Collate == "" {
		if x, ok := collate.BinaryForCharset(collate.Must(c).Charset); ok {
			return x.ID, nil // CHAR(n) BINARY
		}
	}
	return c, nil
}

// CharsetCollation is the collation that CHARACTER SET cs COLLATE coll means;
// either may be "": 1115, 1273, 1253.
func CharsetCollation(cs, coll string) (schema.CollationID, error) {
	var c *collate.Collation
	if coll != "" {
		x, ok := collate.ByName(coll)
		if !ok {
			return 0, sqlerr.UnknownCollation(coll)
		}
		c = x
	}
	if cs == "" {
		if c == nil {
			return schema.CollationNone, nil
		}
		return c.ID, nil
	}
	d, ok := collate.DefaultForCharset(cs)
	if !ok {
		return 0, sqlerr.UnknownCharset(cs)
	}
	if c == nil {
		return d.ID, nil
	}
	if c.Charset != d.Charset {
		return 0, sqlerr.CollationCharsetMismatch(coll, cs)
	}
	return c.ID, nil
}

// memberType is ENUM or SET: 1291, 1367, 1097.
func memberType(name string, s *TypeSpec, t *schema.Type) error {
	kind := "ENUM"
	limit := maxEnumMembers
	if t.ID == schema.TypeSet {
		kind, limit = "SET", maxSetMembers
	}
	if len(s.Elems) > limit {
		return sqlerr.TooManyValuesInSet(name)
	}
	c := collate.Must(t.Collation)
	seen := map[string]bool{}
	for _, e := range s.Elems {
		if c.ID != schema.CollationBinary {
			e = strings.TrimRight(e, " ")
		}
		if kind == "SET" && strings.Contains(e, ",") {
			return sqlerr.IllegalSetValue("set", e)
		}
		text, lost := collate.Must(schema.CollationUTF8MB40900AICI).Convert(nil, []byte(e), c)
		if lost >= 0 {
			return sqlerr.InvalidCharacterString(c.Charset, InvalidText([]byte(e)))
		}
		e = string(text)
		key := string(c.AppendKey(nil, []byte(e)))
		if seen[key] {
			return sqlerr.DuplicatedValueInType(name, e, kind)
		}
		seen[key] = true
		t.Elems = append(t.Elems, e)
	}
	return nil
}

// InvalidText shows bytes as MySQL does in messages about invalid text.
func InvalidText(s []byte) string {
	const digits = "0123456789ABCDEF"
	var out []byte
	for i, c := range s {
		if i == 6 {
			out = append(out, "..."...)
			break
		}
		if c >= 0x80 {
			out = append(out, '\\', 'x', digits[c>>4], digits[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
