package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// ReadsOuter reports whether a plan reads values of the query around it.
func ReadsOuter(n logical.Node) bool {
	for _, e := range expressions(n) {
		if expr.ReadsOuter(e) {
			return true
		}
	}
	switch x := n.(type) {
	case *logical.Apply:
		return ReadsOuter(x.Left) // what the right side reads are Params
	case *logical.CTEScan:
		return x.CTE.Dependent
	}
	for _, in := range n.Inputs() {
		if ReadsOuter(in) {
			return true
		}
	}
	return false
}
