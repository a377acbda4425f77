package bind

import (
	"errors"
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Functions by which the parser writes fields of search indexes.
const (
	// searchTextFunc is how a field with an analyzer is written among key parts:
	// search_text(column, 'analyzer=name, option=value').
	searchTextFunc = "search_text"
	// searchGeoFunc is that for a GEO_POINT, searchSpatialFunc for the column of a
	// SPATIAL key.
	searchGeoFunc     = "search_geo"
	searchSpatialFunc = "search_spatial"
	// searchAlterFunc precedes the fields of ALTER SEARCH INDEX.
	searchAlterFunc = "search_alter"
	// searchAsFunc is how a field that reads values in a form is written:
	// search_as(column, 'IP'), search_as(column, 'DATE', 'format', …).
	searchAsFunc = "search_as"
	// searchAllFunc is the * of COLUMNAR INDEX c (*).
	searchAllFunc = "search_all"
)

// searchColumns are the fields of a search index as written.
func (b *binder) searchColumns(index string, list []*ast.IndexPartSpecification) ([]define.IndexColumn, error) {
	if len(list) > searchfield.MaxFields {
		return nil, sqlerr.TooManySearchFields(searchfield.MaxFields)
	}
	out := make([]define.IndexColumn, 0, len(list))
	for _, p := range list {
		if p.Desc {
			return nil, sqlerr.WrongUsage("SEARCH INDEX", "DESC")
		}
		if p.Column != nil && p.Expr == nil {
			if p.Length > 0 {
				return nil, sqlerr.WrongUsage("SEARCH INDEX", "key length")
			}
			out = append(out, define.IndexColumn{Name: p.Column.Name.O, Search: &schema.SearchField{}})
			continue
		}
		e := stripParentheses(p.Expr)
		if f, ok := e.(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchTextFunc) {
			c, err := b.searchText(index, f)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		if f, ok := e.(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchGeoFunc) {
			if len(f.Args) != 1 {
				return nil, sqlerr.WrongParamCount(searchGeoFunc)
			}
			c, err := b.pathColumn(index, f.Args[0], &schema.SearchField{Kind: schema.SearchGeo})
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		if f, ok := e.(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchAsFunc) {
			c, err := b.searchAs(index, f)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		if f, ok := e.(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchPathFunc) {
			c, err := b.searchPath(index, f)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		if f, ok := e.(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchNestedFunc) {
			c, err := b.searchNested(f)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		if n, ok := isCastArray(p.Expr); ok {
			c, err := b.arrayField(index, n)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
			continue
		}
		text, err := b.keyExpr(index, p.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, define.IndexColumn{Expr: text, Search: &schema.SearchField{}})
	}
	return out, nil
}

// columnarColumns are the columns of a columnar index; all: it has every column.
// 1070, 1221.
func columnarColumns(list []*ast.IndexPartSpecification, o *ast.IndexOption) (cols []define.IndexColumn, all bool, err error) {
	const what = "COLUMNAR INDEX"
	if o != nil && o.Tp != ast.IndexTypeInvalid {
		return nil, false, sqlerr.WrongUsage(what, "USING "+o.Tp.String())
	}
	if len(list) > searchfield.MaxColumns {
		return nil, false, sqlerr.TooManySearchFields(searchfield.MaxColumns)
	}
	if len(list) == 1 {
		if f, ok := stripParentheses(list[0].Expr).(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchAllFunc) && len(f.Args) == 0 {
			return nil, true, nil
		}
	}
	for _, p := range list {
		switch {
		case p.Desc:
			return nil, false, sqlerr.WrongUsage(what, "DESC")
		case p.Column == nil:
			return nil, false, sqlerr.WrongUsage(what, "expression")
		case p.Length >= 0:
			return nil, false, sqlerr.WrongUsage(what, "key length")
		}
		cols = append(cols, define.IndexColumn{Name: p.Column.Name.O, Search: &schema.SearchField{}})
	}
	return cols, false, nil
}

// searchAlter is what ALTER SEARCH INDEX does with the key parts after this one:
// ADD, DROP, or "" if p is any other key part.
func searchAlter(p *ast.IndexPartSpecification) string {
	f, ok := stripParentheses(p.Expr).(*ast.FuncCallExpr)
	if !ok || !strings.EqualFold(f.FnName.O, searchAlterFunc) || len(f.Args) != 1 {
		return ""
	}
	if v, ok := f.Args[0].(ast.ValueExpr); ok {
		return v.GetString()
	}
	return ""
}

// alterSearch binds ALTER SEARCH INDEX, as the parser's front hands it over.
func (b *binder) alterSearch(n *ast.Constraint) ([]logical.AlterSpec, error) {
	spec := logical.AlterSpec{Kind: logical.AlterSearchFields, Name: n.Name}
	for list := n.Keys; len(list) > 0; {
		what := searchAlter(list[0])
		end := 1
		for end < len(list) && searchAlter(list[end]) == "" {
			end++
		}
		cols, err := b.searchColumns(n.Name, list[1:end])
		if err != nil {
			return nil, err
		}
		if what == "DROP" {
			spec.SearchDrop = append(spec.SearchDrop, cols...)
		} else {
			spec.IndexColumns = append(spec.IndexColumns, cols...)
		}
		list = list[end:]
	}
	return one(spec), nil
}

// isSpatial reports the form in which a column of a SPATIAL key in CREATE or ALTER
// TABLE comes from the parser.
func isSpatial(p *ast.IndexPartSpecification) bool {
	f, ok := stripParentheses(p.Expr).(*ast.FuncCallExpr)
	return ok && strings.EqualFold(f.FnName.O, searchSpatialFunc)
}

// spatialColumns is the column of a SPATIAL key: 1070, 1221, 1089, 3760.
func spatialColumns(list []*ast.IndexPartSpecification) ([]define.IndexColumn, error) {
	if len(list) > 1 {
		return nil, sqlerr.TooManyKeyParts(1)
	}
	p := list[0]
	c := p.Column
	if isSpatial(p) {
		name, ok := stripParentheses(p.Expr).(*ast.FuncCallExpr).Args[0].(*ast.ColumnNameExpr)
		if !ok {
			return nil, sqlerr.WrongPrefixKey()
		}
		c = name.Name
	}
	switch {
	case p.Desc:
		return nil, sqlerr.WrongUsage("spatial/fulltext/hash index", "explicit index order")
	case c == nil:
		return nil, sqlerr.SpatialFunctionalIndex()
	case p.Length >= 0 && p.Column != nil:
		return nil, sqlerr.WrongPrefixKey()
	}
	return []define.IndexColumn{{Name: c.Name.O, Search: &schema.SearchField{Kind: schema.SearchGeo}}}, nil
}

func stripParentheses(e ast.ExprNode) ast.ExprNode {
	for {
		inner, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = inner.Expr
	}
}

func (b *binder) searchText(index string, f *ast.FuncCallExpr) (define.IndexColumn, error) {
	var none define.IndexColumn
	if len(f.Args) < 1 || len(f.Args) > 2 {
		return none, sqlerr.WrongParamCount(searchTextFunc)
	}
	options := ""
	if len(f.Args) == 2 {
		v, ok := f.Args[1].(ast.ValueExpr)
		if !ok {
			return none, sqlerr.WrongArguments(searchTextFunc)
		}
		options = v.GetString()
	}
	field, err := textField(options)
	if err != nil {
		return none, err
	}
	return b.pathColumn(index, f.Args[0], field)
}

// textOption is one of name=value or name='value', and what follows it.
var textOption = regexp.MustCompile(`(?s)^\s*([^=,]*?)\s*=\s*(?:'((?:[^']|'')*)'|([^,]*?))\s*(,|$)`)

// textField reads 'analyzer=name, option=value'. Which analyzers and options
// there are is checked by searchfield.Analyzer.
func textField(options string) (*schema.SearchField, error) {
	f := &schema.SearchField{Kind: schema.SearchText}
	seen := map[string]bool{}
	for strings.TrimSpace(options) != "" {
		m := textOption.FindStringSubmatch(options)
		if m == nil || m[1] == "" {
			return nil, sqlerr.WrongArgumentsReason("search_text", strings.TrimSpace(options)+" is not of the form option=value")
		}
		options = options[len(m[0]):]
		key := strings.ReplaceAll(strings.ToLower(m[1]), "_", "")
		if seen[key] {
			return nil, sqlerr.WrongArgumentsReason("search_text", "option '"+m[1]+"' is given twice")
		}
		seen[key] = true
		searchfield.AddOption(f, m[1], strings.ReplaceAll(m[2], "''", "'")+m[3])
	}
	searchfield.SortOptions(f)
	return f, nil
}

// searchAs reads search_as(column, 'form', 'format', …).
func (b *binder) searchAs(index string, f *ast.FuncCallExpr) (define.IndexColumn, error) {
	var none define.IndexColumn
	if len(f.Args) < 2 {
		return none, sqlerr.WrongParamCount(searchAsFunc)
	}
	words := make([]string, 0, len(f.Args)-1)
	for _, a := range f.Args[1:] {
		v, ok := a.(ast.ValueExpr)
		if !ok {
			return none, sqlerr.WrongArguments(searchAsFunc)
		}
		words = append(words, v.GetString())
	}
	field := &schema.SearchField{As: schema.SearchAs(strings.ToUpper(words[0])), Formats: words[1:]}
	switch field.As {
	case schema.AsDate:
	case schema.AsIP:
		if len(field.Formats) > 0 {
			return none, sqlerr.WrongParamCount(searchAsFunc)
		}
	default:
		return none, sqlerr.WrongArguments(searchAsFunc)
	}
	return b.pathColumn(index, f.Args[0], field)
}

// searchPathFunc is how a field over a part of a JSON column is written among key
// parts: search_path(doc->'$.a', 'BIGINT').
const searchPathFunc = "search_path"

// arrayField is the field of CAST(… AS type ARRAY): 1235 for types that have no
// place in it.
func (b *binder) arrayField(index string, n *ast.FuncCastExpr) (define.IndexColumn, error) {
	var none define.IndexColumn
	t, err := b.scalarType(n, "")
	if err != nil {
		return none, err
	}
	if t, err = define.ArrayElem(t, n.ExplicitCharSet); err != nil {
		return none, err
	}
	switch {
	case t.IsCharacter():
		// Columns of JSON_TABLE compare so; equal JSON strings have equal keys anyway.
		t = types.VarcharOf(t.Len, schema.CollationUTF8MB40900AICI)
	case t.IsInteger(), t.ID == schema.TypeDecimal, t.ID == schema.TypeDouble, t.HasDate():
	default:
		return none, sqlerr.NotSupported("arrays of " + strings.ToUpper(t.Name()) + " in a search index")
	}
	return b.pathColumn(index, n.Expr, &schema.SearchField{Kind: schema.SearchPath, Elem: t, Many: true})
}

// searchPath is the field of search_path(expression, 'type').
func (b *binder) searchPath(index string, f *ast.FuncCallExpr) (define.IndexColumn, error) {
	var none define.IndexColumn
	if len(f.Args) != 2 {
		return none, sqlerr.WrongParamCount(searchPathFunc)
	}
	v, ok := f.Args[1].(ast.ValueExpr)
	if !ok {
		return none, sqlerr.WrongArguments(searchPathFunc)
	}
	t, err := searchfield.PathType(v.GetString())
	if err != nil {
		return none, err
	}
	return b.pathColumn(index, f.Args[0], &schema.SearchField{Kind: schema.SearchPath, Elem: t})
}

// pathColumn is a field over a column or a part of a JSON column.
func (b *binder) pathColumn(index string, n ast.ExprNode, f *schema.SearchField) (define.IndexColumn, error) {
	n = stripParentheses(n)
	if c, ok := n.(*ast.ColumnNameExpr); ok {
		return define.IndexColumn{Name: c.Name.Name.O, Search: f}, nil
	}
	text, err := b.storedText(define.Owner{Kind: define.OfIndex, Name: index}, n)
	return define.IndexColumn{Expr: text, Search: f}, err
}

// searchNestedFunc is how a field of nested objects is written among key parts:
// search_nested(tags, 'name KEYWORD, score DOUBLE').
const searchNestedFunc = "search_nested"

// searchNested is the field of search_nested(column or path, 'members'): 1235,
// 3143. Without members it is what DROP names.
func (b *binder) searchNested(f *ast.FuncCallExpr) (define.IndexColumn, error) {
	var none define.IndexColumn
	if len(f.Args) != 2 {
		return none, sqlerr.WrongParamCount(searchNestedFunc)
	}
	v, ok := f.Args[1].(ast.ValueExpr)
	if !ok {
		return none, sqlerr.WrongArguments(searchNestedFunc)
	}
	field := &schema.SearchField{Kind: schema.SearchNested}
	n := stripParentheses(f.Args[0])
	if g, ok := n.(*ast.FuncCallExpr); ok && g.FnName.L == "json_extract" && len(g.Args) == 2 {
		path, isText := g.Args[1].(ast.ValueExpr)
		if !isText {
			return none, sqlerr.WrongArguments(searchNestedFunc)
		}
		field.Path, n = path.GetString(), g.Args[0]
	}
	c, ok := n.(*ast.ColumnNameExpr)
	if !ok {
		return none, sqlerr.NotSupported("NESTED of an expression that is no path of a column")
	}
	if field.Path != "" {
		p, err := value.CompileJSONPath(field.Path)
		if bad, isPath := errors.AsType[*value.JSONPathError](err); isPath {
			return none, sqlerr.InvalidJSONPath(bad.Pos)
		}
		keys, plain := p.Members()
		if !plain {
			return none, sqlerr.NotSupported("NESTED over a path of anything but names")
		}
		if len(keys) == 0 {
			field.Path = ""
		}
	}
	if text := v.GetString(); strings.TrimSpace(text) != "" {
		p := nestedParser{rest: text, noEscapes: b.env.Mode&types.ModeNoBackslashEscapes != 0}
		var err error
		if field.Sub, err = p.members(1); err != nil {
			return none, err
		}
	}
	return define.IndexColumn{Name: c.Name.Name.O, Search: field}, nil
}
