package planner

import (
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// jsonTableRows is the guess of how many rows a document has.
const jsonTableRows = 10

func (p *planner) jsonTable(n *logical.JSONTable, req request) rel {
	out := rel{cols: n.Cols, rows: jsonTableRows, cost: jsonTableRows * cost.ProjectRow * float64(len(n.Cols)+1), ordered: len(req.order) == 0}
	out.node = &physical.JSONTable{Base: base(n.Cols, out.rows, out.cost), Doc: n.Doc, Spec: n.Spec}
	return out
}
