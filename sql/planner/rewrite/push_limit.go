package rewrite

import (
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// pushLimit moves a limit below projects, where scans and sorts can see it.
func (r *Rewriter) pushLimit(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		if l, ok := n.(*logical.Limit); ok {
			return limitBelow(l)
		}
		return n
	})
}

func limitBelow(l *logical.Limit) logical.Node {
	p, ok := l.Input.(*logical.Project)
	if !ok || anyVolatile(p.Exprs) {
		return l
	}
	c := *p
	c.Input = limitBelow(&logical.Limit{Input: p.Input, Count: l.Count, Offset: l.Offset})
	return &c
}
