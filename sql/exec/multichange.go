package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// foundRows are the rows of one table that a change of several tables found,
// each once.
type foundRows struct {
	t    *schema.Table
	at   int   // of the table's columns in a joined row
	key  []int // positions of the primary key
	acct account
	// first finds the rows that come for the first time. Its columns are the key,
	// followed by those of the joined row.
	first *dedup
	read  bool // all joined rows
	keys  *vec.Vec
	cols  []*vec.Vec
	live  []uint16
	rows  *rowList
	buf   []byte
}

// newFoundRows keeps rows of t, each times over.
func newFoundRows(b *builder, root physical.Node, t *schema.Table, at, times int) *foundRows {
	f := &foundRows{t: t, at: at, rows: newRowList(b.env, root, t, times), acct: b.account(root, "rows to change"), keys: vec.New(value.KindBytes)}
	for _, p := range t.PrimaryKey {
		f.key = append(f.key, at+t.ColumnIndex(p.Column))
	}
	sp := b.spiller(root)
	f.first = b.env.newDedup(&f.acct, sp, []schema.Type{types.VarbinaryOf(math.MaxUint16)}, append([]value.Kind{value.KindBytes}, kindsOf(root.Columns())...))
	sp.attach(&f.acct, func() (bool, error) {
		if f.read {
			return false, nil
		}
		return f.first.relieve()
	})
	return f
}

func (f *foundRows) close() {
	f.first.close()
	f.acct.close()
	f.rows.close()
}

// add gives those of the joined rows in which the table's row comes for the first
// time, without those that were spilled. The result is valid until the next call.
func (f *foundRows) add(in *vec.Batch) ([]uint16, error) {
	f.keys.Init(value.KindBytes, vec.MaxRows)
	f.live = f.live[:0]
rows:
	for _, i := range liveRows(in) {
		f.buf = f.buf[:0]
		for _, c := range f.key {
			d := in.Cols[c].Datum(int(i))
			if d.IsNull() {
				continue rows // of an outer join
			}
			f.buf = appendExact(f.buf, d)
		}
		f.keys.Bytes[i] = f.keys.Own(f.buf)
		f.live = append(f.live, i)
	}
	f.cols = append(append(f.cols[:0], f.keys), in.Cols...)
	return f.first.add(f.cols, f.live)
}

// appendExact appends bytes that distinguish stored values.
func appendExact(dst []byte, d value.Datum) []byte {
	switch d.Kind() {
	case value.KindBytes, value.KindJSON:
		dst = binary.AppendUvarint(dst, uint64(len(d.Bytes())))
		return append(dst, d.Bytes()...)
	case value.KindDecimal:
		return d.Decimal().AppendHash(dst)
	}
	return binary.LittleEndian.AppendUint64(dst, d.Bits())
}

