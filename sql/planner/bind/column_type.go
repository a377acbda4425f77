package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	tidbtypes "github.com/pingcap/tidb/pkg/parser/types"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// columnTypes are the types that the parser has. The grammar writes a type of
// binary strings as that of text with the character set binary.
var columnTypes = map[byte]schema.TypeID{
	mysql.TypeTiny: schema.TypeTinyInt, mysql.TypeShort: schema.TypeSmallInt, mysql.TypeInt24: schema.TypeMediumInt,
	mysql.TypeLong: schema.TypeInt, mysql.TypeLonglong: schema.TypeBigInt, mysql.TypeFloat: schema.TypeFloat, mysql.TypeDouble: schema.TypeDouble,
	mysql.TypeNewDecimal: schema.TypeDecimal, mysql.TypeBit: schema.TypeBit, mysql.TypeYear: schema.TypeYear,
	mysql.TypeDate: schema.TypeDate, mysql.TypeNewDate: schema.TypeDate, mysql.TypeDatetime: schema.TypeDatetime,
	mysql.TypeTimestamp: schema.TypeTimestamp, mysql.TypeDuration: schema.TypeTime, mysql.TypeJSON: schema.TypeJSON,
	mysql.TypeString: schema.TypeChar, mysql.TypeVarchar: schema.TypeVarchar, mysql.TypeVarString: schema.TypeVarchar,
	mysql.TypeTinyBlob: schema.TypeTinyText, mysql.TypeBlob: schema.TypeText, mysql.TypeMediumBlob: schema.TypeMediumText,
	mysql.TypeLongBlob: schema.TypeLongText, mysql.TypeEnum: schema.TypeEnum, mysql.TypeSet: schema.TypeSet,
}

// columnType reads the type of a column definition. coll is the collation of the
// table, collate the column's COLLATE ("" for none).
func columnType(name string, tp *tidbtypes.FieldType, coll schema.CollationID, collate string) (schema.Type, error) {
	if tp.IsArray() {
		return schema.Type{}, sqlerr.NotSupported("ARRAY column type")
	}
	s := define.TypeSpec{Len: tp.GetFlen(), Scale: tp.GetDecimal(), Charset: tp.GetCharset(), Collate: collate, Elems: tp.GetElems(),
		Unsigned: mysql.HasUnsignedFlag(tp.GetFlag()), Zerofill: mysql.HasZerofillFlag(tp.GetFlag()), BinaryCollation: mysql.HasBinaryFlag(tp.GetFlag())}
	if s.Collate == "" {
		s.Collate = tp.GetCollate()
	}
	id, ok := columnTypes[tp.GetType()]
	if !ok {
		return schema.Type{}, sqlerr.NotSupported(strings.ToUpper(tp.CompactStr()) + " column type")
	}
	s.ID = id
	if id == schema.TypeEnum && len(s.Elems) >= 2 && s.Elems[0] == parser.GeometryMark {
		s.ID, s.Geometry = schema.TypeGeometry, s.Elems[1]
		if len(s.Elems) > 2 {
			s.SRID = s.Elems[2]
		}
	}
	return define.ColumnType(name, &s, coll)
}
