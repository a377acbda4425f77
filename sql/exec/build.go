package exec

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// builder makes the operators that one goroutine runs.
type builder struct {
	env *Env
	ec  *expr.Ctx
	// thread is that goroutine, for the accounts.
	thread *thread
	// part restricts the scan of a pipeline that is run in partitions.
	part Partition
	// limit is the outermost Limit or TopK, whose input is counted in total
	// for SQL_CALC_FOUND_ROWS.
	limit physical.Node
	total *int64
	// unlimited: scans must not stop at their Limit hint.
	unlimited bool
	// limited is the last scan that was built with one.
	limited *scanOp
	// before, when set, is called with each batch of rows before forEachRow gives them out.
	before func(in *vec.Batch) error
	// after, when set, is called after each of them.
	after func() error
	// works are the runs whose recursive members are built.
	works map[*physical.CTE]*cteRun
	// serial: the plan runs once for each of many rows, without goroutines.
	serial bool
	// joins have read their build inputs, see sharedJoins.
	joins map[physical.Node]*hashJoinOp
}

// parallelism is the most goroutines that may work on one pipeline.
func (b *builder) parallelism() int {
	if b.serial {
		return 1
	}
	return b.env.parallelism()
}

func newBuilder(env *Env, ec *expr.Ctx) *builder {
	return &builder{env: env, ec: ec, thread: &thread{}}
}

// fork is a builder for another goroutine, which reads a partition.
func (b *builder) fork(part Partition) *builder {
	sub := *b
	sub.part, sub.ec, sub.thread = part, b.ec.Fork(), &thread{}
	return &sub
}

// countTotal finds the outermost limit of a query.
func (b *builder) countTotal(n physical.Node, total *int64) {
	for {
		switch x := n.(type) {
		case *physical.Project:
			n = x.Input
			continue
		case *physical.Limit, *physical.TopK:
			b.limit, b.total = n, total
		}
		return
	}
}

// account is the memory account of a node.
func (b *builder) account(n physical.Node, name string) account {
	return account{t: b.env.Memory, operator: name, stat: b.env.Stats.node(n), thread: b.thread}
}

func (b *builder) build(n physical.Node) (Operator, error) {
	op, err := b.operator(n)
	if err != nil {
		return nil, err
	}
	if st := b.env.Stats.node(n); st != nil {
		op = &statOp{Operator: op, st: st, entries: b.env.Stats.entries(n)}
	}
	return op, nil
}

func (b *builder) operator(n physical.Node) (Operator, error) {
	switch x := n.(type) {
	case physical.TableNode:
		return b.scan(x), nil
	case *physical.Virtual:
		return &virtualOp{env: b.env, ec: b.ec, node: x}, nil
	case *physical.JSONTable:
		return b.jsonTable(x), nil
	case *physical.CTEScan:
		return thin(x, b.cteScan)
	case *physical.Values:
		return &valuesOp{ec: b.ec, node: x, size: b.env.batchSize()}, nil
	case *physical.Filter:
		in, err := b.build(x.Input)
		if err != nil {
			return nil, err
		}
		return &filterOp{ec: b.ec, in: in, conds: x.Conds}, nil
	case *physical.Project:
		in, err := b.build(x.Input)
		if err != nil {
			return nil, err
		}
		// A context of its own: those who read its columns may release them to
		// theirs, as columns of an input.
		ec := b.ec.Fork()
		return &projectOp{ec: ec, in: sliced(ec, in, x.Exprs), exprs: x.Exprs}, nil
	case *physical.Limit:
		return b.limitOp(x)
	case *physical.HashJoin:
		return thin(x, b.hashJoin)
	case *physical.MergeJoin:
		return thin(x, b.mergeJoin)
	case *physical.LookupJoin:
		return thin(x, b.lookupJoin)
	case *physical.NestedLoop:
		return thin(x, b.nestedLoop)
	case *physical.Apply:
		return thin(x, b.apply)
	case *physical.HashAggregate:
		return b.hashAggregate(x)
	case *physical.StreamAggregate:
		return b.streamAggregate(x)
	case *physical.Rollup:
		return b.rollup(x)
	case *physical.Window:
		return b.window(x)
	case *physical.Distinct:
		return b.distinct(x)
	case *physical.Sort:
		return b.sort(x)
	case *physical.TopK:
		return b.topK(x)
	case *physical.SetOperation:
		return b.setOperation(x)
	}
	return nil, sqlerr.Internal("no operator for %T", n)
}

func (b *builder) scan(x physical.TableNode) Operator {
	if b.unlimited && x.Reads().Limit != nil {
		x = x.WithoutLimit()
	}
	op := &scanOp{env: b.env, ec: b.ec, node: x, part: b.part}
	if x.Reads().Limit != nil {
		b.limited = op
	}
	return op
}

func (b *builder) limitOp(x *physical.Limit) (Operator, error) {
	op := &limitOp{ec: b.ec, count: x.Count, offset: x.Offset}
	inner := *b
	if b.limit == x {
		op.total, inner.unlimited = b.total, true
	}
	in, err := inner.build(x.Input)
	op.in = in
	return op, err
}

