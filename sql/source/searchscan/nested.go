package searchscan

import (
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// The objects of an array are nested documents after that of the row, with their
// members as fields. They have what JSON_TABLE gives for columns of the members'
// types over the path $[*]. A row for which that is in doubt is rejected as a
// whole: an element that is no object, or a text for a number.

// nested is a query for rows of which an object satisfies a condition.
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
