package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// operand is one input of a chain of set operations with the operator before
// it.
type operand struct {
	r   *result
	op  logical.SetOp
	all bool
}

func (b *binder) setOprStmt(env *scope, n *ast.SetOprStmt) (*result, error) {
	sc := b.scope(env.outer, append([]*cte(nil), env.ctes...), clauseField)
	if err := b.withClause(sc, n.With, n); err != nil {
		return nil, err
	}
	r, err := b.setOprList(sc, n.SelectList)
	if err != nil {
		return nil, err
	}
	return b.orderOutput(sc, r, n.OrderBy, n.Limit)
}

// setOprList binds a chain; INTERSECT binds tighter than UNION and EXCEPT.
func (b *binder) setOprList(env *scope, n *ast.SetOprSelectList) (*result, error) {
	sc := b.scope(env.outer, append([]*cte(nil), env.ctes...), clauseField)
	if err := b.withClause(sc, n.With, n); err != nil {
		return nil, err
	}
	if len(n.Selects) > maxOperands {
		return nil, sqlerr.ChainTooLong(maxOperands)
	}
	var list []operand
	for i, x := range n.Selects {
		o, err := b.operand(sc, x, i < len(n.Selects)-1)
		if err != nil {
			return nil, err
		}
		if i > 0 && len(o.r.cols) != len(list[0].r.cols) {
			return nil, sqlerr.WrongNumberOfSelectColumns()
		}
		list = append(list, o)
	}
	var chain []operand
	for i, o := range list {
		if i > 0 && o.op == logical.SetIntersect {
			last := &chain[len(chain)-1]
			want, err := b.commonTypes([]operand{*last, o})
			if err != nil {
				return nil, err
			}
			r, err := b.setOperation(o, last.r, want)
			if err != nil {
				return nil, err
			}
			last.r = r
			continue
		}
		chain = append(chain, o)
	}
	want, err := b.commonTypes(chain)
	if err != nil {
		return nil, err
	}
	r := chain[0].r
	for _, o := range chain[1:] {
		if r, err = b.setOperation(o, r, want); err != nil {
			return nil, err
		}
	}
	return b.orderOutput(sc, r, n.OrderBy, n.Limit)
}

func (b *binder) operand(sc *scope, n ast.Node, notLast bool) (operand, error) {
	var o operand
	var after *ast.SetOprType
	var err error
	switch x := n.(type) {
	case *ast.SelectStmt:
		after = x.AfterSetOperator
		if !x.IsInBraces && notLast {
			if x.OrderBy != nil {
				return o, sqlerr.WrongUsage("UNION", "ORDER BY")
			}
			if x.Limit != nil {
				return o, sqlerr.WrongUsage("UNION", "LIMIT")
			}
		}
		o.r, err = b.selectStmt(sc, x)
	case *ast.SetOprSelectList:
		after = x.AfterSetOperator
		o.r, err = b.setOprList(sc, x)
	default:
		err = internalf("operand %T", n)
	}
	if err != nil {
		return o, err
	}
	if after != nil {
		switch *after {
		case ast.Union:
		case ast.UnionAll:
			o.all = true
		case ast.Except:
			o.op = logical.SetExcept
		case ast.ExceptAll:
			o.op, o.all = logical.SetExcept, true
		case ast.Intersect:
			o.op = logical.SetIntersect
		case ast.IntersectAll:
			o.op, o.all = logical.SetIntersect, true
		}
	}
	return o, nil
}

