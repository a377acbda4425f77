package bind

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// searchNestedFunc is how a field of nested objects is written among key parts:
// search_nested(tags, 'name KEYWORD, score DOUBLE').
const searchNestedFunc = "search_nested"

// Limits of fields of nested objects.
const (
	maxNestedLevels  = 5
	maxNestedMembers = 100
	// maxNestedKinds is the most fields of nested objects in an index, those in
	// others included.
	maxNestedKinds = 255
)

// searchNested is the field of search_nested(column or path, 'members'): 1235,
// 3143. Without members it is what DROP names.
func (b *binder) searchNested(f *ast.FuncCallExpr) (logical.IndexColumn, error) {
	var none logical.IndexColumn
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
	return logical.IndexColumn{Name: c.Name.Name.O, Search: field}, nil
}

// nestedParser reads name type, …; a type is one of pathType, TEXT with its
// analyzer, or NESTED (…).
type nestedParser struct {
	rest string
	// noEscapes: a backslash in a text stands for itself.
	noEscapes bool
}

// Tokens: a name in back-ticks, a text, a word or number, any other character.
var (
	nestedToken      = regexp.MustCompile("(?s)^\\s*(`(?:[^`]|``)+`|'(?:[^'\\\\]|''|\\\\.)*'|\"(?:[^\"\\\\]|\"\"|\\\\.)*\"|[0-9A-Za-z_$\\x{80}-\\x{10FFFF}]+|.)")
	nestedPlainToken = regexp.MustCompile("(?s)^\\s*(`(?:[^`]|``)+`|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[0-9A-Za-z_$\\x{80}-\\x{10FFFF}]+|.)")
)

func (p *nestedParser) token() (text string, length int) {
	re := nestedToken
	if p.noEscapes {
		re = nestedPlainToken
	}
	m := re.FindStringSubmatch(p.rest)
	if m == nil {
		return "", 0
	}
	return m[1], len(m[0])
}

// next is the next token, "" at the end.
func (p *nestedParser) next() string {
	text, _ := p.token()
	return text
}

func (p *nestedParser) skip() {
	_, n := p.token()
	p.rest = p.rest[n:]
}

// accept skips a token that is the word or character t.
func (p *nestedParser) accept(t string) bool {
	is := strings.EqualFold(p.next(), t)
	if is {
		p.skip()
	}
	return is
}

// value is the text, word or number that comes next.
func (p *nestedParser) value() (string, error) {
	t := p.next()
	if t == "" || strings.Contains("(),=", t) || len(t) == 1 && strings.Contains("'\"`", t) {
		return "", p.fail()
	}
	p.skip()
	switch t[0] {
	case '\'', '"':
		return parser.Unquote(t, p.noEscapes), nil
	case '`':
		return strings.ReplaceAll(t[1:len(t)-1], "``", "`"), nil
	}
	return t, nil
}

func (p *nestedParser) fail() error {
	return sqlerr.Parse("", p.rest, 1)
}

// members are those up to the end or the parenthesis that closes them: 1060,
// 1070, 1166, 1235.
func (p *nestedParser) members(level int) ([]schema.SearchField, error) {
	if level > maxNestedLevels {
		return nil, sqlerr.NotSupported("more than 5 levels of NESTED")
	}
	var out []schema.SearchField
	for {
		f, err := p.member(level)
		if err != nil {
			return nil, err
		}
		for i := range out {
			if strings.EqualFold(out[i].Name, f.Name) && !isTextOf(&out[i], &f) && !isTextOf(&f, &out[i]) {
				return nil, sqlerr.DuplicateColumn(f.Name)
			}
		}
		if out = append(out, f); len(out) > maxNestedMembers {
			return nil, sqlerr.New(1070, "42000", "Too many members specified; max %d members allowed in NESTED", maxNestedMembers)
		}
		switch t := p.next(); {
		case t == ",":
			p.skip()
		case t == "" && level == 1, t == ")" && level > 1:
			return out, nil
		default:
			return nil, p.fail()
		}
	}
}

// isTextOf reports whether f has the words of the strings in of.
func isTextOf(f, of *schema.SearchField) bool {
	return f.Kind == schema.SearchText && of.Kind == schema.SearchPath && of.As == "" && of.Elem.IsString() && f.Name == of.Name
}

