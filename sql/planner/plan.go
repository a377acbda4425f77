package planner

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Options shape planning.
type Options struct {
	Est access.Estimator
	// Ctx evaluates constants for estimates and folding. Its parameters are
	// those of the execution that the plan is first made for.
	Ctx  *expr.Ctx
	Bind *expr.BindEnv
	// TableExprs are the computed columns of a table; nil when it has none. A nil
	// function: expressions are not replaced by generated columns.
	TableExprs func(t *schema.Table) *derive.Exprs
	// Parallelism is the number of workers of a parallel operator, 1 for none.
	Parallelism int
	// Disabled switches off rewrite rules and operators by name (Rules,
	// Operators).
	Disabled map[string]bool
	// Trace receives the logical plan after each rule.
	Trace func(rule string, n logical.Node)
	// Check verifies the logical plan after each rule, and the physical one.
	Check bool
	// Invisible indexes may be used (optimizer_switch='use_invisible_indexes=on').
	Invisible bool
	// SmallLimit: the client takes at most this many rows (sql_select_limit),
	// 0 for no bound.
	SmallLimit uint64
}

// hasTwoOrders is types.HasTwoOrders in the session's zone.
func (p *planner) hasTwoOrders(t schema.Type) bool {
	return p.opts.Ctx != nil && types.HasTwoOrders(t, p.opts.Ctx.Loc)
}

// Plan makes the plan of a query or change. When ctx ends it fails with the cause:
// estimates may have been cut short.
func Plan(ctx context.Context, stmt logical.Statement, opts Options) (*physical.Plan, error) {
	p := &planner{ctx: ctx, opts: opts, seen: map[schema.TableID]bool{}, subqueries: slices.Clone(subqueriesOf(stmt))}
	for _, n := range p.subqueries {
		p.addTables(n)
	}
	plan, err := p.statement(stmt)
	if cut := p.interrupted(); cut != nil {
		return nil, cut
	}
	if err == nil {
		plan.CTEs = p.cteList
		if d, ok := stmt.(interface{ Dependencies() *logical.Deps }); ok {
			plan.Views = d.Dependencies().Views
		}
	}
	if err == nil && opts.Check {
		if bad := physical.Verify(plan); bad != nil {
			return nil, sqlerr.Internal("bad plan: %v", bad)
		}
	}
	return plan, err
}

func (p *planner) statement(stmt logical.Statement) (*physical.Plan, error) {
	switch s := stmt.(type) {
	case *logical.Query:
		return p.query(s)
	case *logical.Insert:
		return p.insert(s)
	case *logical.Update:
		return p.update(s)
	case *logical.Delete:
		return p.delete(s)
	case *logical.MultiUpdate:
		return p.multiUpdate(s)
	case *logical.MultiDelete:
		return p.multiDelete(s)
	}
	return nil, sqlerr.Internal("no plan for %T", stmt)
}

type planner struct {
	ctx    context.Context // of the call of Plan
	opts   Options
	tables []*schema.Table
	seen   map[schema.TableID]bool
	// subqueries are those of the statement, by ID; nil when they are part of
	// another plan.
	subqueries []logical.Node
	// memo are the built nodes.
	memo map[logical.Node][]built
	// limits are the sums of counts and offsets.
	limits map[[2]expr.Expr]expr.Expr
	// shares are the selectivities that samples of the tables gave.
	shares access.Shares
	// ctes are the common table expressions that are computed once, list in the
	// order of their first use.
	ctes    map[*logical.CTE]*physical.CTE
	cteList []*physical.CTE
	walked  map[*logical.CTE]bool // those whose tables are known
	// change is the occurrence of a table that the statement changes.
	change *logical.Scan
	// countAll: rows after a limit are counted too (SQL_CALC_FOUND_ROWS), so that
	// no input may stop at it.
	countAll bool
	// deletes: the change removes its rows, and reads of them no more than it
	// has to.
	deletes bool
	// partials are the columns of groups that are formed before a join, first their
	// aggregates: see groupsFirst.
	partials expr.ColID
	first    map[*logical.Aggregate]*logical.Aggregate
	// marks are those of attributes that are read by name.
	marks map[attributeName]expr.ColID
	// scores are the columns of scans that search indexes may give, with what they
	// are the values of; nil: there may be none.
	scores map[expr.ColID]expr.Expr
	// scoring are the projects that compute scores of rows, after their columns.
	scoring map[*physical.Project]bool
	// valuesMatter is physical.Plan.ValuesMatter.
	valuesMatter bool
	guards       []physical.Guard
	// asOf is physical.Plan.AsOf.
	asOf bool
}

