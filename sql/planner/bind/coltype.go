package bind

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	tidbtypes "github.com/pingcap/tidb/pkg/parser/types"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
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

// columnType is the type of a column definition. coll is the collation of the
// table, collate the column's COLLATE ("" for none).
func (b *binder) columnType(name string, tp *tidbtypes.FieldType, coll schema.CollationID, collateName string) (schema.Type, error) {
	t := schema.Type{Len: schema.UnspecifiedLength, Collation: schema.CollationBinary,
		Unsigned: mysql.HasUnsignedFlag(tp.GetFlag()), Zerofill: mysql.HasZerofillFlag(tp.GetFlag())}
	if t.Zerofill {
		t.Unsigned = true
	}
	if tp.IsArray() {
		return t, sqlerr.NotSupported("ARRAY column type")
	}
	if elems := tp.GetElems(); tp.GetType() == mysql.TypeEnum && len(elems) >= 2 && elems[0] == parser.GeometryMark {
		return geometryType(elems[1:])
	}
	var err error
	switch tp.GetType() {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong:
		err = integerType(name, tp, &t)
	case mysql.TypeFloat, mysql.TypeDouble:
		err = floatType(name, tp, &t)
	case mysql.TypeNewDecimal:
		t.ID, t.Len, t.Scale = schema.TypeDecimal, tp.GetFlen(), max(tp.GetDecimal(), 0)
		if t.Len <= 0 {
			t.Len = 10
		}
		err = checkDecimal(t.Len, t.Scale, name)
	case mysql.TypeBit:
		t.ID, t.Len = schema.TypeBit, tp.GetFlen()
		if t.Len == 0 {
			return t, sqlerr.InvalidSizeOfType(name)
		}
		if t.Len > maxBits {
			return t, sqlerr.InvalidDisplayWidth(name, maxBits)
		}
	case mysql.TypeYear:
		t.ID, t.Len, t.Unsigned, t.Zerofill = schema.TypeYear, 4, false, false
		if l := tp.GetFlen(); l != tidbtypes.UnspecifiedLength && l != 4 {
			return t, sqlerr.New(1818, "HY000", "Supports only YEAR or YEAR(4) column.")
		}
	case mysql.TypeDate, mysql.TypeNewDate:
		t.ID = schema.TypeDate
	case mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeDuration:
		t.ID = map[byte]schema.TypeID{mysql.TypeDatetime: schema.TypeDatetime, mysql.TypeTimestamp: schema.TypeTimestamp, mysql.TypeDuration: schema.TypeTime}[tp.GetType()]
		t.Scale = max(tp.GetDecimal(), 0)
		if t.Scale > maxFSP {
			return t, sqlerr.PrecisionTooBig(t.Scale, name, maxFSP)
		}
	case mysql.TypeJSON:
		t.ID, t.Collation = schema.TypeJSON, schema.CollationUTF8MB4Bin
	case mysql.TypeString, mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeTinyBlob, mysql.TypeBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob,
		mysql.TypeEnum, mysql.TypeSet:
		err = b.textColumn(name, tp, coll, collateName, &t)
	default:
		return t, sqlerr.NotSupported(strings.ToUpper(tp.CompactStr()) + " column type")
	}
	return t, err
}

