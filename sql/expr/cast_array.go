package expr

import (
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// castArrayDefs is CAST(… AS type ARRAY), which only key parts of multi-valued
// indexes have. Its value is a JSON array whose elements have the one type.
func castArrayDefs() []entry {
	return []entry{
		special("cast_array", unboundUnit, def{b: Builtin{Row: rowCastArray}}),
		special("element_of", unboundUnit, def{b: Builtin{Row: rowElementOf}}),
	}
}

// ArrayCast is the Extra of CAST(… AS type ARRAY).
type ArrayCast struct {
	Elem schema.Type
	// Index is the name of the index, for messages.
	Index string
}

// NewCastArray is CAST(arg AS elem ARRAY) in a key part of an index. Errors:
// 1235 if arg is no JSON.
func NewCastArray(arg Expr, elem schema.Type, index string) (Expr, error) {
	if arg.Type().ID != schema.TypeJSON {
		return nil, sqlerr.NotSupported("CAST-ing non-JSON data to array")
	}
	return mustLookup("cast_array").call("cast_array", []Expr{arg}, jsonType(), true, ArrayCast{elem, index}), nil
}

// AsArrayCast takes CAST(… AS type ARRAY) apart.
func AsArrayCast(e Expr) (arg Expr, cast ArrayCast, ok bool) {
	f, isFunc := e.(*Func)
	if !isFunc || f.Op != OpCastArray {
		return nil, cast, false
	}
	return f.Args[0], f.arrayCast(), true
}

// NewElementOf is the element, see ArrayCast.Probe, that a multi-valued index is
// searched for when a JSON document, made of a column, has to be in the array. ok
// is false when the index cannot decide that for all values of the column.
func NewElementOf(doc Expr, cast ArrayCast) (e Expr, ok bool) {
	f, isFunc := doc.(*Func)
	if !isFunc || f.Op != OpJSONOf || f.Extra != false { // true and false are no numbers
		return nil, false
	}
	c, isCol := f.Args[0].(*Col)
	if !isCol {
		return nil, false
	}
	switch {
	case c.T.IsCharacter():
	case cast.Elem.IsInteger() && c.T.IsInteger():
	case cast.Elem.ID == schema.TypeDecimal && (c.T.IsInteger() || c.T.ID == schema.TypeDecimal):
	default:
		return nil, false
	}
	return mustLookup("element_of").call("element_of", []Expr{doc}, cast.Elem, true, cast), true
}

func rowElementOf(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || value.JSONType(a[0].Bytes()) == "NULL" { // NULL is in no array
		return value.Null, nil
	}
	cast := f.arrayCast()
	d, ok := cast.Probe(a[0].Bytes())
	if !ok {
		return value.Null, sqlerr.Internal("no element of %s for %s", f.Args[0].Type(), value.JSONType(a[0].Bytes()))
	}
	return d, nil
}

func rowCastArray(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	doc, cast := a[0].Bytes(), f.arrayCast()
	elems := [][]byte{doc}
	switch value.JSONType(doc) {
	case "NULL":
		return value.Null, nil
	case "OBJECT":
		return value.Null, sqlerr.NotSupported("CAST-ing JSON OBJECT type to array")
	case "ARRAY":
		elems = make([][]byte, value.JSONLen(doc))
		for i := range elems {
			elems[i] = value.JSONElem(doc, i)
		}
	}
	out := make([][]byte, len(elems))
	for i, e := range elems {
		d, err := cast.element(e)
		if err != nil {
			return value.Null, err
		}
		if out[i], err = types.ToJSON(nil, d, cast.Elem); err != nil {
			return value.Null, err
		}
	}
	return value.JSONOf(value.JSONArray(out...)), nil
}

// element converts an element: 3903, 3904 or 3907 when it does not fit, also
// under IGNORE and without strict mode, as an index cannot have it.
func (a *ArrayCast) element(doc []byte) (value.Datum, error) {
	d, t, ok := types.JSONScalar(doc)
	if !ok {
		return d, sqlerr.InvalidJSONForIndex(a.Index)
	}
	env := types.Env{Mode: types.DefaultSQLMode}
	out, err := types.Store(&env, d, t, &schema.Column{Type: a.Elem, Nullable: true}, 1)
	if se, isSQL := errors.AsType[*sqlerr.Error](err); isSQL {
		switch {
		case sqlerr.IsOutOfRange(se):
			err = sqlerr.JSONOutOfRangeForIndex(a.Index)
		case sqlerr.IsDataTooLong(se):
			err = sqlerr.DataTooLongForIndex(a.Index)
		default:
			err = sqlerr.InvalidJSONForIndex(a.Index)
		}
	}
	return out, err
}

// Probe gives the element to search for in an index on arrays of the type, to
// find those that have doc in them. null: no array can have it. ok is false when
// the index cannot decide: elements that are equal to doc may be stored under
// other keys. Equal numbers become equal keys of numeric types, and strings are
// equal to nothing but themselves; 1 and 1.0 are equal, but not as CHAR.
func (a *ArrayCast) Probe(doc []byte) (d value.Datum, ok bool) {
	switch value.JSONType(doc) {
	case "STRING", "BLOB", "OPAQUE":
	case "INTEGER", "UNSIGNED INTEGER", "DOUBLE", "DECIMAL":
		if !a.Elem.IsInteger() && a.Elem.ID != schema.TypeDecimal {
			return value.Null, false
		}
		// Halves are rounded to even as DOUBLE, up as DECIMAL.
		if kind := value.JSONType(doc); a.Elem.IsInteger() && (kind == "DOUBLE" || kind == "DECIMAL") {
			return value.Null, false
		}
	case "DATE", "DATETIME", "TIME":
		if !a.Elem.HasDate() && a.Elem.ID != schema.TypeTime {
			return value.Null, false
		}
	default:
		return value.Null, false
	}
	d, err := a.element(doc)
	if err != nil {
		return value.Null, true // no row can have such an element
	}
	return d, true
}
