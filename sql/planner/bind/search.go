package bind

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Limits of search indexes.
const (
	maxSearchFields = 1000
	// maxSearchField is the largest number of a field (search.MaxField).
	maxSearchField = 65534
	// searchTextFunc is how a field with an analyzer is written among key parts:
	// search_text(column, 'analyzer=name, option=value').
	searchTextFunc = "search_text"
	// searchGeoFunc is that for a GEO_POINT, searchSpatialFunc for the column of a
	// SPATIAL key.
	searchGeoFunc     = "search_geo"
	searchSpatialFunc = "search_spatial"
	// searchAlterFunc stands before the fields of ALTER SEARCH INDEX.
	searchAlterFunc = "search_alter"
	// searchAsFunc is how a field that reads values in a form is written:
	// search_as(column, 'IP'), search_as(column, 'DATE', 'format', …).
	searchAsFunc = "search_as"
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
		out = append(out, logical.IndexColumn{Expr: text, Search: &schema.SearchField{}})
	}
	return out, nil
}

// searchAlter is what the key parts behind this one are for in ALTER SEARCH INDEX:
// ADD, DROP, or "" for all other key parts.
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
func spatialColumns(list []*ast.IndexPartSpecification) ([]logical.IndexColumn, error) {
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
		return nil, sqlerr.New(3760, "HY000", "Spatial functional index is not supported.")
	case p.Length >= 0 && p.Column != nil:
		return nil, sqlerr.WrongPrefixKey()
	}
	return []logical.IndexColumn{{Name: c.Name.O, Search: &schema.SearchField{Kind: schema.SearchGeo}}}, nil
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

