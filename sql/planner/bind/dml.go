package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// insertScope resolves the columns of the target of an INSERT by position.
type insertScope struct {
	t *schema.Table
	// alias is the table's name in the statement.
	alias       string
	onDuplicate bool
	// row and source are what ON DUPLICATE KEY UPDATE sees in addition.
	row    *rowAlias
	source []sourceColumn
	// through is the view that the statement names, nil for the table itself.
	through *viewTarget
	// right is what is needed of the table; unused with through.
	right *tableRight
	// loads: SET of LOAD DATA is bound.
	loads bool
	// targets are what the statement names.
	targets []insertTarget
}

// attribute is a name that is no column as an attribute of the row whose
// columns start at; nil if none exists.
func (s *insertScope) attribute(db, table, name string, at int) expr.Expr {
	pos := s.t.AttributesColumn()
	if pos < 0 || !s.onDuplicate && !s.loads || s.through != nil || define.CheckColumnName(name) != nil ||
		table != "" && !strings.EqualFold(table, s.alias) || db != "" && !strings.EqualFold(db, s.t.Database) {
		return nil
	}
	return expr.NewAttribute(s.rowCol(pos, at+pos), name)
}

// rowCol is a column of the statement's row. Index counts; the id only
// distinguishes columns.
func (s *insertScope) rowCol(i, at int) *expr.Col {
	c := &s.t.Columns[i]
	return &expr.Col{ID: expr.ColID(-1 - at), Index: at, T: c.Type, Null: c.Nullable || at >= len(s.t.Columns), Table: s.alias, Name: c.Name}
}

func (s *insertScope) find(db, table, name string) int {
	if s.through != nil {
		if i := s.through.find(db, table, name); i >= 0 {
			return s.through.cols[i].base
		}
		return -1
	}
	if table != "" && !strings.EqualFold(table, s.alias) || db != "" && !strings.EqualFold(db, s.t.Database) {
		return -1
	}
	i := s.t.ColumnByName(name)
	if i >= 0 && s.t.Columns[i].Hidden {
		return -1
	}
	return i
}

func (s *insertScope) column(db, table, name string) (expr.Expr, error) {
	i := s.find(db, table, name)
	if e, err := s.sourceOrRow(db, table, name, i >= 0); e != nil || err != nil {
		return e, err
	}
	if i < 0 {
		if e := s.attribute(db, table, name, 0); e != nil {
			return e, nil
		}
		return nil, sqlerr.UnknownColumn(qualified(db, table, name), clauseField)
	}
	s.changing(i, priv.Select)
	return s.rowCol(i, i), nil
}

// changing notes what a column of the table is used for.
func (s *insertScope) changing(at int, m priv.Mask) {
	if s.through != nil {
		s.through.changing(at, m)
		return
	}
	s.right.changing(at, m)
}

// values is VALUES(name): the row to be inserted.
func (s *insertScope) values(table, name string) (expr.Expr, error) {
	i := s.find("", table, name)
	if i < 0 {
		if e := s.attribute("", table, name, len(s.t.Columns)); e != nil {
			return e, nil
		}
		return nil, sqlerr.UnknownColumn(qualified(table, name), clauseField)
	}
	s.changing(i, priv.Select) // as in MySQL, which reads the name as that of a column
	return s.rowCol(i, len(s.t.Columns)+i), nil
}

func (s *insertScope) tableColumn(c *expr.Col) *schema.Column {
	if c.Index < 0 || c.Index >= len(s.t.Columns) {
		return nil
	}
	return &s.t.Columns[c.Index]
}

// targetTable is the one table of INSERT, UPDATE and DELETE.
func (b *binder) targetTable(n *ast.TableName, operation string) (*schema.Table, error) {
	db, err := b.database(n.Schema.O)
	if err != nil {
		return nil, err
	}
	if b.isVirtual(db) {
		if _, ok, err := b.env.Virtual.Virtual(db, n.Name.O); err != nil {
			return nil, err
		} else if ok {
			return nil, b.deniedDatabase(db)
		}
	}
	return b.table(n.Schema.O, n.Name.O)
}

func singleTable(refs *ast.TableRefsClause) (*ast.TableSource, *ast.TableName) {
	if refs == nil || refs.TableRefs == nil || refs.TableRefs.Right != nil {
		return nil, nil
	}
	switch x := refs.TableRefs.Left.(type) {
	case *ast.TableSource:
		name, _ := x.Source.(*ast.TableName)
		return x, name
	case *ast.TableName:
		return &ast.TableSource{Source: x}, x
	}
	return nil, nil
}

