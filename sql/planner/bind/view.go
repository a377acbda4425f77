package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// ViewCatalog is a Catalog that has views.
type ViewCatalog interface {
	View(db, name string) (*schema.View, bool)
}

// TemporaryCatalog is a Catalog that has temporary tables.
type TemporaryCatalog interface {
	IsTemporary(t *schema.Table) bool
}

// notTemporary refuses a temporary table in the view that is being made: 1352.
func (b *binder) notTemporary(t *schema.Table) error {
	if c, ok := b.env.Catalog.(TemporaryCatalog); ok && b.canon != nil && c.IsTemporary(t) {
		return sqlerr.ViewSelectTemporaryTable(t.Name)
	}
	return nil
}

// grammarModes are the sql_modes that change how a text is read. The query of
// a view is kept in a form that needs none.
const grammarModes = types.ModeANSIQuotes | types.ModePipesAsConcat | types.ModeNoBackslashEscapes | types.ModeHighNotPrecedence | types.ModeIgnoreSpace

// view finds a view by its exact name.
func (b *binder) view(db, name string) (*schema.View, bool) {
	c, ok := b.env.Catalog.(ViewCatalog)
	if !ok {
		return nil, false
	}
	return c.View(db, name)
}

// viewNamed is the view that a table name means; nil if it is none.
func (b *binder) viewNamed(n *ast.TableName) *schema.View {
	db := n.Schema.O
	if db == "" {
		db = b.env.Database
	}
	if _, ok := b.env.Catalog.Table(db, n.Name.O); ok {
		return nil
	}
	v, _ := b.view(db, n.Name.O)
	return v
}

// viewSource is a view in FROM: a derived table whose query is bound in the
// view's own surroundings. 1356, 1462.
func (b *binder) viewSource(v *schema.View, alias string) (*source, error) {
	q, out, err := b.viewQueryResult(v)
	if err != nil {
		return nil, err
	}
	if v.Algorithm == "TEMPTABLE" {
		q = nil
	}
	src := b.derivedResult(q, out.node, out.cols, alias)
	if b.mergeHint(alias) < 0 {
		x, shown, err := computedOnce(src, alias, nil)
		if err != nil {
			return nil, err
		}
		src = b.useOf(x, shown, alias)
	}
	t := src.tables[0]
	t.db, t.scans = v.Database, plainScans(out.node, nil)
	for i := range t.cols {
		t.cols[i].DB, src.star[i].DB = v.Database, v.Database
	}
	return src, nil
}

// viewResult is a view's query with the names of its columns.
func (b *binder) viewResult(v *schema.View) (*result, error) {
	_, out, err := b.viewQueryResult(v)
	return out, err
}

// viewQueryResult is viewResult, and the query that it is the result of.
func (b *binder) viewQueryResult(v *schema.View) (ast.ResultSetNode, *result, error) {
	for _, x := range b.viewStack {
		if x.Database == v.Database && x.Name == v.Name {
			return nil, nil, sqlerr.ViewRecursive(v.Database, v.Name)
		}
	}
	b.viewStack = append(b.viewStack, v)
	defer func() { b.viewStack = b.viewStack[:len(b.viewStack)-1] }()
	n, err := b.viewQuery(v)
	if err != nil {
		return nil, nil, err
	}
	leave := b.enterView(v)
	out, err := b.query(b.scope(nil, nil, clauseField), n)
	leave()
	if err != nil {
		return nil, nil, viewError(v, err)
	}
	names := make([]ast.CIStr, len(v.ColumnNames))
	for i, name := range v.ColumnNames {
		names[i] = ast.NewCIStr(name)
	}
	cols, err := renamed(out.cols, names)
	if err != nil {
		return nil, nil, viewError(v, err)
	}
	b.useView(v)
	return n, &result{node: out.node, cols: cols}, nil
}

func (b *binder) useView(v *schema.View) {
	for _, x := range b.views {
		if x == v {
			return
		}
	}
	b.views = append(b.views, v)
}

// viewQuery parses a view's query.
func (b *binder) viewQuery(v *schema.View) (ast.ResultSetNode, error) {
	if err := b.expand(); err != nil {
		return nil, err
	}
	n, err := b.parseQuery(v.Query, types.SQLMode(v.Mode))
	if err != nil {
		return nil, viewError(v, err)
	}
	return n, nil
}

