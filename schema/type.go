package schema

import (
	"strconv"
	"strings"
)

// TypeID names a MySQL column type.
type TypeID uint8

// The types. The order is part of no format; String is.
const (
	TypeNull TypeID = iota
	TypeTinyInt
	TypeSmallInt
	TypeMediumInt
	TypeInt
	TypeBigInt
	TypeFloat
	TypeDouble
	TypeDecimal
	TypeBit
	TypeYear
	TypeDate
	TypeDatetime
	TypeTimestamp
	TypeTime
	TypeChar
	TypeVarchar
	TypeTinyText
	TypeText
	TypeMediumText
	TypeLongText
	TypeBinary
	TypeVarbinary
	TypeTinyBlob
	TypeBlob
	TypeMediumBlob
	TypeLongBlob
	TypeEnum
	TypeSet
	TypeJSON
	TypeGeometry
	numTypes
)

var typeNames = [numTypes]string{
	"null", "tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "decimal", "bit", "year",
	"date", "datetime", "timestamp", "time", "char", "varchar", "tinytext", "text", "mediumtext", "longtext",
	"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "enum", "set", "json", "geometry",
}

// String is the lower-case MySQL name.
func (id TypeID) String() string {
	if id < numTypes {
		return typeNames[id]
	}
	return "type(" + strconv.Itoa(int(id)) + ")"
}

// MarshalText writes the name, so that stored descriptors do not depend on
// the order of the constants.
func (id TypeID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *TypeID) UnmarshalText(text []byte) error {
	for i, name := range typeNames {
		if name == string(text) {
			*id = TypeID(i)
			return nil
		}
	}
	return &UnknownTypeError{Name: string(text)}
}

// UnknownTypeError is a type name that this program does not know.
type UnknownTypeError struct{ Name string }

// Error implements error.
func (e *UnknownTypeError) Error() string { return "unknown type " + strconv.Quote(e.Name) }

// CollationID is MySQL's number of a collation; it implies the character set.
type CollationID uint16

// Collations that the code names.
const (
	CollationNone             CollationID = 0
	CollationLatin1SwedishCI  CollationID = 8
	CollationASCIIGeneralCI   CollationID = 11
	CollationUTF8GeneralCI    CollationID = 33
	CollationUTF8MB3GeneralCI CollationID = 33
	CollationUTF8MB3Bin       CollationID = 83
	CollationUTF8MB4GeneralCI CollationID = 45
	CollationUTF8MB4Bin       CollationID = 46
	CollationBinary           CollationID = 63
	CollationUTF8MB4UnicodeCI CollationID = 224
	CollationUTF8MB40900AICI  CollationID = 255
)

// UnspecifiedLength in Type.Len means that none was given or that it has no
// meaning.
const UnspecifiedLength = -1

// Type is the type of a column or expression.
type Type struct {
	ID       TypeID `json:"id"`
	Unsigned bool   `json:"unsigned,omitempty"`
	Zerofill bool   `json:"zerofill,omitempty"`
	// Len is the declared length: characters of CHAR/VARCHAR, bytes of
	// BINARY/VARBINARY, bits of BIT, digits (precision) of DECIMAL, display
	// width of integers, maximal bytes of TEXT/BLOB; UnspecifiedLength if none.
	Len int `json:"len"`
	// Scale is the digits after the point: of DECIMAL, FLOAT(M,D), DOUBLE(M,D),
	// and the fractional seconds (0-6) of the time types.
	// UnspecifiedLength for FLOAT and DOUBLE without (M,D).
	Scale int `json:"scale,omitempty"`
	// Collation of character types, ENUM and SET; CollationBinary for binary
	// strings, numbers and times.
	Collation CollationID `json:"collation,omitempty"`
	// Elems are the members of ENUM and SET, in order.
	Elems []string `json:"elems,omitempty"`
	// Geometry is the kind of a geometry type in lower case, as in "point"; ""
	// for those that take all kinds.
	Geometry string `json:"geometry,omitempty"`
	// SRID is the reference system of a geometry column with HasSRID, which
	// takes values of that system only.
	SRID    uint32 `json:"srid,omitempty"`
	HasSRID bool   `json:"hasSrid,omitempty"`
	// Variant marks the type of an attribute of a row, which is JSON to what
	// stores and orders it; no column has it.
	Variant bool `json:"-"`
}

