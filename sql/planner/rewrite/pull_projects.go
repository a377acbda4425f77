package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// pullProjects moves projects that only choose or rename columns from below
// joins to above them, so that derived tables join as the tables that they are:
//
//	SELECT … FROM a JOIN (SELECT id AS k, v FROM b WHERE v > 5) d ON a.x = d.k
//
// A project on the right of an outer join stays if it has constants: these
// would not become NULL above the join. Those of semi and anti joins vanish.
// A computed column that is not read does not hinder it.
func (r *Rewriter) pullProjects(n logical.Node) logical.Node {
	used := colSet{}
	for _, c := range n.Columns() {
		used[c.ID] = true
	}
	usedColumns(n, used)
	return bottomUp(n, func(n logical.Node) logical.Node {
		j, ok := n.(*logical.Join)
		if !ok {
			return n
		}
		with := map[expr.ColID]expr.Expr{}
		c := *j
		left, right := trimmed(j.Left, used), trimmed(j.Right, used)
		if p, ok := left.(*logical.Project); ok && onlyChooses(p, true) {
			c.Left = p.Input
			addProjected(with, p, false)
		}
		isOuter := j.Kind == logical.JoinLeft
		if p, ok := right.(*logical.Project); ok && onlyChooses(p, !isOuter) {
			c.Right = p.Input
			addProjected(with, p, false)
		}
		if c.Left == j.Left && c.Right == j.Right {
			return n
		}
		c.On = substituteAll(j.On, with)
		if isOuter && c.Right != j.Right {
			addProjected(with, right.(*logical.Project), true)
		}
		top := &logical.Project{Input: &c}
		for _, col := range j.Columns() {
			if used[col.ID] {
				top.Cols = append(top.Cols, col)
			}
		}
		top.Exprs = make([]expr.Expr, len(top.Cols))
		for i, col := range top.Cols {
			if top.Exprs[i] = with[col.ID]; top.Exprs[i] == nil {
				top.Exprs[i] = column(col)
			}
		}
		return top
	})
}

// usedColumns adds the columns that the expressions of n and below read, and
// those of inputs that are passed on unchanged.
func usedColumns(n logical.Node, used colSet) {
	for _, e := range expressions(n) {
		expr.Walk(e, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Col); ok {
				used[c.ID] = true
			}
			return true
		})
	}
	if a, ok := n.(*logical.Aggregate); ok {
		for _, c := range aggOrder(a) {
			used[c] = true
		}
	}
	for _, in := range n.Inputs() {
		switch n.(type) {
		case *logical.Filter, *logical.Project, *logical.Join, *logical.Aggregate, *logical.Sort, *logical.Limit:
		default:
			for _, c := range in.Columns() {
				used[c.ID] = true
			}
		}
		usedColumns(in, used)
	}
}

// aggOrder are the columns that GROUP_CONCAT sorts by.
func aggOrder(a *logical.Aggregate) []expr.ColID {
	var out []expr.ColID
	for _, agg := range a.Aggs {
		g := agg.GroupConcat()
		if g == nil {
			continue
		}
		for _, o := range g.Order {
			expr.Walk(o.Expr, func(x expr.Expr) bool {
				if c, ok := x.(*expr.Col); ok {
					out = append(out, c.ID)
				}
				return true
			})
		}
	}
	return out
}

// trimmed is a project without the columns that are not read; other nodes stay.
func trimmed(n logical.Node, used colSet) logical.Node {
	p, ok := n.(*logical.Project)
	if !ok || anyVolatile(p.Exprs) {
		return n
	}
	out := &logical.Project{Input: p.Input}
	for i, c := range p.Cols {
		if used[c.ID] {
			out.Cols, out.Exprs = append(out.Cols, c), append(out.Exprs, p.Exprs[i])
		}
	}
	return out
}

func onlyChooses(p *logical.Project, constants bool) bool {
	for _, e := range p.Exprs {
		switch e.(type) {
		case *expr.Col:
		case *expr.Const, *expr.Param:
			if !constants {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// addProjected adds p's expressions by their columns; nullable marks columns
// as an outer join does.
func addProjected(with map[expr.ColID]expr.Expr, p *logical.Project, nullable bool) {
	for i, c := range p.Cols {
		e := p.Exprs[i]
		if col, ok := e.(*expr.Col); ok && nullable && !col.Null {
			n := *col
			n.Null = true
			e = &n
		}
		with[c.ID] = e
	}
}
