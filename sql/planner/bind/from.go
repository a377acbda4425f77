package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// from binds a table reference.
func (b *binder) from(sc *scope, n ast.ResultSetNode) (*source, error) {
	done, err := b.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	switch n := n.(type) {
	case *ast.Join:
		if n.Right == nil {
			return b.from(sc, n.Left)
		}
		return b.join(sc, n)
	case *ast.TableSource:
		return b.tableSource(sc, n)
	case *ast.TableName:
		return b.tableSource(sc, &ast.TableSource{Source: n})
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.SubqueryExpr:
		return nil, sqlerr.DerivedMustHaveAlias()
	}
	return nil, internalf("table reference %T", n)
}

func (b *binder) tableSource(sc *scope, n *ast.TableSource) (*source, error) {
	switch x := n.Source.(type) {
	case *ast.TableName:
		if n.ColumnNames != nil {
			return nil, sqlerr.NotSupported("column list of a table alias")
		}
		return b.tableName(sc, x, n.AsName.O)
	case *ast.SelectStmt, *ast.SetOprStmt:
		call, table := tableFunction(x)
		if n.AsName.O == "" && jsonTableCall(x) == nil {
			return nil, sqlerr.DerivedMustHaveAlias()
		}
		// A derived table sees the CTEs around it and the columns of the blocks
		// around its own; a lateral one also those of the tables before it.
		outer := sc.outer
		if n.Lateral && sc.lateral != nil {
			outer = sc.lateral
		}
		inner := b.scope(outer, sc.visibleCTEs(), clauseField)
		if table != nil {
			return table(b, call, n.AsName.O)
		}
		if call := jsonTableCall(x); call != nil {
			return b.jsonTable(inner, call, n.AsName.O)
		}
		return b.derivedTableOf(inner, x, n.AsName.O, n.ColumnNames)
	case *ast.Join:
		return b.from(sc, x)
	}
	return nil, internalf("table source %T", n.Source)
}

// visibleCTEs are the CTEs that a block inside sc sees, outermost first.
func (sc *scope) visibleCTEs() []*cte {
	var list []*cte
	for s := sc; s != nil; s = s.outer {
		list = append(append([]*cte(nil), s.ctes...), list...)
	}
	return list
}

// derived binds a subquery in FROM, or a CTE.
func (b *binder) derived(sc *scope, q ast.ResultSetNode, alias string, names []ast.CIStr) (*source, error) {
	b.inDerived++
	out, err := b.query(sc, q)
	b.inDerived--
	if err != nil {
		return nil, err
	}
	cols, err := renamed(out.cols, names)
	if err != nil {
		return nil, err
	}
	return b.derivedResult(q, out.node, cols, alias), nil
}

// derivedTableOf is derived for a table of FROM, which NO_MERGE keeps apart: it
// is computed once then, unless it depends on what is around it.
func (b *binder) derivedTableOf(sc *scope, q ast.ResultSetNode, alias string, names []ast.CIStr) (*source, error) {
	if b.mergeHint(alias) >= 0 {
		return b.derived(sc, q, alias, names)
	}
	var src *source
	outward, err := b.readsOutward(func() (err error) {
		src, err = b.derived(sc, q, alias, names)
		return err
	})
	if err != nil || outward {
		return src, err
	}
	x, shown, err := computedOnce(src, alias, names)
	if err != nil {
		return nil, err
	}
	return b.useOf(x, shown, alias), nil
}

// renamed are the columns of a derived table with the names of its column
// list: 1353, 1060.
func renamed(list []logical.Column, names []ast.CIStr) ([]logical.Column, error) {
	cols := append([]logical.Column(nil), list...)
	if len(names) > 0 && len(names) != len(cols) {
		return nil, sqlerr.DerivedColumnList()
	}
	seen := map[string]bool{}
	for i := range cols {
		if len(names) > 0 {
			cols[i].Name = names[i].O
		}
		l := strings.ToLower(cols[i].Name)
		if seen[l] {
			return nil, sqlerr.DuplicateColumn(cols[i].Name)
		}
		seen[l] = true
	}
	return cols, nil
}

// derivedSource is a query in FROM under an alias; it takes over cols.
func derivedSource(node logical.Node, cols []logical.Column, alias string) *source {
	for i := range cols {
		cols[i].Table, cols[i].DB = alias, ""
	}
	t := &tableRef{alias: alias, cols: cols, derived: node}
	return &source{node: node, tables: []*tableRef{t}, star: append([]logical.Column(nil), cols...)}
}

