package exec

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
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

// Pick takes words of a column, and possibly a few others. It does not change, and may be
// used by several goroutines.
type Pick struct {
	// bits have one for each word from least on, or, where shift is not 0, one for several
	// by their hash.
	bits  []uint64
	least int64
	shift uint
}

// Take appends to out the rows below n whose word is taken. NULL is not.
func (p *Pick) Take(v *vec.Vec, n int, out []uint16) []uint16 {
	words, nulls := v.I64[:n], v.Nulls.Any()
	if p.shift != 0 {
		for i, w := range words {
			if at := hashWord(w) >> p.shift; p.bits[at>>6]>>(at&63)&1 != 0 && !(nulls && v.Nulls.IsNull(i)) {
				out = append(out, uint16(i))
			}
		}
		return out
	}
	least, end := uint64(p.least), uint64(len(p.bits))<<6
	for i, w := range words {
		if at := uint64(w) - least; at < end && p.bits[at>>6]>>(at&63)&1 != 0 && !(nulls && v.Nulls.IsNull(i)) {
			out = append(out, uint16(i))
		}
	}
	return out
}

func pickBytes(list []columnPick) (sum int64) {
	for _, c := range list {
		sum += int64(len(c.pick.bits)) * 8
	}
	return sum
}

// A Pick has at most pickBits for each row that is stored, few bytes next to those of the
// row, or pickLeast. Of words that are too far apart for that it has hashBits for each.
const (
	pickBits  = 64
	pickLeast = 1 << 20
	hashBits  = 16
)

// newPick takes the words that each gives, of so many rows; nil without any.
func newPick(rows int, each func(fn func(w int64))) *Pick {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	each(func(w int64) { least, most = min(least, w), max(most, w) })
	if least > most {
		return nil
	}
	if span := uint64(most) - uint64(least); span < max(uint64(rows)*pickBits, pickLeast) {
		p := &Pick{least: least, bits: make([]uint64, span/64+1)}
		each(func(w int64) { setBit(p.bits, uint64(w)-uint64(least)) })
		return p
	}
	log := max(bits.Len(uint(rows*hashBits)), 6)
	p := &Pick{shift: uint(64 - log), bits: make([]uint64, 1<<(log-6))}
	each(func(w int64) { setBit(p.bits, hashWord(w)>>p.shift) })
	return p
}

func setBit(set []uint64, at uint64) { set[at>>6] |= 1 << (at & 63) }

// keyPicks are picks of the stored keys, by columns of the probe input: rows of other keys
// are of no use. Each column of a key has one of its own.
func (j *hashJoinOp) keyPicks() (list []columnPick) {
	if j.oneKey || j.kind != physical.JoinInner && j.kind != physical.JoinSemi || !plain(j.probeKeys) {
		return nil
	}
	for k := range j.probeKeys {
		of, ok := wordColumn(j.probeKeys[k], j.table.enc[k].kind)
		if !ok || !picks(j.probeNode, of) {
			continue
		}
		stored, ok := wordColumn(j.buildKeys[k], j.table.enc[k].kind)
		if !ok {
			continue
		}
		if p := newPick(j.store.n, func(fn func(w int64)) { j.store.words(stored, fn) }); p != nil {
			list = append(list, columnPick{of, p})
		}
	}
	return list
}

// wordColumn is the column that a key is, if it has words of a kind.
func wordColumn(e expr.Expr, k value.Kind) (int, bool) {
	c, ok := e.(*expr.Col)
	if !ok || c.Index < 0 || types.KindOf(c.T) != k || vec.ClassOf(k) != vec.ClassWord {
		return 0, false
	}
	return c.Index, true
}

// words calls fn with the words of a column that are not NULL.
func (s *rowStore) words(col int, fn func(w int64)) {
	for _, chunk := range s.chunks {
		v := chunk.Cols[col]
		nulls := v.Nulls.Any()
		for i, w := range v.I64[:chunk.N] {
			if !nulls || !v.Nulls.IsNull(i) {
				fn(w)
			}
		}
	}
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
		if marksJoin(x) || len(x.Filter) > 0 || !plain(x.LeftKeys) || !plain(x.RightKeys) {
			return false
		}
		if x.BuildLeft {
			col -= len(build.Columns())
		}
		return col >= 0 && col < len(probe.Columns()) && picks(probe, col)
	}
	return false
}

// plain reports keys that compute nothing, which could fail or warn for rows that are left
// out.
func plain(keys []expr.Expr) bool {
	return !slices.ContainsFunc(keys, func(e expr.Expr) bool { _, is := e.(*expr.Col); return !is })
}

// pickProbe has the probe input leave out rows whose key is not stored.
func (j *hashJoinOp) pickProbe() {
	if j.picked {
		return
	}
	j.picked = true
	pickAll(j.probe, j.picks)
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
