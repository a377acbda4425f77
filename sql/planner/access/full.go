package access

import (
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// fullScan reads the table by its primary key.
func (r *Request) fullScan() *Path {
	p := &Path{Access: &physical.FullScan{}, Residual: r.Conds}
	p.Ordered = len(r.Order) == 0
	r.estimate(p)
	return p
}
