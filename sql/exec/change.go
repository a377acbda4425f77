package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
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
	// inserted, which LAST_INSERT_ID() gives from then on; 0 if none was.
	GeneratedID uint64
	// Records and Duplicates are the numbers of Info for INSERT.
	Records, Duplicates uint64
	// Warnings is the number of conditions that were raised.
	Warnings int64
	// Info is MySQL's text for the OK packet, "" where it has none.
	Info string
	// Returned are the rows of RETURNING, which the caller closes; nil without.
	Returned *Returned
}

// RunChange runs INSERT, REPLACE, UPDATE or DELETE, of one table or several. On an error some rows may
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
	for _, t := range env.Cascaded {
		if err := runReaders(env, plan, t); err != nil {
			return r, err
		}
	}
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
	case *physical.MultiUpdate:
		env.Ctx.Ignore = c.Ignore
		r, err = runMultiUpdate(ctx, env, plan, c)
	case *physical.MultiDelete:
		env.Ctx.Ignore = c.Ignore
		r, err = runMultiDelete(ctx, env, plan, c)
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

// insertIDs notes LAST_INSERT_ID(expr), which the OK packet reports.
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
		if n != nil && !plan.IsDependent(id) && planReads(plan, n, t) {
			if _, err := env.Ctx.Subqueries(id, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// planReads reports whether n, a part of plan, reads a table, directly or by a
// common table expression.
func planReads(plan *physical.Plan, n physical.Node, t *schema.Table) bool {
	if readsTable(n, t) {
		return true
	}
	scans := false
	walkNodes(n, func(n physical.Node) {
		_, ok := n.(*physical.CTEScan)
		scans = scans || ok
	})
	if !scans {
		return false
	}
	for _, c := range plan.CTEs {
		for _, r := range c.Roots() {
			if readsTable(r, t) {
				return true
			}
		}
	}
	return false
}

// subqueryReads reports whether a correlated subquery reads the changed table: it
// runs between the writes, unless all rows are computed before the first one.
func subqueryReads(plan *physical.Plan, t *schema.Table) bool {
	for id, n := range plan.Subplans {
		if n != nil && plan.IsDependent(id) && planReads(plan, n, t) {
			return true
		}
	}
	return false
}

func readsTable(n physical.Node, t *schema.Table) bool {
	found := false
	walkNodes(n, func(n physical.Node) {
		switch x := n.(type) {
		case physical.TableNode:
			found = found || x.Reads().Table.ID == t.ID
		case *physical.LookupJoin:
			found = found || x.Inner.Reads().Table.ID == t.ID
		}
	})
	return found
}

// forEachRow calls fn with the rows of a plan, which are valid during the
// call. With all, the whole input is read before the first call.
func forEachRow(ctx context.Context, env *Env, root physical.Node, all bool, fn func(row []value.Datum) error) error {
	return newBuilder(env, env.Ctx).forEachRow(ctx, root, all, fn)
}

func (b *builder) forEachRow(ctx context.Context, root physical.Node, all bool, fn func(row []value.Datum) error) (err error) {
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
	each := func(in *vec.Batch) error {
		if b.before != nil {
			if err := b.before(in); err != nil {
				return err
			}
		}
		if err := eachRow(ctx, in, row, fn); err != nil || b.after == nil {
			return err
		}
		return b.after()
	}
	if !all {
		return b.env.drain(ctx, op, each)
	}
	acct := b.account(root, "rows to change")
	defer acct.close()
	buf := b.newRowBuffer(root, kindsOf(root.Columns()), &acct)
	defer buf.close()
	err = b.env.drain(ctx, op, func(in *vec.Batch) error { return buf.add(in.Cols, liveRows(in)) })
	if err != nil {
		return err
	}
	if err := op.Close(); err != nil {
		return err
	}
	if err := buf.finish(); err != nil {
		return err
	}
	rows := buf.read(0, buf.n)
	for {
		in, err := rows.next(vec.MaxRows)
		if err != nil || in == nil {
			return err
		}
		if err := each(in); err != nil {
			return err
		}
	}
}

// eachRow calls fn with the rows of a batch; row is room for them.
func eachRow(ctx context.Context, in *vec.Batch, row []value.Datum, fn func(row []value.Datum) error) error {
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
		case physical.TableNode:
			parts := t.PrimaryKey
			if index := x.Leaf().Key().Index; index != nil {
				parts = append(append([]schema.KeyPart(nil), parts...), index.Parts...)
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
	as, err := newAssigner(env, u.Table, u.Assignments)
	if err != nil {
		return r, err
	}
	n := len(u.Table.Columns)
	if len(plan.Root.Columns()) < n {
		return r, sqlerr.Internal("an update of %d columns reads %d", n, len(plan.Root.Columns()))
	}
	if err := runReaders(env, plan, u.Table); err != nil {
		return r, err
	}
	computeFirst := subqueryReads(plan, u.Table)
	all := computeFirst || mustReadFirst(plan.Root, u.Table, func(id schema.ColumnID) bool { return as.written[u.Table.ColumnIndex(id)] })
	write := func(old, row []value.Datum) error {
		if err := env.Sink.Update(ctx, u.Table, old, row); err != nil {
			return ignoreRow(env.Ctx, u.Ignore, err)
		}
		r.Changed++
		return nil
	}
	wait := newUpdates(env, plan, u, write)
	// Changes that are computed before any is written: old and new rows.
	var later *rowList
	if computeFirst {
		later = newRowList(env, plan.Root, u.Table, 2)
		defer later.close()
	}
	old := make([]value.Datum, n)
	moved := slices.Contains(env.Cascaded, u.Table)
	err = forEachRow(ctx, env, plan.Root, all, func(row []value.Datum) error {
		r.Matched++
		if moved {
			now, ok, err := env.Sink.Current(ctx, u.Table, row[:n])
			if err != nil || !ok {
				return err
			}
			copy(row, now)
		}
		copy(old, row)
		changed, err := as.apply(row, old, int(r.Matched))
		if err != nil || !changed {
			return ignoreRow(env.Ctx, u.Ignore, err)
		}
		if ok, err := passes(env.Ctx, u.Check, u.Ignore, row[:n]); !ok {
			return err
		}
		if computeFirst {
			return later.add(old, row[:n])
		}
		if wait != nil {
			return wait.add(ctx, old, row[:n])
		}
		return write(old, row[:n])
	})
	err = wait.end(ctx, err)
	if err == nil && computeFirst {
		err = later.eachReserved(ctx, env, u.Table, n, func(pair []value.Datum) error { return write(pair[:n], pair[n:]) })
	}
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

// ignoreRow turns the errors that make IGNORE leave a row out into warnings: a
// duplicate key, a violated constraint.
func ignoreRow(ec *expr.Ctx, ignore bool, err error) error {
	var e *sqlerr.Error
	if ignore && sqlerr.IsIgnorable(err) && errors.As(err, &e) {
		ec.Warning(e)
		return nil
	}
	return err
}

// errEnough ends the rows of a DELETE at its limit.
var errEnough = errors.New("enough rows")

func runDelete(ctx context.Context, env *Env, plan *physical.Plan, d *physical.Delete) (Result, error) {
	var r Result
	n := len(d.Table.Columns)
	if len(plan.Root.Columns()) < n {
		return r, sqlerr.Internal("a delete of %d columns reads %d", n, len(plan.Root.Columns()))
	}
	if err := runReaders(env, plan, d.Table); err != nil {
		return r, err
	}
	all := subqueryReads(plan, d.Table) || mustReadFirst(plan.Root, d.Table, func(schema.ColumnID) bool { return false })
	moved := slices.Contains(env.Cascaded, d.Table)
	left, err := limitValue(env.Ctx, d.Limit, noLimit)
	if err != nil {
		return r, err
	}
	returned := newReturned(env, plan.Root, d.Returning)
	if left == 0 {
		return returned.result(r, nil)
	}
	b := newBuilder(env, env.Ctx)
	// How many of the rows will count is not known before the first is removed.
	b.unlimited = all && d.Limit != nil
	b.before = func(in *vec.Batch) error { return env.reserve(ctx, d.Table, in, -1, left) }
	err = b.forEachRow(ctx, plan.Root, all, func(row []value.Datum) error {
		if moved {
			now, ok, err := env.Sink.Current(ctx, d.Table, row[:n])
			if err != nil {
				return err
			}
			if !ok {
				if d.Limit != nil && b.limited != nil {
					b.limited.Uncount(1)
				}
				return nil
			}
			copy(row, now)
		}
		if err := returned.compute(row); err != nil {
			return err
		}
		deleted, err := deleteRow(ctx, env, d.Table, row[:n], d.Ignore)
		if err != nil {
			return err
		}
		left--
		if deleted {
			r.Affected++
			if err := returned.add(); err != nil {
				return err
			}
		}
		if left == 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	r.Matched, r.Changed = r.Affected, r.Affected
	r.Warnings = env.warnings.Load()
	return returned.result(r, err)
}

// deleteRow removes a row; false where IGNORE passes over it.
func deleteRow(ctx context.Context, env *Env, t *schema.Table, row []value.Datum, ignore bool) (bool, error) {
	if err := env.Sink.Delete(ctx, t, row); err != nil {
		return false, ignoreRow(env.Ctx, ignore, err)
	}
	return true, nil
}

// assigner computes SET and ON DUPLICATE KEY UPDATE.
type assigner struct {
	ec   *expr.Ctx
	t    *schema.Table
	list []physical.Assignment
	at   int // of the table's columns in the rows that apply and assign get
	auto int // the column in which NULL is 0, -1 for none
	// written are the columns that may change, set those that are assigned.
	written, set []bool
	derive       *derive.Writer // nil: none
	affected     []bool         // generated columns that may change
}

func newAssigner(env *Env, t *schema.Table, list []physical.Assignment) (*assigner, error) {
	exprs, err := env.Sink.TableExprs(t)
	if err != nil {
		return nil, err
	}
	a := &assigner{ec: env.Ctx, t: t, list: list, auto: -1, written: make([]bool, len(t.Columns)), set: make([]bool, len(t.Columns))}
	for _, x := range list {
		a.written[x.Column], a.set[x.Column] = true, true
	}
	for i := range t.Columns {
		a.written[i] = a.written[i] || t.Columns[i].OnUpdateNow
	}
	if exprs != nil {
		a.derive, a.affected = exprs.NewWriter(env.Ctx), exprs.Affected(a.written)
		a.written = a.affected
	}
	return a, nil
}

// apply assigns from left to right: each expression sees the row as changed so
// far. The row starts with the table's columns; old is what they were. It
// reports whether the stored row differs.
func (a *assigner) apply(row, old []value.Datum, number int) (changed bool, err error) {
	if err := a.assign(row, number); err != nil {
		return false, err
	}
	if !a.differs(row, old) {
		return false, nil
	}
	return true, a.complete(row, number)
}

// assign evaluates the assignments.
func (a *assigner) assign(row []value.Datum, number int) error {
	for i := range a.list {
		x := &a.list[i]
		col := &a.t.Columns[x.Column]
		to := &row[a.at+x.Column]
		var err error
		if x.Value == nil {
			if *to, err = noDefault(a.ec, col); err != nil {
				return err
			}
			continue
		}
		d, err := expr.EvalRow(a.ec, x.Value, row)
		if err != nil {
			return err
		}
		if d.IsNull() && x.Column == a.auto {
			*to = types.ImplicitDefault(col.Type)
			continue
		}
		if *to, err = a.ec.Store(d, x.Value.Type(), col, number); err != nil {
			return err
		}
	}
	return nil
}

// differs reports whether an assigned column of the table's row changed.
func (a *assigner) differs(row, old []value.Datum) bool {
	for i := range old {
		if a.set[i] && !SameDatum(row[i], old[i]) {
			return true
		}
	}
	return false
}

// complete sets the columns with ON UPDATE CURRENT_TIMESTAMP that are not
// assigned and the generated columns, and tests the constraints of the table.
func (a *assigner) complete(row []value.Datum, number int) (err error) {
	for i := range a.t.Columns {
		if col := &a.t.Columns[i]; col.OnUpdateNow && !a.set[i] {
			if row[i], err = currentTimestamp(a.ec, col); err != nil {
				return err
			}
		}
	}
	if a.derive == nil {
		return nil
	}
	if err := a.derive.Fill(row, nil, a.affected, number); err != nil {
		return err
	}
	return a.derive.Check(row)
}

func currentTimestamp(ec *expr.Ctx, col *schema.Column) (value.Datum, error) {
	loc := ec.Loc
	if loc == nil {
		loc = time.UTC
	}
	now := value.FromGo(ec.Now.In(loc)).TruncateFSP(max(col.Type.Scale, 0))
	return types.Store(&ec.Env, value.TimeOf(now), types.DatetimeOf(max(col.Type.Scale, 0)), col, 1)
}

// SameDatum reports that two stored values are the same bytes: 'a' and 'A'
// differ whatever the collation says.
func SameDatum(a, b value.Datum) bool {
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
	if col.Type.ID == schema.TypeEnum && !col.Nullable {
		return types.ImplicitDefault(col.Type), nil
	}
	return noDefault(ec, col)
}

// noDefault is missingDefault of a column that is set to DEFAULT: an ENUM has
// none there. That of AUTO_INCREMENT is 0.
func noDefault(ec *expr.Ctx, col *schema.Column) (value.Datum, error) {
	switch {
	case col.Nullable:
		return value.Null, nil
	case col.AutoIncrement:
		return types.ImplicitDefault(col.Type), nil
	}
	e := sqlerr.NoDefaultForField(col.Name)
	if ec.Mode.Strict() && !ec.Ignore || col.Type.ID == schema.TypeGeometry {
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
