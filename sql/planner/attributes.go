package planner

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// A scan of a table with dynamic columns reads the attributes that the plan uses
// by name, and all only where the object itself is needed. What a consumer needs
// travels with the columns of a request, as ids of no column: a mark for each
// name, and one for the whole.

// attributeName is an attribute of the object in a column.
type attributeName struct {
	column expr.ColID
	name   string
}

// firstMark is above the ids of columns.
const firstMark expr.ColID = 1 << 30

// attributeMark is the mark of an attribute.
func (p *planner) attributeMark(column expr.ColID, name string) expr.ColID {
	k := attributeName{column, name}
	if p.marks == nil {
		p.marks = map[attributeName]expr.ColID{}
	}
	id, ok := p.marks[k]
	if !ok {
		id = firstMark + expr.ColID(len(p.marks))
		p.marks[k] = id
	}
	return id
}

// markWhole marks a column that may be one of attributes as read whole.
func markWhole(set map[expr.ColID]bool, id expr.ColID, t schema.Type) {
	if t.ID == schema.TypeJSON {
		set[^id] = true
	}
}

// attributeOf takes the reading of an attribute of a column apart.
func attributeOf(e expr.Expr) (*expr.Col, string, bool) {
	x, name, ok := expr.AsAttribute(e)
	if !ok {
		return nil, "", false
	}
	c, ok := x.(*expr.Col)
	return c, name, ok
}

// attributesRead are the names of the attributes that a scan has to read; nil
// for all. conds are its own conditions.
func (p *planner) attributesRead(s *logical.Scan, req request, conds []expr.Expr) []string {
	pos := s.Table.AttributesColumn()
	if pos < 0 {
		return nil
	}
	id := s.Cols[pos].ID
	own := p.addReads(nil, conds...)
	whole := req.cols[^id] || own[^id]
	names := []string{}
	for k, mark := range p.marks {
		if k.column == id && (req.cols[mark] || own[mark]) {
			names = append(names, k.name)
		}
	}
	if whole || len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return names
}