func (b *binder) tableName(sc *scope, n *ast.TableName, alias string) (*source, error) {
	if n.TableSample != nil {
		return nil, sqlerr.NotSupported("TABLESAMPLE")
	}
	name := n.Name.O
	if n.Schema.O == "" {
		if c := sc.findCTE(name); c != nil {
			if len(n.PartitionNames) > 0 {
				return nil, sqlerr.PartitionOfNotPartitioned()
			}
			if n.AsOf != nil {
				return nil, sqlerr.NotSupported("AS OF TIMESTAMP of a common table expression")
			}
			if alias == "" {
				alias = c.name
			}
			return b.cteSource(sc, c, alias)
		}
	}
	db, err := b.database(n.Schema.O)
	if err != nil {
		return nil, err
	}
	if alias == "" {
		alias = name
	}
	if b.isVirtual(db) && n.AsOf == nil {
		right := b.readsVirtual(db, name)
		if v, ok, err := b.env.Virtual.Virtual(db, name); err != nil {
			return nil, err
		} else if ok && len(n.PartitionNames) > 0 {
			return nil, sqlerr.PartitionOfNotPartitioned()
		} else if ok {
			if alias == name {
				alias = v.Name
			}
			b.canon.table(n, db)
			src := b.virtual(v, db, alias)
			b.attach(right, src)
			return src, nil
		}
		if _, ok := b.env.Catalog.Database(db); !ok {
			return nil, noVirtualTable(db, name)
		}
	}
	right := b.readsTable(db, name)
	if v := b.viewNamed(n); v != nil {
		if len(n.PartitionNames) > 0 {
			return nil, sqlerr.PartitionOfNotPartitioned()
		}
		if n.AsOf != nil {
			return nil, sqlerr.NotSupported("AS OF TIMESTAMP of a view")
		}
		if len(n.IndexHints) > 0 && len(n.IndexHints[0].IndexNames) > 0 {
			return nil, sqlerr.KeyDoesNotExist(n.IndexHints[0].IndexNames[0].O, alias)
		}
		b.canon.table(n, v.Database)
		if b.opening != nil && b.opening == sc {
			if src, err := b.openView(v, alias); err != nil {
				return nil, err
			} else if src != nil {
				b.attach(right, src)
				return src, nil
			}
		}
		src, err := b.viewSource(v, alias)
		if err == nil {
			b.attach(right, src)
		}
		return src, err
	}
	t, err := b.table(n.Schema.O, name)
	if err != nil {
		return nil, err
	}
	if err := b.notTemporary(t); err != nil {
		return nil, err
	}
	b.ofTemporary(right, t)
	b.canon.table(n, t.Database)
	if n.AsOf != nil {
		if len(n.PartitionNames) > 0 {
			return nil, sqlerr.NotSupported("AS OF TIMESTAMP of a partition")
		}
		src, err := b.asOf(t, alias, n)
		if err == nil {
			b.attach(right, src)
		}
		return src, err
	}
	if b.inDerived == 0 && slices.Contains(b.targets, t) {
		return nil, sqlerr.UpdateTableUsed(name)
	}
	src, err := b.scan(t, alias, n)
	if err == nil {
		b.attach(right, src)
	}
	return src, err
}

// virtual makes the source of a virtual table.
func (b *binder) virtual(v logical.VirtualTable, db, alias string) *source {
	cols := make([]logical.Column, len(v.Cols))
	for i, c := range v.Cols {
		cols[i] = logical.Column{ID: b.newID(), Name: c.Name, Table: alias, DB: db, OrgTable: v.Name, OrgName: c.Name, T: c.T, Null: c.Null, Hidden: c.Hidden}
	}
	node := &logical.Virtual{Name: v.Name, Cols: cols, Key: v.Key}
	t := &tableRef{alias: alias, db: db, cols: append([]logical.Column(nil), cols...)}
	return &source{node: node, tables: []*tableRef{t}, star: visible(cols)}
}

