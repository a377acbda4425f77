package planner

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// order puts the hints about the order of joins into the graph, one after the
// other. One that contradicts those before it is ignored, as in MySQL. What
// cannot come in another order, such as the tables of one outer join, is one
// item.
func (g *joinGraph) order(hints []*logical.JoinOrder) {
	for _, h := range hints {
		var list []int
		for _, ids := range h.Tables {
			if i := g.itemOf(ids); i >= 0 && (len(list) == 0 || list[len(list)-1] != i) {
				list = append(list, i)
			}
		}
		if len(list) == 0 {
			continue
		}
		after := make([]uint64, len(g.items))
		copy(after, g.after)
		var named, before uint64
		for _, i := range list {
			named |= 1 << i
		}
		others := (uint64(1)<<len(g.items) - 1) &^ named
		for _, i := range list {
			after[i] |= before
			before |= 1 << i
			if h.Kind == logical.OrderSuffix {
				after[i] |= others
			}
		}
		if h.Kind == logical.OrderPrefix {
			for i := range after {
				if others&(1<<i) != 0 {
					after[i] |= named
				}
			}
		}
		if isOrder(after) {
			g.after = after
		}
	}
}

// itemOf is the item that yields one of the columns, -1 for none.
func (g *joinGraph) itemOf(ids map[expr.ColID]bool) int {
	for i, it := range g.items {
		for id := range it.cols {
			if ids[id] {
				return i
			}
		}
	}
	return -1
}

// isOrder reports whether items can come in an order in which each has those
// before it that it must have.
func isOrder(after []uint64) bool {
	var have uint64
	for range after {
		for i, need := range after {
			if need&^have == 0 {
				have |= 1 << i
			}
		}
	}
	return have == uint64(1)<<len(after)-1
}

// mayFollow reports whether an item may join those in have.
func (g *joinGraph) mayFollow(have uint64, item int) bool {
	return g.after == nil || g.after[item]&^have == 0
}
