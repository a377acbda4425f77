package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// correlation is the border of a subquery or of the lateral side of a join:
// what is read across it is handed in as an outer value.
type correlation struct {
	// values are those of expr.Outer by its slot, over the columns outside.
	values []expr.Expr
}

// outer is the expression by which the inside reads e, an expression outside.
func (c *correlation) outer(e expr.Expr) expr.Expr {
	slot := -1
	for i, have := range c.values {
		if expr.Equal(have, e) {
			slot = i
			break
		}
	}
	if slot < 0 {
		slot = len(c.values)
		c.values = append(c.values, e)
	}
	text := e.String()
	if o, ok := e.(*expr.Outer); ok {
		text = o.Text
	}
	return &expr.Outer{Slot: slot, T: e.Type(), Null: e.Nullable(), Text: text}
}

// correlate brings an expression of a scope of the given level to where the
// binder is, through all borders between.
func (b *binder) correlate(e expr.Expr, level int) expr.Expr {
	if x := expr.Shown(e); x != nil {
		return expr.NewShown(b.correlate(x, level), e.Type())
	}
	if level < len(b.correlations) {
		b.crossing = min(b.crossing, level)
	}
	for _, c := range b.correlations[level:] {
		e = c.outer(e)
	}
	return e
}

// readsOutward reports whether what bind binds reads values of the queries
// around the place where the binder is.
func (b *binder) readsOutward(bind func() error) (bool, error) {
	before, here := b.crossing, len(b.correlations)
	b.crossing = here
	err := bind()
	outward := b.crossing < here
	b.crossing = min(before, b.crossing)
	return outward, err
}

// inside calls bind within a new border and gives the values that are read
// across it.
func (b *binder) inside(bind func() error) ([]expr.Expr, error) {
	n := len(b.correlations)
	c := &correlation{}
	b.correlations = append(b.correlations[:n:n], c)
	err := bind()
	b.correlations = b.correlations[:n]
	return c.values, err
}

// lateralSide binds the right side of a join. Lateral tables in it may read
// those of left; params are what they read.
func (b *binder) lateralSide(sc *scope, left *source, n ast.ResultSetNode) (right *source, params []expr.Expr, err error) {
	if !hasLateral(n) {
		right, err = b.from(sc, n)
		return right, nil, err
	}
	outer := sc.outer
	if sc.lateral != nil {
		outer = sc.lateral
	}
	before := b.scope(outer, sc.ctes, clauseFrom)
	before.src = left
	inner := *sc
	inner.lateral = before
	params, err = b.inside(func() error {
		right, err = b.from(&inner, n)
		return err
	})
	return right, params, err
}

// hasLateral reports a LATERAL table in a table reference, not in its
// subqueries.
func hasLateral(n ast.ResultSetNode) bool {
	switch x := n.(type) {
	case *ast.Join:
		return hasLateral(x.Left) || x.Right != nil && hasLateral(x.Right)
	case *ast.TableSource:
		if j, ok := x.Source.(*ast.Join); ok {
			return hasLateral(j)
		}
		return x.Lateral
	}
	return false
}

// aggArg notes the blocks whose columns the argument of an aggregate reads.
type aggArg struct {
	home *scope
	// own: columns of the block that contains the call.
	own bool
	// outer is the innermost of the other blocks, nil if none exists.
	outer *scope
}

func (sc *scope) depth() int {
	n := 0
	for s := sc.outer; s != nil; s = s.outer {
		n++
	}
	return n
}

// used notes that a name was found in sc.
func (b *binder) used(sc *scope) {
	if len(b.aggArgs) == 0 {
		return
	}
	at := sc.depth()
	for _, a := range b.aggArgs {
		switch home := a.home.depth(); {
		case at == home:
			a.own = true
		case at < home && (a.outer == nil || at > a.outer.depth()):
			a.outer = sc
		}
	}
}

// aggregateCall binds an aggregate by bind, which gets the scope of its
// arguments, and gives the column of the call. A call whose arguments read only
// blocks around its own belongs to one of these: the outermost one whose clause
// allows an aggregate, but none outside of the innermost one that they read. If
// none of them allows it, the call belongs to its own. 1111 where no aggregate is
// allowed.
// https://dev.mysql.com/doc/refman/8.4/en/aggregate-functions.html
func (b *binder) aggregateCall(sc *scope, bind func(inner *scope) (*expr.Agg, error)) (expr.Expr, error) {
	arg := &aggArg{home: sc}
	undo := b.mark()
	b.aggArgs = append(b.aggArgs, arg)
	call, err := bind(sc.argument())
	b.aggArgs = b.aggArgs[:len(b.aggArgs)-1]
	if err != nil {
		return nil, err
	}
	home := sc
	if !sc.mayAggregate() || !arg.own && arg.outer != nil {
		if o := arg.block(); o != nil {
			home = o
		}
	}
	if arg.own {
		home = sc
	}
	if !home.mayAggregate() {
		return nil, sqlerr.InvalidGroupFunctionUse()
	}
	if home == sc {
		return sc.agg.value(b, call, call.String()), nil
	}
	// Bound again, where it belongs.
	undo()
	below := b.correlations
	b.correlations = below[:home.level:home.level]
	call, err = bind(home.argument())
	b.correlations = below
	if err != nil {
		return nil, err
	}
	return b.correlate(home.agg.value(b, call, call.String()), home.level), nil
}

func (sc *scope) mayAggregate() bool { return sc.agg != nil && !sc.inAgg }

// argument is the scope of the arguments of an aggregate in sc.
func (sc *scope) argument() *scope {
	inner := *sc
	inner.inAgg = true
	if sc.aliasOnly {
		inner.inHaving = sc.alias
	}
	inner.aliasOnly = false
	inner.alias = nil
	return &inner
}

// inContext is sc as the argument of an aggregate sees it, which may belong to
// sc.
func (sc *scope) inContext() *scope {
	args := sc.b.aggArgs
	if len(args) == 0 || sc.inAgg || sc.depth() > args[len(args)-1].home.depth() {
		return sc
	}
	return sc.argument()
}

// block is the outer block that a call belongs to, nil if none allows it.
func (a *aggArg) block() *scope {
	var found *scope
	for s := a.home.outer; s != nil; s = s.outer {
		if s.agg != nil {
			found = s // inside another aggregate it is an error
		}
		if a.outer != nil && s.depth() == a.outer.depth() {
			break
		}
	}
	return found
}

// mark gives a function that drops what was bound since: subqueries and outer
// values.
func (b *binder) mark() (undo func()) {
	subs := len(b.subqueries)
	values := make([]int, len(b.correlations))
	for i, c := range b.correlations {
		values[i] = len(c.values)
	}
	return func() {
		b.subqueries = b.subqueries[:subs]
		for i, n := range values {
			b.correlations[i].values = b.correlations[i].values[:n]
		}
	}
}
