package statement

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// checkSafe is sql_safe_updates: UPDATE and DELETE need a LIMIT or a condition
// that an index serves.
func (s *Statement) checkSafe(p *physical.Plan) error {
	switch c := p.Change.(type) {
	case *physical.Delete:
		if c.Limit != nil {
			return nil
		}
	case *physical.Update, *physical.MultiUpdate, *physical.MultiDelete:
	default:
		return nil
	}
	if s.Vars.Number("sql_safe_updates") == 0 {
		return nil
	}
	for _, t := range p.Writes {
		if isRestricted(p.Root, t) {
			return nil
		}
	}
	return sqlerr.UpdateWithoutKeyInSafeMode()
}

func isRestricted(n physical.Node, target *schema.Table) bool {
	switch x := n.(type) {
	case *physical.Limit, *physical.TopK:
		return true
	case physical.TableNode:
		return x.Reads().Limit != nil || x.Reads().Table == target && !x.Leaf().Access.ReadsAll()
	case *physical.LookupJoin:
		return true // the target is looked up by a key
	}
	for _, in := range n.Inputs() {
		if isRestricted(in, target) {
			return true
		}
	}
	return false
}
