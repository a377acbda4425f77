package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// explainFormat is the format that EXPLAIN names, "" for none: 1791.
func explainFormat(name string) (string, error) {
	switch f := strings.ToLower(name); f {
	case "", "row":
		return "", nil
	case "traditional", "tree", "json", "trace":
		return f, nil
	}
	return "", sqlerr.UnknownExplainFormat(name)
}

// explain binds EXPLAIN of a statement; EXPLAIN table is DESCRIBE.
func (b *binder) explain(st *parser.Statement, n *ast.ExplainStmt) (logical.Statement, error) {
	if s, ok := n.Stmt.(*ast.ShowStmt); ok {
		return b.show(st, s)
	}
	if n.Stmt == nil || n.Explore || n.PlanDigest != "" {
		return nil, sqlerr.NotSupported("EXPLAIN of this form")
	}
	format, err := explainFormat(n.Format)
	if err != nil {
		return nil, err
	}
	var into string
	if x := st.Explain; x != nil {
		if into = x.Into; into != "" {
			if err := explainInto(format, n.Analyze); err != nil {
				return nil, err
			}
		}
		if x.Schema != "" {
			env := *b.env
			if env.Database, err = b.showDB(x.Schema); err != nil {
				return nil, err
			}
			b.env = &env
		}
	}
	b.rights.explains = true
	inner, err := b.statement(st, n.Stmt)
	if err != nil {
		return nil, err
	}
	if d, ok := inner.(interface{ Dependencies() *logical.Deps }); ok {
		d.Dependencies().Views = b.views
	}
	switch inner.(type) {
	case *logical.Query, *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete:
		return &logical.Explain{Stmt: inner, Analyze: n.Analyze, Format: format, Into: into}, nil
	}
	return nil, sqlerr.NotSupported("EXPLAIN of this statement")
}

// explainInto checks what EXPLAIN INTO can be combined with: the format has to
// be written, and be JSON.
func explainInto(format string, analyze bool) error {
	switch {
	case analyze:
		return sqlerr.NotSupported("EXPLAIN ANALYZE INTO")
	case format == "":
		return sqlerr.ExplainIntoImplicitFormat()
	case format != "json":
		return sqlerr.ExplainIntoFormat(strings.ToUpper(format))
	}
	return nil
}