// interrupted is the cause of the end of the planning's context; nil before.
func (p *planner) interrupted() error {
	if p.ctx.Err() == nil {
		return nil
	}
	return context.Cause(p.ctx)
}

func (p *planner) off(name string) bool { return p.opts.Disabled[name] }

func (p *planner) addTable(t *schema.Table) {
	if d := t.Derived; d != nil {
		if t = d.Of; t == nil {
			return
		}
		p.asOf = p.asOf || d.Kind == schema.DerivedAsOf
	}
	if !p.seen[t.ID] {
		p.seen[t.ID] = true
		p.tables = append(p.tables, t)
	}
}

func (p *planner) addTables(n logical.Node) {
	switch x := n.(type) {
	case *logical.Scan:
		p.addTable(x.Table)
		return
	case *logical.Filter:
		p.addTables(x.Input)
		return
	case *logical.Project:
		p.addTables(x.Input)
		return
	case *logical.CTEScan:
		p.addCTETables(x.CTE)
		return
	}
	for _, in := range n.Inputs() {
		p.addTables(in)
	}
}

// root rewrites and builds n so that its output is exactly n's columns.
func (p *planner) root(n logical.Node) (physical.Node, error) { return p.rootOf(n, nil, nil) }

// rootOf is root for some of n's columns, nil for all, of which a change takes
// about the first count rows, nil for all.
func (p *planner) rootOf(n logical.Node, cols []logical.Column, count expr.Expr) (physical.Node, error) {
	// Rules may find that a table need not be read; the plan depends on it all
	// the same.
	p.addTables(n)
	r := rewrite.Rewriter{Ctx: p.opts.Ctx, Bind: p.opts.Bind, TableExprs: p.opts.TableExprs, Disabled: p.opts.Disabled, Trace: p.opts.Trace, Check: p.opts.Check,
		Subqueries: p.subqueries, Cost: p.estimate, Scores: p.scores != nil}
	out, err := r.Rewrite(n)
	if err != nil {
		return nil, err
	}
	defer p.useScores(out)()
	if cols == nil {
		cols = out.Columns()
	}
	req := request{cols: idSet(cols)}
	req.limit, req.limitExpr = p.limitRows(count, nil)
	rel, err := p.build(out, req)
	if err != nil {
		return nil, err
	}
	return p.layout(rel, cols).node, nil
}

func subqueriesOf(stmt logical.Statement) []logical.Node {
	switch s := stmt.(type) {
	case *logical.Query:
		return s.Subqueries
	case *logical.Insert:
		return s.Subqueries
	case *logical.Update:
		return s.Subqueries
	case *logical.Delete:
		return s.Subqueries
	case *logical.MultiUpdate:
		return s.Subqueries
	case *logical.MultiDelete:
		return s.Subqueries
	}
	return nil
}

// estimate plans n in its present form, for rules that have a choice.
func (p *planner) estimate(n logical.Node) (rows, cost float64, ok bool) {
	r := rewrite.Rewriter{Ctx: p.opts.Ctx, Bind: p.opts.Bind, Disabled: p.opts.Disabled}
	n, err := r.Rewrite(n)
	if err != nil {
		return 0, 0, false
	}
	rel, err := p.build(n, request{cols: idSet(n.Columns())})
	return rel.rows, rel.cost, err == nil
}

// subplans plans the subqueries into plan. Those outside come first: rules may
// make joins of the ones within.
func (p *planner) subplans(plan *physical.Plan) error {
	list := p.subqueries
	plan.Subplans, plan.Dependent = make([]physical.Node, len(list)), make([]bool, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == nil {
			continue // became a join
		}
		plan.Dependent[i] = rewrite.ReadsOuter(list[i])
		workers := p.opts.Parallelism
		if plan.Dependent[i] {
			p.opts.Parallelism = 1
		}
		sub, err := p.root(list[i])
		p.opts.Parallelism = workers
		if err != nil {
			return err
		}
		plan.Subplans[i] = sub
	}
	return nil
}

// finish adds the subqueries and the tables of the statement.
func (p *planner) finish(plan *physical.Plan) (*physical.Plan, error) {
	if err := p.subplans(plan); err != nil {
		return nil, err
	}
	plan.Tables, plan.ValuesMatter, plan.Guards, plan.AsOf = p.tables, p.valuesMatter, p.guards, p.asOf
	return plan, nil
}

func (p *planner) query(q *logical.Query) (*physical.Plan, error) {
	p.countAll = q.CalcFoundRows
	p.scores = map[expr.ColID]expr.Expr{}
	root, err := p.root(q.Root)
	p.countAll = false
	if err != nil {
		return nil, err
	}
	plan := &physical.Plan{Root: root, CalcFoundRows: q.CalcFoundRows, Locks: q.Locks, LocksForUpdate: q.LocksForUpdate}
	return p.finish(plan)
}

