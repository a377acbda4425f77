package rewrite

import (
	"context"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// Rule is a named rewrite.
type Rule struct {
	Name  string
	Apply func(r *Rewriter, n logical.Node) logical.Node
	// only says in which plans there is something to do.
	only plans
}

// plans are those of statements in which a rule may find something.
type plans uint8

const (
	anyPlan    plans = iota
	joins            // with joins or set operations
	subqueries       // of statements with subqueries in expressions, or LATERAL
)

// Rules are all rules in the order in which they run; one may run twice.
func Rules() []Rule {
	return []Rule{
		{"FoldConstants", (*Rewriter).foldConstants, anyPlan},
		{"SimplifyConditions", (*Rewriter).simplifyConditions, anyPlan},
		{"FactorDisjunctions", (*Rewriter).factorDisjunctions, anyPlan},
		{"ExistsToSemiJoin", (*Rewriter).existsToSemiJoin, subqueries},
		{"InToSemiJoin", (*Rewriter).inToSemiJoin, subqueries},
		{"ScalarToJoin", (*Rewriter).scalarToJoin, subqueries},
		{"ApplyToJoin", (*Rewriter).applyToJoin, subqueries},
		{"DropSorts", (*Rewriter).dropSorts, anyPlan},
		{"SimplifyOuterJoin", (*Rewriter).simplifyOuterJoin, joins},
		{"PullProjects", (*Rewriter).pullProjects, joins},
		{"PushFilters", (*Rewriter).pushFilters, anyPlan},
		{"InferEqualities", (*Rewriter).inferEqualities, anyPlan},
		{"PushFilters", (*Rewriter).pushFilters, anyPlan}, // what was inferred
		{"UseGeneratedColumns", (*Rewriter).useGenerated, anyPlan},
		{"TellElements", (*Rewriter).addElements, joins},
		{"PropagateEmpty", (*Rewriter).propagateEmpty, anyPlan},
		{"PushLimit", (*Rewriter).pushLimit, anyPlan},
		{"MergeProjects", (*Rewriter).mergeProjects, anyPlan},
		{"TakeScores", (*Rewriter).takeScores, anyPlan},
	}
}

// Rewriter applies rules to the plan of one statement.
type Rewriter struct {
	// Ctx folds constants.
	Ctx *expr.Ctx
	// Bind makes the expressions that rules add.
	Bind *expr.BindEnv
	// TableExprs are the computed columns of a table, nil when it has none; a nil
	// function knows of none.
	TableExprs func(t *schema.Table) *derive.Exprs
	// Disabled rules by name.
	Disabled map[string]bool
	// Trace, if set, receives the plan after each rule that is not disabled.
	Trace func(rule string, n logical.Node)
	// Check verifies the plan after each rule.
	Check bool
	// Subqueries are those of the statement, by expr.Subquery.ID. Rules that
	// take one into the plan set it to nil.
	Subqueries []logical.Node
	// Cost estimates the rows of a plan and its cost in nanoseconds; nil if
	// there are no estimates.
	Cost func(n logical.Node) (rows, cost float64, ok bool)
	// Scores: those of search indexes may become columns of scans. Not those of
	// tables that the statement changes.
	Scores bool

	uses map[int]int // of subqueries, by ID
	// semiJoins: a subquery has the hint SEMIJOIN.
	semiJoins bool
	lastID    expr.ColID
}

// Rewrite applies all rules. It fails with the cause when the context of Ctx ends.
func (r *Rewriter) Rewrite(n logical.Node) (logical.Node, error) {
	where := [...]bool{anyPlan: true, joins: false, subqueries: len(r.Subqueries) > 0 || hasApply(n)}
	if where[subqueries] {
		r.countUses(n)
	}
	where[joins] = where[subqueries] || hasJoins(n)
	for _, rule := range Rules() {
		if !where[rule.only] || r.Disabled[rule.Name] && !r.hinted(rule.Name) {
			continue
		}
		if r.Ctx != nil && r.Ctx.Context != nil && r.Ctx.Context.Err() != nil {
			return nil, context.Cause(r.Ctx.Context)
		}
		n = rule.Apply(r, n)
		if r.Check {
			if err := Verify(n); err != nil {
				return nil, fmt.Errorf("rule %s: %w", rule.Name, err)
			}
		}
		if r.Trace != nil {
			r.Trace(rule.Name, n)
		}
	}
	return n, nil
}

// hinted reports a rule that is off and that a hint turns on.
func (r *Rewriter) hinted(rule string) bool {
	return r.semiJoins && (rule == "InToSemiJoin" || rule == "ExistsToSemiJoin")
}

func hasApply(n logical.Node) bool {
	switch n.(type) {
	case *logical.Apply:
		return true
	case *logical.Scan, *logical.Values, *logical.Virtual:
		return false
	}
	for _, in := range n.Inputs() {
		if hasApply(in) {
			return true
		}
	}
	return false
}

func hasJoins(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Filter:
		return hasJoins(x.Input)
	case *logical.Project:
		return hasJoins(x.Input)
	case *logical.Scan, *logical.Values, *logical.Virtual, *logical.CTEScan:
		return false
	}
	in := n.Inputs()
	for _, x := range in {
		if hasJoins(x) {
			return true
		}
	}
	return len(in) > 1
}