// geometryType is the type of a geometry column from its name and, if there is
// one, its SRID: 3548.
func geometryType(words []string) (schema.Type, error) {
	kind, _ := geo.TypeByName(words[0])
	t := types.Geometry
	if kind != geo.TypeGeometry {
		t = types.GeometryOf(kind.String())
	}
	if len(words) > 1 {
		n, err := strconv.ParseUint(words[1], 10, 32)
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

func integerType(name string, tp *tidbtypes.FieldType, t *schema.Type) error {
	width := 0
	switch tp.GetType() {
	case mysql.TypeTiny:
		t.ID, width = schema.TypeTinyInt, 3
	case mysql.TypeShort:
		t.ID, width = schema.TypeSmallInt, 5
	case mysql.TypeInt24:
		t.ID, width = schema.TypeMediumInt, 8
	case mysql.TypeLong:
		t.ID, width = schema.TypeInt, 10
	default:
		t.ID, width = schema.TypeBigInt, 20
	}
	if l := tp.GetFlen(); l != tidbtypes.UnspecifiedLength {
		if l > maxWidth {
			return sqlerr.InvalidDisplayWidth(name, maxWidth)
		}
		width = l
	} else if !t.Zerofill {
		return nil
	}
	t.Len = width
	return nil
}

func floatType(name string, tp *tidbtypes.FieldType, t *schema.Type) error {
	t.ID, t.Scale = schema.TypeDouble, schema.UnspecifiedLength
	if tp.GetType() == mysql.TypeFloat {
		t.ID = schema.TypeFloat
	}
	m, d := tp.GetFlen(), tp.GetDecimal()
	if d == tidbtypes.UnspecifiedLength {
		if m > 53 {
			return sqlerr.New(1063, "42000", "Incorrect column specifier for column '%s'", name)
		}
		return nil
	}
	switch {
	case d > maxScale:
		return sqlerr.ScaleTooBig(d, name, maxScale)
	case m > maxWidth:
		return sqlerr.InvalidDisplayWidth(name, maxWidth)
	case m < d:
		return sqlerr.MBiggerThanD(name)
	}
	t.Len, t.Scale = m, d
	return nil
}

func checkDecimal(p, s int, name string) error {
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

// textColumn is a character or binary string, ENUM or SET.
func (b *binder) textColumn(name string, tp *tidbtypes.FieldType, coll schema.CollationID, collateName string, t *schema.Type) error {
	c, err := textCollation(tp, coll, collateName)
	if err != nil {
		return err
	}
	if k := collate.Must(c); k.IsStandIn() {
		return sqlerr.NotSupported("collation " + k.Name + " of a column")
	}
	t.Collation, t.Unsigned, t.Zerofill = c, false, false
	binary := c == schema.CollationBinary
	n := tp.GetFlen()
	switch tp.GetType() {
	case mysql.TypeString:
		t.ID, t.Len = schema.TypeChar, n
		if binary {
			t.ID = schema.TypeBinary
		}
		if n == tidbtypes.UnspecifiedLength {
			t.Len = 1
		}
		if t.Len > maxChar {
			return sqlerr.ColumnTooLong(name, maxChar)
		}
	case mysql.TypeVarchar, mysql.TypeVarString:
		t.ID, t.Len = schema.TypeVarchar, n
		if binary {
			t.ID = schema.TypeVarbinary
		}
		if limit := maxRowBytes / maxBytes(c); n > limit {
			return sqlerr.ColumnTooLong(name, limit)
		}
		if n < 0 {
			t.Len = 1
		}
	case mysql.TypeEnum, mysql.TypeSet:
		return memberType(name, tp, t)
	default:
		t.ID = blobType(tp.GetType(), n, maxBytes(c))
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

// blobType is the TEXT type; TEXT(n) is the smallest that holds n characters.
func blobType(tp byte, n, bytes int) schema.TypeID {
	switch tp {
	case mysql.TypeTinyBlob:
		return schema.TypeTinyText
	case mysql.TypeMediumBlob:
		return schema.TypeMediumText
	case mysql.TypeLongBlob:
		return schema.TypeLongText
	}
	if n == tidbtypes.UnspecifiedLength || n == 0 {
		return schema.TypeText
	}
	for _, id := range [...]schema.TypeID{schema.TypeTinyText, schema.TypeText, schema.TypeMediumText} {
		if n*bytes <= blobBytes[id] {
			return id
		}
	}
	return schema.TypeLongText
}

// textCollation: CHARACTER SET and COLLATE of the column, else the table's.
func textCollation(tp *tidbtypes.FieldType, table schema.CollationID, collateName string) (schema.CollationID, error) {
	cs := tp.GetCharset()
	if collateName == "" {
		collateName = tp.GetCollate()
	}
	if cs == "binary" {
		if collateName != "" && !strings.EqualFold(collateName, "binary") {
			return 0, sqlerr.CollationCharsetMismatch(collateName, "binary")
		}
		return schema.CollationBinary, nil
	}
	if cs == "" && collateName != "" {
		c, ok := collate.ByName(collateName)
		if !ok {
			return 0, sqlerr.UnknownCollation(collateName)
		}
		return c.ID, nil
	}
	c := table
	if cs != "" {
		var err error
		if c, err = charsetCollation(cs, collateName); err != nil {
			return 0, err
		}
	}
	if mysql.HasBinaryFlag(tp.GetFlag()) && collateName == "" {
		if x, ok := collate.BinaryForCharset(collate.Must(c).Charset); ok {
			return x.ID, nil // CHAR(n) BINARY
		}
	}
	return c, nil
}

// memberType is ENUM or SET: 1291, 1367, 1097.
func memberType(name string, tp *tidbtypes.FieldType, t *schema.Type) error {
	t.ID = schema.TypeEnum
	kind := "ENUM"
	limit := maxEnumMembers
	if tp.GetType() == mysql.TypeSet {
		t.ID, kind, limit = schema.TypeSet, "SET", maxSetMembers
	}
	if len(tp.GetElems()) > limit {
		return sqlerr.TooManyValuesInSet(name)
	}
	c := collate.Must(t.Collation)
	seen := map[string]bool{}
	for _, e := range tp.GetElems() {
		if c.ID != schema.CollationBinary {
			e = strings.TrimRight(e, " ")
		}
		if kind == "SET" && strings.Contains(e, ",") {
			return sqlerr.IllegalSetValue("set", e)
		}
		text, ok := collate.Must(schema.CollationUTF8MB40900AICI).Convert(nil, []byte(e), c)
		if !ok {
			return sqlerr.InvalidCharacterString(c.Charset, hexText([]byte(e)))
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
