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
func (r *Rewriter) pullProjects(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		j, ok := n.(*logical.Join)
		if !ok {
			return n
		}
		with := map[expr.ColID]expr.Expr{}
		c := *j
		if p, ok := j.Left.(*logical.Project); ok && onlyChooses(p, true) {
			c.Left = p.Input
			addProjected(with, p, false)
		}
		isOuter := j.Kind == logical.JoinLeft
		if p, ok := j.Right.(*logical.Project); ok && onlyChooses(p, !isOuter) {
			c.Right = p.Input
			addProjected(with, p, false)
		}
		if c.Left == j.Left && c.Right == j.Right {
			return n
		}
		c.On = substituteAll(j.On, with)
		if isOuter && c.Right != j.Right {
			addProjected(with, j.Right.(*logical.Project), true)
		}
		top := &logical.Project{Input: &c, Cols: j.Columns()}
		top.Exprs = make([]expr.Expr, len(top.Cols))
		for i, col := range top.Cols {
			if top.Exprs[i] = with[col.ID]; top.Exprs[i] == nil {
				top.Exprs[i] = column(col)
			}
		}
		return top
	})
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