// input builds the input of an operator that reads all of it and does not
// care for its order: a pipeline over a large scan runs in parallel.
func (b *builder) input(n physical.Node) (Operator, error) {
	if b.part == nil && !b.env.inline && b.parallelism() > 1 && b.exchangePays(n) {
		return newExchange(b, n), nil
	}
	return b.build(n)
}

// result builds the root of a query. A pipeline that reads much and yields
// little runs in parallel; where most rows are passed on, copying them from
// goroutine to goroutine would eat what that gains.
func (b *builder) result(n physical.Node) (Operator, error) {
	if est := n.Est(); est.Rows*perRowCost*2 > est.Cost {
		return b.build(n)
	}
	return b.input(n)
}

// comesOrdered reports that rows of n may come in an order that the plan above
// relies on. Operators that spill then keep it.
func comesOrdered(n physical.Node) bool {
	switch x := n.(type) {
	case physical.TableNode:
		return x.Leaf().Ordered
	case *physical.Filter:
		return comesOrdered(x.Input)
	case *physical.Project:
		return comesOrdered(x.Input)
	case *physical.Limit:
		return comesOrdered(x.Input)
	case *physical.Distinct:
		return comesOrdered(x.Input)
	case *physical.HashJoin:
		return !x.BuildLeft && comesOrdered(x.Left)
	case *physical.MergeJoin:
		return comesOrdered(x.Left)
	case *physical.LookupJoin:
		return comesOrdered(x.Left)
	case *physical.NestedLoop:
		return comesOrdered(x.Left)
	case *physical.Apply:
		return comesOrdered(x.Left)
	case *physical.HashAggregate, *physical.SetOperation, *physical.Values, *physical.Virtual, *physical.CTEScan:
		return false
	}
	return true
}

// perRowCost is about what a row costs above an exchange, in nanoseconds.
const perRowCost = 100

func typesOf(cols []physical.Column) []schema.Type {
	ts := make([]schema.Type, len(cols))
	for i := range cols {
		ts[i] = cols[i].T
	}
	return ts
}

func exprTypes(list []expr.Expr) []schema.Type {
	ts := make([]schema.Type, len(list))
	for i, e := range list {
		ts[i] = e.Type()
	}
	return ts
}

// joinKeyTypes checks that the key pairs have comparable representations: a
// table of words would take -1 and 18446744073709551615 for the same.
func joinKeyTypes(left, right []expr.Expr) ([]schema.Type, error) {
	if len(left) != len(right) || len(left) == 0 {
		return nil, sqlerr.Internal("join on %d and %d keys", len(left), len(right))
	}
	ts := exprTypes(left)
	for i := range ts {
		l, r := types.KindOf(ts[i]), types.KindOf(right[i].Type())
		if l != r && l != value.KindNull && r != value.KindNull {
			return nil, sqlerr.Internal("join keys %s and %s have kinds %s and %s", left[i], right[i], l, r)
		}
		if l == value.KindNull {
			ts[i] = right[i].Type()
		}
	}
	return ts, nil
}

// visitExprs calls fn for the expressions of the nodes below n.
func visitExprs(n physical.Node, fn func(expr.Expr)) {
	each := func(lists ...[]expr.Expr) {
		for _, l := range lists {
			for _, e := range l {
				if e != nil {
					fn(e)
				}
			}
		}
	}
	aggs := func(list []*expr.Agg) {
		for _, a := range list {
			each(a.Args)
			if g := a.GroupConcat(); g != nil {
				for _, o := range g.Order {
					fn(o.Expr)
				}
			}
		}
	}
	keys := func(list []physical.SortKey) {
		for _, k := range list {
			fn(k.Expr)
		}
	}
	switch x := n.(type) {
	// Bounds with subqueries are evaluated by the source: their comparison is not
	// IN, which alone needs its types here.
	case *physical.Scan:
		each(x.Filter)
	case *physical.IndexJoin:
		each(x.Filter, x.Again)
	case *physical.JSONTable:
		each([]expr.Expr{x.Doc})
	case *physical.Values:
		each(x.Rows...)
	case *physical.Filter:
		each(x.Conds)
	case *physical.Project:
		each(x.Exprs)
	case *physical.HashJoin:
		each(x.LeftKeys, x.RightKeys, x.Filter)
	case *physical.MergeJoin:
		each(x.LeftKeys, x.RightKeys, x.Filter)
	case *physical.LookupJoin:
		each(x.Keys, x.Filter)
		visitExprs(x.Inner, fn)
	case *physical.NestedLoop:
		each(x.Filter)
	case *physical.Apply:
		each(x.Params, x.Filter)
	case *physical.HashAggregate:
		each(x.GroupBy)
		aggs(x.Aggs)
	case *physical.StreamAggregate:
		each(x.GroupBy)
		aggs(x.Aggs)
	case *physical.Rollup:
		each(x.GroupBy)
		aggs(x.Aggs)
	case *physical.Window:
		for _, f := range x.Funcs {
			each(f.Inputs())
		}
	case *physical.Sort:
		keys(x.Keys)
	case *physical.TopK:
		keys(x.Keys)
	}
	for _, in := range n.Inputs() {
		visitExprs(in, fn)
	}
}

// walkNodes calls fn for n and the nodes below it.
func walkNodes(n physical.Node, fn func(physical.Node)) {
	if n == nil {
		return
	}
	fn(n)
	for _, in := range n.Inputs() {
		walkNodes(in, fn)
	}
}
