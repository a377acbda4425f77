package searchscan

import (
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// The objects of an array are nested documents behind that of the row, with their
// members as fields. They have what JSON_TABLE gives for columns of the members'
// types over the path $[*]: a row with anything of which that could be doubted, as
// an element that is no object or a text for a number, is rejected as a whole.

// nested asks for rows of which an object satisfies a condition.
func (q *searchQuery) nested(n *physical.SearchNode) (query.Node, error) {
	in := *q
	in.table, in.objects = n.Table, n.Field.ID
	of := query.Node(query.And{})
	if len(n.Children) > 0 {
		var err error
		if of, err = in.node(n.Children[0]); err != nil {
			return nil, err
		}
	}
	return &query.Nested{Path: n.Field.ID, Of: of}, nil
}