func (p *nestedParser) member(level int) (f schema.SearchField, err error) {
	name := p.next()
	if r, _ := utf8.DecodeRuneInString(name); name == "" || r != '`' && strings.ContainsRune("(),'\"", r) {
		return f, p.fail()
	}
	p.skip()
	if name[0] == '`' {
		name = strings.ReplaceAll(name[1:len(name)-1], "``", "`")
	}
	if err := checkColumnName(name); err != nil {
		return f, err
	}
	if strings.Contains(name, ".") {
		return f, sqlerr.WrongColumnName(name)
	}
	f.Name = name
	if strings.EqualFold(p.next(), "NESTED") {
		if p.skip(); p.next() != "(" {
			return f, p.fail()
		}
		p.skip()
		f.Kind = schema.SearchNested
		if f.Sub, err = p.members(level + 1); err == nil {
			p.skip()
		}
		return f, err
	}
	if p.accept("TEXT") {
		f.Kind, f.Elem = schema.SearchText, types.Text(schema.CollationUTF8MB4Bin)
		if err = p.analyzer(&f); err == nil {
			_, err = Analyzer(&schema.SearchIndex{}, &f, &schema.Column{Name: name})
		}
		return f, err
	}
	f.Kind = schema.SearchPath
	rest := p.rest
	if p.form(&f) {
		f.Elem = types.Text(schema.CollationUTF8MB4Bin)
		return f, p.formats(&f)
	}
	p.rest = rest
	var words strings.Builder
	for depth := 0; ; p.skip() {
		t := p.next()
		if t == "" || depth == 0 && (t == "," || t == ")") {
			break
		}
		switch {
		case t == "(":
			depth++
		case t == ")":
			depth--
		case depth == 0 && words.Len() > 0:
			words.WriteByte(' ')
		}
		words.WriteString(t)
	}
	if words.Len() == 0 {
		return f, p.fail()
	}
	f.Elem, err = pathType(words.String())
	return f, err
}

// form reads IP, GEO_POINT or DATE FORMAT; false for another type.
func (p *nestedParser) form(f *schema.SearchField) bool {
	switch {
	case p.accept("IP"):
		f.As = schema.AsIP
	case p.accept("GEO_POINT"):
		f.As = schema.AsGeoPoint
	case p.accept("DATE") && p.accept("FORMAT"):
		f.As = schema.AsDate
	}
	return f.As != ""
}

// formats reads 'f' or ('f', …) of a time: 1210.
func (p *nestedParser) formats(f *schema.SearchField) error {
	if f.As != schema.AsDate {
		return nil
	}
	list := p.accept("(")
	for {
		if t := p.next(); t == "" || !strings.Contains(`'"`, t[:1]) {
			return p.fail()
		}
		format, err := p.value()
		if err != nil {
			return err
		}
		if err := expr.CheckDateFormat(format); err != nil {
			return sqlerr.New(1210, "HY000", "Incorrect arguments to search index field %s: %s", f.Name, err)
		}
		if f.Formats = append(f.Formats, format); !list || !p.accept(",") {
			break
		}
	}
	if list && !p.accept(")") {
		return p.fail()
	}
	return nil
}

// analyzer reads [ANALYZER a] [OPTIONS (o = v, …)].
func (p *nestedParser) analyzer(f *schema.SearchField) error {
	if p.accept("ANALYZER") {
		a, err := p.value()
		if err != nil {
			return err
		}
		addTextOption(f, "analyzer", a)
	}
	if !p.accept("OPTIONS") {
		return nil
	}
	if !p.accept("(") {
		return p.fail()
	}
	for {
		name, err := p.value()
		if err != nil {
			return err
		}
		if !p.accept("=") {
			return p.fail()
		}
		val, err := p.value()
		if err != nil {
			return err
		}
		if addTextOption(f, name, val); !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		return p.fail()
	}
	sortTextOptions(f)
	return nil
}

