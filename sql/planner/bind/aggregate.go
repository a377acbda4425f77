package bind

import (
	"reflect"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// aggregate binds a call of an aggregate function and puts it into the
// block's list: 1111 where aggregates are not allowed.
func (b *binder) aggregate(sc *scope, n *ast.AggregateFuncExpr) (expr.Expr, error) {
	if sc.agg == nil || sc.inAgg {
		return nil, sqlerr.InvalidGroupFunctionUse()
	}
	name := strings.ToLower(n.F)
	inner := *sc
	inner.inAgg = true
	inner.aliasOnly = false
	inner.alias = nil
	args := n.Args
	if name == "group_concat" {
		return b.groupConcat(sc, &inner, n)
	}
	if name == "count" && !n.Distinct && len(args) == 1 {
		// COUNT(*) arrives as COUNT(1), which is the same.
		if l, ok := args[0].(*parser.Literal); ok && !l.Datum.IsNull() {
			args = nil
		}
	}
	list, err := b.values(&inner, args)
	if err != nil {
		return nil, err
	}
	call, err := expr.NewAgg(b.be, name, n.Distinct, list...)
	if err != nil {
		return nil, err
	}
	return sc.agg.add(b, call, call.String()), nil
}

func (b *binder) groupConcat(sc, inner *scope, n *ast.AggregateFuncExpr) (expr.Expr, error) {
	last := len(n.Args) - 1
	sep, ok := n.Args[last].(*parser.Literal)
	if !ok {
		return nil, internalf("separator %T", n.Args[last])
	}
	list, err := b.values(inner, n.Args[:last])
	if err != nil {
		return nil, err
	}
	var order []expr.AggOrder
	if n.Order != nil {
		for _, item := range n.Order.Items {
			var e expr.Expr
			if p, ok := item.Expr.(*ast.PositionExpr); ok {
				if p.P != nil || p.N < 1 || p.N > len(list) {
					return nil, sqlerr.UnknownColumn(itoa(p.N), clauseOrder)
				}
				e = list[p.N-1]
			} else if e, err = b.value(inner, item.Expr); err != nil {
				return nil, err
			}
			order = append(order, expr.AggOrder{Expr: e, Desc: item.Desc})
		}
	}
	call, err := expr.NewGroupConcat(b.be, n.Distinct, list, order, sep.GetString())
	if err != nil {
		return nil, err
	}
	return sc.agg.add(b, call, call.String()), nil
}

// anyValue is ANY_VALUE(x): x itself, or, in a grouped query, the value of
// any row of the group (see grouping.rewrite).
func (b *binder) anyValue(sc *scope, n ast.ExprNode) (expr.Expr, error) {
	e, err := b.value(sc, n)
	if err != nil {
		return nil, err
	}
	return expr.NewFunc(b.be, "any_value", e)
}

func newAnyValue(be *expr.BindEnv, e expr.Expr) (*expr.Agg, error) {
	return expr.NewAgg(be, "any_value", false, e)
}

func aggEqual(a, c *expr.Agg) bool {
	if a.Name != c.Name || a.Distinct != c.Distinct || len(a.Args) != len(c.Args) || !reflect.DeepEqual(a.T, c.T) {
		return false
	}
	for i := range a.Args {
		if !exprEqual(a.Args[i], c.Args[i]) {
			return false
		}
	}
	x, ok1 := a.Extra.(*expr.GroupConcat)
	y, ok2 := c.Extra.(*expr.GroupConcat)
	if ok1 != ok2 {
		return false
	}
	if !ok1 {
		return reflect.DeepEqual(a.Extra, c.Extra)
	}
	if x.Separator != y.Separator || len(x.Order) != len(y.Order) {
		return false
	}
	for i := range x.Order {
		if x.Order[i].Desc != y.Order[i].Desc || !exprEqual(x.Order[i].Expr, y.Order[i].Expr) {
			return false
		}
	}
	return true
}

// variable binds @name, @name := value and @@name.
func (b *binder) variable(sc *scope, n *ast.VariableExpr) (expr.Expr, error) {
	if !n.IsSystem {
		if n.Value != nil {
			e, err := b.value(sc, n.Value)
			if err != nil {
				return nil, err
			}
			return expr.NewSetVar(b.be, n.Name, e)
		}
		t := types.Text(b.collation())
		if b.env.UserVar != nil {
			if u := b.env.UserVar(n.Name); u.ID != schema.TypeNull {
				t = u
			}
		}
		return expr.NewGetVar(b.be, n.Name, t), nil
	}
	scope := ""
	name := strings.ToLower(n.Name)
	switch {
	case n.IsGlobal:
		scope = "global"
	case n.ExplicitScope:
		scope = "session"
	}
	name = strings.TrimPrefix(name, "persist.")
	t := types.VarcharOf(1024, schema.CollationUTF8GeneralCI)
	if b.env.SysVar != nil {
		var err error
		if t, err = b.env.SysVar(scope, name); err != nil {
			return nil, err
		}
	}
	return expr.NewSysVar(scope, name, t), nil
}
