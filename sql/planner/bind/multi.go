package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// joinedTables binds the tables of a change of several tables.
func (b *binder) joinedTables(with *ast.WithClause, refs *ast.TableRefsClause, n ast.Node) (*scope, error) {
	sc := &scope{b: b, clause: clauseField}
	if err := b.withClause(sc, with, n); err != nil {
		return nil, err
	}
	b.opening = sc
	src, err := b.from(sc, refs.TableRefs)
	b.opening = nil
	if err != nil {
		return nil, err
	}
	b.orderJoins(src)
	sc.src = src
	return sc, nil
}

// lockJoined sets the locks of the tables of a change: those that are changed
// exclusively, the others as InnoDB reads them in a change, shared.
func lockJoined(sc *scope, targets []*logical.Scan) {
	for _, t := range sc.src.tables {
		scans := []*logical.Scan{t.scan}
		if t.opened != nil {
			scans = t.opened.scans
		}
		for _, s := range scans {
			if s != nil {
				s.Lock = logical.Lock{Strength: logical.LockForShare}
			}
		}
	}
	for _, t := range targets {
		t.Lock = logical.Lock{Strength: logical.LockForUpdate}
	}
}

// restrictJoined adds WHERE.
func (b *binder) restrictJoined(sc *scope, where ast.ExprNode) (logical.Node, error) {
	if where == nil {
		return sc.src.node, nil
	}
	at := *sc
	at.clause = clauseWhere
	e, err := b.condition(&at, where)
	if err != nil {
		return nil, err
	}
	return &logical.Filter{Input: sc.src.node, Conds: expr.SplitAnd(nil, e)}, nil
}

// multiUpdate is UPDATE of tables of a join: 1221, 1288, 1706.
func (b *binder) multiUpdate(n *ast.UpdateStmt) (*logical.MultiUpdate, error) {
	switch {
	case n.Order != nil:
		return nil, sqlerr.WrongUsage("UPDATE", "ORDER BY")
	case n.Limit != nil:
		return nil, sqlerr.WrongUsage("UPDATE", "LIMIT")
	}
	defer b.hints(n.TableHints)()
	sc, err := b.joinedTables(n.With, n.TableRefs, n)
	if err != nil {
		return nil, err
	}
	out := &logical.MultiUpdate{Ignore: n.IgnoreErr}
	lists := map[*logical.Scan][]*ast.Assignment{}
	through := map[*logical.Scan]*openedView{}
	var scans []*logical.Scan
	for _, a := range n.List {
		ref, err := sc.src.owner(a.Column)
		if err != nil {
			return nil, err
		}
		scan, name, err := b.assignTo(sc.src, ref, a.Column)
		if err != nil {
			return nil, err
		}
		if lists[scan] == nil {
			scans = append(scans, scan)
			b.targets = append(b.targets, scan.Table)
			through[scan] = ref.opened
		}
		lists[scan] = append(lists[scan], &ast.Assignment{Column: &ast.ColumnName{Name: name}, Expr: a.Expr})
	}
	lockJoined(sc, scans)
	used := b.rights.used()
	columns := used
	for _, s := range scans {
		set, err := b.assignments(sc, s.Table, s.Alias, nil, lists[s])
		values := b.rights.used()
		b.joinedRights(sc.src, s, set, priv.Update)
		more := b.rights.used() - values
		b.rights.earlier(values, columns)
		columns += more
		if err != nil {
			return nil, err
		}
		target := logical.UpdateTarget{Scan: s, Assignments: set}
		if o := through[s]; o != nil {
			target.Check = o.rowCheck(b)
		}
		if s.Only != nil {
			target.Check = &logical.RowCheck{Conds: s.Only}
		}
		out.Targets = append(out.Targets, target)
	}
	if err := checkKeyUpdates(out.Targets); err != nil {
		return nil, err
	}
	where := b.rights.used()
	if out.Input, err = b.restrictJoined(sc, n.Where); err != nil {
		return nil, err
	}
	b.rights.flush(0)
	b.rights.earlier(where, used)
	out.Subqueries = b.subqueries
	return out, nil
}

