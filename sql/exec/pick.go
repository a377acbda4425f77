package exec

import (
	"math"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
)

// A hash join knows which keys it has stored before it reads its other input. A scan of a
// columnar index reads the column of the key first, and of rows whose key is not stored
// nothing else.

// Picker is implemented by operators that can leave out rows by the values of a column.
type Picker interface {
	// Pick is called before the first Next. Rows may be left out that p does not take;
	// the others come. It may be called for several columns.
	Pick(col int, p *Pick)
}

// Pick takes some of the words of a column. It does not change, and may be used by
// several goroutines.
type Pick struct {
	least int64
	bits  []uint64
}

// Take appends to out the rows below n whose word is taken. NULL is not.
func (p *Pick) Take(v *vec.Vec, n int, out []uint16) []uint16 {
	words, nulls := v.I64[:n], v.Nulls.Any()
	least, end := uint64(p.least), uint64(len(p.bits))<<6
	for i, w := range words {
		if at := uint64(w) - least; at < end && p.bits[at>>6]>>(at&63)&1 != 0 && !(nulls && v.Nulls.IsNull(i)) {
			out = append(out, uint16(i))
		}
	}
	return out
}

func (p *Pick) size() int64 {
	if p == nil {
		return 0
	}
	return int64(len(p.bits)) * 8
}

// pick takes the words of the table; nil where they are too far apart: a Pick has a
// quarter of the table's bytes at most.
func (t *wordTable) pick() *Pick {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range t.slots {
		if s.id != 0 {
			least, most = min(least, s.key), max(most, s.key)
		}
	}
	span := uint64(most) - uint64(least)
	if t.n == 0 || span/bitsPerWord >= uint64(t.n) {
		return nil
	}
	p := &Pick{least: least, bits: make([]uint64, span/64+1)}
	for _, s := range t.slots {
		if s.id != 0 {
			at := uint64(s.key) - uint64(least)
			p.bits[at>>6] |= 1 << (at & 63)
		}
	}
	return p
}

// pickColumn is the column of the probe input that is the key, where rows of other keys
// than the stored ones are of no use and may be left out; -1 for none.
func (j *hashJoinOp) pickColumn() int {
	if j.oneKey || !j.table.word || len(j.probeKeys) != 1 || j.kind != physical.JoinInner && j.kind != physical.JoinSemi {
		return -1
	}
	c, ok := j.probeKeys[0].(*expr.Col)
	if !ok || c.Index < 0 || types.KindOf(c.T) != j.table.enc[0].kind || !picks(j.probeNode, c.Index) {
		return -1
	}
	return c.Index
}

// picks reports whether the operator of n leaves out rows by a column.
func picks(n physical.Node, col int) bool {
	switch x := n.(type) {
	case *physical.Scan:
		s := x.Search()
		return s != nil && s.Covering && s.Group == nil && s.Order == nil && len(s.Scores) == 0 &&
			len(x.Filter) == 0 && x.Limit == nil && col < len(x.Read)
	case *physical.HashJoin:
		probe, build := sides(x)
		if marksJoin(x) || len(x.Filter) > 0 || !plainKeys(x) {
			return false
		}
		if x.BuildLeft {
			col -= len(build.Columns())
		}
		return col >= 0 && col < len(probe.Columns()) && picks(probe, col)
	}
	return false
}

// plainKeys reports a join that computes nothing of its inputs, which could fail for rows
// that are left out.
func plainKeys(x *physical.HashJoin) bool {
	for _, list := range [][]expr.Expr{x.LeftKeys, x.RightKeys} {
		for _, e := range list {
			if _, ok := e.(*expr.Col); !ok {
				return false
			}
		}
	}
	return true
}

// pickProbe has the probe input leave out rows whose key is not stored.
func (j *hashJoinOp) pickProbe() {
	if j.picked {
		return
	}
	j.picked = true
	if in, ok := j.probe.(Picker); ok && j.pick != nil {
		in.Pick(j.pickColumn(), j.pick)
	}
}

// Pick implements Picker.
func (j *hashJoinOp) Pick(col int, p *Pick) {
	if !picks(j.node, col) {
		return
	}
	if j.pairs.storeFirst {
		col -= len(j.store.kinds)
	}
	if in, ok := j.probe.(Picker); ok {
		in.Pick(col, p)
	}
}

// Pick implements Picker: the rows are those that were stored.
func (m *markJoinOp) Pick(int, *Pick) {}

// Pick implements Picker.
func (s *statOp) Pick(col int, p *Pick) {
	if in, ok := s.Operator.(Picker); ok {
		in.Pick(col, p)
	}
}

// Pick implements Picker.
func (e *exchange) Pick(col int, p *Pick) {
	if picks(e.node, col) {
		e.picks = append(e.picks, columnPick{col, p})
	}
}

// Pick implements Picker.
func (s *scanOp) Pick(col int, p *Pick) {
	if picks(s.node, col) {
		s.picks = append(s.picks, columnPick{col, p})
	}
}

// columnPick is a Pick by a column that an operator is given when it is there.
type columnPick struct {
	col  int
	pick *Pick
}

// pickAll gives an operator its picks.
func pickAll(op Operator, list []columnPick) {
	if in, ok := op.(Picker); ok {
		for _, c := range list {
			in.Pick(c.col, c.pick)
		}
	}
}
