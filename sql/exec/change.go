package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Result is what a change did.
type Result struct {
	// Affected is the number for the OK packet, with CLIENT_FOUND_ROWS taken
	// into account.
	Affected uint64
	// Matched and Changed are the rows that UPDATE found and wrote.
	Matched, Changed uint64
	// InsertID is the id of the OK packet: the first generated value, or the
	// argument of LAST_INSERT_ID(expr), or the explicit value of the last row.
	InsertID uint64
	// GeneratedID is the first value that was generated for a row that was
	// inserted, which LAST_INSERT_ID() gives from then on; 0 if there is none.
	GeneratedID uint64
	// Records and Duplicates are the numbers of Info for INSERT.
	Records, Duplicates uint64
	// Warnings is the number of conditions that were raised.
	Warnings int64
	// Info is MySQL's text for the OK packet, "" where it has none.
	Info string
}

// RunChange runs INSERT, REPLACE, UPDATE or DELETE. On an error some rows may
// have been written: the caller goes back to its savepoint.
func RunChange(ctx context.Context, env *Env, plan *physical.Plan) (Result, error) {
	env.begin(ctx, plan, nil)
	// Writes and reads of one transaction may not overlap.
	env.inline = true
	env.Ctx.Write = true
	ids := &insertIDs{Session: env.Ctx.Session}
	if ids.Session != nil {
		env.Ctx.Session = ids
		defer func() { env.Ctx.Session = ids.Session }()
	}
	var r Result
	var err error
	switch c := plan.Change.(type) {
	case *physical.Insert:
		env.Ctx.Ignore = c.Ignore
		if err := runReaders(env, plan, c.Table); err != nil {
			return r, err
		}
		r, err = runInsert(ctx, env, plan, c)
	case *physical.Update:
		env.Ctx.Ignore = c.Ignore
		r, err = runUpdate(ctx, env, plan, c)
	case *physical.Delete:
		env.Ctx.Ignore = c.Ignore
		r, err = runDelete(ctx, env, plan, c)
	default:
		return r, sqlerr.Internal("no change %T", plan.Change)
	}
	if err != nil {
		return Result{}, err
	}
	if ids.set && r.GeneratedID == 0 {
		r.InsertID = ids.id
	}
	return r, nil
}

// insertIDs notes LAST_INSERT_ID(expr), which the OK packet tells.
type insertIDs struct {
	expr.Session
	id  uint64
	set bool
}

// Unwrap is the session itself, for what is no part of expr.Session.
func (s *insertIDs) Unwrap() expr.Session { return s.Session }

// SetLastInsertID implements expr.Session.
func (s *insertIDs) SetLastInsertID(id uint64) {
	s.id, s.set = id, true
	s.Session.SetLastInsertID(id)
}

