package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// nestedLevel are the objects that a name such as tags.name is about.
type nestedLevel struct {
	// name is the prefix of the members' names, table the alias of the table.
	name, table string
	// doc is the document of the objects, as an expression.
	doc  string
	subs []schema.SearchField
	of   nestedSource
}

// nestedSource is where objects come from: the fields of a table's indexes over a
// column and a path, and the members in these, one in the other, that have them.
type nestedSource struct {
	table   *schema.Table
	column  schema.ColumnID
	path    string
	members []string
}

// nestedColumn is a column of objects: the members of those that it has itself, or
// a value, the member of that name.
type nestedColumn struct {
	subs []schema.SearchField
	name string
	of   nestedSource
}

// nestedNames are the names of columns in n that have a dot in them. Within: also
// those in calls of NESTED_QUERY.
func nestedNames(n ast.Node, within bool) []*ast.ColumnName {
	v := nameFinder{within: within}
	n.Accept(&v)
	return v.names
}

type nameFinder struct {
	names  []*ast.ColumnName
	within bool
}

// Enter implements ast.Visitor.
func (v *nameFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnName:
		if strings.Contains(x.Name.O, ".") {
			v.names = append(v.names, x)
		}
	case *ast.FuncCallExpr:
		return n, !v.within && x.FnName.L == nestedQueryFunc
	case *ast.SubqueryExpr:
		return n, true // its own names
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *nameFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// columnNamed finds a column of FROM here or around; nil if none exists.
func (sc *scope) columnNamed(n *ast.ColumnName, name string) *logical.Column {
	for s := sc; s != nil; s = s.outer {
		if c, err := s.src.find(n.Schema.O, n.Table.O, name, s.clause); err == nil && c != nil {
			return c
		}
	}
	return nil
}

// nestedOf are the objects that a name is about and that are not in scope: those
// of the outermost level. nil: it is another name.
func (b *binder) nestedOf(sc *scope, n *ast.ColumnName) *nestedLevel {
	name := n.Name.O
	if sc.columnNamed(n, name) != nil {
		return nil
	}
	for i := strings.LastIndexByte(name, '.'); i > 0; i = strings.LastIndexByte(name[:i], '.') {
		c := sc.columnNamed(n, name[:i])
		if c == nil {
			continue
		}
		l := &nestedLevel{name: c.Name, table: c.Table, doc: qualifiedText(n, c)}
		rest := name[i+1:]
		if n, ours := b.nested[c.ID]; ours {
			if l.subs, l.of = n.subs, n.of; searchfield.MemberOf(n.subs, rest) != nil {
				l.of.members = append(slices.Clone(n.of.members), n.name)
				return l
			}
			continue
		}
		if t, pos := sc.tableOf(c.ID); t != nil && b.nestedField(l, t, &t.Columns[pos], rest) {
			return l
		}
	}
	return nil
}

// qualifiedText is a column that was named with the qualifiers of n.
func qualifiedText(n *ast.ColumnName, c *logical.Column) string {
	text := quoteIdent(c.Name)
	if n.Table.O != "" {
		text = quoteIdent(n.Table.O) + "." + text
	}
	if n.Schema.O != "" {
		text = quoteIdent(n.Schema.O) + "." + text
	}
	return text
}

// nestedField completes the level of a column from the fields of its table's
// indexes that have the member rest. If several fields over the same objects have
// a member, the first defines it.
func (b *binder) nestedField(l *nestedLevel, t *schema.Table, c *schema.Column, rest string) bool {
	if c.Type.ID != schema.TypeJSON { // a text that is no JSON has no objects
		l.doc = "IF(JSON_VALID(" + l.doc + "), " + l.doc + ", NULL)"
	}
	path := ""
	for i := range t.Search {
		for j := range t.Search[i].Fields {
			f := &t.Search[i].Fields[j]
			if f.Kind != schema.SearchNested || f.Column != c.ID || l.subs != nil && f.Path != path {
				continue
			}
			before := ""
			if keys, _ := searchfield.NestedPath(f).Members(); len(keys) > 0 {
				before = strings.Join(keys, ".") + "."
			}
			if len(rest) <= len(before) || !strings.EqualFold(rest[:len(before)], before) {
				continue
			}
			if l.subs == nil {
				if searchfield.MemberOf(f.Sub, rest[len(before):]) == nil {
					continue
				}
				path = f.Path
				if before != "" {
					l.name += "." + before[:len(before)-1]
					l.doc = "JSON_EXTRACT(" + l.doc + ", " + quoteText(path) + ")"
				}
			}
			l.subs, l.of = searchfield.MergeMembers(l.subs, f.Sub), nestedSource{table: t, column: c.ID, path: path}
		}
	}
	return l.subs != nil
}

// quoteText is a text literal for any sql_mode.
func quoteText(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

// nestedQueryFunc is NESTED_QUERY(condition): some object of an array satisfies
// the condition.
const nestedQueryFunc = "nested_query"

// nestedQuery binds NESTED_QUERY: 1210 for a condition that is about no objects.
func (b *binder) nestedQuery(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if len(n.Args) != 1 {
		return nil, sqlerr.WrongParamCount("NESTED_QUERY")
	}
	names := nestedNames(n.Args[0], false)
	if len(names) == 0 {
		names = nestedNames(n.Args[0], true)
	}
	var level *nestedLevel
	depth, inside := 0, false
	for _, c := range names {
		if l := b.nestedOf(sc, c); l != nil {
			if d := strings.Count(c.Name.O, "."); level == nil || d < depth {
				level, depth = l, d
			}
			continue
		}
		known := sc.columnNamed(c, c.Name.O)
		if known == nil {
			return nil, sqlerr.UnknownColumn(qualified(c.Schema.O, c.Table.O, c.Name.O), sc.clause)
		}
		_, ours := b.nested[known.ID]
		inside = inside || ours
	}
	switch {
	case level == nil && inside: // of the object around
		return b.isTest(sc, n.Args[0], "is_true", false)
	case level == nil:
		return nil, sqlerr.WrongArguments(nestedQueryFunc)
	case depth > strings.Count(level.name, ".")+1: // objects within the objects
		return b.anyObject(sc, level, n)
	}
	return b.anyObject(sc, level, n.Args[0])
}

// nestedPart binds a condition that names members of objects outside of
// NESTED_QUERY: there are objects for which it is true. nil: it names none.
func (b *binder) nestedPart(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	if !isPredicate(n) {
		return nil, nil
	}
	for _, c := range nestedNames(n, false) {
		if l := b.nestedOf(sc, c); l != nil {
			return b.anyObject(sc, l, n)
		}
	}
	return nil, nil
}

// isPredicate reports a condition that combines no others.
func isPredicate(n ast.ExprNode) bool {
	switch x := n.(type) {
	case *ast.BinaryOperationExpr:
		return binaryOps[x.Op].IsComparison()
	case *ast.BetweenExpr, *ast.IsNullExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.MatchAgainst:
		return true
	case *ast.FuncCallExpr:
		return x.FnName.L == "regexp_like" || strings.HasPrefix(x.FnName.L, "text_match") || isRelation(x.FnName.L)
	}
	return false
}

// isRelation reports a function of two geometries that is true or false.
func isRelation(name string) bool {
	switch name {
	case "st_contains", "st_within", "st_intersects", "st_disjoint", "st_touches", "st_equals", "st_crosses", "st_overlaps":
		return true
	}
	return strings.HasPrefix(name, "mbr")
}

// anyObject is EXISTS over the objects of a level for which a condition is true.
// The objects have the members that the condition names.
func (b *binder) anyObject(sc *scope, l *nestedLevel, cond ast.ExprNode) (expr.Expr, error) {
	names := nestedNames(cond, true)
	var cols []string
	for i := range l.subs {
		f := &l.subs[i]
		if f.Kind == schema.SearchText && searchfield.MemberOf(l.subs, f.Name) != f {
			continue
		}
		name := l.name + "." + f.Name
		used := func(c *ast.ColumnName) bool {
			n := c.Name.O
			return strings.EqualFold(n, name) || len(n) > len(name) && strings.EqualFold(n[:len(name)+1], name+".")
		}
		if slices.ContainsFunc(names, used) {
			path := value.AppendJSONQuoted([]byte("$."), []byte(f.Name))
			cols = append(cols, quoteIdent(name)+" "+nestedType(f)+" PATH "+quoteText(string(path)))
		}
	}
	q, err := b.parseQuery("SELECT 1 FROM JSON_TABLE("+l.doc+", '$[*]' COLUMNS ("+strings.Join(cols, ", ")+")) AS "+quoteIdent(cmp.Or(l.table, "nested"))+" WHERE 0", 0)
	if err != nil {
		return nil, err
	}
	s, ok := q.(*ast.SelectStmt)
	if !ok {
		return nil, internalf("the query of nested objects is %T", q)
	}
	s.Where, b.nestedNext = cond, l
	canon := b.canon
	b.canon = nil
	defer func() { b.canon = canon }()
	return b.exists(sc, &ast.ExistsSubqueryExpr{Sel: &ast.SubqueryExpr{Query: q, Exists: true}})
}

// nestedType is the type of a member as a column of JSON_TABLE.
func nestedType(f *schema.SearchField) string {
	switch t := &f.Elem; {
	case f.Kind == schema.SearchNested:
		return "JSON"
	case t.IsString():
		return "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	case t.ID == schema.TypeTinyInt:
		return "TINYINT"
	default:
		return strings.ToUpper(t.String())
	}
}

// enterNested notes the columns of the JSON_TABLE that anyObject has made, and
// the members of those that are arrays of objects themselves.
func (b *binder) enterNested(cols []logical.Column) {
	l := b.nestedNext
	if b.nestedNext = nil; l == nil {
		return
	}
	if b.nested == nil {
		b.nested = map[expr.ColID]nestedColumn{}
	}
	for _, c := range cols {
		n := nestedColumn{of: l.of}
		if f := searchfield.MemberOf(l.subs, strings.TrimPrefix(c.Name, l.name+".")); f != nil {
			n.name, n.subs = f.Name, f.Sub
		}
		b.nested[c.ID] = n
	}
}

// matchMember is the member of objects that MATCH or a function like it names,
// whose words a search index has, which m gets: 1191 without such an index, 1235
// for query expansion. nil: the name is another one's.
func (b *binder) matchMember(sc *scope, n *ast.ColumnName, m *expr.Match) (expr.Expr, error) {
	c := sc.columnNamed(n, n.Name.O)
	if c == nil {
		return nil, nil
	}
	col, ours := b.nested[c.ID]
	if !ours {
		return nil, nil
	}
	if m.Mode == expr.MatchExpanded {
		return nil, sqlerr.NotSupported("WITH QUERY EXPANSION of nested objects")
	}
	e, err := sc.resolve(n.Schema.O, n.Table.O, n.Name.O)
	if err != nil {
		return nil, err
	}
	for i := range col.of.table.Search {
		x := &col.of.table.Search[i]
		for j := range x.Fields {
			f := &x.Fields[j]
			if f.Kind != schema.SearchNested || f.Column != col.of.column || f.Path != col.of.path {
				continue
			}
			path := f.ID
			for _, name := range col.of.members {
				k := slices.IndexFunc(f.Sub, func(s schema.SearchField) bool { return s.Kind == schema.SearchNested && s.Name == name })
				if k < 0 {
					f = nil
					break
				}
				f, path = &f.Sub[k], f.Sub[k].ID
			}
			if f == nil {
				continue
			}
			k := slices.IndexFunc(f.Sub, func(s schema.SearchField) bool { return s.Kind == schema.SearchText && s.Name == col.name })
			if k < 0 || !c.T.IsString() {
				continue
			}
			m.Table, m.Index, m.Path, m.Fields = col.of.table.ID, x.ID, path, []uint16{f.Sub[k].ID}
			m.Analyzer, err = searchfield.Analyzer(x, &f.Sub[k], &schema.Column{Name: col.name})
			return e, err
		}
	}
	return nil, noText()
}

// noteNested has conditions look for members of objects where a table has them.
func (b *binder) noteNested(t *schema.Table) {
	for i := range t.Search {
		for j := range t.Search[i].Fields {
			b.hasNested = b.hasNested || t.Search[i].Fields[j].Kind == schema.SearchNested
		}
	}
}
