package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// keyExpr reads a key part that is an expression. 3762 for a bare column.
func (b *binder) keyExpr(index string, n ast.ExprNode) (string, error) {
	inner := n
	for {
		p, ok := inner.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		inner = p.Expr
	}
	if _, ok := inner.(*ast.ColumnNameExpr); ok {
		return "", sqlerr.FunctionalIndexOnField()
	}
	return b.storedText(define.Owner{Kind: define.OfIndex, Name: index}, n)
}

// castArray is CAST(… AS type ARRAY), which may be a key part as a whole. 1235
// for types that a multi-valued index cannot have.
func (b *binder) castArray(sc *scope, n *ast.FuncCastExpr, index string) (expr.Expr, error) {
	e, err := b.value(sc, n.Expr)
	if err != nil {
		return nil, err
	}
	t, err := b.scalarType(n, e.String())
	if err != nil {
		return nil, err
	}
	if t, err = define.KeyArrayElem(t, n.ExplicitCharSet); err != nil {
		return nil, err
	}
	return expr.NewCastArray(e, t, index)
}

// isCastArray reports CAST(… AS type ARRAY).
func isCastArray(n ast.ExprNode) (*ast.FuncCastExpr, bool) {
	for {
		p, ok := n.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		n = p.Expr
	}
	c, ok := n.(*ast.FuncCastExpr)
	return c, ok && c.Tp.IsArray()
}