// runReaders runs the subqueries that read the changed table before the first
// row is written: they must not see the statement's own rows.
func runReaders(env *Env, plan *physical.Plan, t *schema.Table) error {
	for id, n := range plan.Subplans {
		if readsTable(n, t) {
			if _, err := env.Ctx.Subqueries(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func readsTable(n physical.Node, t *schema.Table) bool {
	found := false
	walkNodes(n, func(n physical.Node) {
		switch x := n.(type) {
		case *physical.Scan:
			found = found || x.Table.ID == t.ID
		case *physical.LookupJoin:
			found = found || x.Inner.Table.ID == t.ID
		}
	})
	return found
}

// forEachRow calls fn with the rows of a plan, which are valid during the
// call. With all, the whole input is read before the first call.
func forEachRow(ctx context.Context, env *Env, root physical.Node, all bool, fn func(row []value.Datum) error) (err error) {
	b := &builder{env: env, ec: env.Ctx}
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
	if !all {
		return drain(ctx, op, func(in *vec.Batch) error {
			for r, i := range liveRows(in) {
				if r&63 == 63 {
					if err := interrupted(ctx); err != nil {
						return err
					}
				}
				row = row[:0]
				for _, c := range in.Cols {
					row = append(row, c.Datum(int(i)))
				}
				if err := fn(row); err != nil {
					return err
				}
			}
			return nil
		})
	}
	acct := b.account(root, "rows to change")
	defer acct.close()
	store := newRowStore(kindsOf(root.Columns()))
	err = drain(ctx, op, func(in *vec.Batch) error {
		store.add(in.Cols, liveRows(in))
		return acct.to(store.size)
	})
	if err != nil {
		return err
	}
	if err := op.Close(); err != nil {
		return err
	}
	for n := range store.n {
		if n&63 == 0 {
			if err := interrupted(ctx); err != nil {
				return err
			}
		}
		row = store.row(n, row[:0])
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

// mustReadFirst reports that the rows of an UPDATE or DELETE have to be read
// before the first one is written: an update that moves rows in the key that
// is scanned would meet them again (the Halloween problem), and plans that are
// more than a scan may read the table in several places.
func mustReadFirst(root physical.Node, t *schema.Table, written func(schema.ColumnID) bool) bool {
	for {
		switch x := root.(type) {
		case *physical.Filter:
			root = x.Input
			continue
		case *physical.Project:
			root = x.Input
			continue
		case *physical.Limit:
			root = x.Input
			continue
		case *physical.Scan:
			parts := t.PrimaryKey
			if x.Index != nil {
				parts = append(append([]schema.KeyPart(nil), parts...), x.Index.Parts...)
			}
			for _, p := range parts {
				if written(p.Column) {
					return true
				}
			}
			return false
		}
		return true
	}
}

func runUpdate(ctx context.Context, env *Env, plan *physical.Plan, u *physical.Update) (Result, error) {
	var r Result
	as := newAssigner(env.Ctx, u.Table, u.Assignments)
	n := len(u.Table.Columns)
	if len(plan.Root.Columns()) < n {
		return r, sqlerr.Internal("an update of %d columns reads %d", n, len(plan.Root.Columns()))
	}
	if err := runReaders(env, plan, u.Table); err != nil {
		return r, err
	}
	all := mustReadFirst(plan.Root, u.Table, func(id schema.ColumnID) bool { return as.written[u.Table.ColumnIndex(id)] })
	old := make([]value.Datum, n)
	err := forEachRow(ctx, env, plan.Root, all, func(row []value.Datum) error {
		r.Matched++
		copy(old, row)
		changed, err := as.apply(row, old, int(r.Matched))
		if err != nil || !changed {
			return err
		}
		if err := env.Sink.Update(ctx, u.Table, old, row[:n]); err != nil {
			return ignoreDuplicate(env.Ctx, u.Ignore, err)
		}
		r.Changed++
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	r.Affected = r.Changed
	if env.FoundRows {
		r.Affected = r.Matched
	}
	r.Warnings = env.warnings.Load()
	r.Info = fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: %d", r.Matched, r.Changed, r.Warnings)
	return r, nil
}

// ignoreDuplicate turns a duplicate key into a warning for IGNORE.
func ignoreDuplicate(ec *expr.Ctx, ignore bool, err error) error {
	var e *sqlerr.Error
	if ignore && errors.As(err, &e) && e.Number == 1062 {
		ec.Warning(e)
		return nil
	}
	return err
}

func runDelete(ctx context.Context, env *Env, plan *physical.Plan, d *physical.Delete) (Result, error) {
	var r Result
	n := len(d.Table.Columns)
	if len(plan.Root.Columns()) < n {
		return r, sqlerr.Internal("a delete of %d columns reads %d", n, len(plan.Root.Columns()))
	}
	if err := runReaders(env, plan, d.Table); err != nil {
		return r, err
	}
	all := mustReadFirst(plan.Root, d.Table, func(schema.ColumnID) bool { return false })
	err := forEachRow(ctx, env, plan.Root, all, func(row []value.Datum) error {
		r.Affected++
		return env.Sink.Delete(ctx, d.Table, row[:n])
	})
	r.Matched, r.Changed = r.Affected, r.Affected
	r.Warnings = env.warnings.Load()
	return r, err
}

// assigner computes SET and ON DUPLICATE KEY UPDATE.
type assigner struct {
	ec   *expr.Ctx
	t    *schema.Table
	list []physical.Assignment
	// written are the columns that may change, set those that are assigned.
	written, set []bool
}

func newAssigner(ec *expr.Ctx, t *schema.Table, list []physical.Assignment) *assigner {
	a := &assigner{ec: ec, t: t, list: list, written: make([]bool, len(t.Columns)), set: make([]bool, len(t.Columns))}
	for _, x := range list {
		a.written[x.Column], a.set[x.Column] = true, true
	}
	for i := range t.Columns {
		a.written[i] = a.written[i] || t.Columns[i].OnUpdateNow
	}
	return a
}

// apply assigns from left to right: each expression sees the row as changed so
// far. The row starts with the table's columns; old is what they were. It
// reports whether the stored row differs.
func (a *assigner) apply(row, old []value.Datum, number int) (changed bool, err error) {
	for i := range a.list {
		x := &a.list[i]
		col := &a.t.Columns[x.Column]
		if x.Value == nil {
			if row[x.Column], err = missingDefault(a.ec, col); err != nil {
				return false, err
			}
			continue
		}
		d, err := expr.EvalRow(a.ec, x.Value, row)
		if err != nil {
			return false, err
		}
		if row[x.Column], err = types.Store(&a.ec.Env, d, x.Value.Type(), col, number); err != nil {
			return false, err
		}
	}
	for i := range old {
		if a.set[i] && !sameDatum(row[i], old[i]) {
			changed = true
			break
		}
	}
	if !changed {
		return false, nil
	}
	for i := range a.t.Columns {
		if col := &a.t.Columns[i]; col.OnUpdateNow && !a.set[i] {
			if row[i], err = currentTimestamp(a.ec, col); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func currentTimestamp(ec *expr.Ctx, col *schema.Column) (value.Datum, error) {
	loc := ec.Loc
	if loc == nil {
		loc = time.UTC
	}
	now := value.FromGo(ec.Now.In(loc)).TruncateFSP(max(col.Type.Scale, 0))
	return types.Store(&ec.Env, value.TimeOf(now), types.DatetimeOf(max(col.Type.Scale, 0)), col, 1)
}

// sameDatum reports that two stored values are the same bytes: 'a' and 'A'
// differ whatever the collation says.
func sameDatum(a, b value.Datum) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.KindBytes, value.KindJSON:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case value.KindDecimal:
		return a.Decimal().Cmp(b.Decimal()) == 0
	}
	return a.Bits() == b.Bits()
}

// missingDefault is the value of a column that has no default: 1364 in strict
// mode, otherwise a warning and the implicit default.
func missingDefault(ec *expr.Ctx, col *schema.Column) (value.Datum, error) {
	if col.Nullable {
		return value.Null, nil
	}
	if col.Type.ID == schema.TypeEnum {
		return types.ImplicitDefault(col.Type), nil
	}
	e := sqlerr.NoDefaultForField(col.Name)
	if ec.Mode.Strict() && !ec.Ignore {
		return value.Null, e
	}
	ec.Warning(e)
	return types.ImplicitDefault(col.Type), nil
}

// maxAutoIncrement is the largest value that a column can count to.
func maxAutoIncrement(t schema.Type) uint64 {
	switch {
	case t.IsInteger():
		bits := [...]int{8, 16, 24, 32, 64}[t.ID-schema.TypeTinyInt]
		if !t.Unsigned {
			bits--
		}
		return math.MaxUint64 >> (64 - bits)
	case t.ID == schema.TypeFloat:
		return 1 << 24
	}
	return 1 << 53
}
