package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Bind gives a statement its meaning. Errors are *sqlerr.Error: those of
// MySQL, and 1235 that names what sqlots does not have.
func Bind(env *Env, st parser.Statement) (logical.Statement, error) {
	b := newBinder(env)
	out, err := b.whole(st)
	if err == nil {
		b.needsOf(out)
	}
	needs := b.rights.needs()
	if x, ok := st.Node.(*ast.ExplainStmt); ok && x.Stmt != nil {
		needs.Explained = b.rights.explained(nil)
	}
	if env.Check != nil {
		// Who may not know of a table does not learn what is wrong with it either.
		if refused := env.Check(needs); refused != nil {
			return nil, refused
		}
	}
	if err != nil {
		return nil, err
	}
	if d, ok := out.(interface{ Dependencies() *logical.Deps }); ok {
		d.Dependencies().Needs = needs
	}
	return out, nil
}

// whole binds a statement with what follows it, such as INTO.
func (b *binder) whole(st parser.Statement) (logical.Statement, error) {
	b.written = &st
	for _, w := range st.Warnings {
		b.warn(w)
	}
	if st.Admin != nil {
		return b.admin(st.Admin)
	}
	b.addressHints(&st)
	out, err := b.statement(&st, st.Node)
	if err != nil {
		return nil, err
	}
	if d, ok := out.(interface{ Dependencies() *logical.Deps }); ok {
		d.Dependencies().Views = b.views
	}
	if st.File != nil {
		q, ok := out.(*logical.Query)
		if !ok {
			return nil, sqlerr.WrongUsage("INTO", "this statement")
		}
		if q.File, err = outFile(st.File); err != nil {
			return nil, err
		}
	}
	if len(st.Into) > 0 {
		if x, ok := out.(*logical.Explain); ok && !x.Analyze {
			return out, nil // where the rows would go does not matter
		}
		q, ok := out.(*logical.Query)
		if !ok {
			return nil, sqlerr.NotSupported("INTO @variable")
		}
		if len(q.Root.Columns()) != len(st.Into) {
			return nil, sqlerr.WrongNumberOfSelectColumns()
		}
		q.Into = st.Into
	}
	return out, nil
}

func (b *binder) statement(st *parser.Statement, n ast.StmtNode) (logical.Statement, error) {
	switch n := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return b.queryStmt(n.(ast.ResultSetNode))
	case *ast.InsertStmt:
		return b.insert(st, n)
	case *ast.UpdateStmt:
		return b.update(n)
	case *ast.DeleteStmt:
		return b.delete(st, n)
	case *ast.LoadDataStmt:
		return b.loadData(n)
	case *ast.ExplainStmt:
		return b.explain(st, n)
	case *ast.ShowStmt:
		return b.show(st, n)
	case *ast.CreateTableStmt:
		return b.createTable(n)
	case *ast.CreateViewStmt:
		return b.createView(st, n)
	case *ast.AlterTableStmt:
		return b.alterTable(n)
	case *ast.CreateIndexStmt:
		return b.createIndex(n)
	case *ast.DropIndexStmt:
		return b.dropIndex(n)
	}
	return b.other(st, n)
}

func (b *binder) queryStmt(n ast.ResultSetNode) (*logical.Query, error) {
	r, err := b.query(&scope{b: b, clause: clauseField}, n)
	if err != nil {
		return nil, err
	}
	r = b.shown(r)
	showLiterals(r)
	q := &logical.Query{Root: r.node, Subqueries: b.subqueries, Locks: b.locks, LocksForUpdate: b.locksForUpdate}
	if s := firstSelect(n); s != nil && s.SelectStmtOpts != nil {
		q.CalcFoundRows = s.SelectStmtOpts.CalcFoundRows
	}
	switch x := n.(type) {
	case *ast.SelectStmt:
		q.Limited = x.Limit != nil
	case *ast.SetOprStmt:
		q.Limited = x.Limit != nil
	}
	return q, nil
}

// firstSelect is the leftmost block of a query, whose options are those of the
// whole; nil if none exists.
func firstSelect(n ast.Node) *ast.SelectStmt {
	switch x := n.(type) {
	case *ast.SelectStmt:
		return x
	case *ast.SetOprStmt:
		return firstSelect(x.SelectList)
	case *ast.SetOprSelectList:
		if len(x.Selects) > 0 {
			return firstSelect(x.Selects[0])
		}
	}
	return nil
}
