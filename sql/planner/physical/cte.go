package physical

import "github.com/sqlots/sqlots/sql/expr"

// CTE is a common table expression that is computed once, at its first use,
// or, if it is dependent, by each run of its scan; the fields are those of logical.CTE.
type CTE struct {
	Name          string
	Seed          Node
	Recursive     []Node
	Distinct      bool
	Count, Offset expr.Expr
	Dependent     bool
	Cols          []Column
}

// Roots are the plans that the CTE consists of.
func (c *CTE) Roots() []Node { return append([]Node{c.Seed}, c.Recursive...) }

// CTEScan reads a CTE of the plan. Read are the positions of its columns.
type CTEScan struct {
	Base
	CTE  *CTE
	Read []int
	// Work reads the rows that the last iteration added.
	Work bool
}

// Inputs implements Node.
func (n *CTEScan) Inputs() []Node { return nil }

// Roots are all trees of operators of the plan.
func (p *Plan) Roots() []Node {
	var out []Node
	if p.Root != nil {
		out = append(out, p.Root)
	}
	for _, s := range p.Subplans {
		if s != nil {
			out = append(out, s)
		}
	}
	for _, c := range p.CTEs {
		out = append(out, c.Roots()...)
	}
	return out
}
