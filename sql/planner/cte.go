package planner

import (
	"math"

	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// recursionGrowth is the guess of how many rows a recursive CTE has for each
// of its first, and workRows of how many an iteration adds.
const (
	recursionGrowth = 10
	workRows        = 10
)

// cteScan reads a CTE, whose plan is made at its first use.
func (p *planner) cteScan(n *logical.CTEScan, req request) (rel, error) {
	c, err := p.cte(n.CTE)
	if err != nil {
		return rel{}, err
	}
	out := rel{rows: math.Max(c.Seed.Est().Rows, 1)}
	if len(n.CTE.Recursive) > 0 {
		out.rows *= recursionGrowth
	}
	if n.Work {
		out.rows = workRows
	}
	scan := &physical.CTEScan{CTE: c, Work: n.Work}
	for i, col := range n.Cols {
		if req.cols[col.ID] {
			scan.Read = append(scan.Read, i)
			out.cols = append(out.cols, col)
		}
	}
	out.cost = out.rows * cost.ProjectRow
	if n.CTE.Dependent && !n.Work {
		for _, r := range c.Roots() {
			out.cost += r.Est().Cost
		}
	}
	out.ordered = len(req.order) == 0
	scan.Base = base(out.cols, out.rows, out.cost)
	out.node = scan
	return out, nil
}

// cte plans a CTE, once for all its scans.
func (p *planner) cte(x *logical.CTE) (*physical.CTE, error) {
	if c := p.ctes[x]; c != nil {
		return c, nil
	}
	count := p.countAll
	p.countAll = false
	defer func() { p.countAll = count }()
	if x.Dependent {
		workers := p.opts.Parallelism
		p.opts.Parallelism = 1
		defer func() { p.opts.Parallelism = workers }()
	}
	seed, err := p.root(x.Seed)
	if err != nil {
		return nil, err
	}
	c := &physical.CTE{Name: x.Name, Seed: seed, Distinct: x.Distinct, Dependent: x.Dependent, Count: x.Count, Offset: x.Offset, Cols: physicalColumns(x.Cols)}
	if p.ctes == nil {
		p.ctes = map[*logical.CTE]*physical.CTE{}
	}
	p.ctes[x] = c
	for _, m := range x.Recursive {
		r, err := p.root(m)
		if err != nil {
			return nil, err
		}
		c.Recursive = append(c.Recursive, r)
	}
	p.cteList = append(p.cteList, c)
	return c, nil
}

func (p *planner) addCTETables(x *logical.CTE) {
	if p.walked[x] {
		return
	}
	if p.walked == nil {
		p.walked = map[*logical.CTE]bool{}
	}
	p.walked[x] = true
	p.addTables(x.Seed)
	for _, m := range x.Recursive {
		p.addTables(m)
	}
}
