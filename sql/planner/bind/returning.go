package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// clauseReturning is RETURNING in messages.
const clauseReturning = "RETURNING"

// insertReturning binds RETURNING of INSERT and REPLACE.
func (b *binder) insertReturning(is *insertScope, list *ast.SelectStmt) (*logical.Returning, error) {
	if list == nil {
		return nil, nil
	}
	b.targets = []*schema.Table{is.t}
	defer func() { b.targets = nil }()
	if is.through != nil {
		in := is.through.input(b)
		return b.returning(in.sc, in.node.Columns(), list)
	}
	src, err := b.scan(is.t, is.alias, nil)
	if err != nil {
		return nil, err
	}
	b.attach(is.right, src)
	sc := b.scope(nil, nil, clauseReturning)
	sc.src = src
	return b.returning(sc, src.node.Columns(), list)
}

// returning binds the list of RETURNING over the rows of sc; there are no
// aggregates (1111) and no window functions (3593).
func (b *binder) returning(sc *scope, input []logical.Column, list *ast.SelectStmt) (*logical.Returning, error) {
	if list == nil {
		return nil, nil
	}
	own := *list
	own.From = &ast.TableRefsClause{} // * has a table
	k := &block{b: b, s: &own, sc: sc, src: sc.src}
	if err := k.items(k.scope(clauseReturning)); err != nil {
		return nil, err
	}
	out := &logical.Returning{Input: input}
	for i := range k.fields {
		e, c := k.fields[i].expr, b.outputColumn(&k.fields[i])
		if expr.IsVariant(e) {
			e = expr.VariantText(e)
			c.T = e.Type()
		}
		out.Exprs, out.Cols = append(out.Exprs, e), append(out.Cols, c)
	}
	return out, nil
}
