package exec

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// rowList keeps rows of datums, as tables store them, for changes that are
// written later: in memory, or on disk.
type rowList struct {
	acct account
	buf  *rowBuffer
	one  *vec.Batch
}

// newRowList makes a list of rows of the table, each times over.
func newRowList(env *Env, node physical.Node, t *schema.Table, times int) *rowList {
	var kinds []value.Kind
	for range times {
		for i := range t.Columns {
			kinds = append(kinds, types.KindOf(t.Columns[i].Type))
		}
	}
	return newKindList(env, node, kinds, "rows to change")
}

func newKindList(env *Env, node physical.Node, kinds []value.Kind, name string) *rowList {
	b := newBuilder(env, env.Ctx)
	l := &rowList{acct: b.account(node, name)}
	l.buf, l.one = b.newRowBuffer(node, kinds, &l.acct), newOut(kinds)
	return l
}

// add appends the row of the given parts, whose values are copied.
func (l *rowList) add(parts ...[]value.Datum) error {
	at := 0
	for _, part := range parts {
		for _, d := range part {
			v := l.one.Cols[at]
			v.Init(v.Kind, 1)
			v.SetDatum(0, d)
			at++
		}
	}
	l.one.N = 1
	return l.buf.add(l.one.Cols, identity[:1])
}

// each calls fn with the rows, which are valid during the call; none can be
// added any more.
func (l *rowList) each(ctx context.Context, fn func(row []value.Datum) error) error {
	row := make([]value.Datum, 0, len(l.one.Cols))
	return l.batches(func(b *vec.Batch) error { return eachRow(ctx, b, row, fn) })
}

// batches is each for batches of rows.
func (l *rowList) batches(fn func(*vec.Batch) error) error {
	if err := l.buf.finish(); err != nil {
		return err
	}
	rows := l.buf.read(0, l.buf.n)
	for {
		b, err := rows.next(vec.MaxRows)
		if err != nil || b == nil {
			return err
		}
		if err := fn(b); err != nil {
			return err
		}
	}
}

func (l *rowList) close() {
	if l != nil {
		l.buf.close()
		l.acct.close()
	}
}
