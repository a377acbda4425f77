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

// aggregate binds a call of an aggregate function and puts it into the list of
// the block that it belongs to.
func (b *binder) aggregate(sc *scope, n *ast.AggregateFuncExpr) (expr.Expr, error) {
	if sc.inAgg {
		return nil, sqlerr.InvalidGroupFunctionUse()
	}
	name, args := aggregateName(n.F, n.Args)
	if name == "group_concat" {
		return b.aggregateCall(sc, func(inner *scope) (*expr.Agg, error) { return b.groupConcat(inner, n) })
	}
	return b.aggregateCall(sc, func(inner *scope) (*expr.Agg, error) {
		list, err := b.values(inner, aggregateArgs(name, args, n.Distinct))
		if err != nil {
			return nil, err
		}
		distinct := n.Distinct && name != "max" && name != "min"
		if inner.agg != nil && inner.agg.grouped {
			return expr.NewGroupedAgg(b.be, name, distinct, list...)
		}
		return expr.NewAgg(b.be, name, distinct, list...)
	})
}

// aggregateName is the lower-case name and the arguments of a call. The name of
// ST_COLLECT is in an argument, see parser.CollectFunc.
func aggregateName(name string, args []ast.ExprNode) (string, []ast.ExprNode) {
	if len(args) == 1 {
		if f, ok := args[0].(*ast.FuncCallExpr); ok && f.FnName.L == parser.CollectFunc {
			return "st_collect", f.Args
		}
	}
	return strings.ToLower(name), args
}

// aggregateArgs are the arguments of a call: COUNT(*) arrives as COUNT(1),
// which is the same and has none here.
func aggregateArgs(name string, args []ast.ExprNode, distinct bool) []ast.ExprNode {
	if name == "count" && !distinct && len(args) == 1 {
		if l, ok := args[0].(*parser.Literal); ok && !l.Datum.IsNull() {
			return nil
		}
	}
	return args
}

func (b *binder) groupConcat(inner *scope, n *ast.AggregateFuncExpr) (*expr.Agg, error) {
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
			if p, ok := listItem(item.Expr).(*ast.PositionExpr); ok {
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
	return expr.NewGroupConcat(b.be, n.Distinct, list, order, sep.GetString())
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
	if a.Op != c.Op || a.Distinct != c.Distinct || len(a.Args) != len(c.Args) || !reflect.DeepEqual(a.T, c.T) {
		return false
	}
	for i := range a.Args {
		if !expr.Equal(a.Args[i], c.Args[i]) {
			return false
		}
	}
	x, y := a.GroupConcat(), c.GroupConcat()
	if (x == nil) != (y == nil) {
		return false
	}
	if x == nil {
		return reflect.DeepEqual(a.Extra, c.Extra)
	}
	if x.Separator != y.Separator || len(x.Order) != len(y.Order) {
		return false
	}
	for i := range x.Order {
		if x.Order[i].Desc != y.Order[i].Desc || !expr.Equal(x.Order[i].Expr, y.Order[i].Expr) {
			return false
		}
	}
	return true
}

// variable binds @name, @name := value and @@name.
func (b *binder) variable(sc *scope, n *ast.VariableExpr) (expr.Expr, error) {
	if b.canon != nil {
		return nil, sqlerr.ViewSelectVariable()
	}
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