func (b *binder) insert(st *parser.Statement, n *ast.InsertStmt) (*logical.Insert, error) {
	_, name := singleTable(n.Table)
	if name == nil {
		return nil, internalf("INSERT without table")
	}
	if db, err := b.database(name.Schema.O); err == nil { // noted before the table is looked up, as INSERT is
		t := b.mentions(db, name.Name.O)
		t.changingRows(priv.Insert)
		if n.IsReplace {
			t.changingRows(priv.Delete)
		}
		if len(n.OnDuplicate) > 0 {
			t.changingRows(priv.Update)
		}
		if d, ok := b.env.Catalog.Table(db, name.Name.O); ok {
			b.ofTemporary(t, d)
		}
	}
	if lists := rowLists(n.Select); lists != nil {
		rows := *n
		rows.Lists, rows.Select = lists, nil
		n = &rows
	}
	through, err := b.insertInto(name, n.Columns)
	if err != nil {
		return nil, err
	}
	var t *schema.Table
	var right *tableRight
	var targets []insertTarget
	out := &logical.Insert{Replace: n.IsReplace, Ignore: n.IgnoreErr, Check: through.rowCheck(b)}
	if through != nil {
		t = through.scan.Table
		var cols []int
		cols, err = through.insertColumns(n.Columns, n.Lists)
		targets = columnTargets(cols)
	} else {
		right = b.writesTarget(name, "INSERT")
		if t, err = b.targetTable(name, "INSERT"); err != nil {
			return nil, err
		}
		b.ofTemporary(right, t)
		right.ofTable(t)
		targets, err = insertColumns(t, name, n.Columns, n.Lists)
	}
	if err != nil {
		return nil, err
	}
	out.Table = t
	if len(n.PartitionNames) > 0 {
		if t.Partitioning == nil || through != nil {
			return nil, sqlerr.PartitionOfNotPartitioned()
		}
		if out.Check, err = b.partitionCheck(t, n.PartitionNames); err != nil {
			return nil, err
		}
	}
	gather := newGathering(t, targets)
	out.Columns = gather.columns
	if out.Defaults, err = b.defaults(t); err != nil {
		return nil, err
	}
	if n.Priority == mysql.DelayedPriority {
		b.warn(sqlerr.LegacySyntaxConverted("INSERT DELAYED", "INSERT"))
	}
	defer b.hints(n.TableHints)()
	is := &insertScope{t: t, alias: name.Name.O, through: through, right: right, targets: targets}
	b.insertRights(is, n)
	if n.Select != nil {
		if err := b.insertSource(is, n, out, gather); err != nil {
			return nil, err
		}
	} else if err := b.insertRows(is, n, out, gather); err != nil {
		return nil, err
	}
	if is.row, err = newRowAlias(st.RowAlias, is); err != nil {
		return nil, err
	}
	if out.OnDuplicate, err = b.onDuplicate(is, n.OnDuplicate); err != nil {
		return nil, err
	}
	if out.Returning, err = b.insertReturning(is, st.Returning); err != nil {
		return nil, err
	}
	out.Subqueries = b.subqueries
	return out, nil
}

// rowLists are the lists of VALUES ROW(…), … as the source of an INSERT, which takes them
// as those of VALUES (…), … . They are nil for other sources.
func rowLists(source ast.ResultSetNode) (out [][]ast.ExprNode) {
	s, ok := source.(*ast.SelectStmt)
	if !ok || s.Kind != ast.SelectStmtKindValues || s.IsInBraces || s.With != nil || s.OrderBy != nil || s.Limit != nil || s.LockInfo != nil || s.SelectIntoOpt != nil {
		return nil
	}
	for _, row := range s.Lists {
		out = append(out, row.Values)
	}
	return out
}

// insertRights notes what INSERT needs of its target, besides INSERT itself.
func (b *binder) insertRights(is *insertScope, n *ast.InsertStmt) {
	for _, to := range is.targets {
		is.changing(to.column, priv.Insert)
	}
	var more priv.Mask
	if n.IsReplace {
		more |= priv.Delete
	}
	if len(n.OnDuplicate) > 0 {
		more |= priv.Update
	}
	switch {
	case more == 0:
	case is.through != nil:
		is.through.levels.changingRows(more)
	default:
		is.right.changingRows(more)
	}
}