func (b *binder) parseQuery(text string, mode types.SQLMode) (ast.ResultSetNode, error) {
	pool := b.env.Parser
	if pool == nil {
		pool = parser.NewPool()
	}
	st, err := pool.Parse(text, mode&^grammarModes)
	if err != nil {
		return nil, err
	}
	n, ok := st.Node.(ast.ResultSetNode)
	if !ok {
		return nil, internalf("the query of a view is %T", st.Node)
	}
	return n, nil
}

// enterView puts the binder into the surroundings of a view and returns the
// way back.
func (b *binder) enterView(v *schema.View) func() {
	saved := *b
	env, be := *b.env, *b.be
	env.Database, env.Mode, env.Collation = v.Database, types.SQLMode(v.Mode), v.Collation
	be.Mode = env.Mode
	if v.Collation != schema.CollationNone {
		be.Collation = v.Collation
	}
	b.env, b.be, b.canon, b.params = &env, &be, nil, nil
	b.inDerived++
	leave := b.enterRights(v)
	return func() {
		leave()
		b.env, b.be, b.canon, b.params = saved.env, saved.be, saved.canon, saved.params
		b.inDerived--
	}
}

// viewError is 1356 for what says that a view's tables or columns are gone.
func viewError(v *schema.View, err error) error {
	if sqlerr.IsInvalidView(err) {
		return sqlerr.ViewReferencesInvalid(v.Database, v.Name)
	}
	return err
}

// plainScans are the base tables of a query whose rows are theirs, for locking
// reads.
func plainScans(n logical.Node, list []*logical.Scan) []*logical.Scan {
	switch x := n.(type) {
	case *logical.Scan:
		return append(list, x)
	case *logical.Filter, *logical.Project, *logical.Join, *logical.Sort:
		for _, in := range n.Inputs() {
			list = plainScans(in, list)
		}
	}
	return list
}

// DescribeView is what DESCRIBE and information_schema show of a view: its
// columns now, and whether rows can be changed and inserted through it. 1356 when
// it cannot be read any more.
func DescribeView(env *Env, v *schema.View) (cols []schema.Column, updatable, insertable bool, err error) {
	b := newBinder(env)
	out, err := b.viewResult(v)
	if err != nil {
		return nil, false, false, err
	}
	for _, c := range b.shown(out).cols {
		col := schema.Column{Name: c.Name, Type: c.T, Nullable: c.Null}
		if base := b.baseColumn(c); base != nil {
			col.Default, col.Comment = base.Default, base.Comment
			if base.AutoIncrement && !c.Null {
				col.Default = &schema.Default{Literal: "0"}
			}
		} else if !c.Null && c.T.IsNumeric() {
			col.Default = &schema.Default{Literal: "0"}
		} else if !c.Null && c.T.IsString() && !c.T.IsBlobOrText() {
			col.Default = &schema.Default{}
		}
		cols = append(cols, col)
	}
	if v.Algorithm == "TEMPTABLE" {
		return cols, false, false, nil
	}
	if src, err := newBinder(env).openView(v, v.Name); err == nil && src != nil && len(src.tables[0].opened.scans) > 1 {
		return cols, true, true, nil
	}
	target, err := newBinder(env).viewTarget(v)
	return cols, err == nil && target != nil, err == nil && target != nil && target.insertable(), nil
}

// baseColumn is the column of a table that an output column shows; nil if it
// is computed.
func (b *binder) baseColumn(c logical.Column) *schema.Column {
	if c.OrgTable == "" {
		return nil
	}
	t, ok := b.env.Catalog.Table(c.DB, c.OrgTable)
	if !ok {
		return nil
	}
	if i := t.ColumnByName(c.OrgName); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}

// dropView binds DROP VIEW.
func (b *binder) dropView(n *ast.DropTableStmt) (logical.Statement, error) {
	views, err := b.tableNames(n.Tables)
	return &logical.DropView{Views: views, IfExists: n.IfExists}, err
}

