package ddl

import (
	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxRowBytes is MySQL's limit for the columns of a table together.
const maxRowBytes = 65535

// checkRowSize: 1118. What was too wide before may stay so.
func checkRowSize(t, old *schema.Table) error {
	if n := rowBytes(t); n > maxRowBytes && (old == nil || n > rowBytes(old)) {
		return sqlerr.RowSizeTooLarge(maxRowBytes)
	}
	return nil
}

// rowBytes is how long a row of t may be in MySQL: of BLOBs and their like only
// length and pointer count.
func rowBytes(t *schema.Table) int {
	n, nullable := 0, 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if isHiddenKey(c) {
			continue
		}
		if c.Array != nil {
			n += columnBytes(schema.Type{ID: schema.TypeJSON})
		} else {
			n += columnBytes(c.Type)
		}
		if c.Nullable {
			nullable++
		}
	}
	return n + (nullable+7)/8
}

func columnBytes(t schema.Type) int {
	const pointer = 8
	switch t.ID {
	case schema.TypeTinyInt, schema.TypeYear:
		return 1
	case schema.TypeSmallInt:
		return 2
	case schema.TypeMediumInt, schema.TypeDate:
		return 3
	case schema.TypeInt, schema.TypeFloat:
		return 4
	case schema.TypeBigInt, schema.TypeDouble:
		return 8
	case schema.TypeTime:
		return 3 + (t.Scale+1)/2
	case schema.TypeTimestamp:
		return 4 + (t.Scale+1)/2
	case schema.TypeDatetime:
		return 5 + (t.Scale+1)/2
	case schema.TypeBit:
		return (t.Len + 7) / 8
	case schema.TypeDecimal:
		return decimalBytes(t.Len-t.Scale) + decimalBytes(t.Scale)
	case schema.TypeChar, schema.TypeBinary:
		return t.Len * maxBytes(t.Collation)
	case schema.TypeVarchar, schema.TypeVarbinary:
		n := t.Len * maxBytes(t.Collation)
		if n < 256 {
			return n + 1
		}
		return n + 2
	case schema.TypeTinyText, schema.TypeTinyBlob:
		return 1 + pointer
	case schema.TypeText, schema.TypeBlob:
		return 2 + pointer
	case schema.TypeMediumText, schema.TypeMediumBlob:
		return 3 + pointer
	case schema.TypeEnum:
		if len(t.Elems) < 256 {
			return 1
		}
		return 2
	case schema.TypeSet:
		n := (len(t.Elems) + 7) / 8
		if n > 4 {
			return 8
		}
		return n
	}
	return 4 + pointer // LONGTEXT, LONGBLOB, JSON, geometries
}

// decimalBytes is what digits on one side of the point take: nine in four bytes.
func decimalBytes(digits int) int {
	return digits/9*4 + [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4}[digits%9]
}

func maxBytes(id schema.CollationID) int {
	if c, ok := collate.Lookup(id); ok {
		return c.MaxLen()
	}
	return 1
}
