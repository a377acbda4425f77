package exec

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// distinctOp passes the first of equal rows. Those that it meets after it has
// spilled come in the end.
type distinctOp struct {
	b      *builder
	node   physical.Node
	kinds  []value.Kind
	in     Operator
	acct   account
	dedup  *dedup
	enc    keyEncoder
	sorted bool
	last   []byte
	buf    []byte
	begun  bool
	ended  bool // the input
	sel    []uint16

	// order, when the order of the input matters, brings back that of the rows
	// that were spilled, which have their number in a last column.
	order  *sorter
	oacct  account
	number *vec.Vec
	count  int64
	cols   []*vec.Vec
}

func (b *builder) distinct(x *physical.Distinct) (Operator, error) {
	in, err := b.build(x.Input)
	if err != nil {
		return nil, err
	}
	ts, kinds := typesOf(x.Input.Columns()), kindsOf(x.Input.Columns())
	if x.Sorted || len(ts) == 0 {
		return &distinctOp{b: b, node: x, in: in, acct: b.account(x, "distinct"), enc: b.env.newKeyEncoder(ts), sorted: true}, nil
	}
	return b.distinctOf(in, x, ts, kinds, comesOrdered(x.Input)), nil
}

// distinctOf passes the first of equal rows of in; keep says that their order
// matters.
func (b *builder) distinctOf(in Operator, node physical.Node, ts []schema.Type, kinds []value.Kind, keep bool) *distinctOp {
	d := &distinctOp{b: b, node: node, in: in, acct: b.account(node, "distinct"), kinds: kinds}
	if keep {
		d.number = vec.New(value.KindInt)
		kinds = append(slices.Clone(kinds), value.KindInt)
	}
	sp := b.spiller(node)
	d.dedup = b.env.newDedup(&d.acct, sp, ts, kinds)
	sp.attach(&d.acct, func() (bool, error) {
		if d.ended {
			return false, nil
		}
		return d.dedup.relieve()
	})
	return d
}

func (d *distinctOp) Next(ctx context.Context) (*vec.Batch, error) {
	for !d.ended {
		b, err := d.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := d.end(ctx); err != nil {
				return nil, err
			}
			break
		}
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if err := d.keepFresh(b); err != nil {
			return nil, err
		}
		if b.Live() > 0 {
			return b, nil
		}
	}
	switch {
	case d.sorted:
		return nil, nil
	case d.order != nil:
		return d.order.next(ctx)
	}
	b, fresh, err := d.dedup.next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	b.SetSel(fresh)
	return b, nil
}

// end puts the rows that were spilled into their order, if that matters.
func (d *distinctOp) end(ctx context.Context) error {
	d.ended = true
	if err := d.in.Close(); err != nil {
		return err
	}
	if d.sorted || d.number == nil || !d.dedup.onDisk() {
		return nil
	}
	d.order = d.b.newOrder(d.node, d.kinds, &d.oacct)
	for {
		b, fresh, err := d.dedup.next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return d.order.finish(ctx)
		}
		if err := d.order.add(ctx, b.Cols[:len(d.kinds)], fresh, b.Cols[len(d.kinds):]); err != nil {
			return err
		}
	}
}

func (d *distinctOp) keepFresh(b *vec.Batch) error {
	rows := liveRows(b)
	if d.sorted {
		sel := d.sel[:0]
		for _, i := range rows {
			d.buf = d.enc.append(d.buf[:0], b.Cols, int(i))
			if !d.begun || string(d.buf) != string(d.last) {
				d.begun = true
				d.last, d.buf = d.buf, d.last
				sel = append(sel, i)
			}
		}
		d.sel = sel
		b.SetSel(append(b.SelBuf(), sel...))
		return nil
	}
	cols := b.Cols
	if d.number != nil {
		for _, i := range rows {
			d.number.I64[i] = d.count
			d.count++
		}
		d.cols = append(append(d.cols[:0], cols...), d.number)
		cols = d.cols
	}
	fresh, err := d.dedup.add(cols, rows)
	if err != nil {
		return err
	}
	b.SetSel(append(b.SelBuf(), fresh...))
	return nil
}

func (d *distinctOp) Close() error {
	d.ended, d.sorted = true, true
	if d.dedup != nil {
		d.dedup.close()
	}
	if d.order != nil {
		d.order.close()
	}
	d.oacct.close()
	d.acct.close()
	return d.in.Close()
}