func (p *planner) insert(s *logical.Insert) (*physical.Plan, error) {
	p.addTable(s.Table)
	ins := &physical.Insert{Table: s.Table, Columns: s.Columns, Rows: s.Rows, Defaults: s.Defaults, Replace: s.Replace, Ignore: s.Ignore,
		Check: (*physical.RowCheck)(s.Check)}
	for _, a := range s.OnDuplicate {
		ins.OnDuplicate = append(ins.OnDuplicate, physical.Assignment{Column: a.Column, Value: a.Value, Default: a.Default})
	}
	var err error
	if ins.Returning, err = placeReturning(s.Returning); err != nil {
		return nil, err
	}
	plan := &physical.Plan{Change: ins, Writes: []*schema.Table{s.Table}}
	if s.Source != nil {
		p.scores = map[expr.ColID]expr.Expr{}
		root, err := p.root(s.Source)
		if err != nil {
			return nil, err
		}
		plan.Root = root
	}
	return p.finish(plan)
}

func (p *planner) update(s *logical.Update) (*physical.Plan, error) {
	p.change = s.Scan
	root, err := p.root(s.Input)
	if err != nil {
		return nil, err
	}
	up := &physical.Update{Table: s.Table, Ignore: s.Ignore, Check: (*physical.RowCheck)(s.Check)}
	cols := s.Input.Columns()
	if up.Assignments, err = placeAssignments(s.Assignments, ids(cols)); err != nil {
		return nil, err
	}
	return p.finish(&physical.Plan{Root: root, Change: up, Writes: []*schema.Table{s.Table}})
}

func (p *planner) delete(s *logical.Delete) (*physical.Plan, error) {
	p.change = s.Scan
	// All columns distinguish rows whose keys show the same local time.
	sameKeys := slices.ContainsFunc(s.Table.PrimaryKey, func(k schema.KeyPart) bool { return p.hasTwoOrders(s.Table.Column(k.Column).Type) })
	p.deletes = isPlainFilter(s.Input) && s.Returning == nil && s.Limit == nil && !sameKeys
	root, err := p.rootOf(s.Input, nil, s.Limit)
	if err != nil {
		return nil, err
	}
	del := &physical.Delete{Table: s.Table, Ignore: s.Ignore, Limit: s.Limit}
	if del.Returning, err = placeReturning(s.Returning); err != nil {
		return nil, err
	}
	return p.finish(&physical.Plan{Root: root, Change: del, Writes: []*schema.Table{s.Table}})
}

// placeReturning fixes the columns of RETURNING to their positions in the row.
func placeReturning(r *logical.Returning) ([]expr.Expr, error) {
	if r == nil {
		return nil, nil
	}
	return placeAll(r.Exprs, ids(r.Input))
}

// isPlainFilter reports a table with conditions all of which its scan tests.
func isPlainFilter(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Scan:
		return true
	case *logical.Filter:
		_, isScan := x.Input.(*logical.Scan)
		return isScan && expr.KnownBefore(x.Conds)
	}
	return false
}

// place fixes the columns of e to their positions in a layout.
func place(e expr.Expr, layout []expr.ColID) (expr.Expr, error) {
	var missing *expr.Col
	out := expr.Map(e, func(x expr.Expr) expr.Expr {
		c, ok := x.(*expr.Col)
		if !ok {
			return x
		}
		for i, id := range layout {
			if id == c.ID {
				placed := *c
				placed.Index = i
				return &placed
			}
		}
		missing = c
		return x
	})
	if missing != nil {
		return nil, sqlerr.Internal("column %s (#%d) is not in the input %v", missing, missing.ID, layout)
	}
	return out, nil
}

func placeAll(list []expr.Expr, layout []expr.ColID) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		x, err := place(e, layout)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func ids(cols []logical.Column) []expr.ColID {
	out := make([]expr.ColID, len(cols))
	for i, c := range cols {
		out[i] = c.ID
	}
	return out
}

func idSet(cols []logical.Column) map[expr.ColID]bool {
	m := make(map[expr.ColID]bool, len(cols))
	for _, c := range cols {
		m[c.ID] = true
		markWhole(m, c.ID, c.T)
	}
	return m
}

func physicalColumn(c logical.Column) physical.Column {
	return physical.Column{Name: c.Name, Table: c.Table, DB: c.DB, OrgTable: c.OrgTable, OrgName: c.OrgName, T: c.T, Null: c.Null}
}

func physicalColumns(cols []logical.Column) []physical.Column {
	out := make([]physical.Column, len(cols))
	for i, c := range cols {
		out[i] = physicalColumn(c)
	}
	return out
}
