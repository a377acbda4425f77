package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Bind gives a statement its meaning. Errors are *sqlerr.Error: those of
// MySQL, and 1235 that names what sqlots does not have.
func Bind(env *Env, st parser.Statement) (logical.Statement, error) {
	b := newBinder(env)
	for _, w := range st.Warnings {
		b.warn(w)
	}
	if st.Admin != nil {
		return b.admin(st.Admin)
	}
	out, err := b.statement(&st, st.Node)
	if err != nil {
		return nil, err
	}
	if len(st.Into) > 0 {
		q, ok := out.(*logical.Query)
		if !ok {
			return nil, sqlerr.NotSupported("INTO @variable")
		}
		if len(q.Root.Columns()) != len(st.Into) {
			return nil, sqlerr.WrongNumberOfColumnsInSelectInto()
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
		return b.insert(n)
	case *ast.UpdateStmt:
		return b.update(n)
	case *ast.DeleteStmt:
		return b.delete(n)
	case *ast.LoadDataStmt:
		return b.loadData(n)
	case *ast.ExplainStmt:
		return b.explain(st, n)
	case *ast.ShowStmt:
		return b.show(st, n)
	case *ast.CreateTableStmt:
		return b.createTable(n)
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
	q := &logical.Query{Root: r.node, Subqueries: b.subqueries, Locks: b.locks}
	if s, ok := n.(*ast.SelectStmt); ok && s.SelectStmtOpts != nil {
		q.CalcFoundRows = s.SelectStmtOpts.CalcFoundRows
	}
	return q, nil
}

// explain binds EXPLAIN of a statement; EXPLAIN table is DESCRIBE.
func (b *binder) explain(st *parser.Statement, n *ast.ExplainStmt) (logical.Statement, error) {
	if s, ok := n.Stmt.(*ast.ShowStmt); ok {
		return b.show(st, s)
	}
	if n.Stmt == nil || n.Explore || n.PlanDigest != "" {
		return nil, sqlerr.NotSupported("EXPLAIN of this form")
	}
	format := strings.ToLower(n.Format)
	switch format {
	case "", "row", "traditional":
		format = "traditional"
		if n.Analyze {
			format = "tree"
		}
	case "tree", "json", "trace":
	default:
		return nil, sqlerr.New(1791, "HY000", "Unknown EXPLAIN format name: '%s'", n.Format)
	}
	inner, err := b.statement(st, n.Stmt)
	if err != nil {
		return nil, err
	}
	switch inner.(type) {
	case *logical.Query, *logical.Insert, *logical.Update, *logical.Delete:
		return &logical.Explain{Stmt: inner, Analyze: n.Analyze, Format: format}, nil
	}
	return nil, sqlerr.NotSupported("EXPLAIN of this statement")
}
