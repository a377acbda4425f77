package exec

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// updates are changed rows that wait until what they need from other machines is there for
// all of them. A nil one has none wait.
type updates struct {
	env       *Env
	t         *schema.Table
	write     func(old, row []value.Datum) error
	old, rows [][]value.Datum
	bytes     int
}

// newUpdates lets rows wait where the writes of some cannot be seen when others are computed,
// and where the errors of writes are those of the statement.
func newUpdates(env *Env, plan *physical.Plan, u *physical.Update, write func(old, row []value.Datum) error) *updates {
	if !env.Sink.Remote() || u.Ignore {
		return nil
	}
	reads := func(t *schema.Table) bool { return t == u.Table || subqueryReads(plan, t) }
	if slices.ContainsFunc(env.Cascaded, reads) {
		return nil
	}
	return &updates{env: env, t: u.Table, write: write}
}

// add has a row wait.
func (u *updates) add(ctx context.Context, old, row []value.Datum) error {
	u.old, u.rows = append(u.old, u.own(old)), append(u.rows, u.own(row))
	if len(u.rows) < gatherRows && u.bytes < gatherBytes {
		return nil
	}
	return u.flush(ctx)
}

func (u *updates) own(row []value.Datum) []value.Datum {
	out := make([]value.Datum, len(row))
	for i, d := range row {
		out[i] = d.Clone()
		u.bytes += d.Size()
	}
	return out
}

// flush writes the rows that wait.
func (u *updates) flush(ctx context.Context) error {
	if u == nil || len(u.rows) == 0 {
		return nil
	}
	old, rows := u.old, u.rows
	u.old, u.rows, u.bytes = nil, nil, 0
	if err := u.env.Sink.Reserve(ctx, u.t, old, rows, false); err != nil {
		return err
	}
	for i := range rows {
		if err := u.write(old[i], rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// end writes the rows that wait. Their first error is that of the statement, since what
// failed with err came after them.
func (u *updates) end(ctx context.Context, err error) error {
	if first := u.flush(ctx); first != nil {
		return first
	}
	return err
}

// reserve prepares changes of the first rows of a batch, which it begins with, and whose new
// values are from column row on; -1 removes them.
func (env *Env) reserve(ctx context.Context, t *schema.Table, b *vec.Batch, row int, first uint64) error {
	if !env.Sink.Remote() {
		return nil
	}
	n := len(t.Columns)
	var was, now [][]value.Datum
	for r, i := range liveRows(b) {
		if uint64(r) == first {
			break
		}
		was = append(was, datumsAt(b.Cols[:n], i))
		if row >= 0 {
			now = append(now, datumsAt(b.Cols[row:row+n], i))
		}
	}
	return env.Sink.Reserve(ctx, t, was, now, false)
}

func datumsAt(cols []*vec.Vec, i uint16) []value.Datum {
	row := make([]value.Datum, len(cols))
	for c := range cols {
		row[c] = cols[c].Datum(int(i))
	}
	return row
}

// eachReserved is each for rows of t that are changed, or removed where row is -1.
func (l *rowList) eachReserved(ctx context.Context, env *Env, t *schema.Table, row int, fn func(row []value.Datum) error) error {
	room := make([]value.Datum, 0, len(l.one.Cols))
	return l.batches(func(b *vec.Batch) error {
		if err := env.reserve(ctx, t, b, row, noLimit); err != nil {
			return err
		}
		return eachRow(ctx, b, room, fn)
	})
}
