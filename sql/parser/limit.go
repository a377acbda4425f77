package parser

import "github.com/pingcap/tidb/pkg/parser/ast"

// LimitParams are the positions of the parameters of LIMIT clauses.
func (stmt Statement) LimitParams() []int {
	if len(stmt.Params) == 0 || stmt.Node == nil {
		return nil
	}
	v := &limitVisitor{}
	stmt.Node.Accept(v)
	return v.found
}

type limitVisitor struct{ found []int }

// Enter implements ast.Visitor.
func (v *limitVisitor) Enter(n ast.Node) (ast.Node, bool) {
	l, ok := n.(*ast.Limit)
	if !ok {
		return n, false
	}
	for _, e := range []ast.ExprNode{l.Count, l.Offset} {
		if p, ok := e.(*Param); ok {
			v.found = append(v.found, p.Index)
		}
	}
	return n, true
}

// Leave implements ast.Visitor.
func (v *limitVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }
