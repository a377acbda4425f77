package define

import (
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// FunctionalIndex is the name that MySQL gives an index whose first part is an
// expression, before _2, _3, ….
const FunctionalIndex = "functional_index"

// ArrayElem is the type of the elements of CAST(… AS t ARRAY): 1235 for types of
// which no index has arrays. charset: the cast names a character set.
func ArrayElem(t schema.Type, charset bool) (schema.Type, error) {
	switch {
	case charset && t.IsCharacter():
		return t, sqlerr.NotSupported("specifying charset for multi-valued index")
	case t.IsString() && (t.Len < 0 || t.IsBlobOrText() || t.Len > maxKeyBytes):
		return t, sqlerr.NotSupported("CAST-ing data to array of char/binary BLOBs")
	case t.IsCharacter():
		return types.VarcharOf(t.Len, arrayCollation()), nil
	case t.IsString():
		return types.VarbinaryOf(t.Len), nil
	case t.IsInteger(), t.ID == schema.TypeDecimal, t.ID == schema.TypeDouble, t.ID == schema.TypeDate, t.ID == schema.TypeDatetime, t.ID == schema.TypeTime:
		return t, nil
	}
	return t, notInArray(t)
}

// KeyArrayElem is ArrayElem for a multi-valued index, which has no arrays of
// DOUBLE either.
func KeyArrayElem(t schema.Type, charset bool) (schema.Type, error) {
	t, err := ArrayElem(t, charset)
	if err == nil && t.ID == schema.TypeDouble {
		err = notInArray(t)
	}
	return t, err
}

func notInArray(t schema.Type) error {
	return sqlerr.NotSupported("CAST-ing data to array of " + strings.ToUpper(t.ID.String()))
}

// arrayCollation is that of CHAR arrays: JSON strings are equal byte by byte.
func arrayCollation() schema.CollationID {
	c, _ := collate.ByName("utf8mb4_0900_bin")
	return c.ID
}

// HasExpr reports a key with an expression among its parts.
func HasExpr(cols []IndexColumn) bool {
	for _, c := range cols {
		if c.Expr != "" {
			return true
		}
	}
	return false
}

// KeyExpressions gives t a hidden virtual column for each part of an index that
// is an expression, as MySQL does, and returns the parts with the names of these
// columns. Parts that have one do not change. The index has its name.
//
// Errors: 3753 for JSON and 3757 for TEXT and BLOB, 3754, 3758, 1054 of the
// expression, 1235 for one that depends on the time zone.
func KeyExpressions(b Binder, t *schema.Table, index string, cols []IndexColumn) ([]IndexColumn, error) {
	if !HasExpr(cols) {
		return cols, nil
	}
	out := append([]IndexColumn(nil), cols...)
	for i := range out {
		if out[i].Expr == "" || out[i].Name != "" {
			continue
		}
		add := addKeyColumn
		if f := out[i].Search; f != nil && (f.Kind != schema.SearchValue || f.As != "") {
			add = addPathColumn
		}
		name, err := add(b, t, index, out[i].Expr)
		if err != nil {
			return nil, err
		}
		out[i].Name = name
	}
	return out, nil
}

func addKeyColumn(b Binder, t *schema.Table, index, text string) (string, error) {
	x, err := Owner{OfIndex, index}.bind(b, t, text)
	if err != nil {
		return "", err
	}
	var c schema.Column
	if _, cast, ok := expr.AsArrayCast(x.e); ok {
		c.Type, c.Array = types.JSON, &cast.Elem
	} else if c.Type, err = keyColumnType(index, x.e); err != nil {
		return "", err
	}
	return addHidden(t, index, c, x).Name, nil
}

// ResolveWhere gives t a hidden column for the condition of a partial index, ""
// for none. The index has its name.
func ResolveWhere(b Binder, t *schema.Table, x *schema.Index, text string) error {
	if text == "" {
		return nil
	}
	e, err := Owner{OfIndex, x.Name}.bind(b, t, text)
	if err != nil {
		return err
	}
	if !e.condition {
		return sqlerr.NotSupported("partial index on an expression that is no condition")
	}
	x.Where = addHidden(t, x.Name, schema.Column{Type: types.BigInt}, e).ID
	return nil
}

// addHidden adds the hidden column of an expression of an index.
func addHidden(t *schema.Table, index string, c schema.Column, x *expression) *schema.Column {
	c.ID, c.Nullable, c.Hidden = t.NextColumnID, true, true
	c.Generated = &schema.Generated{Expr: x.text, Reads: x.reads}
	for n := 0; c.Name == "" || t.ColumnByName(c.Name) >= 0; n++ {
		c.Name = hiddenKeyName(index, n)
	}
	t.NextColumnID++
	t.Columns = append(t.Columns, c)
	return &t.Columns[len(t.Columns)-1]
}

// hiddenKeyName is the name of a column that has the values of an expression; no
// user's column has one of this form. Names are cut so that they stay in the
// limit.
func hiddenKeyName(index string, n int) string {
	tail := "!" + strconv.Itoa(n) + "!0"
	if r := []rune(index); len(r) > maxIdentifier-20 {
		index = string(r[:maxIdentifier-20])
	}
	return hiddenKeyPrefix + index + tail
}

const hiddenKeyPrefix = "!hidden!"

// indexOfHidden is the name of the index in the name of a hidden column.
func indexOfHidden(name string) string {
	name = strings.TrimPrefix(name, hiddenKeyPrefix)
	for range 2 {
		if i := strings.LastIndexByte(name, '!'); i >= 0 {
			name = name[:i]
		}
	}
	return name
}

// keyColumnType is the type of a column that holds all values of an expression.
func keyColumnType(index string, e expr.Expr) (schema.Type, error) {
	t := e.Type()
	switch {
	case t.ID == schema.TypeJSON, t.ID == schema.TypeGeometry:
		return t, sqlerr.FunctionalIndexOnJSON()
	case t.IsInteger():
		out := types.BigInt
		if t.Unsigned {
			out = types.UBigInt
		}
		return out, nil
	case t.IsFloat():
		return types.Double, nil
	case t.ID == schema.TypeDecimal, t.ID == schema.TypeDate, t.ID == schema.TypeDatetime, t.ID == schema.TypeTime, t.ID == schema.TypeYear:
		return t, nil
	case t.IsBlobOrText(), t.IsString() && (t.Len < 0 || t.Len > maxKeyBytes):
		return t, sqlerr.FunctionalIndexOnLOB()
	case t.IsCharacter():
		return types.VarcharOf(max(t.Len, 1), t.Collation), nil
	case t.IsBinary():
		return types.VarbinaryOf(max(t.Len, 1)), nil
	}
	return t, sqlerr.FunctionalIndexKey(index)
}