// createView binds CREATE VIEW and ALTER VIEW.
func (b *binder) createView(st *parser.Statement, n *ast.CreateViewStmt) (logical.Statement, error) {
	need := priv.CreateView
	if n.OrReplace || st.View != nil && st.View.Alter {
		need |= priv.Drop
	}
	b.needNamed(n.ViewName, need)
	db, err := b.newTable(n.ViewName)
	if err != nil {
		return nil, err
	}
	switch {
	case len(st.Into) > 0 || st.File != nil:
		return nil, sqlerr.ViewSelectClause("INTO")
	case len(st.Params) > 0:
		return nil, sqlerr.ViewSelectVariable()
	case b.env.Mode&types.ModeHighNotPrecedence != 0:
		return nil, sqlerr.NotSupported("CREATE VIEW with sql_mode HIGH_NOT_PRECEDENCE")
	}
	sel, ok := n.Select.(ast.ResultSetNode)
	if !ok {
		return nil, internalf("view of %T", n.Select)
	}
	v := &schema.View{Database: db.Name, Name: n.ViewName.Name.O, Mode: uint64(b.env.Mode), Collation: b.collation(),
		Algorithm: n.Algorithm.String(), Security: n.Security.String(), Check: "NONE"}
	if !n.Definer.CurrentUser {
		definer, err := accountName(n.Definer.Username, n.Definer.Hostname)
		if err != nil {
			return nil, err
		}
		v.DefinerUser, v.DefinerHost = definer.User, definer.Host
	}
	b.viewStack = []*schema.View{v}
	b.canon = &canonical{}
	out, err := b.query(b.scope(nil, nil, clauseField), sel)
	if err != nil {
		return nil, err
	}
	if err := b.viewColumns(v, n.Cols, sel, out.cols); err != nil {
		return nil, err
	}
	if v.Query, v.Local, err = b.canon.texts(n.Select, db.Name, b.env.Mode); err != nil {
		return nil, err
	}
	if err := b.checkCanonical(v); err != nil {
		return nil, err
	}
	c := &logical.CreateView{View: v, Replace: n.OrReplace, Alter: st.View != nil && st.View.Alter}
	if st.View != nil && st.View.Check != "" {
		v.Check = st.View.Check
		if err := b.checkableView(v); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// maxViewColumnName is the longest name that a column of a view keeps; others
// get one that counts.
const maxViewColumnName = 64

// viewColumns checks the names of a view's columns: 1353, 1060. Columns of the
// query whose text makes no name are called Name_exp_n.
func (b *binder) viewColumns(v *schema.View, names []ast.CIStr, sel ast.ResultSetNode, cols []logical.Column) error {
	for _, name := range names {
		if err := define.CheckColumnName(name.O); err != nil {
			return err
		}
		v.ColumnNames = append(v.ColumnNames, name.O)
	}
	if s := firstSelect(sel); s != nil && len(names) == 0 && s.Fields != nil && len(s.Fields.Fields) == len(cols) {
		for i, f := range s.Fields.Fields {
			if emptyAlias(f) {
				return sqlerr.WrongColumnName("")
			}
			if name := f.AsName.O; len([]rune(name)) > maxViewColumnName || strings.HasSuffix(name, " ") || name == "" {
				f.AsName = ast.NewCIStr("Name_exp_" + itoa(i+1))
				cols[i].Name = f.AsName.O
			}
		}
	}
	_, err := renamed(cols, names)
	return err
}

// checkCanonical proves that the text that is kept can be read and means a
// query of the same columns.
func (b *binder) checkCanonical(v *schema.View) error {
	for _, text := range []string{v.Query, v.Local} {
		c := *v
		c.Query = text
		again := newBinder(b.env)
		out, err := again.viewResult(&c)
		if err != nil {
			return err
		}
		n, err := again.parseQuery(text, types.SQLMode(v.Mode))
		if err != nil {
			return err
		}
		if got, err := restore(n); err != nil || got != text || len(out.cols) == 0 {
			return sqlerr.NotSupported("this SELECT in a view")
		}
	}
	return nil
}

// lockView adds what LOCK TABLES of a view locks: it, the views that it reads,
// and their tables.
func (b *binder) lockView(out *logical.LockTables, v *schema.View, write bool) error {
	own := newBinder(b.env)
	r, err := own.viewResult(v)
	if err != nil {
		return err
	}
	add := func(db, name string, write bool) {
		out.Tables = append(out.Tables, logical.TableName{DB: db, Name: name})
		out.Write = append(out.Write, write)
	}
	for _, x := range own.views {
		add(x.Database, x.Name, false)
	}
	seen := map[*logical.CTE]bool{}
	var tables func(n logical.Node)
	tables = func(n logical.Node) {
		switch x := n.(type) {
		case nil:
		case *logical.Scan:
			add(x.Table.Database, x.Table.Name, write)
		case *logical.CTEScan:
			if !seen[x.CTE] {
				seen[x.CTE] = true
				for _, n := range append([]logical.Node{x.CTE.Seed}, x.CTE.Recursive...) {
					tables(n)
				}
			}
		default:
			for _, in := range n.Inputs() {
				tables(in)
			}
		}
	}
	for _, n := range append([]logical.Node{r.node}, own.subqueries...) {
		tables(n)
	}
	return nil
}
