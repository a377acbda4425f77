package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// subquery binds a subquery in an expression and gives it a number.
func (b *binder) subquery(sc *scope, n ast.ExprNode) (*result, int, error) {
	s, ok := n.(*ast.SubqueryExpr)
	if !ok {
		return nil, 0, internalf("subquery %T", n)
	}
	r, err := b.query(&scope{b: b, outer: sc, clause: clauseField}, s.Query)
	if err != nil {
		return nil, 0, err
	}
	b.subqueries = append(b.subqueries, r.node)
	return r, len(b.subqueries) - 1, nil
}

func (b *binder) scalarSubquery(sc *scope, n *ast.SubqueryExpr) (expr.Expr, error) {
	r, id, err := b.subquery(sc, n)
	if err != nil {
		return nil, err
	}
	if len(r.cols) != 1 {
		return nil, sqlerr.OperandColumns(1)
	}
	return &expr.Subquery{Kind: expr.SubqueryScalar, ID: id, T: r.cols[0].T}, nil
}

func (b *binder) exists(sc *scope, n *ast.ExistsSubqueryExpr) (expr.Expr, error) {
	_, id, err := b.subquery(sc, n.Sel)
	if err != nil {
		return nil, err
	}
	return b.negated(n.Not, func() (expr.Expr, error) {
		return &expr.Subquery{Kind: expr.SubqueryExists, ID: id, T: types.Bool}, nil
	})
}

// operands are the values of a left operand of IN, ANY and ALL.
func operands(e expr.Expr) []expr.Expr {
	if f, ok := e.(*expr.Func); ok && f.Name == "row" {
		return f.Args
	}
	return []expr.Expr{e}
}

// common finds the types in which left and the subquery's columns are
// compared and converts left to them.
func (b *binder) common(left []expr.Expr, cols []logical.Column) ([]expr.Expr, []schema.Type, error) {
	if len(left) != len(cols) {
		return nil, nil, sqlerr.OperandColumns(len(left))
	}
	ts := make([]schema.Type, len(left))
	out := make([]expr.Expr, len(left))
	for i, l := range left {
		ts[i] = types.CmpType(l.Type(), cols[i].T, expr.IsConst(l), false)
		e, err := expr.NewCast(b.be, l, ts[i], false)
		if err != nil {
			return nil, nil, err
		}
		out[i] = e
	}
	return out, ts, nil
}

func (b *binder) inSubquery(sc *scope, n *ast.PatternInExpr) (expr.Expr, error) {
	l, err := b.expr(sc, n.Expr)
	if err != nil {
		return nil, err
	}
	r, id, err := b.subquery(sc, n.Sel)
	if err != nil {
		return nil, err
	}
	left, ts, err := b.common(operands(l), r.cols)
	if err != nil {
		return nil, err
	}
	return &expr.Subquery{Kind: expr.SubqueryIn, ID: id, Left: left, CmpTypes: ts, T: types.Bool}, nil
}

// compareSubquery is ANY, SOME and ALL; = ANY is IN, <> ALL is NOT IN.
func (b *binder) compareSubquery(sc *scope, n *ast.CompareSubqueryExpr) (expr.Expr, error) {
	l, err := b.expr(sc, n.L)
	if err != nil {
		return nil, err
	}
	r, id, err := b.subquery(sc, n.R)
	if err != nil {
		return nil, err
	}
	left, ts, err := b.common(operands(l), r.cols)
	if err != nil {
		return nil, err
	}
	s := &expr.Subquery{Kind: expr.SubqueryAny, ID: id, Left: left, Op: binaryOps[n.Op], CmpTypes: ts, T: types.Bool}
	switch {
	case n.Op == opcode.EQ && !n.All:
		s.Kind, s.Op = expr.SubqueryIn, ""
		return s, nil
	case n.Op == opcode.NE && n.All:
		s.Kind, s.Op = expr.SubqueryIn, ""
		return expr.NewFunc(b.be, "not", s)
	case n.All:
		s.Kind = expr.SubqueryAll
	}
	if len(left) != 1 {
		return nil, sqlerr.OperandColumns(1)
	}
	if n.Op == opcode.NullEQ {
		return nil, sqlerr.NotSupported("<=> ANY")
	}
	return s, nil
}

// rowSubquery is (a, b) = (SELECT x, y): a scalar subquery of rows. ok is
// false when n is something else.
func (b *binder) rowSubquery(sc *scope, n *ast.BinaryOperationExpr, name string) (expr.Expr, bool, error) {
	l, r := stripParens(n.L), stripParens(n.R)
	_, lRow := l.(*ast.RowExpr)
	_, rRow := r.(*ast.RowExpr)
	_, lSub := l.(*ast.SubqueryExpr)
	_, rSub := r.(*ast.SubqueryExpr)
	if lRow && rSub || rRow && lSub {
		return nil, false, sqlerr.NotSupported("comparison of a row with a subquery")
	}
	return nil, false, nil
}

func stripParens(n ast.ExprNode) ast.ExprNode {
	for {
		p, ok := n.(*ast.ParenthesesExpr)
		if !ok {
			return n
		}
		n = p.Expr
	}
}

// semiJoins turns the conditions of WHERE that are IN (subquery) into semi
// joins, and NOT IN into anti joins where no NULL can be on either side: with
// one, NOT IN is never true where an anti join would keep the row. What is
// left stays a condition.
func (b *binder) semiJoins(node logical.Node, where []expr.Expr) (logical.Node, []expr.Expr, error) {
	if _, ok := node.(*logical.Values); ok {
		return node, where, nil
	}
	var rest []expr.Expr
	for _, e := range where {
		s, not := inCondition(e)
		if s == nil || b.subqueries[s.ID] == nil {
			rest = append(rest, e)
			continue
		}
		cols := b.subqueries[s.ID].Columns()
		if not && nullableIn(s, cols) || allConst(s.Left) {
			rest = append(rest, e)
			continue
		}
		on := make([]expr.Expr, len(cols))
		for i := range cols {
			eq, err := expr.NewFunc(b.be, "=", s.Left[i], colExpr(&cols[i]))
			if err != nil {
				return nil, nil, err
			}
			on[i] = eq
		}
		kind := logical.JoinSemi
		if not {
			kind = logical.JoinAnti
		}
		node = &logical.Join{Kind: kind, Left: node, Right: b.subqueries[s.ID], On: on}
		// The number stays taken: ids index the list.
		b.subqueries[s.ID] = nil
	}
	return node, rest, nil
}

func inCondition(e expr.Expr) (s *expr.Subquery, not bool) {
	if f, ok := e.(*expr.Func); ok && f.Name == "not" {
		not = true
		e = f.Args[0]
	}
	s, ok := e.(*expr.Subquery)
	if !ok || s.Kind != expr.SubqueryIn {
		return nil, false
	}
	return s, not
}

func nullableIn(s *expr.Subquery, cols []logical.Column) bool {
	for i, l := range s.Left {
		if l.Nullable() || cols[i].Null {
			return true
		}
	}
	return false
}

func allConst(list []expr.Expr) bool {
	for _, e := range list {
		if !expr.IsConst(e) {
			return false
		}
	}
	return true
}
