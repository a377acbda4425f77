package exec

import (
	"bytes"
	"context"

	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// apply is a lookup join whose lookups run the right plan.
func (b *builder) apply(x *physical.Apply) (Operator, error) {
	left, err := b.build(x.Left)
	if err != nil {
		return nil, err
	}
	j := &lookupJoinOp{b: b, node: x, keys: x.Params, left: left, acct: b.account(x, "apply"), nulls: true}
	j.open = func(context.Context) (Lookup, error) { return &applied{b: b, plan: x.Right}, nil }
	j.prepare(x.Kind, x.Filter, kindsOf(x.Left.Columns()), kindsOf(x.Right.Columns()))
	return j, nil
}

// applied runs a plan for rows of outer values. Rows that follow each other
// with the same values share a run.
type applied struct {
	b    *builder
	plan physical.Node
	last []byte
	key  []byte
}

// Find implements Lookup. Rows come in the order of the keys.
func (a *applied) Find(ctx context.Context, keys []*vec.Vec, live []uint16, _ bool, emit func(rows *vec.Batch, key []uint16) error) error {
	outer := make([]value.Datum, len(keys))
	var same, of []uint16
	for at := 0; at < len(live); at += len(same) {
		same = append(same[:0], live[at])
		a.last = a.encode(a.last[:0], keys, live[at], outer)
		for next := at + 1; next < len(live); next++ {
			if a.key = a.encode(a.key[:0], keys, live[next], nil); !bytes.Equal(a.key, a.last) {
				break
			}
			same = append(same, live[next])
		}
		err := a.run(ctx, outer, func(rows *vec.Batch) error {
			for _, k := range same {
				of = of[:0]
				for range rows.Live() {
					of = append(of, k)
				}
				if err := emit(rows, of); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// encode appends the values of row i, and sets them in outer if that is given.
func (a *applied) encode(dst []byte, keys []*vec.Vec, i uint16, outer []value.Datum) []byte {
	for c, v := range keys {
		d := v.Datum(int(i))
		dst = appendValues(dst, []value.Datum{d})
		if outer != nil {
			outer[c] = d
		}
	}
	return dst
}

func (a *applied) run(ctx context.Context, outer []value.Datum, fn func(*vec.Batch) error) (err error) {
	b := newBuilder(a.b.env, a.b.ec.Fork())
	b.serial = true
	b.ec.Outer = outer
	op, err := b.build(a.plan)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := op.Close(); err == nil {
			err = cerr
		}
	}()
	return drain(ctx, op, fn)
}

// Close implements Lookup.
func (a *applied) Close() error { return nil }

var _ Lookup = (*applied)(nil)
