package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/value"
)

// Columns of more digits than they show: a quotient keeps those that its
// division computes as long as it passes through no temporary table of MySQL's.
// 1/9*90 is 10.0000, and so are (SELECT 1/9)*90 and MAX(1/9)*90.

// widen lets the columns of r, if they are a select list, have all digits of
// their expressions, and gives the types that they show; nil if none has more.
func (r *result) widen() []schema.Type {
	p, ok := r.node.(*logical.Project)
	if !ok || len(p.Cols) != len(r.cols) {
		return nil
	}
	var shown []schema.Type
	for i, e := range p.Exprs {
		x := expr.KeepQuotient(e)
		if x == e || p.Cols[i].ID != r.cols[i].ID {
			continue
		}
		if shown == nil {
			shown = make([]schema.Type, len(r.cols))
			for j := range r.cols {
				shown[j] = r.cols[j].T
			}
		}
		p.Exprs[i], p.Cols[i].T, r.cols[i].T = x, x.Type(), x.Type()
	}
	return shown
}

// showLiterals lets a client see all digits of the decimal literals that are
// columns of r. A table would keep 30 after the point.
func showLiterals(r *result) {
	p, ok := r.node.(*logical.Project)
	if !ok || len(p.Cols) != len(r.cols) {
		return
	}
	for i, e := range p.Exprs {
		c, ok := e.(*expr.Const)
		if !ok || c.D.Kind() != value.KindDecimal || c.D.Decimal().Scale() <= value.MaxDecimalScale {
			continue
		}
		wide := *c
		wide.T.Len, wide.T.Scale = max(c.D.Decimal().Digits(), c.D.Decimal().Scale()), c.D.Decimal().Scale()
		p.Exprs[i], p.Cols[i].T, r.cols[i].T = &wide, wide.T, wide.T
	}
}

// merges reports whether MySQL puts a derived table or a view into the query
// around, so that its columns are the expressions of its select list.
func merges(q ast.ResultSetNode, n logical.Node) bool {
	s, ok := q.(*ast.SelectStmt)
	if !ok || s.From == nil || s.GroupBy != nil || s.Having != nil || s.Distinct || s.Limit != nil {
		return false
	}
	p, ok := n.(*logical.Project)
	if !ok {
		return false
	}
	in := p.Input
	if x, ok := in.(*logical.Sort); ok {
		in = x.Input
	}
	switch in.(type) {
	case *logical.Aggregate, *logical.Window:
		return false
	}
	return true
}

// derivedResult is derivedSource of the result of q, with columns that have
// been renamed.
func (b *binder) derivedResult(q ast.ResultSetNode, node logical.Node, cols []logical.Column, alias string) *source {
	if !merges(q, node) {
		return derivedSource(node, cols, alias)
	}
	wide := &result{node: node, cols: append([]logical.Column(nil), cols...)}
	wide.widen()
	b.showColumns(wide.cols, cols)
	return derivedSource(node, cols, alias)
}

// showColumns notes that cols, as they show, have the types of have.
func (b *binder) showColumns(have, cols []logical.Column) {
	for i := range have {
		if have[i].T.ID != schema.TypeDecimal || have[i].T.Scale == cols[i].T.Scale {
			continue
		}
		if b.digits == nil {
			b.digits = map[expr.ColID]schema.Type{}
		}
		b.digits[cols[i].ID] = have[i].T
	}
}

// plainColumn is the column that e is, perhaps with fewer digits than it has;
// nil if it is none.
func plainColumn(e expr.Expr) *expr.Col {
	if x := expr.Shown(e); x != nil {
		e = x
	}
	c, _ := e.(*expr.Col)
	return c
}