// withInputs is n with other inputs; n itself when they are the same.
func withInputs(n logical.Node, in []logical.Node) logical.Node {
	old := n.Inputs()
	same := true
	for i := range old {
		same = same && old[i] == in[i]
	}
	if same {
		return n
	}
	switch x := n.(type) {
	case *logical.Filter:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.Project:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.Join:
		c := *x
		c.Left, c.Right = in[0], in[1]
		return &c
	case *logical.Apply:
		c := *x
		c.Left, c.Right = in[0], in[1]
		return &c
	case *logical.Aggregate:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.Rollup:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.Window:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.Distinct:
		return &logical.Distinct{Input: in[0]}
	case *logical.Sort:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.Limit:
		c := *x
		c.Input = in[0]
		return &c
	case *logical.SetOperation:
		c := *x
		c.Left, c.Right = in[0], in[1]
		return &c
	}
	return n
}

// bottomUp rebuilds the tree with fn applied to each node after its inputs.
// What does not change is shared.
func bottomUp(n logical.Node, fn func(logical.Node) logical.Node) logical.Node {
	switch x := n.(type) {
	case *logical.Filter:
		if in := bottomUp(x.Input, fn); in != x.Input {
			n = &logical.Filter{Input: in, Conds: x.Conds}
		}
	case *logical.Project:
		if in := bottomUp(x.Input, fn); in != x.Input {
			n = &logical.Project{Input: in, Exprs: x.Exprs, Cols: x.Cols}
		}
	case *logical.Scan, *logical.Values, *logical.Virtual, *logical.CTEScan:
	default:
		in := n.Inputs()
		out := make([]logical.Node, len(in))
		for i, x := range in {
			out[i] = bottomUp(x, fn)
		}
		n = withInputs(n, out)
	}
	return fn(n)
}

// colSet is a set of column ids.
type colSet map[expr.ColID]bool

func columnsOf(n logical.Node) colSet {
	s := colSet{}
	for _, c := range n.Columns() {
		s[c.ID] = true
	}
	return s
}

// within reports whether e reads only columns of s.
func (s colSet) within(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		if c, isCol := x.(*expr.Col); isCol && !s[c.ID] {
			ok = false
		}
		return ok
	})
	return ok
}

// reads reports whether e reads a column of s.
func (s colSet) reads(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if c, isCol := x.(*expr.Col); isCol && s[c.ID] {
			found = true
		}
		return !found
	})
	return found
}

// isVolatile reports whether e has effects or differs between evaluations.
func isVolatile(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if f, ok := x.(*expr.Func); ok && f.B != nil && f.B.Volatile {
			found = true
		}
		return !found
	})
	return found
}

func anyVolatile(list []expr.Expr) bool {
	for _, e := range list {
		if isVolatile(e) {
			return true
		}
	}
	return false
}

// Verify checks that every expression reads only columns that its node's
// inputs have.
func Verify(n logical.Node) error {
	for _, in := range n.Inputs() {
		if err := Verify(in); err != nil {
			return err
		}
	}
	avail := colSet{}
	for _, in := range n.Inputs() {
		for _, c := range in.Columns() {
			avail[c.ID] = true
		}
	}
	for _, e := range expressions(n) {
		if !avail.within(e) {
			return fmt.Errorf("%T reads a column that its input lacks: %s", n, e)
		}
	}
	return nil
}

func expressions(n logical.Node) []expr.Expr {
	switch n := n.(type) {
	case *logical.JSONTable:
		return []expr.Expr{n.Doc}
	case *logical.Filter:
		return n.Conds
	case *logical.Project:
		return n.Exprs
	case *logical.Join:
		return n.On
	case *logical.Apply:
		return append(append([]expr.Expr(nil), n.Params...), n.On...)
	case *logical.Aggregate:
		list := append([]expr.Expr(nil), n.GroupBy...)
		for _, a := range n.Aggs {
			list = append(list, expr.AggInputs(a)...)
		}
		return list
	case *logical.Values:
		var list []expr.Expr
		for _, row := range n.Rows {
			list = append(list, row...)
		}
		return list
	case *logical.Rollup:
		list := append([]expr.Expr(nil), n.GroupBy...)
		for _, a := range n.Aggs {
			list = append(list, expr.AggInputs(a)...)
		}
		return list
	case *logical.Window:
		list := append([]expr.Expr(nil), n.PartitionBy...)
		for _, k := range n.OrderBy {
			list = append(list, k.Expr)
		}
		for _, f := range n.Funcs {
			list = append(list, f.Inputs()...)
		}
		return list
	case *logical.Sort:
		var list []expr.Expr
		for _, k := range n.Keys {
			list = append(list, k.Expr)
		}
		return list
	}
	return nil
}
