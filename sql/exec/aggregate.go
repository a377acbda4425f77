package exec

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// aggregation is the state of one grouping: the groups with their keys and the
// accumulators.
type aggregation struct {
	env     *Env
	ec      *expr.Ctx
	groupBy []expr.Expr
	calls   []*expr.Agg
	args    [][]expr.Expr

	accs []accumulator
	keys keyTable
	vals rowStore // the groups' values
	n    int
	// finished: the results are being read.
	finished bool
	set      func(*distinctAcc) // see account

	cols []*vec.Vec
	vecs []*vec.Vec
	ids  []uint32
	one  [1]uint16
}

func newAggregation(env *Env, ec *expr.Ctx, groupBy []expr.Expr, calls []*expr.Agg) (*aggregation, error) {
	a := &aggregation{env: env, ec: ec, groupBy: groupBy, calls: calls}
	for _, c := range calls {
		a.args = append(a.args, aggArgs(c))
	}
	return a, a.reset()
}

// reset forgets all groups. Without GROUP BY there is always one.
func (a *aggregation) reset() error {
	a.accs = make([]accumulator, len(a.calls))
	for i, c := range a.calls {
		acc, err := newAccumulator(a.env, a.ec, c, len(a.groupBy) > 0)
		if err != nil {
			return err
		}
		a.accs[i] = acc
	}
	if a.set != nil {
		a.distincts(a.set)
	}
	a.n = 0
	if len(a.groupBy) > 0 {
		a.keys = a.env.newKeyTable(exprTypes(a.groupBy))
		a.vals = newRowStore(exprKinds(a.groupBy))
	} else {
		a.grow(1)
	}
	return nil
}

func (a *aggregation) grow(n int) {
	a.n = n
	for _, acc := range a.accs {
		acc.grow(n)
	}
}

func (a *aggregation) size() int64 {
	n := a.vals.size + a.keys.size()
	for _, acc := range a.accs {
		n += acc.size()
	}
	return n
}

// consume groups the rows of a batch by hashing.
func (a *aggregation) consume(b *vec.Batch) error {
	rows := liveRows(b)
	var ids []uint32
	if len(a.groupBy) > 0 {
		var err error
		if a.cols, err = evalAll(a.ec, a.groupBy, b, a.cols[:0]); err != nil {
			return err
		}
		a.ids = a.assign(a.cols, rows, a.ids[:0])
		ids = a.ids
		release(a.ec, a.cols)
	}
	return a.fold(b, rows, ids)
}

// assign finds or makes the groups of rows.
func (a *aggregation) assign(cols []*vec.Vec, rows []uint16, ids []uint32) []uint32 {
	ids = a.keys.insert(cols, rows, ids, func(i uint16) {
		a.one[0] = i
		a.vals.add(cols, a.one[:])
	})
	a.grow(int(a.keys.n))
	return ids
}

// fold evaluates the arguments and adds rows to their groups.
func (a *aggregation) fold(b *vec.Batch, rows []uint16, ids []uint32) error {
	for i, acc := range a.accs {
		var err error
		if a.vecs, err = evalAll(a.ec, a.args[i], b, a.vecs[:0]); err != nil {
			return err
		}
		if err := acc.add(a.vecs, rows, ids); err != nil {
			return err
		}
		release(a.ec, a.vecs)
	}
	return nil
}

// merge takes the groups of o over.
func (a *aggregation) merge(o *aggregation) error {
	to := []uint32{0}
	if len(a.groupBy) > 0 {
		to = to[:0]
		for _, chunk := range o.vals.chunks {
			to = a.assign(chunk.Cols, liveRows(chunk), to)
		}
	}
	for i, acc := range a.accs {
		if err := acc.merge(o.accs[i], to); err != nil {
			return err
		}
	}
	return nil
}

// emit writes groups from to from+n to out.
func (a *aggregation) emit(from, n int, out *vec.Batch) error {
	out.N, out.HasSel, out.Sel = n, false, nil
	nkeys := len(a.groupBy)
	for _, v := range out.Cols[:nkeys] {
		v.Init(v.Kind, n)
	}
	a.gatherGroups(from, n, out.Cols)
	for c, v := range out.Cols[nkeys:] {
		v.Init(v.Kind, n)
		for i := range n {
			if err := a.accs[c].result(from+i, v, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherGroups writes the values of groups from to from+n to the first of cols.
func (a *aggregation) gatherGroups(from, n int, cols []*vec.Vec) {
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(from + i)
	}
	for c := range a.groupBy {
		a.vals.gather(c, rows, cols[c])
	}
}

func aggKinds(groupBy []expr.Expr, calls []*expr.Agg) []value.Kind {
	kinds := exprKinds(groupBy)
	for _, c := range calls {
		kinds = append(kinds, types.KindOf(c.T))
	}
	return kinds
}
