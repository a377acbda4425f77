package bind

import (
	"slices"
	"sort"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Limits of search indexes.
const (
	maxSearchFields = 1000
	// searchTextFunc is how a field with an analyzer is written among key parts:
	// search_text(column, 'analyzer=name, option=value').
	searchTextFunc = "search_text"
)

// searchColumns are the fields of a search index as they are written.
func (b *binder) searchColumns(index string, list []*ast.IndexPartSpecification) ([]logical.IndexColumn, error) {
	if len(list) > maxSearchFields {
		return nil, sqlerr.New(1070, "42000", "Too many fields specified; max %d fields allowed in a search index", maxSearchFields)
	}
	out := make([]logical.IndexColumn, 0, len(list))
	for _, p := range list {
		if p.Desc {
			return nil, sqlerr.WrongUsage("SEARCH INDEX", "DESC")
		}
		if p.Column != nil && p.Expr == nil {
			if p.Length > 0 {
				return nil, sqlerr.WrongUsage("SEARCH INDEX", "key length")
			}
			out = append(out, logical.IndexColumn{Name: p.Column.Name.O, Search: &schema.SearchField{}})
			continue
		}
		e := p.Expr
		for {
			inner, ok := e.(*ast.ParenthesesExpr)
			if !ok {
				break
			}
			e = inner.Expr
		}
		if f, ok := e.(*ast.FuncCallExpr); ok && strings.EqualFold(f.FnName.O, searchTextFunc) {
			c, err := searchText(f)
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
		out = append(out, logical.IndexColumn{Expr: text, Search: &schema.SearchField{}})
	}
	return out, nil
}

func searchText(f *ast.FuncCallExpr) (logical.IndexColumn, error) {
	var none logical.IndexColumn
	if len(f.Args) < 1 || len(f.Args) > 2 {
		return none, sqlerr.WrongParamCount(searchTextFunc)
	}
	c, ok := f.Args[0].(*ast.ColumnNameExpr)
	if !ok {
		return none, sqlerr.NotSupported("search_text of an expression")
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
	return logical.IndexColumn{Name: c.Name.Name.O, Search: field}, err
}

// textField reads 'analyzer=name, option=value'. Which analyzers and options
// there are is told by CheckAnalyzer.
func textField(options string) (*schema.SearchField, error) {
	f := &schema.SearchField{Kind: schema.SearchText}
	for _, one := range strings.Split(options, ",") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		name, val, ok := strings.Cut(one, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || name == "" {
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to search_text: %s is not of the form option=value", strings.TrimSpace(one))
		}
		if val = strings.TrimSpace(val); name == "analyzer" {
			f.Analyzer = strings.ToLower(val)
			continue
		}
		f.Options = append(f.Options, schema.SearchOption{Name: name, Value: val})
	}
	sort.Slice(f.Options, func(i, j int) bool { return f.Options[i].Name < f.Options[j].Name })
	return f, nil
}

// ResolveSearch gives x, which has its name, the fields that are written as
// cols: 1072, 1060, 1235, and what the hidden columns of expressions give.
func ResolveSearch(pool *parser.Pool, t *schema.Table, x *schema.SearchIndex, cols []logical.IndexColumn) error {
	named, err := KeyExpressions(pool, t, x.Name, cols)
	if err != nil {
		return err
	}
	for _, c := range named {
		i := t.ColumnByName(c.Name)
		if i < 0 || t.Columns[i].Hidden && c.Expr == "" {
			return sqlerr.KeyColumnMissing(c.Name)
		}
		f := *c.Search
		f.Options = slices.Clone(f.Options)
		f.Column = t.Columns[i].ID
		if err := CheckSearchField(&t.Columns[i], &f); err != nil {
			return err
		}
		if x.Field(f.Column, f.Kind) != nil {
			return sqlerr.DuplicateColumn(c.Name)
		}
		x.NextField = max(x.NextField, 1) // 0 is no field
		f.ID = x.NextField
		x.NextField++
		x.Fields = append(x.Fields, f)
	}
	return nil
}

// CheckSearchField checks that a field of a search index can hold a column: 1283,
// 3152, 1235.
func CheckSearchField(c *schema.Column, f *schema.SearchField) error {
	t := c.Type
	switch {
	case c.Array != nil:
		return sqlerr.NotSupported("arrays in a search index")
	case t.ID == schema.TypeJSON:
		return sqlerr.JSONKey(c.Name)
	case t.ID == schema.TypeGeometry:
		return sqlerr.NotSupported("geometry in a search index")
	case f.Kind == schema.SearchText && (!t.IsString() || t.IsBinary()):
		return sqlerr.New(1283, "HY000", "Column '%s' cannot be part of FULLTEXT index", c.Name)
	}
	return nil
}