// Name is the type's name without lengths: DATA_TYPE of information_schema.
func (t Type) Name() string {
	if t.ID == TypeGeometry && t.Geometry != "" {
		return t.Geometry
	}
	return t.ID.String()
}

// IsInteger reports TINYINT to BIGINT.
func (t Type) IsInteger() bool { return t.ID >= TypeTinyInt && t.ID <= TypeBigInt }

// IsFloat reports FLOAT and DOUBLE.
func (t Type) IsFloat() bool { return t.ID == TypeFloat || t.ID == TypeDouble }

// IsNumeric reports integers, floats, DECIMAL, BIT and YEAR.
func (t Type) IsNumeric() bool { return t.ID >= TypeTinyInt && t.ID <= TypeYear }

// IsTemporal reports DATE, DATETIME, TIMESTAMP and TIME (not YEAR).
func (t Type) IsTemporal() bool { return t.ID >= TypeDate && t.ID <= TypeTime }

// HasDate reports DATE, DATETIME and TIMESTAMP.
func (t Type) HasDate() bool { return t.ID >= TypeDate && t.ID <= TypeTimestamp }

// IsString reports character and binary strings (CHAR to LONGBLOB).
func (t Type) IsString() bool { return t.ID >= TypeChar && t.ID <= TypeLongBlob }

// IsCharacter reports CHAR to LONGTEXT, which have a character set.
func (t Type) IsCharacter() bool { return t.ID >= TypeChar && t.ID <= TypeLongText }

// IsBinary reports BINARY to LONGBLOB.
func (t Type) IsBinary() bool { return t.ID >= TypeBinary && t.ID <= TypeLongBlob }

// IsBlobOrText reports the types that MySQL stores off-page and that take no
// literal default: TEXT and BLOB families.
func (t Type) IsBlobOrText() bool {
	return t.ID >= TypeTinyText && t.ID <= TypeLongText || t.ID >= TypeTinyBlob && t.ID <= TypeLongBlob
}

// String is the type as in the first column of DESCRIBE, without character
// set: "bigint unsigned", "varchar(20)", "decimal(10,2)", "enum('a','b')".
func (t Type) String() string {
	var b strings.Builder
	b.WriteString(t.Name())
	switch {
	case t.ID == TypeTinyInt && t.Len == 1 && !t.Unsigned:
		b.WriteString("(1)") // BOOL keeps its width in MySQL 8
	case t.IsInteger():
		if t.Zerofill && t.Len > 0 {
			b.WriteString("(" + strconv.Itoa(t.Len) + ")")
		}
	case t.ID == TypeDecimal:
		b.WriteString("(" + strconv.Itoa(t.Len) + "," + strconv.Itoa(t.Scale) + ")")
	case t.IsFloat():
		if t.Len > 0 && t.Scale >= 0 {
			b.WriteString("(" + strconv.Itoa(t.Len) + "," + strconv.Itoa(t.Scale) + ")")
		}
	case t.ID == TypeChar || t.ID == TypeVarchar || t.ID == TypeBinary || t.ID == TypeVarbinary || t.ID == TypeBit:
		b.WriteString("(" + strconv.Itoa(t.Len) + ")")
	case t.ID == TypeDatetime || t.ID == TypeTimestamp || t.ID == TypeTime:
		if t.Scale > 0 {
			b.WriteString("(" + strconv.Itoa(t.Scale) + ")")
		}
	case t.ID == TypeEnum || t.ID == TypeSet:
		b.WriteByte('(')
		for i, e := range t.Elems {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("'" + strings.ReplaceAll(e, "'", "''") + "'")
		}
		b.WriteByte(')')
	}
	if t.Unsigned {
		b.WriteString(" unsigned")
	}
	if t.Zerofill {
		b.WriteString(" zerofill")
	}
	return b.String()
}
