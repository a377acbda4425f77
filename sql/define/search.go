package define

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// ResolveSearch gives x, which has its name, the fields that are written as
// cols: 1072, 1060, 1235, and what the hidden columns of expressions give.
func ResolveSearch(b Binder, t *schema.Table, x *schema.SearchIndex, cols []IndexColumn) error {
	if x.Form == schema.FormColumnar {
		return resolveColumnar(b, t, x, cols)
	}
	named, err := KeyExpressions(b, t, x.Name, cols)
	if err != nil {
		return err
	}
	for _, c := range named {
		i := t.ColumnByName(c.Name)
		f := *c.Search
		if i < 0 {
			if i, err = searchAttribute(b, t, x, c.Name, &f); err != nil {
				return err
			}
		}
		if i < 0 || t.Columns[i].Hidden && c.Expr == "" && !f.Attribute {
			return sqlerr.KeyColumnMissing(c.Name)
		}
		f.Options = slices.Clone(f.Options)
		if i, err = searchForm(b, t, x.Name, i, &f); err != nil {
			return err
		}
		f.Column = t.Columns[i].ID
		if err := searchfield.Check(x, &t.Columns[i], &f); err != nil {
			return err
		}
		if f.Kind == schema.SearchPath {
			if err := pathField(b, t, x, t.Columns[i], &f, cmp.Or(c.Expr, c.Name)); err != nil {
				return err
			}
		}
		if f.Kind == schema.SearchText {
			if _, err := searchfield.Analyzer(x, &f, &t.Columns[i]); err != nil {
				return err
			}
		}
		same := func(o schema.SearchField) bool {
			return o.Column == f.Column && o.Kind == f.Kind && o.Path == f.Path
		}
		if slices.ContainsFunc(x.Fields, same) {
			return sqlerr.DuplicateColumn(cmp.Or(c.Expr, c.Name))
		}
		x.NextField = max(x.NextField, 1) // 0 is no field
		if int(x.NextField)+f.Fields()-1 > searchfield.MaxFieldID {
			return sqlerr.NotSupported("more than 65534 fields in the life of a search index")
		}
		f.Number(&x.NextField)
		x.Fields = append(x.Fields, f)
	}
	return nil
}

// addPathColumn adds the hidden column of a part of a JSON column: 3143, 1235 for
// other expressions, of which some could be errors.
func addPathColumn(b Binder, t *schema.Table, index, text string) (string, error) {
	x, err := Owner{OfIndex, index}.bind(b, t, text)
	if err != nil {
		return "", err
	}
	f, ok := x.e.(*expr.Func)
	if ok = ok && f.Op == expr.OpJSONExtract; ok {
		c, isCol := f.Args[0].(*expr.Col)
		ok = isCol && c.T.ID == schema.TypeJSON
		for _, a := range f.Args[1:] {
			k, isConst := a.(*expr.Const)
			if ok = ok && isConst && k.D.Kind() == value.KindBytes; !ok {
				break
			}
			_, err := value.CompileJSONPath(k.D.Str())
			if bad, isPath := errors.AsType[*value.JSONPathError](err); isPath {
				return "", sqlerr.InvalidJSONPath(bad.Pos)
			}
		}
	}
	if !ok {
		return "", sqlerr.NotSupported("a search index field over anything but a path of a JSON column")
	}
	return addHidden(t, index, schema.Column{Type: types.JSON}, x).Name, nil
}

// pathField completes a field over column c, a part of a JSON column: it has the
// values of a hidden column where its type is that of an expression. 1060 for the
// same part, of this name, with the same type.
func pathField(b Binder, t *schema.Table, x *schema.SearchIndex, c schema.Column, f *schema.SearchField, name string) error {
	text := schema.QuoteName(c.Name)
	if c.Hidden {
		text = c.Generated.Expr
	}
	for i := range x.Fields {
		o := &x.Fields[i]
		oc := t.Column(o.Column)
		if oc == nil || o.Kind != f.Kind || o.Many != f.Many || o.ElemName() != f.ElemName() {
			continue
		}
		if oc.ID == c.ID || c.Hidden && oc.Hidden && (oc.Generated.Expr == text || f.Attribute && strings.EqualFold(oc.Generated.Expr, text)) {
			return sqlerr.DuplicateColumn(name)
		}
	}
	f.Marked = true
	inner, ok := strings.CutPrefix(strings.TrimSuffix(text, ")"), "json_extract(")
	if !ok || f.Many || f.Attribute {
		return notDated(f)
	}
	of, typ := "json_value("+inner+" returning ", f.Elem
	switch {
	case typ.IsString():
		of = "json_unquote(" + text + ")"
	case typ.ID == schema.TypeTinyInt:
		return nil
	case typ.IsInteger() && typ.Unsigned:
		of += "unsigned)"
	case typ.IsInteger():
		of += "signed)"
	default:
		of += typ.String() + ")"
	}
	owner := Owner{OfIndex, x.Name}
	if e, err := owner.bind(b, t, text); err != nil || len(e.e.(*expr.Func).Args) != 2 {
		return cmp.Or(err, notDated(f))
	}
	e, err := owner.bind(b, t, of)
	if err != nil {
		return err
	}
	f.Value = addHidden(t, x.Name, schema.Column{Type: typ}, e).ID
	return nil
}

// notDated refuses times that are not the values of one expression, nor elements.
func notDated(f *schema.SearchField) error {
	if f.Elem.HasDate() && !f.Many {
		return sqlerr.NotSupported("times of anything but one path of a JSON column in a search index")
	}
	return nil
}

// searchAttribute gives t the hidden column of a field that is an attribute of
// rows with dynamic columns, and returns its place: -1 where name can be none.
// 1235 for what is no typed value.
func searchAttribute(b Binder, t *schema.Table, x *schema.SearchIndex, name string, f *schema.SearchField) (int, error) {
	if t.AttributesColumn() < 0 || CheckColumnName(name) != nil || x.Form != schema.FormSearch {
		return -1, nil
	}
	switch {
	case f.Kind == schema.SearchPath:
	case f.Kind == schema.SearchValue && f.As == "":
		f.Kind, f.Elem = schema.SearchPath, types.Text(schema.CollationUTF8MB4Bin)
	default:
		return -1, sqlerr.NotSupported("words, places and forms of an attribute in a search index")
	}
	if f.Many {
		return -1, sqlerr.NotSupported("arrays of an attribute in a search index")
	}
	f.Attribute = true
	e, err := Owner{OfIndex, x.Name}.bind(b, t, schema.QuoteName(name))
	if err != nil {
		return -1, err
	}
	return t.ColumnIndex(addHidden(t, x.Name, schema.Column{Type: types.JSON}, e).ID), nil
}
