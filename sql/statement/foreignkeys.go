package statement

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// AddKeys gives the plan of a change the foreign keys that it has to keep. The
// tables of these are no part of the statement's text: LOCK TABLES need not
// name them.
func (cn *Connection) AddKeys(p *physical.Plan) {
	p.Named = len(p.Tables)
	if p.Change == nil {
		return
	}
	p.Keys = cn.Engine.Catalog.Snapshot().References(cn.Temps.notTemporary(p.Writes))
	if p.Keys == nil {
		return
	}
	p.Tables, p.Writes = slices.Clone(p.Tables), slices.Clone(p.Writes)
	add := func(to *[]*schema.Table, list []*schema.Table) {
		for _, t := range list {
			if !slices.Contains(*to, t) {
				*to = append(*to, t)
			}
		}
	}
	add(&p.Tables, p.Keys.Tables)
	add(&p.Writes, p.Keys.Cascaded)
}

// currentKeys reports whether a plan knows the present foreign keys. It is called
// under the metadata locks of the plan's tables, which whoever adds a foreign key
// takes too.
func (cn *Connection) currentKeys(p *physical.Plan) bool {
	if p.Change == nil {
		return true
	}
	return cn.Engine.Catalog.Snapshot().IsCurrent(p.Keys, cn.Temps.notTemporary(p.Writes))
}

// restoring reports the settings that the head of every dump makes and hardly
// anything else does.
func (cn *Connection) restoring() bool {
	return !cn.Vars.Mode.Strict() && !cn.foreignKeyChecks()
}

func (cn *Connection) foreignKeyChecks() bool { return cn.Vars.Number("foreign_key_checks") != 0 }

// ignores reports whether a change is an IGNORE one.
func ignores(p *physical.Plan) bool {
	switch x := p.Change.(type) {
	case *physical.Insert:
		return x.Ignore
	case *physical.Update:
		return x.Ignore
	case *physical.Delete:
		return x.Ignore
	case *physical.MultiUpdate:
		return x.Ignore
	case *physical.MultiDelete:
		return x.Ignore
	}
	return false
}
