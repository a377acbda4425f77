package define

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// A field that reads the values of a column in a form (an address, a time, a
// place) is the value of a hidden column. Users query the field by that column's
// expression: c IP is INET6_ATON(c), c DATE FORMAT 'f' is PARSE_DATETIME(c, 'f'),
// a GEO_POINT of texts is GEO_POINT(c), doc->'$.a' IP is INET6_ATON(doc->>'$.a'),
// and doc->'$.a' TEXT has the words of doc->>'$.a'. All of them are NULL where a
// value has another form, so that the index says what the expression says.

// searchForm gives t the hidden column of a field that reads column i in a form,
// and returns its place; other fields stay with their column. 1063 for a column
// whose values cannot have the form, 1210 for formats.
func searchForm(b Binder, t *schema.Table, index string, i int, f *schema.SearchField) (int, error) {
	c := &t.Columns[i]
	text, isText := schema.QuoteName(c.Name), c.Type.IsCharacter()
	isPart := c.Hidden && c.Type.ID == schema.TypeJSON && f.Kind != schema.SearchPath
	if isPart {
		text, isText = "json_unquote("+c.Generated.Expr+")", true
	}
	if f.Kind == schema.SearchGeo && f.As == "" && isText {
		f.As = schema.AsGeoPoint
	}
	e := text
	switch f.As {
	case "":
		if !isPart || f.Kind != schema.SearchText {
			return i, nil
		}
	case schema.AsIP:
		if c.Type.IsBinary() && c.Type.ID == schema.TypeVarbinary && c.Type.Len == 16 {
			return i, nil // as INET6_ATON gives them: the values themselves
		}
		if !isText {
			return 0, sqlerr.IncorrectColumnSpecifier(c.Name)
		}
		e = "inet6_aton(" + text + ")"
	case schema.AsGeoPoint:
		e = "geo_point(" + text + ")"
	case schema.AsDate:
		if !isText && !c.Type.IsInteger() {
			return 0, sqlerr.IncorrectColumnSpecifier(c.Name)
		}
		if len(f.Formats) == 0 {
			return 0, sqlerr.WrongArguments("DATE FORMAT")
		}
		var list strings.Builder
		for _, format := range f.Formats {
			if err := expr.CheckDateFormat(format); err != nil {
				return 0, sqlerr.WrongArgumentsReason("search index field "+c.Name, err.Error())
			}
			list.WriteString(", '" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(format) + "'")
		}
		e = "parse_datetime(" + text + list.String() + ")"
	}
	x, err := Owner{OfIndex, index}.bind(b, t, e)
	if err != nil {
		return 0, err
	}
	typ := x.e.Type()
	if f.Kind == schema.SearchValue {
		if typ, err = keyColumnType(index, x.e); err != nil {
			return 0, err
		}
	}
	f.Source = c.ID
	for j := range t.Columns { // of another field with the same form
		if o := &t.Columns[j]; o.Hidden && o.Generated != nil && o.Generated.Expr == x.text && indexOfHidden(o.Name) == index {
			return j, nil
		}
	}
	id := addHidden(t, index, schema.Column{Type: typ}, x).ID
	return slices.IndexFunc(t.Columns, func(o schema.Column) bool { return o.ID == id }), nil
}
