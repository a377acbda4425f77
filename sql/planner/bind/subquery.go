package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// subquery binds a subquery in an expression and gives it a number.
func (b *binder) subquery(sc *scope, n ast.ExprNode) (*result, *expr.Subquery, error) {
	s, ok := n.(*ast.SubqueryExpr)
	if !ok {
		return nil, nil, internalf("subquery %T", n)
	}
	var r *result
	outer, err := b.inside(func() (err error) {
		r, err = b.query(b.scope(sc, nil, clauseField), s.Query)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	b.subqueries = append(b.subqueries, r.node)
	return r, &expr.Subquery{ID: len(b.subqueries) - 1, Outer: outer, T: types.Bool, SemiJoin: b.semiJoinHint(s.Query)}, nil
}

// scalarSubquery is one value, or a row of them where a row is allowed.
func (b *binder) scalarSubquery(sc *scope, n *ast.SubqueryExpr) (expr.Expr, error) {
	r, s, err := b.subquery(sc, n)
	if err != nil {
		return nil, err
	}
	items := make([]expr.Expr, len(r.cols))
	shown := r.widen()
	for i := range r.cols {
		c := *s
		c.Kind, c.Column, c.T = expr.SubqueryScalar, i, r.cols[i].T
		items[i] = &c
		if shown != nil {
			items[i] = expr.NewShown(&c, shown[i])
		}
	}
	if len(items) == 1 {
		return items[0], nil
	}
	return expr.NewRow(items...)
}

func (b *binder) exists(sc *scope, n *ast.ExistsSubqueryExpr) (expr.Expr, error) {
	r, s, err := b.subquery(sc, n.Sel)
	if err != nil {
		return nil, err
	}
	s.Kind = expr.SubqueryExists
	if _, limited := r.node.(*logical.Limit); !limited {
		b.subqueries[s.ID] = &logical.Limit{Input: r.node, Count: expr.NewConst(value.Uint(1), types.UBigInt)}
	}
	return b.negated(n.Not, func() (expr.Expr, error) { return s, nil })
}

// operands are the values of a left operand of IN, ANY and ALL.
func operands(e expr.Expr) []expr.Expr {
	if f, ok := e.(*expr.Func); ok && f.Op == expr.OpRow {
		return f.Args
	}
	return []expr.Expr{e}
}

// common finds the types in which left and the subquery's columns are
// compared and converts left to them.
func (b *binder) common(s *expr.Subquery, left []expr.Expr, r *result) ([]expr.Expr, []schema.Type, error) {
	if len(left) != len(r.cols) {
		return nil, nil, sqlerr.OperandColumns(len(left))
	}
	r.widen()
	left, r, err := b.variants(left, r)
	if err != nil {
		return nil, nil, err
	}
	b.subqueries[s.ID] = r.node
	cols := r.cols
	ts := make([]schema.Type, len(left))
	out := make([]expr.Expr, len(left))
	for i, l := range left {
		if cols[i].T.ID == schema.TypeDecimal {
			l = expr.KeepQuotient(l)
		}
		l = expr.YearOperand(colExpr(&cols[i]), l)
		ts[i] = types.CmpType(l.Type(), cols[i].T, expr.IsConst(l) && !expr.ReadsOuter(l), false)
		e, err := expr.NewCast(b.be, l, ts[i], false)
		if err != nil {
			return nil, nil, err
		}
		out[i] = e
	}
	return out, ts, nil
}

// variants brings attributes on either side to what they are compared as: with
// numbers as numbers, with attributes as JSON values, with all else as text.
func (b *binder) variants(left []expr.Expr, r *result) ([]expr.Expr, *result, error) {
	out, exprs := make([]expr.Expr, len(left)), make([]expr.Expr, len(left))
	changed := false
	for i := range left {
		l, c := left[i], expr.Expr(colExpr(&r.cols[i]))
		if expr.IsVariant(l) || expr.IsVariant(c) {
			x, y, ok, err := expr.VariantPair(b.be, l, c)
			if err != nil {
				return nil, nil, err
			}
			if !ok {
				x, y = expr.VariantText(l), expr.VariantText(c)
			}
			l, c, changed = expr.VariantJSON(x), expr.VariantJSON(y), true
		}
		out[i], exprs[i] = l, c
	}
	if !changed {
		return left, r, nil
	}
	p := b.projectTo(r.node, r.cols, exprs)
	return out, &result{node: p, cols: p.Columns()}, nil
}

// notLimited refuses LIMIT in a subquery of IN, ANY and ALL, as MySQL does. A
// derived table in it may have LIMIT.
func notLimited(n ast.ExprNode) error {
	s, ok := n.(*ast.SubqueryExpr)
	if !ok {
		return nil
	}
	limited := false
	switch q := s.Query.(type) {
	case *ast.SelectStmt:
		limited = q.Limit != nil
	case *ast.SetOprStmt:
		limited = q.Limit != nil
	}
	if limited {
		return sqlerr.NotSupported("LIMIT & IN/ALL/ANY/SOME subquery")
	}
	return nil
}

func (b *binder) inSubquery(sc *scope, n *ast.PatternInExpr) (expr.Expr, error) {
	l, err := b.expr(sc, n.Expr)
	if err != nil {
		return nil, err
	}
	if err := notLimited(n.Sel); err != nil {
		return nil, err
	}
	r, s, err := b.subquery(sc, n.Sel)
	if err != nil {
		return nil, err
	}
	s.Kind = expr.SubqueryIn
	if s.Left, s.CmpTypes, err = b.common(s, operands(l), r); err != nil {
		return nil, err
	}
	return s, nil
}

// compareSubquery is ANY, SOME and ALL; = ANY is IN, <> ALL is NOT IN.
func (b *binder) compareSubquery(sc *scope, n *ast.CompareSubqueryExpr) (expr.Expr, error) {
	if n.Op == opcode.NullEQ {
		return nil, sqlerr.Parse("", "<=>", 1) // no comparison of ANY and ALL
	}
	l, err := b.expr(sc, n.L)
	if err != nil {
		return nil, err
	}
	if err := notLimited(n.R); err != nil {
		return nil, err
	}
	r, s, err := b.subquery(sc, n.R)
	if err != nil {
		return nil, err
	}
	if s.Left, s.CmpTypes, err = b.common(s, operands(l), r); err != nil {
		return nil, err
	}
	switch {
	case n.Op == opcode.EQ && !n.All:
		s.Kind = expr.SubqueryIn
		return s, nil
	case n.Op == opcode.NE && n.All:
		s.Kind = expr.SubqueryIn
		return expr.NewFunc(b.be, "not", s)
	case len(s.Left) != 1:
		return nil, sqlerr.OperandColumns(1)
	}
	s.Kind, s.Op = expr.SubqueryAny, binaryOps[n.Op]
	if n.All {
		s.Kind = expr.SubqueryAll
	}
	return s, nil
}