// findRows reads all joined rows and gives each row of a table that comes for
// the first time to visit.
func findRows(ctx context.Context, b *builder, plan *physical.Plan, found []*foundRows, visit func(i int, joined []value.Datum) error) error {
	for _, f := range found {
		if err := runReaders(b.env, plan, f.t); err != nil {
			return err
		}
	}
	if err := findFirst(ctx, b, plan.Root, found, visit); err != nil {
		return err
	}
	row := make([]value.Datum, 0, len(plan.Root.Columns()))
	for i, f := range found {
		f.read = true
		for {
			in, fresh, err := f.first.next(ctx)
			if err != nil {
				return err
			}
			if in == nil {
				break
			}
			for _, at := range fresh {
				row = joinedRow(row, in.Cols[1:], at)
				if err := visit(i, row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// findFirst is findRows for what is not spilled.
func findFirst(ctx context.Context, b *builder, root physical.Node, found []*foundRows, visit func(i int, joined []value.Datum) error) (err error) {
	op, err := b.build(root)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := op.Close(); err == nil {
			err = cerr
		}
	}()
	row := make([]value.Datum, 0, len(root.Columns()))
	fresh := make([][]uint16, len(found))
	return b.env.drain(ctx, op, func(in *vec.Batch) error {
		for i, f := range found {
			var err error
			if fresh[i], err = f.add(in); err != nil {
				return err
			}
		}
		for _, at := range liveRows(in) {
			made := false
			for i := range found {
				if len(fresh[i]) == 0 || fresh[i][0] != at {
					continue
				}
				fresh[i] = fresh[i][1:]
				if !made {
					row, made = joinedRow(row, in.Cols, at), true
				}
				if err := visit(i, row); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func joinedRow(row []value.Datum, cols []*vec.Vec, at uint16) []value.Datum {
	row = row[:0]
	for _, c := range cols {
		row = append(row, c.Datum(int(at)))
	}
	return row
}

// rereads reports whether the rows of a table may change between being found
// and being written: the statement has the table under two names, or foreign
// keys write to it.
func rereads(env *Env, found []*foundRows, i int) bool {
	if slices.Contains(env.Cascaded, found[i].t) {
		return true
	}
	for j := range found {
		if j != i && found[j].t == found[i].t {
			return true
		}
	}
	return false
}

func runMultiUpdate(ctx context.Context, env *Env, plan *physical.Plan, u *physical.MultiUpdate) (Result, error) {
	var r Result
	b := newBuilder(env, env.Ctx)
	found := make([]*foundRows, len(u.Targets))
	assign := make([]*assigner, len(u.Targets))
	for i, t := range u.Targets {
		found[i] = newFoundRows(b, plan.Root, t.Table, t.At, 2)
		defer found[i].close()
		var err error
		if assign[i], err = newAssigner(env, t.Table, t.Assignments); err != nil {
			return r, err
		}
		assign[i].at = t.At
	}
	var work []value.Datum
	err := findRows(ctx, b, plan, found, func(i int, joined []value.Datum) error {
		r.Matched++
		f, n := found[i], len(found[i].t.Columns)
		work = append(work[:0], joined...)
		if err := assign[i].assign(work, int(r.Matched)); err != nil {
			return err
		}
		old, row := joined[f.at:f.at+n], work[f.at:f.at+n]
		if c := u.Targets[i].Check; c != nil && assign[i].differs(row, old) {
			if err := assign[i].complete(row, int(r.Matched)); err != nil {
				return ignoreRow(env.Ctx, u.Ignore, err)
			}
			if ok, err := passes(env.Ctx, c, u.Ignore, work); !ok {
				return err
			}
		}
		return f.rows.add(old, row)
	})
	if err != nil {
		return Result{}, err
	}
	for i, f := range found {
		again := rereads(env, found, i)
		each := f.rows.each
		if !again {
			each = func(ctx context.Context, fn func([]value.Datum) error) error {
				return f.rows.eachReserved(ctx, env, f.t, len(f.t.Columns), fn)
			}
		}
		err := each(ctx, func(pair []value.Datum) error {
			changed, err := assign[i].write(ctx, env, pair[:len(pair)/2], pair[len(pair)/2:], again, u.Ignore)
			if changed {
				r.Changed++
			}
			return err
		})
		if err != nil {
			return Result{}, err
		}
	}
	r.Affected = r.Changed
	if env.FoundRows {
		r.Affected = r.Matched
	}
	r.Warnings = env.warnings.Load()
	r.Info = fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: %d", r.Matched, r.Changed, r.Warnings)
	return r, nil
}

// write updates a row whose assigned columns were computed before. With again
// the row is read again and the assigned columns go into what it is now.
func (a *assigner) write(ctx context.Context, env *Env, old, row []value.Datum, again, ignore bool) (changed bool, err error) {
	if again {
		now, ok, err := env.Sink.Current(ctx, a.t, old)
		if err != nil || !ok {
			return false, err
		}
		for i := range now {
			if !a.set[i] {
				row[i] = now[i]
			}
		}
		old = now
	}
	if !a.differs(row, old) {
		return false, nil
	}
	if err := a.complete(row, 1); err != nil {
		return false, ignoreRow(a.ec, ignore, err)
	}
	if err := env.Sink.Update(ctx, a.t, old, row); err != nil {
		return false, ignoreRow(a.ec, ignore, err)
	}
	return true, nil
}

func runMultiDelete(ctx context.Context, env *Env, plan *physical.Plan, d *physical.MultiDelete) (Result, error) {
	var r Result
	b := newBuilder(env, env.Ctx)
	found := make([]*foundRows, len(d.Targets))
	for i, t := range d.Targets {
		found[i] = newFoundRows(b, plan.Root, t.Table, t.At, 1)
		defer found[i].close()
	}
	err := findRows(ctx, b, plan, found, func(i int, joined []value.Datum) error {
		f := found[i]
		return f.rows.add(joined[f.at : f.at+len(f.t.Columns)])
	})
	if err != nil {
		return Result{}, err
	}
	for i, f := range found {
		again := rereads(env, found, i)
		err := f.rows.eachReserved(ctx, env, f.t, -1, func(row []value.Datum) error {
			if again {
				now, ok, err := env.Sink.Current(ctx, f.t, row)
				if err != nil || !ok {
					return err
				}
				row = now
			}
			deleted, err := deleteRow(ctx, env, f.t, row, d.Ignore)
			if deleted {
				r.Affected++
			}
			return err
		})
		if err != nil {
			return Result{}, err
		}
	}
	r.Matched, r.Changed = r.Affected, r.Affected
	r.Warnings = env.warnings.Load()
	return r, nil
}