func visible(cols []logical.Column) []logical.Column {
	out := make([]logical.Column, 0, len(cols))
	for _, c := range cols {
		if !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}

// scan makes the source of a base table.
// n has hints and a list of partitions; nil for none.
func (b *binder) scan(t *schema.Table, alias string, n *ast.TableName) (*source, error) {
	s := &logical.Scan{Table: t, Alias: alias, Cols: make([]logical.Column, len(t.Columns))}
	b.noteNested(t)
	roles := t.Roles()
	for i := range t.Columns {
		c := &t.Columns[i]
		s.Cols[i] = logical.Column{ID: b.newID(), Name: c.Name, Table: alias, DB: t.Database, OrgTable: t.Name, OrgName: c.Name, Role: roles[i],
			T: c.Type, Null: c.Nullable, Hidden: c.Hidden, Invisible: c.Invisible}
	}
	var names []ast.CIStr
	if n != nil {
		var err error
		if s.Hint, err = indexHints(t, alias, n.IndexHints); err != nil {
			return nil, err
		}
		names = n.PartitionNames
	}
	b.tableHints(s)
	ref := &tableRef{alias: alias, db: t.Database, cols: append([]logical.Column(nil), s.Cols...), scan: s}
	node, err := b.onlyAlive(s)
	if err != nil {
		return nil, err
	}
	if node, err = b.onlyPartitions(s, node, names); err != nil {
		return nil, err
	}
	return &source{node: node, tables: []*tableRef{ref}, star: visible(s.Cols)}, nil
}

// indexHints checks USE, FORCE and IGNORE INDEX: 1176, 1221.
func indexHints(t *schema.Table, alias string, hints []*ast.IndexHint) (logical.IndexHint, error) {
	var out logical.IndexHint
	for _, h := range hints {
		names := make([]string, 0, len(h.IndexNames))
		for _, n := range h.IndexNames {
			if strings.EqualFold(n.O, "PRIMARY") && !t.HasHiddenKey() {
				names = append(names, "PRIMARY")
				continue
			}
			if x := t.SearchByName(n.O); x != nil {
				names = append(names, x.Name)
				continue
			}
			x := t.IndexByName(n.O)
			if x == nil || x.State != schema.IndexPublic {
				return out, sqlerr.KeyDoesNotExist(n.O, alias)
			}
			names = append(names, x.Name)
		}
		if h.HintScope != ast.HintForScan && h.HintScope != ast.HintForJoin {
			continue // FOR ORDER BY and FOR GROUP BY are advice that no plan needs
		}
		switch h.HintType {
		case ast.HintUse:
			out.UseSet = true
			out.Use = append(out.Use, names...)
		case ast.HintForce:
			out.Force = append(out.Force, names...)
		case ast.HintIgnore:
			out.Ignore = append(out.Ignore, names...)
		default:
			return out, sqlerr.NotSupported("ORDER_INDEX hint")
		}
	}
	if out.UseSet && len(out.Force) > 0 {
		return out, sqlerr.WrongUsage("USE INDEX", "FORCE INDEX")
	}
	return out, nil
}

// checkUnique is 1066 for two tables of one name.
func checkUnique(a, c *source) error {
	for _, x := range a.tables {
		for _, y := range c.tables {
			if strings.EqualFold(x.alias, y.alias) && strings.EqualFold(x.db, y.db) {
				return sqlerr.NotUniqueTable(y.alias)
			}
		}
	}
	return nil
}

func (b *binder) join(sc *scope, n *ast.Join) (*source, error) {
	isLeft, isRight := n.Tp == ast.LeftJoin, n.Tp == ast.RightJoin
	within := sc.nullSide
	defer func() { sc.nullSide = within }()
	sc.nullSide = within || isRight
	left, err := b.from(sc, n.Left)
	if err != nil {
		return nil, err
	}
	sc.nullSide = within || isLeft
	right, params, err := b.lateralSide(sc, left, n.Right)
	if err != nil {
		return nil, err
	}
	if len(params) > 0 && n.Tp == ast.RightJoin {
		return nil, sqlerr.LateralJoinType(right.tables[0].alias)
	}
	if err := checkUnique(left, right); err != nil {
		return nil, err
	}
	// Outer joins make columns NULL only above the join. ON sees the columns
	// below it, so that its conditions are typed before.
	out := &source{
		tables: append(append([]*tableRef(nil), left.tables...), right.tables...),
		inner:  append(append([]expr.Expr(nil), left.inner...), right.inner...),
		outer:  append(append([]outerCond(nil), left.outer...), right.outer...),
	}
	conds, err := b.using(n, left, right, out)
	if err != nil {
		return nil, err
	}
	if n.On != nil {
		on := b.scope(sc.outer, sc.ctes, clauseOn)
		on.src, on.innerOn = out, !isLeft && !isRight && !within
		used := b.rights.used()
		e, err := b.condition(on, n.On.Expr)
		b.rights.defers(used)
		if err != nil {
			return nil, err
		}
		conds = expr.SplitAnd(conds, e)
	}
	j := &logical.Join{Kind: logical.JoinInner, Left: left.node, Right: right.node, On: conds, Straight: n.StraightJoin}
	switch {
	case isRight:
		j.Kind, j.Left, j.Right = logical.JoinLeft, right.node, left.node
		out.outer = append(out.outer, outerCond{on: conds, right: left.ids()})
		out.markNull(left.ids())
	case isLeft:
		j.Kind = logical.JoinLeft
		out.outer = append(out.outer, outerCond{on: conds, right: right.ids()})
		out.markNull(right.ids())
	default:
		out.inner = append(out.inner, conds...)
	}
	out.node = j
	if len(params) > 0 {
		out.node = &logical.Apply{Kind: j.Kind, Left: j.Left, Right: j.Right, Params: params, On: conds}
	}
	return out, nil
}

// using makes the conditions of USING and NATURAL and sets out.star: common
// columns first, then the rest of the left, then of the right. A common column
// is the left one, of a RIGHT JOIN the right one; they come in the order of the
// table that they are of, however USING lists them.
func (b *binder) using(n *ast.Join, left, right, out *source) ([]expr.Expr, error) {
	var names []string
	switch {
	case n.NaturalJoin:
		for i := range left.star {
			name := left.star[i].Name
			c, err := right.find("", "", name, clauseFrom)
			if err != nil {
				return nil, err
			}
			if c != nil && !c.Invisible && !left.star[i].Invisible {
				if _, err := left.find("", "", name, clauseFrom); err != nil {
					return nil, err
				}
				names = append(names, name)
			}
		}
	default:
		seen := map[string]bool{}
		for _, c := range n.Using {
			if !seen[c.Name.L] { // a second time it says nothing
				names = append(names, c.Name.O)
			}
			seen[c.Name.L] = true
		}
	}
	first, second := left, right
	if n.Tp == ast.RightJoin && len(names) > 0 {
		first, second = right, left
	}
	first.inOrder(names)
	var conds []expr.Expr
	common := map[expr.ColID]bool{}
	for _, name := range names {
		l, err := left.find("", "", name, clauseFrom)
		if err != nil {
			return nil, err
		}
		r, err := right.find("", "", name, clauseFrom)
		if err != nil {
			return nil, err
		}
		if l == nil || r == nil {
			return nil, sqlerr.UnknownColumn(name, clauseFrom)
		}
		eq, err := expr.NewFunc(b.be, "=", b.columnExpr(l), b.columnExpr(r))
		if err != nil {
			return nil, err
		}
		conds = append(conds, eq)
		common[l.ID], common[r.ID] = true, true
		if n.Tp == ast.RightJoin {
			l = r
		}
		out.star = append(out.star, *l)
	}
	for _, s := range [...]*source{first, second} {
		for _, c := range s.star {
			if !common[c.ID] {
				out.star = append(out.star, c)
			}
		}
	}
	return conds, nil
}

// inOrder sorts names as the columns of s come.
func (s *source) inOrder(names []string) {
	at := func(name string) int {
		return slices.IndexFunc(s.star, func(c logical.Column) bool { return strings.EqualFold(c.Name, name) })
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
}

// lock sets the locking clause on the scans of src.
func (b *binder) lock(src *source, info *ast.SelectLockInfo) error {
	if info == nil || info.LockType == ast.SelectLockNone {
		return nil
	}
	var l logical.Lock
	switch info.LockType {
	case ast.SelectLockForUpdate:
		l.Strength = logical.LockForUpdate
	case ast.SelectLockForUpdateNoWait:
		l = logical.Lock{Strength: logical.LockForUpdate, NoWait: true}
	case ast.SelectLockForUpdateSkipLocked:
		l = logical.Lock{Strength: logical.LockForUpdate, SkipLocked: true}
	case ast.SelectLockForShare:
		l.Strength = logical.LockForShare
	case ast.SelectLockForShareNoWait:
		l = logical.Lock{Strength: logical.LockForShare, NoWait: true}
	case ast.SelectLockForShareSkipLocked:
		l = logical.Lock{Strength: logical.LockForShare, SkipLocked: true}
	default:
		return sqlerr.NotSupported("FOR UPDATE WAIT n")
	}
	if src == nil {
		return nil
	}
	if len(info.Tables) == 0 {
		for _, t := range src.tables {
			b.lockRef(t, l)
		}
		return nil
	}
	for _, name := range info.Tables {
		found := false
		for _, t := range src.tables {
			if strings.EqualFold(t.alias, name.Name.O) && (name.Schema.O == "" || strings.EqualFold(t.db, name.Schema.O)) {
				found = true
				b.lockRef(t, l)
			}
		}
		if !found {
			return sqlerr.UnresolvedLockTable(name.Name.O)
		}
	}
	return nil
}

// lockRef sets the locking clause on a table of FROM, or on those of a view.
func (b *binder) lockRef(t *tableRef, l logical.Lock) {
	scans := t.scans
	if t.scan != nil {
		scans = []*logical.Scan{t.scan}
	}
	if t.right != nil && l.Strength == logical.LockForUpdate {
		t.right.need.OneOf |= priv.Update | priv.Delete | priv.LockTables
	}
	for _, s := range scans {
		s.Lock = l
		b.locks = true
		b.locksForUpdate = b.locksForUpdate || l.Strength == logical.LockForUpdate
	}
}

// noVirtualTable is the error of a table that a system's database does not have: 1109, 1146.
func noVirtualTable(db, name string) error {
	if strings.EqualFold(db, "information_schema") {
		return sqlerr.UnknownTableIn(strings.ToUpper(name), "information_schema")
	}
	return sqlerr.NoSuchTable(db, name)
}
