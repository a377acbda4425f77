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
	// counts: COUNT, which needs no values. arg takes values that keys stand for.
	counts bool
	arg    *vec.Vec
}

// mergesDistinct reports that the values of a call with DISTINCT, which accumulators have
// met apart from each other, can be put together: their keys have the values.
func mergesDistinct(a *expr.Agg) bool {
	if a.Op == expr.AggCount {
		return true
	}
	if len(a.Args) != 1 {
		return false
	}
	switch k := types.KindOf(a.Args[0].Type()); a.Op {
	case expr.AggSum:
		return k == value.KindInt || k == value.KindUint || k == value.KindDecimal
	case expr.AggAvg, expr.AggBitXor: // the keys of decimals do not have their scales
		return k == value.KindInt || k == value.KindUint
	}
	return false
}

func newDistinctAcc(env *Env, inner accumulator, a *expr.Agg, grouped bool) *distinctAcc {
	d := &distinctAcc{inner: inner, nkey: len(a.Args), counts: a.Op == expr.AggCount}
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
		if err := d.fitFinished(); err != nil {
			return err
		}
	}
}

// fitFinished accounts for what the values that were spilled make the results hold: they
// cannot be spilled again.
func (d *distinctAcc) fitFinished() error {
	return d.dedup.acct.withBuffers(d.dedup.held(), d.dedup.buffers())
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
		if err := d.fitFinished(); err != nil {
			return err
		}
	}
}

// merge needs mergesDistinct. Values of the same group are counted once; o is given up.
func (d *distinctAcc) merge(o accumulator, to []uint32) error {
	from := o.(*distinctAcc)
	if d.arg == nil {
		d.arg = vec.New(value.KindInt)
		if k := d.dedup.types[len(d.dedup.types)-1]; !d.counts {
			d.arg = vec.New(types.KindOf(k))
		}
	}
	d.byGroup, d.dedup.freshKeys = chain{}, d.addKeys
	if d.counts {
		if err := d.unite(from, to); err != nil {
			return err
		}
	}
	return d.dedup.merge(from.dedup, func(keys, groups *vec.Vec, n int) {
		if d.group == nil {
			return
		}
		for i := range n {
			if groups != nil {
				groups.I64[i] = int64(to[groups.I64[i]])
				continue
			}
			at := keys.Bytes[i][1:groupPrefix]
			binary.LittleEndian.PutUint64(at, uint64(to[binary.LittleEndian.Uint64(at)]))
		}
	})
}

// unite moves sets of words of o while both are in memory.
func (d *distinctAcc) unite(o *distinctAcc, to []uint32) error {
	if d.dedup.onDisk() || o.dedup.onDisk() {
		return nil
	}
	n := d.inner.(*countAcc).n
	switch {
	case d.dedup.table.word:
		n[0] += int64(d.dedup.words.unite(&o.dedup.words))
		return d.dedup.fitMerged()
	case d.dedup.byGroup:
		sets, counted := o.dedup.groups.sets, d.dedup.groups.held
		for g := range sets {
			n[to[g]] += int64(d.dedup.groups.unite(int(to[g]), &sets[g]))
			if d.dedup.groups.held-counted < accountStep && g < len(sets)-1 {
				continue
			}
			counted = d.dedup.groups.held
			if err := d.dedup.fitMerged(); err != nil || d.dedup.onDisk() {
				return err
			}
		}
	}
	return nil
}

// addKeys hands the values of keys that came for the first time on.
func (d *distinctAcc) addKeys(keys *vec.Vec, rows []uint16) error {
	if len(rows) == 0 {
		return nil
	}
	d.arg.Init(d.arg.Kind, len(rows))
	d.ids = d.ids[:0]
	at := 0
	if d.group != nil {
		at = groupPrefix
	}
	for r, i := range rows {
		if d.group != nil {
			d.ids = append(d.ids, uint32(binary.LittleEndian.Uint64(keys.Bytes[i][1:])))
		}
		switch {
		case d.counts:
		case d.dedup.table.word:
			d.arg.I64[r] = keys.I64[i]
		case d.arg.Kind == value.KindDecimal:
			x, ok := value.DecimalFromHash(keys.Bytes[i][at+1:])
			if !ok {
				return sqlerr.Internal("the key of a decimal is damaged")
			}
			d.arg.Dec[r] = x
		default:
			d.arg.I64[r] = int64(binary.LittleEndian.Uint64(keys.Bytes[i][at+1:]))
		}
	}
	if d.group == nil {
		return d.inner.add([]*vec.Vec{d.arg}, identity[:len(rows)], nil)
	}
	return d.inner.add([]*vec.Vec{d.arg}, identity[:len(rows)], d.ids)
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
