package types

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// Types of expressions that need no parameter. They are never changed.
var (
	// Null is the type of the NULL literal.
	Null = schema.Type{ID: schema.TypeNull, Collation: schema.CollationBinary}
	// Bool is the type of comparisons and logic: INT with width 1.
	Bool = schema.Type{ID: schema.TypeInt, Len: 1, Collation: schema.CollationBinary}
	// BigInt is BIGINT.
	BigInt = schema.Type{ID: schema.TypeBigInt, Len: 20, Collation: schema.CollationBinary}
	// UBigInt is BIGINT UNSIGNED.
	UBigInt = schema.Type{ID: schema.TypeBigInt, Unsigned: true, Len: 20, Collation: schema.CollationBinary}
	// Double is DOUBLE.
	Double = schema.Type{ID: schema.TypeDouble, Len: schema.UnspecifiedLength, Scale: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	// Date is DATE.
	Date = schema.Type{ID: schema.TypeDate, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}
	// JSON is JSON.
	JSON = schema.Type{ID: schema.TypeJSON, Len: schema.UnspecifiedLength, Collation: schema.CollationUTF8MB4Bin}
	// Variant is a JSON value that behaves as what it is; see package expr.
	Variant = schema.Type{ID: schema.TypeJSON, Len: schema.UnspecifiedLength, Collation: schema.CollationUTF8MB4Bin, Variant: true}
)

// Geometry is GEOMETRY of any kind.
var Geometry = GeometryOf("")

// GeometryOf is the geometry type of a kind, "" for GEOMETRY.
func GeometryOf(kind string) schema.Type {
	return schema.Type{ID: schema.TypeGeometry, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary, Geometry: kind}
}

// DecimalOf is DECIMAL(prec, scale), cut to MySQL's limits of 65 and 30.
func DecimalOf(prec, scale int) schema.Type {
	scale = min(max(scale, 0), value.MaxDecimalScale)
	prec = min(max(prec, scale, 1), value.MaxDecimalDigits)
	return schema.Type{ID: schema.TypeDecimal, Len: prec, Scale: scale, Collation: schema.CollationBinary}
}

// Text is LONGTEXT with collation coll: a string of unknown length.
func Text(coll schema.CollationID) schema.Type {
	t := schema.Type{ID: schema.TypeLongText, Len: schema.UnspecifiedLength, Collation: coll}
	if coll == schema.CollationBinary {
		t.ID = schema.TypeLongBlob
	}
	return t
}

// VarcharOf is VARCHAR(n) with collation coll; VARBINARY(n) when coll is
// CollationBinary.
func VarcharOf(n int, coll schema.CollationID) schema.Type {
	if coll == schema.CollationBinary {
		return VarbinaryOf(n)
	}
	return schema.Type{ID: schema.TypeVarchar, Len: n, Collation: coll}
}

// VarbinaryOf is VARBINARY(n).
func VarbinaryOf(n int) schema.Type {
	return schema.Type{ID: schema.TypeVarbinary, Len: n, Collation: schema.CollationBinary}
}

// DatetimeOf is DATETIME(fsp).
func DatetimeOf(fsp int) schema.Type {
	return schema.Type{ID: schema.TypeDatetime, Len: schema.UnspecifiedLength, Scale: fsp, Collation: schema.CollationBinary}
}

// TimeOf is TIME(fsp).
func TimeOf(fsp int) schema.Type {
	return schema.Type{ID: schema.TypeTime, Len: schema.UnspecifiedLength, Scale: fsp, Collation: schema.CollationBinary}
}

// KindOf is the representation of values of type t.
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
