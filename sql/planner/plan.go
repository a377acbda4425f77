package planner

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Options shape planning.
type Options struct {
	Est access.Estimator
	// Ctx evaluates constants for estimates and folding. Its parameters are
	// those of the execution that the plan is first made for.
	Ctx  *expr.Ctx
	Bind *expr.BindEnv
	// Parallelism is the number of workers of a parallel operator, 1 for none.
	Parallelism int
	// Disabled switches off rewrite rules and operators by name (Rules,
	// Operators).
	Disabled map[string]bool
	// Trace is told of the logical plan after each rule.
	Trace func(rule string, n logical.Node)
	// Check verifies the logical plan after each rule, and the physical one.
	Check bool
	// SmallLimit: the client takes at most this many rows (sql_select_limit),
	// 0 for no bound.
	SmallLimit uint64
}

// Plan makes the plan of a query or change.
func Plan(stmt logical.Statement, opts Options) (*physical.Plan, error) {
	p := &planner{opts: opts, seen: map[schema.TableID]bool{}}
	plan, err := p.statement(stmt)
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
	}
	return nil, sqlerr.Internal("no plan for %T", stmt)
}

type planner struct {
	opts   Options
	tables []*schema.Table
	seen   map[schema.TableID]bool
	// memo are the built nodes.
	memo map[logical.Node][]built
	// change is the occurrence of a table that the statement changes.
	change *logical.Scan
	// countAll: rows behind a limit are counted too (SQL_CALC_FOUND_ROWS), so
	// that no input may stop at it.
	countAll bool
}

func (p *planner) off(name string) bool { return p.opts.Disabled[name] }

func (p *planner) addTable(t *schema.Table) {
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
	}
	for _, in := range n.Inputs() {
		p.addTables(in)
	}
}

// root rewrites and builds n so that its output is exactly n's columns.
func (p *planner) root(n logical.Node) (physical.Node, error) {
	// Rules may find that a table need not be read; the plan depends on it all
	// the same.
	p.addTables(n)
	r := rewrite.Rewriter{Ctx: p.opts.Ctx, Bind: p.opts.Bind, Disabled: p.opts.Disabled, Trace: p.opts.Trace, Check: p.opts.Check}
	out, err := r.Rewrite(n)
	if err != nil {
		return nil, err
	}
	cols := out.Columns()
	rel, err := p.build(out, request{cols: idSet(cols)})
	if err != nil {
		return nil, err
	}
	return p.layout(rel, cols).node, nil
}

func (p *planner) subplans(list []logical.Node) ([]physical.Node, error) {
	out := make([]physical.Node, len(list))
	for i, n := range list {
		if n == nil {
			continue // became a semi join
		}
		sub, err := p.root(n)
		if err != nil {
			return nil, err
		}
		out[i] = sub
	}
	return out, nil
}

func (p *planner) query(q *logical.Query) (*physical.Plan, error) {
	p.countAll = q.CalcFoundRows
	root, err := p.root(q.Root)
	p.countAll = false
	if err != nil {
		return nil, err
	}
	subs, err := p.subplans(q.Subqueries)
	if err != nil {
		return nil, err
	}
	return &physical.Plan{Root: root, Subplans: subs, Tables: p.tables, CalcFoundRows: q.CalcFoundRows, Locks: q.Locks}, nil
}

func (p *planner) insert(s *logical.Insert) (*physical.Plan, error) {
	subs, err := p.subplans(s.Subqueries)
	if err != nil {
		return nil, err
	}
	p.addTable(s.Table)
	ins := &physical.Insert{Table: s.Table, Columns: s.Columns, Rows: s.Rows, Defaults: s.Defaults, Replace: s.Replace, Ignore: s.Ignore}
	for _, a := range s.OnDuplicate {
		ins.OnDuplicate = append(ins.OnDuplicate, physical.Assignment{Column: a.Column, Value: a.Value, Default: a.Default})
	}
	plan := &physical.Plan{Change: ins, Subplans: subs}
	if s.Source != nil {
		if plan.Root, err = p.root(s.Source); err != nil {
			return nil, err
		}
	}
	plan.Tables = p.tables
	return plan, nil
}

func (p *planner) update(s *logical.Update) (*physical.Plan, error) {
	p.change = s.Scan
	root, err := p.root(s.Input)
	if err != nil {
		return nil, err
	}
	subs, err := p.subplans(s.Subqueries)
	if err != nil {
		return nil, err
	}
	up := &physical.Update{Table: s.Table, Ignore: s.Ignore}
	cols := s.Input.Columns()
	for _, a := range s.Assignments {
		out := physical.Assignment{Column: a.Column, Default: a.Default}
		if a.Value != nil {
			if out.Value, err = place(a.Value, ids(cols)); err != nil {
				return nil, err
			}
		}
		up.Assignments = append(up.Assignments, out)
	}
	return &physical.Plan{Root: root, Change: up, Subplans: subs, Tables: p.tables}, nil
}

func (p *planner) delete(s *logical.Delete) (*physical.Plan, error) {
	p.change = s.Scan
	root, err := p.root(s.Input)
	if err != nil {
		return nil, err
	}
	subs, err := p.subplans(s.Subqueries)
	if err != nil {
		return nil, err
	}
	return &physical.Plan{Root: root, Change: &physical.Delete{Table: s.Table, Ignore: s.Ignore}, Subplans: subs, Tables: p.tables}, nil
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
