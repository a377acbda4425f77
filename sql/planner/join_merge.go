package planner

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// mergeRows is the least size of inputs for which a merge join is looked at: a
// hash join of fewer rows costs nothing.
const mergeRows = 1000

// mergePlan is a merge join: both sides in the order of the keys.
type mergePlan struct {
	left, right rel
	keys        []equiPair
	filter      []expr.Expr
	cost        float64
}

// merge plans a merge join of two tables by a unique key of the right one; ok
// is false when no such join is possible, or the store does not give the order.
func (p *planner) merge(g *joinGraph, j *pair, have uint64) (best mergePlan, ok bool, err error) {
	if p.off("MergeJoin") || p.off("IndexAccess") || bits.OnesCount64(have) != 1 || len(j.equi) == 0 {
		return best, false, nil
	}
	leftItem := g.items[bits.TrailingZeros64(have)]
	ls, _ := baseTable(leftItem.node)
	rs, _ := baseTable(j.item.node)
	if ls == nil || rs == nil || p.change == ls || p.change == rs || ls.Opt.NoMergeJoin || rs.Opt.NoMergeJoin {
		return best, false, nil
	}
	forced := ls.Opt.MergeJoin || rs.Opt.MergeJoin
	if !forced && (g.ordered || j.left.rows < mergeRows || j.right.rows < mergeRows) {
		return best, false, nil
	}
	for _, key := range uniqueKeys(rs.Table) {
		m, fits := mergeBy(j, rs, key)
		if !fits || slices.ContainsFunc(m.keys, func(e equiPair) bool { return p.hasTwoOrders(e.left.Type()) || p.hasTwoOrders(e.right.Type()) }) {
			continue
		}
		order := func(side func(equiPair) expr.Expr) []orderKey {
			var out []orderKey
			for _, e := range m.keys {
				out = append(out, orderKey{id: side(e).(*expr.Col).ID})
			}
			return out
		}
		if m.right, err = p.build(j.item.node, request{cols: g.need, order: order(func(e equiPair) expr.Expr { return e.right })}); err != nil {
			return best, false, err
		}
		if m.left, err = p.build(leftItem.node, request{cols: g.need, order: order(func(e equiPair) expr.Expr { return e.left })}); err != nil {
			return best, false, err
		}
		if !m.right.ordered || !m.left.ordered {
			continue
		}
		m.cost = m.left.cost + m.right.cost + (m.left.rows+m.right.rows)*cost.MergeRow + j.rows*cost.ProjectRow
		if forced { // a hint requires it: less than any join that reads the left side
			m.cost = math.Min(m.cost, j.left.cost*1e-3)
		}
		if !ok || m.cost < best.cost {
			best, ok = m, true
		}
	}
	return best, ok, nil
}

// uniqueKeys are the columns, by position, of the primary key and of the unique
// indexes that have an entry for each row.
func uniqueKeys(t *schema.Table) [][]int {
	positions := func(parts []schema.KeyPart) []int {
		var out []int
		for _, part := range parts {
			if part.Prefix > 0 {
				return nil
			}
			out = append(out, t.ColumnIndex(part.Column))
		}
		return out
	}
	keys := [][]int{positions(t.DeclaredKey())}
	for i := range t.Indexes {
		if x := &t.Indexes[i]; x.Unique && x.State == schema.IndexPublic && t.HoldsAll(x) {
			keys = append(keys, positions(x.Parts))
		}
	}
	return keys
}

// mergeBy finds the equalities with the columns of a key of the right table;
// all must be between columns whose orders are the same.
func mergeBy(j *pair, rs *logical.Scan, key []int) (m mergePlan, ok bool) {
	used := map[int]bool{}
	for _, pos := range key {
		found := false
		for i, e := range j.equi {
			l, isCol := e.left.(*expr.Col)
			r, isRight := e.right.(*expr.Col)
			if used[i] || !isCol || !isRight || r.ID != rs.Cols[pos].ID || !sameOrder(l.T, r.T) {
				continue
			}
			used[i], found = true, true
			m.keys = append(m.keys, e)
			break
		}
		if !found {
			return m, false
		}
	}
	m.filter = append(m.filter, j.rest...)
	for i, e := range j.equi {
		if !used[i] {
			m.filter = append(m.filter, e.cond)
		}
	}
	return m, len(key) > 0
}

// sameOrder reports whether values of two types that are equal have the same
// place in the orders of indexes.
func sameOrder(a, b schema.Type) bool {
	k := types.KindOf(a)
	if k != types.KindOf(b) || k == value.KindFloat || a.ID == schema.TypeEnum || a.ID == schema.TypeSet || a.ID == schema.TypeJSON || b.ID == schema.TypeEnum || b.ID == schema.TypeSet {
		return false
	}
	if a.IsString() || b.IsString() {
		return a.ID == b.ID && a.Collation == b.Collation
	}
	return a.ID == b.ID || a.IsInteger() && b.IsInteger()
}

func (p *planner) mergeJoin(j *pair, m mergePlan) (rel, error) {
	left, right := m.left.ids(), m.right.ids()
	n := &physical.MergeJoin{Kind: physical.JoinKind(j.kind), Left: m.left.node, Right: m.right.node}
	for _, e := range m.keys {
		lk, err := place(e.left, left)
		if err != nil {
			return rel{}, err
		}
		rk, err := place(e.right, right)
		if err != nil {
			return rel{}, err
		}
		n.LeftKeys, n.RightKeys = append(n.LeftKeys, lk), append(n.RightKeys, rk)
	}
	var err error
	if n.Filter, err = placeAll(cheapFirst(m.filter), append(left, right...)); err != nil {
		return rel{}, err
	}
	cols := joinColumns(m.left.cols, m.right.cols, j.kind)
	n.Base = base(cols, j.rows, m.cost)
	return rel{node: n, cols: cols, rows: j.rows, cost: m.cost}, nil
}