// commonTypes are the types of the columns of a chain. All its operands have a
// say, also in what an earlier UNION takes for equal.
func (b *binder) commonTypes(chain []operand) ([]schema.Type, error) {
	out := make([]schema.Type, len(chain[0].r.cols))
	for i := range out {
		origins := make([]expr.Expr, len(chain))
		ts := make([]schema.Type, len(chain))
		for j, o := range chain {
			ts[j], origins[j] = o.r.cols[i].T, origin(o.r.node, &o.r.cols[i])
		}
		out[i] = types.Unify(ts...)
		if !out[i].IsCharacter() {
			continue
		}
		var err error
		if out[i].Collation, err = expr.AgreedCollation(b.be, "UNION", origins); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// setOperation joins o to the result on its left, converted to the types want.
func (b *binder) setOperation(o operand, left *result, want []schema.Type) (*result, error) {
	op, all, right := o.op, o.all, o.r
	out := make([]logical.Column, len(left.cols))
	le, re := make([]expr.Expr, len(out)), make([]expr.Expr, len(out))
	castL, castR := false, false
	lx, lin := left.columns()
	rx, rin := right.columns()
	for i := range out {
		l, r := &left.cols[i], &right.cols[i]
		t := want[i]
		var err error
		if le[i], err = expr.NewStored(b.be, lx[i], t, l.Name); err != nil {
			return nil, err
		}
		if re[i], err = expr.NewStored(b.be, rx[i], t, l.Name); err != nil {
			return nil, err
		}
		castL = castL || le[i].Type().ID != l.T.ID || le[i] != lx[i]
		castR = castR || re[i].Type().ID != r.T.ID || re[i] != rx[i]
		null := l.Null || r.Null
		if op != logical.SetUnion {
			null = l.Null
		}
		out[i] = logical.Column{ID: b.newID(), Name: l.Name, T: t, Null: null || le[i].Nullable() || op == logical.SetUnion && re[i].Nullable()}
	}
	s := &logical.SetOperation{Op: op, All: all, Left: left.node, Right: right.node, Output: out}
	if castL {
		s.Left = b.projectTo(lin, left.cols, le)
	}
	if castR {
		s.Right = b.projectTo(rin, right.cols, re)
	}
	return &result{node: s, cols: out}, nil
}

// origin is the expression that a column of a node's output comes from. It
// decides the coercibility of the column's collation.
func origin(n logical.Node, c *logical.Column) expr.Expr {
	for n != nil {
		if p, ok := n.(*logical.Project); ok {
			for i := range p.Cols {
				if p.Cols[i].ID == c.ID {
					return p.Exprs[i]
				}
			}
		}
		in := n.Inputs()
		if len(in) != 1 {
			break
		}
		n = in[0]
	}
	return colExpr(c)
}

// columns are the expressions of a result's columns over the node that they
// read: those of the select list if it is at the top, so that a conversion sees
// what it converts (a quotient has more digits than its column shows).
func (r *result) columns() ([]expr.Expr, logical.Node) {
	out := make([]expr.Expr, len(r.cols))
	p, ok := r.node.(*logical.Project)
	if !ok || len(p.Cols) != len(r.cols) {
		for i := range r.cols {
			out[i] = colExpr(&r.cols[i])
		}
		return out, r.node
	}
	for i := range r.cols {
		out[i] = origin(p, &r.cols[i])
	}
	return out, p.Input
}

func (b *binder) projectTo(in logical.Node, cols []logical.Column, exprs []expr.Expr) logical.Node {
	p := &logical.Project{Input: in, Exprs: exprs, Cols: make([]logical.Column, len(exprs))}
	for i, e := range exprs {
		p.Cols[i] = logical.Column{ID: b.newID(), Name: cols[i].Name, T: e.Type(), Null: e.Nullable()}
	}
	return p
}

// orderOutput adds ORDER BY and LIMIT over the columns of a result.
func (b *binder) orderOutput(sc *scope, r *result, o *ast.OrderByClause, l *ast.Limit) (*result, error) {
	node := r.node
	if o != nil {
		var keys []logical.SortKey
		osc := b.scope(sc.outer, sc.ctes, clauseOrder)
		osc.column = func(db, table, name string) (expr.Expr, error) {
			if table != "" {
				return nil, sqlerr.TableNameNotAllowedHere(table, "global "+clauseOrder)
			}
			for i := range r.cols {
				if strings.EqualFold(r.cols[i].Name, name) {
					return colExpr(&r.cols[i]), nil
				}
			}
			return nil, sqlerr.UnknownColumn(name, clauseOrder)
		}
		osc.agg = &aggScope{}
		for i, item := range o.Items {
			var e expr.Expr
			if p, ok := listItem(item.Expr).(*ast.PositionExpr); ok {
				if p.P != nil || p.N < 1 || p.N > len(r.cols) {
					return nil, sqlerr.UnknownColumn(itoa(p.N), clauseOrder)
				}
				e = colExpr(&r.cols[p.N-1])
			} else {
				var err error
				if e, err = b.value(osc, item.Expr); err != nil {
					return nil, err
				}
				if len(osc.agg.calls) > 0 {
					return nil, sqlerr.AggregateOrderForUnion(i + 1)
				}
			}
			if !expr.IsConst(e) {
				keys = append(keys, logical.SortKey{Expr: e, Desc: item.Desc})
			}
		}
		if len(keys) > 0 {
			node = &logical.Sort{Input: node, Keys: keys}
		}
	}
	count, offset, err := b.limit(sc, l)
	if err != nil {
		return nil, err
	}
	return &result{node: withLimit(node, count, offset), cols: r.cols}, nil
}