// insertColumns are the targets of an INSERT: 1054, 1110.
func insertColumns(t *schema.Table, name *ast.TableName, cols []*ast.ColumnName, lists [][]ast.ExprNode) ([]insertTarget, error) {
	if len(cols) == 0 {
		// INSERT INTO t () VALUES () takes all defaults.
		if len(lists) > 0 && len(lists[0]) == 0 {
			return nil, nil
		}
		return columnTargets(visiblePositions(t)), nil
	}
	return insertTargets(t, name, cols)
}

// visiblePositions are the columns that are meant where none is named.
func visiblePositions(t *schema.Table) []int {
	out := make([]int, 0, len(t.Columns))
	for i := range t.Columns {
		if !t.Columns[i].Hidden && !t.Columns[i].Invisible {
			out = append(out, i)
		}
	}
	return out
}

func (b *binder) insertRows(is *insertScope, n *ast.InsertStmt, out *logical.Insert, gather *gathering) error {
	b.targets = []*schema.Table{is.t}
	defer func() { b.targets = nil }()
	sc := &scope{b: b, clause: clauseField, column: is.column, insert: is}
	for r, list := range n.Lists {
		if len(list) != len(is.targets) {
			return sqlerr.WrongValueCount(r + 1)
		}
		row := make([]expr.Expr, len(list))
		for i, x := range list {
			if d, ok := x.(*ast.DefaultExpr); ok && d.Name == nil {
				continue
			}
			e, err := b.value(sc, x)
			if err != nil {
				return err
			}
			if row[i] = e; is.targets[i].attribute == "" {
				row[i] = stored(e, &is.t.Columns[is.targets[i].column])
			}
		}
		if gather.attrs >= 0 {
			row = gather.row(row)
		}
		out.Rows = append(out.Rows, row)
	}
	return nil
}

func (b *binder) onDuplicate(is *insertScope, list []*ast.Assignment) ([]logical.Assignment, error) {
	if len(list) == 0 {
		return nil, nil
	}
	dup := &insertScope{t: is.t, alias: is.alias, right: is.right, onDuplicate: true, row: is.row, source: is.source, through: is.through, targets: is.targets}
	sc := &scope{b: b, clause: clauseField, column: dup.column, insert: dup}
	b.targets = []*schema.Table{is.t}
	defer func() { b.targets = nil }()
	values := b.rights.used()
	set, err := b.assignments(sc, is.t, is.alias, is.through, list)
	assigned := b.rights.used()
	for i := range set {
		is.changing(set[i].Column, priv.Update)
	}
	b.rights.earlier(assigned, values)
	return set, err
}

// assignments binds SET and ON DUPLICATE KEY UPDATE.
func (b *binder) assignments(sc *scope, t *schema.Table, alias string, through *viewTarget, list []*ast.Assignment) ([]logical.Assignment, error) {
	out := make([]logical.Assignment, 0, len(list))
	for _, a := range list {
		c := a.Column
		if through == nil {
			if x, ok, err := b.attributeAssignment(sc, t, alias, a); err != nil {
				return nil, err
			} else if ok {
				out = append(out, x)
				continue
			}
		}
		i, err := assigned(t, alias, through, c)
		if err != nil {
			return nil, err
		}
		d, ok := a.Expr.(*ast.DefaultExpr)
		isDefault := ok && d.Name == nil
		if t.Columns[i].Generated != nil {
			if !isDefault {
				return nil, sqlerr.GeneratedValueGiven(t.Columns[i].Name, t.Name)
			}
			continue // what it is anyway
		}
		if isDefault {
			e, err := b.assignedDefault(sc, t, alias, i)
			if err != nil {
				return nil, err
			}
			out = append(out, logical.Assignment{Column: i, Value: e, Default: true})
			continue
		}
		e, err := b.value(sc, a.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, logical.Assignment{Column: i, Value: stored(e, &t.Columns[i])})
	}
	return out, nil
}

// assigned is the position of the column that an assignment names: 1054, 1348.
func assigned(t *schema.Table, alias string, through *viewTarget, c *ast.ColumnName) (int, error) {
	if through != nil {
		return through.base(c)
	}
	i := t.ColumnByName(c.Name.O)
	wrongTable := c.Table.O != "" && !strings.EqualFold(c.Table.O, alias) || c.Schema.O != "" && !strings.EqualFold(c.Schema.O, t.Database)
	if i < 0 || t.Columns[i].Hidden || wrongTable {
		return -1, sqlerr.UnknownColumn(qualified(c.Schema.O, c.Table.O, c.Name.O), clauseField)
	}
	return i, nil
}