// owner is the table whose column a name means: 1052, 1054.
func (s *source) owner(name *ast.ColumnName) (*tableRef, error) {
	c, err := s.find(name.Schema.O, name.Table.O, name.Name.O, clauseField)
	if err != nil {
		return nil, err
	}
	if c != nil {
		for _, t := range s.tables {
			for i := range t.cols {
				if t.cols[i].ID == c.ID {
					return t, nil
				}
			}
		}
	}
	if c, err = s.attributes(name.Schema.O, name.Table.O, name.Name.O, clauseField); err != nil {
		return nil, err
	} else if c != nil {
		for _, t := range s.tables {
			if t.scan != nil && t.alias == c.Table && t.db == c.DB {
				return t, nil
			}
		}
	}
	return nil, sqlerr.UnknownColumn(qualified(name.Schema.O, name.Table.O, name.Name.O), clauseField)
}

// checkKeyUpdates is 1706: a table under two names whose primary key changes.
func checkKeyUpdates(targets []logical.UpdateTarget) error {
	for i := range targets {
		for j := range targets[:i] {
			a, c := &targets[j], &targets[i]
			if a.Scan.Table == c.Scan.Table && (setsKey(a) || setsKey(c)) {
				return sqlerr.MultiUpdateKeyConflict(a.Scan.Alias, c.Scan.Alias)
			}
		}
	}
	return nil
}

func setsKey(u *logical.UpdateTarget) bool {
	t := u.Scan.Table
	for _, a := range u.Assignments {
		id := t.Columns[a.Column].ID
		if t.IsPrimaryKeyPart(id) || t.Partitioning != nil && slices.Contains(t.Partitioning.Reads, id) {
			return true
		}
	}
	return false
}

// multiDelete is DELETE from tables of a join, in both forms: 1066, 1109, 1288.
func (b *binder) multiDelete(n *ast.DeleteStmt) (*logical.MultiDelete, error) {
	if n.Order != nil || n.Limit != nil {
		return nil, sqlerr.WrongUsage("DELETE", "ORDER BY")
	}
	defer b.hints(n.TableHints)()
	sc, err := b.joinedTables(n.With, n.TableRefs, n)
	if err != nil {
		return nil, err
	}
	out := &logical.MultiDelete{Ignore: n.IgnoreErr}
	for _, want := range n.Tables.Tables {
		ref := b.deleteTarget(sc.src, want)
		if ref == nil {
			return nil, sqlerr.UnknownTableIn(want.Name.O, "MULTI DELETE")
		}
		scan, err := deleteFrom(ref)
		if err != nil {
			return nil, err
		}
		for _, s := range out.Targets {
			if s == scan {
				return nil, sqlerr.NotUniqueTable(want.Name.O)
			}
		}
		out.Targets = append(out.Targets, scan)
		b.targets = append(b.targets, scan.Table)
		b.joinedRights(sc.src, scan, nil, priv.Delete)
	}
	lockJoined(sc, out.Targets)
	if out.Input, err = b.restrictJoined(sc, n.Where); err != nil {
		return nil, err
	}
	out.Subqueries = b.subqueries
	return out, nil
}

// deleteTarget finds the table of a join that DELETE names: by its alias, or,
// where it has none, by its name in the database that is said or current.
func (b *binder) deleteTarget(src *source, want *ast.TableName) *tableRef {
	for _, t := range src.tables {
		if !strings.EqualFold(t.alias, want.Name.O) {
			continue
		}
		db := want.Schema.O
		if t.opened != nil {
			if t.opened.isNamed(t.alias, db, b.env.Database) {
				return t
			}
			continue
		}
		isAlias := t.scan == nil || !strings.EqualFold(t.alias, t.scan.Table.Name)
		switch {
		case isAlias && db != "":
			continue
		case !isAlias && db == "":
			db = b.env.Database
		}
		if isAlias || strings.EqualFold(t.db, db) {
			return t
		}
	}
	return nil
}