// checkNested checks a field of nested objects of x: 1070, 1060, 1235.
func checkNested(x *schema.SearchIndex, c *schema.Column, f *schema.SearchField) error {
	switch {
	case x.Form != schema.FormSearch || c.Type.ID != schema.TypeJSON && !c.Type.IsCharacter():
		return sqlerr.NotSupported("NESTED over anything but a JSON document or a text")
	case len(f.Sub) == 0:
		return sqlerr.NotSupported("NESTED without members")
	}
	fields, kinds := 0, 0
	for i := range x.Fields {
		if x.Fields[i].ID != f.ID || f.ID == 0 {
			fields, kinds = fields+x.Fields[i].Fields(), kinds+nestedKinds(&x.Fields[i])
		}
	}
	if fields+f.Fields() > maxSearchFields {
		return sqlerr.New(1070, "42000", "Too many fields specified; max %d fields allowed in a search index", maxSearchFields)
	}
	if kinds+nestedKinds(f) > maxNestedKinds {
		return sqlerr.New(1070, "42000", "Too many NESTED fields specified; max %d allowed in a search index", maxNestedKinds)
	}
	return nil
}

func nestedKinds(f *schema.SearchField) int {
	if f.Kind != schema.SearchNested {
		return 0
	}
	n := 1
	for i := range f.Sub {
		n += nestedKinds(&f.Sub[i])
	}
	return n
}

// NestedPath is the path of a field of nested objects in its column.
func NestedPath(f *schema.SearchField) *value.JSONPath {
	text := f.Path
	if text == "" {
		text = "$"
	}
	p, err := value.CompileJSONPath(text)
	if err != nil { // it was checked when the field was made
		return nil
	}
	return p
}

// nestedLevel are the objects that a name such as tags.name is about.
type nestedLevel struct {
	// name is what stands before the members' names, table the alias of the table.
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

// columnNamed finds a column of FROM here or around; nil if there is none.
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
			if l.subs, l.of = n.subs, n.of; memberOf(n.subs, rest) != nil {
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
// indexes that have the member rest. Of several fields over the same objects each
// member is as it is in the first.
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
			if keys, _ := NestedPath(f).Members(); len(keys) > 0 {
				before = strings.Join(keys, ".") + "."
			}
			if len(rest) <= len(before) || !strings.EqualFold(rest[:len(before)], before) {
				continue
			}
			if l.subs == nil {
				if memberOf(f.Sub, rest[len(before):]) == nil {
					continue
				}
				path = f.Path
				if before != "" {
					l.name += "." + before[:len(before)-1]
					l.doc = "JSON_EXTRACT(" + l.doc + ", " + quoteText(path) + ")"
				}
			}
			l.subs, l.of = mergeMembers(l.subs, f.Sub), nestedSource{table: t, column: c.ID, path: path}
		}
	}
	return l.subs != nil
}

// memberOf is the member that a name begins with: the words of a text where it has
// nothing else.
func memberOf(subs []schema.SearchField, name string) (found *schema.SearchField) {
	first, _, more := strings.Cut(name, ".")
	for i := range subs {
		f := &subs[i]
		switch {
		case !strings.EqualFold(f.Name, first) || more && f.Kind != schema.SearchNested:
		case f.Kind != schema.SearchText:
			return f
		case found == nil:
			found = f
		}
	}
	return found
}

func mergeMembers(a, b []schema.SearchField) []schema.SearchField {
	out := append([]schema.SearchField(nil), a...)
	for _, f := range b {
		if o := memberOf(out, f.Name); o == nil || isTextOf(o, &f) {
			out = append(out, f)
		} else if o.Kind == schema.SearchNested && f.Kind == schema.SearchNested {
			o.Sub = mergeMembers(o.Sub, f.Sub)
		}
	}
	return out
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
		switch binaryOps[x.Op] {
		case "=", "<", "<=", ">", ">=", "<>", "<=>":
			return true
		}
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
		if f.Kind == schema.SearchText && memberOf(l.subs, f.Name) != f {
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
		if f := memberOf(l.subs, strings.TrimPrefix(c.Name, l.name+".")); f != nil {
			n.name, n.subs = f.Name, f.Sub
		}
		b.nested[c.ID] = n
	}
}

// matchMember is the member of objects that MATCH or a function beside it names,
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
			m.Analyzer, err = Analyzer(x, &f.Sub[k], &schema.Column{Name: col.name})
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