// defaults are the default expressions of all columns of t.
func (b *binder) defaults(t *schema.Table) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(t.Columns))
	for i := range t.Columns {
		e, err := b.columnDefault(&t.Columns[i])
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// columnDefault is the default of a column; nil if none exists.
func (b *binder) columnDefault(c *schema.Column) (expr.Expr, error) {
	d := c.Default
	switch {
	case c.Attributes:
		return noAttributes(), nil
	case c.AutoIncrement || c.Hidden && c.Name == schema.HiddenKeyColumn || c.Generated != nil:
		return nil, nil
	case d != nil && len(d.Reads) > 0:
		return nil, nil // computed with the row, see derive.Exprs
	case d == nil && c.Nullable, d != nil && d.Null:
		return &expr.Const{T: c.Type, Text: "NULL"}, nil
	case d == nil:
		return nil, nil
	case d.Expr == "", d.Expr == "0x": // an empty binary string, as it was kept once
		return literalDefault(c, d.Literal)
	}
	if fsp, ok := currentTimestamp(d.Expr); ok {
		var args []expr.Expr
		if fsp > 0 {
			args = append(args, expr.NewConst(value.Int(int64(fsp)), types.BigInt))
		}
		return expr.NewFunc(b.be, "now", args...)
	}
	n, err := parseStored(b.parser(), d.Expr)
	if err != nil {
		return nil, err
	}
	return b.storedValue(&scope{b: b, clause: clauseField}, n)
}

// literalDefault converts a default that is kept as text to the column's
// type, once.
func literalDefault(c *schema.Column, text string) (expr.Expr, error) {
	from := types.VarcharOf(len(text), schema.CollationUTF8MB4Bin)
	if c.Type.IsBinary() {
		from.Collation = schema.CollationBinary
	}
	d, err := types.Store(&types.Env{Write: true}, value.String(text), from, c, 1)
	if err != nil {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	if c.Type.IsBinary() {
		text = "" // plans have it in hex, or quoted
	}
	return &expr.Const{D: d.Clone(), T: c.Type, Text: text}, nil
}

// currentTimestamp reads CURRENT_TIMESTAMP[(n)], as DDL writes it.
func currentTimestamp(s string) (fsp int, ok bool) {
	rest, ok := strings.CutPrefix(strings.ToUpper(s), "CURRENT_TIMESTAMP")
	if !ok {
		return 0, false
	}
	switch {
	case rest == "", rest == "()":
		return 0, true
	case len(rest) == 3 && rest[0] == '(' && rest[2] == ')' && rest[1] >= '0' && rest[1] <= '6':
		return int(rest[1] - '0'), true
	}
	return 0, false
}

// changeInput binds the rows that UPDATE and DELETE work on.
type changeInput struct {
	node logical.Node
	scan *logical.Scan
	sc   *scope
	// through is the view that the statement names, nil for the table itself.
	through *viewTarget
	// right is what is needed of the table; nil with through.
	right *tableRight
}

// assigning notes the columns that assignments write.
func (in *changeInput) assigning(set []logical.Assignment) {
	for i := range set {
		if in.through != nil {
			in.through.changing(set[i].Column, priv.Update)
		}
	}
	in.right.assigning(set, priv.Update)
}

func (b *binder) changeInput(n ast.Node, operation string, with *ast.WithClause, src *ast.TableSource, name *ast.TableName) (*changeInput, error) {
	sc := &scope{b: b, clause: clauseField}
	if err := b.withClause(sc, with, n); err != nil {
		return nil, err
	}
	through, err := b.changeThrough(name, src.AsName.O, operation)
	if err != nil {
		return nil, err
	}
	if through != nil {
		if len(name.PartitionNames) > 0 {
			return nil, sqlerr.PartitionOfNotPartitioned()
		}
		in := through.input(b)
		in.sc.ctes = sc.ctes
		b.targets = []*schema.Table{in.scan.Table}
		return in, nil
	}
	right := b.writesTarget(name, operation)
	t, err := b.targetTable(name, operation)
	if err != nil {
		return nil, err
	}
	b.ofTemporary(right, t)
	alias := src.AsName.O
	if alias == "" {
		alias = name.Name.O
	}
	s, err := b.scan(t, alias, name)
	if err != nil {
		return nil, err
	}
	b.attach(right, s)
	scan := s.tables[0].scan
	scan.Lock = logical.Lock{Strength: logical.LockForUpdate}
	sc.src = s
	b.targets = []*schema.Table{t}
	return &changeInput{node: s.node, scan: scan, sc: sc, right: right}, nil
}

// restrict adds WHERE, ORDER BY and LIMIT.
func (b *binder) restrict(in *changeInput, where ast.ExprNode, order *ast.OrderByClause, limit *ast.Limit) error {
	if where != nil {
		sc := *in.sc
		sc.clause = clauseWhere
		e, err := b.condition(&sc, where)
		if err != nil {
			return err
		}
		in.node = &logical.Filter{Input: in.node, Conds: expr.SplitAnd(nil, e)}
	}
	if order != nil {
		sc := *in.sc
		sc.clause = clauseOrder
		var keys []logical.SortKey
		for _, item := range order.Items {
			if p, ok := listItem(item.Expr).(*ast.PositionExpr); ok {
				return sqlerr.UnknownColumn(itoa(p.N), clauseOrder)
			}
			e, err := b.value(&sc, item.Expr)
			if err != nil {
				return err
			}
			if !expr.IsConst(e) {
				keys = append(keys, logical.SortKey{Expr: e, Desc: item.Desc})
			}
		}
		if len(keys) > 0 {
			in.node = &logical.Sort{Input: in.node, Keys: keys}
		}
	}
	count, offset, err := b.limit(in.sc, limit)
	if err != nil {
		return err
	}
	in.node = withLimit(in.node, count, offset)
	return nil
}

func (b *binder) update(n *ast.UpdateStmt) (logical.Statement, error) {
	src, name := singleTable(n.TableRefs)
	if src == nil {
		return b.multiUpdate(n)
	}
	if name == nil {
		return nil, sqlerr.NonUpdatableTable(src.AsName.O, "UPDATE")
	}
	if v, err := b.joinView(name, "UPDATE"); err != nil {
		return nil, err
	} else if v != nil {
		return b.multiUpdate(n)
	}
	defer b.hints(n.TableHints)()
	in, err := b.changeInput(n, "UPDATE", n.With, src, name)
	if err != nil {
		return nil, err
	}
	check := in.through.rowCheck(b)
	if in.scan.Only != nil {
		check = &logical.RowCheck{Conds: in.scan.Only}
	}
	used := b.rights.used()
	set, err := b.assignments(in.sc, in.scan.Table, in.scan.Alias, in.through, n.List)
	values := b.rights.used()
	in.assigning(set)
	b.rights.earlier(values, used)
	if err != nil {
		return nil, err
	}
	where := b.rights.used()
	if err := b.restrict(in, n.Where, n.Order, n.Limit); err != nil {
		return nil, err
	}
	b.rights.earlier(where, used)
	return &logical.Update{Table: in.scan.Table, Input: in.node, Scan: in.scan, Assignments: set, Ignore: n.IgnoreErr,
		Subqueries: b.subqueries, Check: check}, nil
}

func (b *binder) delete(st *parser.Statement, n *ast.DeleteStmt) (logical.Statement, error) {
	src, name := singleTable(n.TableRefs)
	if n.IsMultiTable {
		return b.multiDelete(n)
	}
	if name == nil {
		return nil, sqlerr.NonUpdatableTable(src.AsName.O, "DELETE")
	}
	if v, err := b.joinView(name, "DELETE"); err != nil {
		return nil, err
	} else if v != nil {
		return nil, sqlerr.ViewDeleteMerged(v.Database, v.Name)
	}
	defer b.hints(n.TableHints)()
	in, err := b.changeInput(n, "DELETE", n.With, src, name)
	if err != nil {
		return nil, err
	}
	if err := b.restrict(in, n.Where, n.Order, n.Limit); err != nil {
		return nil, err
	}
	out := &logical.Delete{Table: in.scan.Table, Input: in.node, Scan: in.scan, Ignore: n.IgnoreErr}
	if l, ok := in.node.(*logical.Limit); ok && n.Limit != nil && b.cascadesToItself(in.scan.Table) {
		out.Input, out.Limit = l.Input, l.Count
	}
	if out.Returning, err = b.returning(in.sc, in.node.Columns(), st.Returning); err != nil {
		return nil, err
	}
	out.Subqueries = b.subqueries
	return out, nil
}