func (b *binder) searchText(index string, f *ast.FuncCallExpr) (logical.IndexColumn, error) {
	var none logical.IndexColumn
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

// textOption is one of name=value or name='value', and what stands behind it.
var textOption = regexp.MustCompile(`(?s)^\s*([^=,]*?)\s*=\s*(?:'((?:[^']|'')*)'|([^,]*?))\s*(,|$)`)

// textField reads 'analyzer=name, option=value'. Which analyzers and options
// there are is told by CheckAnalyzer.
func textField(options string) (*schema.SearchField, error) {
	f := &schema.SearchField{Kind: schema.SearchText}
	seen := map[string]bool{}
	for strings.TrimSpace(options) != "" {
		m := textOption.FindStringSubmatch(options)
		if m == nil || m[1] == "" {
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to search_text: %s is not of the form option=value", strings.TrimSpace(options))
		}
		options = options[len(m[0]):]
		key := strings.ReplaceAll(strings.ToLower(m[1]), "_", "")
		if seen[key] {
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to search_text: option '%s' is given twice", m[1])
		}
		seen[key] = true
		addTextOption(f, m[1], strings.ReplaceAll(m[2], "''", "'")+m[3])
	}
	sortTextOptions(f)
	return f, nil
}

// addTextOption gives a text field its analyzer, or an option of it.
func addTextOption(f *schema.SearchField, name, val string) {
	if name = strings.ToLower(name); name == "analyzer" {
		f.Analyzer = strings.ToLower(val)
		return
	}
	f.Options = append(f.Options, schema.SearchOption{Name: name, Value: val})
}

func sortTextOptions(f *schema.SearchField) {
	sort.Slice(f.Options, func(i, j int) bool { return f.Options[i].Name < f.Options[j].Name })
}

// Analyzer is that of a text field over a column: 1210 for one that there is not,
// or for options that it has not.
func Analyzer(x *schema.SearchIndex, f *schema.SearchField, c *schema.Column) (*text.Analyzer, error) {
	name := f.Analyzer
	given := map[string]string{}
	for _, o := range f.Options {
		given[o.Name] = o.Value
	}
	if name == "" {
		name = text.DefaultAnalyzer
		if x.Form == schema.FormFulltext {
			name = text.DefaultFulltext
		}
	}
	if x.Form == schema.FormFulltext {
		if coll, ok := collate.Lookup(c.Type.Collation); ok {
			for option, v := range text.FoldingOptions(coll) {
				if _, set := given[option]; !set && slices.Contains(text.OptionNames(name), option) {
					given[option] = v
				}
			}
		}
	}
	key := text.Spec{Name: name}
	for _, o := range sortedOptions(given) {
		key.Options = append(key.Options, text.Option{Name: o, Value: given[o]})
	}
	if a, ok := analyzers.Load(key.String()); ok {
		return a.(*text.Analyzer), nil
	}
	a, err := text.New(name, given)
	if err != nil {
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to search index field %s: %s", c.Name, err.Error())
	}
	analyzers.Store(key.String(), a)
	return a, nil
}

// analyzers are the analyzers that were asked for, by their specs. They are few.
var analyzers sync.Map

func sortedOptions(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// matchAgainst binds MATCH … AGAINST: 1191 without a search index that has all
// columns as texts.
func (b *binder) matchAgainst(sc *scope, n *ast.MatchAgainst) (expr.Expr, error) {
	m := &expr.Match{}
	switch {
	case n.Modifier.IsBooleanMode():
		m.Mode = expr.MatchBoolean
	case n.Modifier.WithQueryExpansion():
		m.Mode = expr.MatchExpanded
	}
	return b.match(sc, "MATCH", n.ColumnNames, []ast.ExprNode{n.Against}, m)
}

// textMatch binds TEXT_MATCH, TEXT_MATCH_PHRASE and TEXT_MATCH_FUZZY.
func (b *binder) textMatch(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	name := n.FnName.L
	m, most := &expr.Match{Mode: expr.MatchText}, 4
	switch name {
	case "text_match_phrase":
		m.Mode, most = expr.MatchPhrase, 2
	case "text_match_fuzzy":
		m.Mode, most = expr.MatchFuzzy, 5
	}
	if len(n.Args) < 2 || len(n.Args) > most {
		return nil, sqlerr.WrongParamCount(strings.ToUpper(name))
	}
	if c, ok := n.Args[0].(*ast.ColumnNameExpr); ok {
		return b.match(sc, name, []*ast.ColumnName{c.Name}, n.Args[1:], m)
	}
	e, err := b.matchPart(sc, name, n.Args[0], m)
	if err != nil {
		return nil, err
	}
	against, err := b.texts(sc, n.Args[1:])
	if err != nil {
		return nil, err
	}
	return expr.NewMatch([]expr.Expr{e}, against, m)
}

// match binds what m asks of columns: 1210 unless they are those of one table.
func (b *binder) match(sc *scope, name string, names []*ast.ColumnName, asks []ast.ExprNode, m *expr.Match) (expr.Expr, error) {
	var cols []expr.Expr
	var t *schema.Table
	var ids []schema.ColumnID
	if len(names) == 1 {
		e, err := b.matchMember(sc, names[0], m)
		if err != nil {
			return nil, err
		}
		if e != nil {
			against, err := b.texts(sc, asks)
			if err != nil {
				return nil, err
			}
			return expr.NewMatch([]expr.Expr{e}, against, m)
		}
	}
	for _, n := range names {
		c, of, pos, err := b.searched(sc, name, n)
		if err != nil {
			return nil, err
		}
		if t != nil && of != t {
			return nil, sqlerr.WrongArguments(name)
		}
		t = of
		cols, ids = append(cols, c), append(ids, t.Columns[pos].ID)
	}
	if err := findMatch(t, ids, m); err != nil {
		return nil, err
	}
	against, err := b.texts(sc, asks)
	if err != nil {
		return nil, err
	}
	if m.Mode == expr.MatchExpanded {
		best, err := b.bestTexts(t, ids, asks[0])
		if err != nil {
			return nil, err
		}
		against = append(against, best)
	}
	return expr.NewMatch(cols, against, m)
}

// bestTexts are the texts of the rows that a text finds best in NATURAL LANGUAGE
// MODE, as a JSON array of the columns of each.
func (b *binder) bestTexts(t *schema.Table, ids []schema.ColumnID, against ast.ExprNode) (expr.Expr, error) {
	var cols, order []string
	for _, id := range ids {
		cols = append(cols, quoteIdent(t.Column(id).Name))
	}
	for _, p := range t.PrimaryKey {
		if c := t.Column(p.Column); !c.Hidden {
			order = append(order, ", "+quoteIdent(c.Name))
		}
	}
	list := strings.Join(cols, ", ")
	match := "MATCH (" + list + ") AGAINST ('')"
	n, err := b.parseQuery("SELECT JSON_ARRAYAGG(JSON_ARRAY("+list+")) FROM (SELECT "+list+" FROM "+quoteIdent(t.Database)+"."+quoteIdent(t.Name)+
		" WHERE "+match+" ORDER BY "+match+" DESC"+strings.Join(order, "")+" LIMIT "+strconv.Itoa(text.ExpansionDocs)+") best", 0)
	if err != nil {
		return nil, err
	}
	n.Accept(&againstSetter{against})
	canon := b.canon
	b.canon = nil
	defer func() { b.canon = canon }()
	return b.scalarSubquery(b.scope(nil, nil, clauseField), &ast.SubqueryExpr{Query: n})
}

// againstSetter gives every MATCH of a query a text.
type againstSetter struct{ against ast.ExprNode }

// Enter implements ast.Visitor.
func (v *againstSetter) Enter(n ast.Node) (ast.Node, bool) {
	if m, ok := n.(*ast.MatchAgainst); ok {
		m.Against = v.against
		return n, true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *againstSetter) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// texts binds arguments as texts.
func (b *binder) texts(sc *scope, list []ast.ExprNode) ([]expr.Expr, error) {
	out, err := b.values(sc, list)
	if err != nil {
		return nil, err
	}
	for i, e := range out {
		if c, ok := e.(*expr.Const); ok && c.D.Kind() == value.KindInt {
			out[i] = expr.NewConst(value.Bytes(strconv.AppendInt(nil, c.D.Int(), 10)), types.Text(schema.CollationUTF8MB40900AICI))
			continue
		}
		if out[i], err = expr.NewCast(b.be, e, types.Text(schema.CollationUTF8MB40900AICI), false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// searched is a column of a base table, with its position there.
func (b *binder) searched(sc *scope, name string, n *ast.ColumnName) (*expr.Col, *schema.Table, int, error) {
	e, err := sc.resolve(n.Schema.O, n.Table.O, n.Name.O)
	if err != nil {
		return nil, nil, 0, err
	}
	if c := plainColumn(e); c != nil {
		if t, pos := sc.tableOf(c.ID); t != nil {
			b.canon.column(sc, n, e)
			return c, t, pos, nil
		}
	}
	return nil, nil, 0, sqlerr.WrongArguments(name)
}

// score binds SCORE(): the sum of what WHERE of the same query block asks for by
// MATCH and the functions like it; 1210 when that is nothing.
func (b *binder) score(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) != 0 {
		return nil, sqlerr.WrongParamCount("SCORE")
	}
	var sum expr.Expr
	for _, m := range expr.Matches(sc.where) {
		if sum == nil {
			sum = m
			continue
		}
		var err error
		if sum, err = expr.NewFunc(b.be, "+", sum, m); err != nil {
			return nil, err
		}
	}
	if sum == nil {
		return nil, sqlerr.WrongArguments("score")
	}
	return sum, nil
}

// highlight binds HIGHLIGHT: 1210 when WHERE of the same query block has no MATCH
// on the column.
func (b *binder) highlight(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) < 1 || len(n.Args) > 6 {
		return nil, sqlerr.WrongParamCount("HIGHLIGHT")
	}
	var shown expr.Expr
	var err error
	if c, ok := n.Args[0].(*ast.ColumnNameExpr); ok {
		shown, _, _, err = b.searched(sc, "highlight", c.Name)
	} else {
		shown, err = b.matchPart(sc, "highlight", n.Args[0], &expr.Match{})
	}
	if err != nil {
		return nil, err
	}
	options, err := b.texts(sc, n.Args[1:])
	if err != nil {
		return nil, err
	}
	return expr.NewHighlight(b.be, shown, options, expr.Matches(sc.where))
}

// findMatch finds the search index for columns: a FULLTEXT key has them and no
// others.
func findMatch(t *schema.Table, ids []schema.ColumnID, m *expr.Match) error {
	for i := range t.Search {
		x := &t.Search[i]
		if x.Form == schema.FormFulltext && len(x.Fields) != len(ids) {
			continue
		}
		m.Fields, m.Analyzer = m.Fields[:0], nil
		for _, id := range ids {
			f := x.Field(id, schema.SearchText)
			if f == nil {
				break
			}
			a, err := Analyzer(x, f, t.Column(id))
			if err != nil {
				return err
			}
			if m.Analyzer != nil && m.Analyzer != a {
				break
			}
			m.Analyzer, m.Fields = a, append(m.Fields, f.ID)
		}
		if len(m.Fields) == len(ids) {
			m.Table, m.Index = t.ID, x.ID
			return nil
		}
	}
	return noText()
}

func noText() error {
	return sqlerr.New(1191, "HY000", "Can't find FULLTEXT index matching the column list")
}

// tableOf is the base table of a column and its position there, also through
// views and derived tables that show it; nil if it has none.
func (sc *scope) tableOf(id expr.ColID) (*schema.Table, int) {
	for s := sc; s != nil; s = s.outer {
		if s.src == nil {
			continue
		}
		for _, r := range s.src.tables {
			scans := append(r.scans[:len(r.scans):len(r.scans)], r.scan)
			if r.opened != nil {
				scans = append(scans, r.opened.scans...)
			}
			for _, scan := range scans {
				if scan == nil {
					continue
				}
				if i := columnPosition(scan, id); i >= 0 {
					return scan.Table, i
				}
			}
			if r.derived == nil {
				continue
			}
			if c, ok := r.with[id].(*expr.Col); ok {
				id = c.ID
			}
			if t, i := shownColumn(r.derived, id); t != nil {
				return t, i
			}
		}
	}
	return nil, 0
}

// shownColumn is the base table of a column of a query that shows rows of tables
// as they are, and its position there.
func shownColumn(n logical.Node, id expr.ColID) (*schema.Table, int) {
	switch x := n.(type) {
	case *logical.Scan:
		if i := columnPosition(x, id); i >= 0 {
			return x.Table, i
		}
	case *logical.Project:
		for i := range x.Cols {
			if x.Cols[i].ID != id {
				continue
			}
			if c, ok := x.Exprs[i].(*expr.Col); ok {
				return shownColumn(x.Input, c.ID)
			}
			return nil, 0
		}
	case *logical.Filter, *logical.Join, *logical.Sort:
		for _, in := range n.Inputs() {
			if t, i := shownColumn(in, id); t != nil {
				return t, i
			}
		}
	}
	return nil, 0
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
		f := *c.Search
		if i < 0 {
			if i, err = searchAttribute(pool, t, x, c.Name, &f); err != nil {
				return err
			}
		}
		if i < 0 || t.Columns[i].Hidden && c.Expr == "" && !f.Attribute {
			return sqlerr.KeyColumnMissing(c.Name)
		}
		f.Options = slices.Clone(f.Options)
		if i, err = searchForm(pool, t, x.Name, i, &f); err != nil {
			return err
		}
		f.Column = t.Columns[i].ID
		if err := CheckSearchField(x, &t.Columns[i], &f); err != nil {
			return err
		}
		if f.Kind == schema.SearchPath {
			if err := pathField(pool, t, x, t.Columns[i], &f, cmp.Or(c.Expr, c.Name)); err != nil {
				return err
			}
		}
		if f.Kind == schema.SearchText {
			if _, err := Analyzer(x, &f, &t.Columns[i]); err != nil {
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
		if int(x.NextField)+f.Fields()-1 > maxSearchField {
			return sqlerr.NotSupported("more than 65534 fields in the life of a search index")
		}
		f.Number(&x.NextField)
		x.Fields = append(x.Fields, f)
	}
	return nil
}

// CheckSearchField checks that a field of a search index can hold a column: 1283,
// 3152, 1252, 1687, 1235.
func CheckSearchField(x *schema.SearchIndex, c *schema.Column, f *schema.SearchField) error {
	t := c.Type
	switch {
	case f.Kind == schema.SearchPath && t.ID != schema.TypeJSON:
		return sqlerr.NotSupported("a search index field over anything but a path of a JSON column")
	case f.Kind == schema.SearchPath:
	case f.Kind == schema.SearchNested:
		return checkNested(x, c, f)
	case f.Kind == schema.SearchGeo && x.Form == schema.FormSpatial && t.ID != schema.TypeGeometry:
		return sqlerr.SpatialIndexColumn()
	case f.Kind == schema.SearchGeo && x.Form == schema.FormSpatial && c.Nullable:
		return sqlerr.SpatialIndexNull()
	case f.Kind == schema.SearchGeo && (t.ID != schema.TypeGeometry || t.Geometry != geo.TypePoint.String()):
		return sqlerr.NotSupported("index of places on a column that is no POINT")
	case f.Kind == schema.SearchGeo:
	case t.ID == schema.TypeJSON:
		return sqlerr.JSONKey(c.Name)
	case t.ID == schema.TypeGeometry:
		return sqlerr.NotSupported("geometry in a search index")
	case f.Kind == schema.SearchText && (!t.IsString() || t.IsBinary()):
		return sqlerr.New(1283, "HY000", "Column '%s' cannot be part of FULLTEXT index", c.Name)
	}
	return nil
}
