package exec

import (
	"context"
	"encoding/binary"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// needsDistinct reports whether DISTINCT makes a difference to a call.
func needsDistinct(a *expr.Agg) bool {
	switch a.Op {
	case expr.AggMin, expr.AggMax, expr.AggAnyValue, expr.AggBitAnd, expr.AggBitOr:
		return false
	}
	return a.Distinct
}

// distinctAcc hands each value of a group to another accumulator once. Its
// values can be spilled, see aggregation.spillDistinct; then some come only
// in finish.
type distinctAcc struct {
	inner accumulator
	nkey  int
	dedup *dedup
	// group is the first column of the rows: their groups; nil when there is
	// only one group.
	group *vec.Vec
	// number, where the order of the values matters, is a last column with
	// their numbers; order brings back that order.
	number *vec.Vec
	count  int64
	order  func(kinds []value.Kind) (*sorter, *account)
	cols   []*vec.Vec
	rows   []uint16
	ids    []uint32
	// byGroup lists the keys of each group, for save.
	byGroup chain
}

func newDistinctAcc(env *Env, inner accumulator, a *expr.Agg, grouped bool) *distinctAcc {
	d := &distinctAcc{inner: inner, nkey: len(a.Args)}
	ts, kinds := exprTypes(a.Args), exprKinds(aggArgs(a))
	if grouped {
		d.group = vec.New(value.KindInt)
		ts = append([]schema.Type{types.BigInt}, ts...)
		kinds = append([]value.Kind{value.KindInt}, kinds...)
	}
	if !anyOrder([]*expr.Agg{a}) {
		d.number = vec.New(value.KindInt)
		kinds = append(kinds, value.KindInt)
	}
	d.dedup = env.newDedup(nil, nil, ts, kinds)
	d.dedup.byGroup = grouped && len(ts) == 2 && vec.ClassOf(types.KindOf(ts[1])) == vec.ClassWord
	return d
}

func (d *distinctAcc) grow(n int) { d.inner.grow(n) }

func (d *distinctAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	d.rows, d.cols = d.rows[:0], d.cols[:0]
	if d.group != nil {
		d.cols = append(d.cols, d.group)
	}
	d.cols = append(d.cols, args...)
	for r, i := range rows {
		if hasNull(args[:d.nkey], int(i)) {
			continue
		}
		d.rows = append(d.rows, i)
		if d.group != nil {
			d.group.I64[i] = int64(groupOf(groups, r))
		}
		if d.number != nil {
			d.number.I64[i] = d.count
			d.count++
		}
	}
	if d.number != nil {
		d.cols = append(d.cols, d.number)
	}
	d.byGroup = chain{}
	fresh, err := d.dedup.add(d.cols, d.rows)
	if err != nil {
		return err
	}
	return d.addFresh(d.cols, fresh)
}

// addFresh hands rows that came for the first time on.
func (d *distinctAcc) addFresh(cols []*vec.Vec, rows []uint16) error {
	if len(rows) == 0 {
		return nil
	}
	if d.group == nil {
		return d.inner.add(cols, rows, nil)
	}
	d.ids = d.ids[:0]
	for _, i := range rows {
		d.ids = append(d.ids, uint32(cols[0].I64[i]))
	}
	return d.inner.add(cols[1:], rows, d.ids)
}

// finish adds the values that were spilled.
func (d *distinctAcc) finish(ctx context.Context) (err error) {
	if !d.dedup.onDisk() {
		return nil
	}
	add := d.addFresh
	if d.number != nil {
		order, acct := d.order(d.dedup.kinds)
		defer acct.close()
		defer order.close()
		last := len(d.dedup.kinds) - 1
		add = func(cols []*vec.Vec, rows []uint16) error { return order.add(ctx, cols, rows, cols[last:]) }
		defer func() {
			if err == nil {
				err = d.addOrdered(ctx, order)
			}
		}()
	}
	for {
		b, fresh, err := d.dedup.next(ctx)
		if err != nil || b == nil {
			return err
		}
		if err := add(b.Cols, fresh); err != nil {
			return err
		}
	}
}

func (d *distinctAcc) addOrdered(ctx context.Context, order *sorter) error {
	if err := order.finish(ctx); err != nil {
		return err
	}
	for {
		b, err := order.next(ctx)
		if err != nil || b == nil {
			return err
		}
		if err := d.addFresh(b.Cols, liveRows(b)); err != nil {
			return err
		}
	}
}

func (d *distinctAcc) merge(accumulator, []uint32) error {
	return sqlerr.Internal("merge of distinct aggregates")
}

func (d *distinctAcc) result(g int, dst *vec.Vec, i int) error { return d.inner.result(g, dst, i) }

func (d *distinctAcc) size() int64 { return d.inner.size() + d.dedup.bytes() }

func (d *distinctAcc) stateKinds() []value.Kind { return append(d.inner.stateKinds(), value.KindBytes) }

// groupPrefix is the length of the key of the group in the keys of rows.
const groupPrefix = 9

func (d *distinctAcc) save(g int, cols []*vec.Vec, i int) {
	n := len(cols) - 1
	d.inner.save(g, cols[:n], i)
	if d.dedup.byGroup {
		cols[n].Bytes[i] = cols[n].Own(d.dedup.groups.items(g))
		return
	}
	keys := d.dedup.table.bytes.keys
	if d.byGroup.heads == nil {
		ids := make([]uint32, len(keys))
		groups := 0
		for k, key := range keys {
			ids[k] = uint32(binary.LittleEndian.Uint64(key[1:]))
			groups = max(groups, int(ids[k])+1)
		}
		d.byGroup.heads = make([]uint32, 0, max(groups, g+1))
		d.byGroup.linkPositions(ids, max(groups, g+1))
	}
	var list []byte
	if g < len(d.byGroup.heads) {
		for k := d.byGroup.heads[g]; k != none; k = d.byGroup.links[k] {
			list = appendItem(list, keys[k][groupPrefix:])
		}
	}
	cols[n].Bytes[i] = cols[n].Own(list)
}

func (d *distinctAcc) load(g int, cols []*vec.Vec, i int) error {
	n := len(cols) - 1
	d.byGroup = chain{}
	var key []byte
	for list := cols[n].Bytes[i]; len(list) > 0; {
		item, rest, err := nextItem(list)
		if err != nil {
			return err
		}
		list = rest
		key = binary.LittleEndian.AppendUint64(append(key[:0], 1), uint64(g))
		if err := d.dedup.insertKey(append(key, item...)); err != nil {
			return err
		}
	}
	return d.inner.load(g, cols[:n], i)
}
