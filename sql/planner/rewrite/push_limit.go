package rewrite

import (
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// pushLimit moves a limit below projects, where scans and sorts can see it.
func (r *Rewriter) pushLimit(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		l, ok := n.(*logical.Limit)
		if !ok {
			return n
		}
		p, ok := l.Input.(*logical.Project)
		if !ok || anyVolatile(p.Exprs) {
			return n
		}
		c := *p
		c.Input = &logical.Limit{Input: p.Input, Count: l.Count, Offset: l.Offset}
		return &c
	})
}
