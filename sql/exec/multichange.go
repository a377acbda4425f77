package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// foundRows are the rows of one table that a change of several tables found,
// each once.
type foundRows struct {
	t    *schema.Table
	at   int   // of the table's columns in a joined row
	key  []int // positions of the primary key
	seen map[string]bool
	size int64 // bytes of seen
	rows *rowList
	buf  []byte
}

// newFoundRows keeps rows of t, each times over.
func newFoundRows(env *Env, root physical.Node, t *schema.Table, at, times int) *foundRows {
	f := &foundRows{t: t, at: at, seen: map[string]bool{}, rows: newRowList(env, root, t, times)}
	for _, p := range t.PrimaryKey {
		f.key = append(f.key, t.ColumnIndex(p.Column))
	}
	return f
}

// isNew notes the table's row in a joined row; false when there is none or it
// was there before.
func (f *foundRows) isNew(joined []value.Datum) bool {
	f.buf = f.buf[:0]
	for _, i := range f.key {
		d := joined[f.at+i]
		if d.IsNull() {
			return false // of an outer join
		}
		f.buf = appendExact(f.buf, d)
	}
	if f.seen[string(f.buf)] {
		return false
	}
	f.seen[string(f.buf)] = true
	f.size += int64(len(f.buf)) + 40
	return true
}

// appendExact appends bytes that tell stored values apart.
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
func findRows(ctx context.Context, env *Env, plan *physical.Plan, found []*foundRows, visit func(i int, joined []value.Datum) error) error {
	for _, f := range found {
		if err := runReaders(env, plan, f.t); err != nil {
			return err
		}
	}
	acct := account{t: env.Memory, operator: "rows to change", stat: env.Stats.node(plan.Root)}
	defer acct.close()
	return forEachRow(ctx, env, plan.Root, false, func(joined []value.Datum) error {
		size := int64(0)
		for i, f := range found {
			if f.isNew(joined) {
				if err := visit(i, joined); err != nil {
					return err
				}
			}
			size += f.size
		}
		return acct.to(size)
	})
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
	found := make([]*foundRows, len(u.Targets))
	assign := make([]*assigner, len(u.Targets))
	for i, t := range u.Targets {
		found[i] = newFoundRows(env, plan.Root, t.Table, t.At, 2)
		defer found[i].rows.close()
		var err error
		if assign[i], err = newAssigner(env, t.Table, t.Assignments); err != nil {
			return r, err
		}
		assign[i].at = t.At
	}
	var work []value.Datum
	err := findRows(ctx, env, plan, found, func(i int, joined []value.Datum) error {
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
		err := f.rows.each(ctx, func(pair []value.Datum) error {
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
// the row is read anew and the assigned columns go into what it is now.
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
	found := make([]*foundRows, len(d.Targets))
	for i, t := range d.Targets {
		found[i] = newFoundRows(env, plan.Root, t.Table, t.At, 1)
		defer found[i].rows.close()
	}
	err := findRows(ctx, env, plan, found, func(i int, joined []value.Datum) error {
		f := found[i]
		return f.rows.add(joined[f.at : f.at+len(f.t.Columns)])
	})
	if err != nil {
		return Result{}, err
	}
	for i, f := range found {
		again := rereads(env, found, i)
		err := f.rows.each(ctx, func(row []value.Datum) error {
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
