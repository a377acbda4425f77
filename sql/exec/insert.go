package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func runInsert(ctx context.Context, env *Env, plan *physical.Plan, x *physical.Insert) (Result, error) {
	rows := len(x.Rows)
	if plan.Root != nil {
		rows = 0
	}
	in, err := NewInserter(env, x, rows)
	if err != nil {
		return Result{}, err
	}
	in.returned = newReturned(env, plan.Root, x.Returning)
	in.startGather()
	if err := in.endGather(ctx, in.addAll(ctx, plan)); err != nil {
		return in.returned.result(Result{}, err)
	}
	return in.returned.result(in.Finish(ctx))
}

// addAll adds the rows of VALUES or those of the query.
func (in *Inserter) addAll(ctx context.Context, plan *physical.Plan) error {
	if plan.Root == nil {
		for i, row := range in.x.Rows {
			if i&63 == 63 {
				if err := interrupted(ctx); err != nil {
					return err
				}
			}
			if err := in.addExprs(ctx, row); err != nil {
				return err
			}
		}
		return nil
	}
	ts := typesOf(plan.Root.Columns())
	all := planReads(plan, plan.Root, in.t)
	b := newBuilder(in.env, in.env.Ctx)
	if in.gather && in.unsure {
		// The source warns when it reads the next batch.
		b.after = func() error { return in.flush(ctx) }
	}
	return b.forEachRow(ctx, plan.Root, all, func(row []value.Datum) error { return in.addRow(ctx, row, ts) })
}

// addRow adds a row of a query.
func (in *Inserter) addRow(ctx context.Context, row []value.Datum, ts []schema.Type) error {
	err := in.Add(ctx, row, ts)
	if err != nil && in.env.Reject != nil {
		if first := in.flush(ctx); first != nil {
			return first
		}
	}
	return in.rejected(err)
}

// Inserter adds rows to a table as INSERT and REPLACE do; LOAD DATA uses it
// directly. It belongs to one goroutine.
type Inserter struct {
	env *Env
	ec  *expr.Ctx
	x   *physical.Insert
	t   *schema.Table
	// expected is the number of rows that will come, 0 if unknown; single that
	// it is one row of VALUES.
	expected int
	single   bool

	given    []bool
	assigned []bool // by Set alone
	defaults []defaultValue
	early    []value.Datum  // what VALUES reads of given columns before they are given; nil where nothing is read
	derive   *derive.Writer // nil: none
	lateCols []bool         // columns whose default reads the row
	late     []bool         // those of them that the current row needs
	auto     int            // position of the AUTO_INCREMENT column, -1 if none
	inKey    bool           // it counts for each prefix of the primary key
	maxAuto  uint64
	hidden   int // position of the hidden key, -1 if none

	row      []value.Datum
	needAuto bool
	assign   *assigner
	pair     []value.Datum
	extra    []value.Datum // columns of the source that go nowhere
	conflict ConflictFunc
	returned *Returned // nil without RETURNING
	ctx      context.Context

	// gather: rows wait until their locks can be taken together.
	gather   bool
	gathered []newRow
	waiting  int // bytes of them
	// unsure: a row may not go in as it was given, and the statement goes on.
	unsure bool
	// warn gives out warnings that are held while rows wait; nil: none are held.
	warn func(sqlerr.Warning)
	held []sqlerr.Warning

	nextAuto, endAuto uint64 // reserved values
	reserve           int
	bump              uint64 // greatest explicit value
	firstID, lastID   uint64

	// Counters as MySQL has them. A row is copied when it was written as a new
	// one or by ON DUPLICATE KEY UPDATE; touched when it met a duplicate there.
	records, copied, deleted, updated, touched uint64
	outcome                                    insertOutcome
}

type insertOutcome uint8

const (
	rowInserted insertOutcome = iota
	rowSkipped
	rowUpdated
)

// defaultValue is the default of a column.
type defaultValue struct {
	e      expr.Expr
	cached bool // d is the value for all rows
	none   bool // there is no default
	d      value.Datum
}

// NewInserter prepares inserting. rows is the number of rows that will be added,
// if known (0 otherwise). A column without default that gets no value is 1364.
func NewInserter(env *Env, x *physical.Insert, rows int) (*Inserter, error) {
	n := len(x.Table.Columns)
	in := &Inserter{env: env, ec: env.Ctx, x: x, t: x.Table, expected: rows, single: rows == 1, auto: -1, hidden: -1,
		defaults: make([]defaultValue, n), row: make([]value.Datum, n)}
	flags := make([]bool, 2*n)
	in.given, in.assigned = flags[:n:n], flags[n:]
	for _, c := range x.Columns {
		if c >= 0 {
			in.given[c] = true
		}
	}
	for _, a := range x.Set {
		in.assigned[a.Column] = !in.given[a.Column]
	}
	if err := in.prepareExprs(); err != nil {
		return nil, err
	}
	for i := range in.t.Columns {
		col := &in.t.Columns[i]
		if col.AutoIncrement {
			in.auto, in.maxAuto, in.inKey = i, maxAutoIncrement(col.Type), in.t.AutoInKey() > 0
		}
		if col.Hidden && col.Name == schema.HiddenKeyColumn {
			in.hidden = i
		}
		if err := in.prepareDefault(i, col); err != nil {
			return nil, err
		}
	}
	if readsColumns(x.Rows) {
		if err := in.prepareEarly(); err != nil {
			return nil, err
		}
	}
	switch {
	case x.Replace:
		in.conflict = in.replace
	case len(x.OnDuplicate) > 0:
		var err error
		if in.assign, err = newAssigner(env, in.t, x.OnDuplicate); err != nil {
			return nil, err
		}
		in.assign.auto, in.conflict = in.auto, in.update
	case env.Reject != nil:
		in.conflict = in.rejectDuplicate
	case x.Ignore:
		in.conflict = in.skip
	default:
		in.conflict = func(*schema.Index, []value.Datum) (ConflictAction, error) { return ConflictFail, nil }
	}
	return in, nil
}

func (in *Inserter) prepareDefault(i int, col *schema.Column) error {
	d := &in.defaults[i]
	if i < len(in.x.Defaults) {
		d.e = in.x.Defaults[i]
	}
	if i == in.auto {
		d.cached, d.d = true, types.ImplicitDefault(col.Type)
		return nil
	}
	if i == in.hidden || col.Generated != nil || in.lateCols != nil && in.lateCols[i] {
		d.cached, d.d = true, value.Null
		return nil
	}
	if d.e != nil {
		if !expr.IsConst(d.e) {
			return nil
		}
		// The default of a given column is needed for DEFAULT only: an error
		// of it must not show before.
		if in.given[i] {
			return nil
		}
		v, err := in.evalDefault(i, 1)
		if err != nil {
			return err
		}
		d.cached, d.d = true, v
		return nil
	}
	d.none = true
	if in.given[i] {
		return nil
	}
	if in.assigned[i] {
		d.cached, d.d = true, value.Null
		if !col.Nullable {
			d.d = types.ImplicitDefault(col.Type)
		}
		return nil
	}
	v, err := missingDefault(in.ec, col)
	d.cached, d.d = true, v
	return err
}

// readsColumns reports whether an expression of VALUES reads a column of its row.
func readsColumns(rows [][]expr.Expr) bool {
	found := false
	for _, row := range rows {
		for _, e := range row {
			if e == nil || expr.IsConst(e) {
				continue
			}
			expr.Walk(e, func(x expr.Expr) bool {
				_, isCol := x.(*expr.Col)
				found = found || isCol
				return !found
			})
		}
	}
	return found
}

// prepareEarly fills early: a column that is read before it is given has its default,
// if that is a constant, or else the implicit one of its type.
// (https://dev.mysql.com/doc/refman/8.4/en/insert.html)
func (in *Inserter) prepareEarly() error {
	in.early = make([]value.Datum, len(in.row))
	for i := range in.t.Columns {
		col, d := &in.t.Columns[i], &in.defaults[i]
		if !in.given[i] || col.Generated != nil {
			continue
		}
		if !col.Nullable {
			in.early[i] = types.ImplicitDefault(col.Type)
		}
		if d.e == nil || col.Default == nil || col.Default.Expr != "" {
			continue
		}
		v, err := in.evalDefault(i, 1)
		if err != nil {
			return err
		}
		in.early[i] = v.Clone()
	}
	return nil
}

func (in *Inserter) evalDefault(i, number int) (value.Datum, error) {
	d := &in.defaults[i]
	v, err := expr.EvalRow(in.ec, d.e, in.row)
	if err != nil {
		return value.Null, err
	}
	if v.IsNull() && in.t.Columns[i].Nullable {
		return v, nil
	}
	return in.ec.Store(v, d.e.Type(), &in.t.Columns[i], number)
}

// defaultOf is the value of DEFAULT.
func (in *Inserter) defaultOf(i int) (value.Datum, error) {
	d := &in.defaults[i]
	switch {
	case d.cached:
		return d.d, nil
	case d.none:
		return missingDefault(in.ec, &in.t.Columns[i])
	}
	v, err := in.evalDefault(i, int(in.records))
	if err == nil && expr.IsConst(d.e) {
		d.cached, d.d = true, v.Clone()
	}
	return v, err
}

// begin starts a row: columns that are not given have their defaults, given
// ones what an expression that reads them too early sees.
func (in *Inserter) begin() error {
	in.records++
	for i := range in.late {
		in.late[i] = in.lateCols[i] && !in.given[i] && !in.assigned[i]
	}
	in.needAuto = in.auto >= 0 && !in.given[in.auto] && !in.assigned[in.auto]
	for i := range in.row {
		d := &in.defaults[i]
		switch {
		case d.cached:
			in.row[i] = d.d
		case in.given[i] && in.early != nil:
			in.row[i] = in.early[i]
		case in.given[i]:
			in.row[i] = value.Null
		default:
			v, err := in.defaultOf(i)
			if err != nil {
				return err
			}
			in.row[i] = v
		}
	}
	return nil
}

// put stores the value of a given column.
func (in *Inserter) put(i int, d value.Datum, from schema.Type) error {
	col := &in.t.Columns[i]
	if col.Generated != nil {
		e := sqlerr.GeneratedValueGiven(col.Name, in.t.Name)
		if in.ec.Restoring {
			in.ec.Warning(e)
			return nil
		}
		return e
	}
	if d.IsNull() {
		if i == in.auto {
			in.row[i], in.needAuto = types.ImplicitDefault(col.Type), true
			return nil
		}
		if !col.Nullable && in.single && !in.ec.Ignore {
			return sqlerr.ColumnCannotBeNull(col.Name)
		}
	}
	v, err := in.ec.Store(d, from, col, int(in.records))
	if err != nil {
		return err
	}
	in.row[i] = v
	if i == in.auto {
		in.needAuto = isZero(v) && in.ec.Mode&types.ModeNoAutoValueOnZero == 0
	}
	return nil
}

func isZero(d value.Datum) bool {
	switch d.Kind() {
	case value.KindFloat:
		return d.Float() == 0
	case value.KindDecimal:
		return d.Decimal().IsZero()
	}
	return d.Bits() == 0
}

// addExprs adds a row of VALUES; nil is DEFAULT.
func (in *Inserter) addExprs(ctx context.Context, exprs []expr.Expr) error {
	if len(exprs) != len(in.x.Columns) {
		return sqlerr.WrongValueCount(int(in.records) + 1)
	}
	if err := in.begin(); err != nil {
		return err
	}
	for j, e := range exprs {
		i := in.x.Columns[j]
		if e == nil {
			if i == in.auto {
				in.row[i], in.needAuto = types.ImplicitDefault(in.t.Columns[i].Type), true
				continue
			}
			if in.late != nil && in.lateCols[i] {
				in.late[i] = true
				continue
			}
			d, err := in.defaultOf(i)
			if err != nil {
				return err
			}
			in.row[i] = d
			continue
		}
		d, err := expr.EvalRow(in.ec, e, in.row)
		if err != nil {
			return err
		}
		if err := in.put(i, d, e.Type()); err != nil {
			return err
		}
	}
	return in.write(ctx)
}

// Add adds a row of values of types ts, one for each of Insert.Columns. The
// values are not kept.
func (in *Inserter) Add(ctx context.Context, vals []value.Datum, ts []schema.Type) error {
	if len(vals) < len(in.x.Columns) {
		return sqlerr.WrongValueCount(int(in.records) + 1)
	}
	if err := in.begin(); err != nil {
		return err
	}
	in.extra = vals[len(in.x.Columns):]
	var names []string
	var attrs []value.Datum
	for j, i := range in.x.Columns {
		if i < 0 && in.x.Attributes != nil && in.x.Attributes[j] != "" {
			d, err := expr.ToVariant(in.ec, vals[j], ts[j])
			if err != nil {
				return err
			}
			names, attrs = append(names, in.x.Attributes[j]), append(attrs, d)
			continue
		}
		if i < 0 {
			if err := in.ec.Session.SetUserVar(in.x.Vars[j], vals[j], ts[j]); err != nil {
				return err
			}
			continue
		}
		if err := in.put(i, vals[j], ts[j]); err != nil {
			return err
		}
	}
	if names != nil {
		at := in.t.AttributesColumn()
		if err := in.put(at, expr.WithAttributes(in.row[at], names, attrs), types.JSON); err != nil {
			return err
		}
	}
	for i := range in.x.Set {
		if err := in.set(&in.x.Set[i]); err != nil {
			return err
		}
	}
	return in.write(ctx)
}

// set makes an assignment of LOAD DATA … SET.
func (in *Inserter) set(a *physical.Assignment) error {
	if a.Value == nil {
		d, err := noDefault(in.ec, &in.t.Columns[a.Column])
		if err != nil {
			return err
		}
		return in.put(a.Column, d, in.t.Columns[a.Column].Type)
	}
	d, err := expr.EvalRow(in.ec, a.Value, in.row)
	if err != nil {
		return err
	}
	return in.put(a.Column, d, a.Value.Type())
}

// write completes the row with generated values and gives it to the sink.
func (in *Inserter) write(ctx context.Context) error {
	generated := uint64(0)
	if in.needAuto && !in.inKey {
		v, err := in.generate(ctx)
		if err == nil {
			generated, err = v, in.storeAuto(v)
		}
		if err != nil {
			return err
		}
	}
	if in.hidden >= 0 {
		v, err := in.env.Sink.NextHiddenKey(ctx, in.t)
		if err != nil {
			return err
		}
		in.row[in.hidden] = value.Int(v)
	}
	if in.derive != nil {
		if err := in.applyExprs(); err != nil {
			return ignoreRow(in.ec, in.x.Ignore, err)
		}
	}
	if in.needAuto && in.inKey {
		// The columns before it may be computed ones, which never read it.
		v, err := in.env.Sink.NextInKey(ctx, in.t, in.row)
		v = in.aligned(v)
		if err == nil && v > in.maxAuto {
			err = sqlerr.AutoIncrementFailed()
		}
		if err == nil {
			generated, err = v, in.storeAuto(v)
		}
		if err != nil {
			return err
		}
	}
	if ok, err := passes(in.ec, in.x.Check, in.x.Ignore, in.row); !ok {
		return err
	}
	if in.gather {
		return in.wait(ctx, generated)
	}
	return in.insert(ctx, generated)
}

// insert gives the row to the sink. generated is its AUTO_INCREMENT value, 0 if it was
// given, or if no column has one.
func (in *Inserter) insert(ctx context.Context, generated uint64) error {
	in.outcome, in.ctx = rowInserted, ctx
	if err := in.env.Sink.Insert(ctx, in.t, in.row, in.conflict); err != nil {
		return ignoreRow(in.ec, in.x.Ignore, err)
	}
	if in.outcome != rowInserted {
		return nil
	}
	in.copied++
	switch {
	case generated != 0:
		if in.firstID == 0 {
			in.firstID = generated
		}
	case in.auto >= 0:
		in.explicit(in.row[in.auto])
		if in.inKey && in.bump > 0 {
			v := in.bump
			in.bump = 0
			if err := in.env.Sink.RaiseInKey(ctx, in.t, in.row, v); err != nil {
				return err
			}
		}
	}
	return in.returned.row(in.row)
}

// storeAuto gives the AUTO_INCREMENT column its value.
func (in *Inserter) storeAuto(v uint64) (err error) {
	in.row[in.auto], err = types.Store(&in.ec.Env, value.Uint(v), types.UBigInt, &in.t.Columns[in.auto], int(in.records))
	return err
}

func (in *Inserter) aligned(v uint64) uint64 {
	return types.NextAuto(v, in.env.AutoStep, in.env.AutoOffset)
}

// generate takes the next AUTO_INCREMENT value. Values are reserved for the
// rows that are known to come, or in growing pieces.
func (in *Inserter) generate(ctx context.Context) (uint64, error) {
	v := in.aligned(in.nextAuto)
	if v >= in.endAuto {
		if err := in.flushBump(ctx); err != nil {
			return 0, err
		}
		n := in.expected - int(in.records) + 1
		if n <= 0 {
			in.reserve = min(max(1, 2*in.reserve), 4096)
			n = in.reserve
		}
		// So many values hold n that are allowed.
		n *= int(max(1, in.env.AutoStep))
		first, err := in.env.Sink.NextAutoIncrement(ctx, in.t, n)
		if err != nil {
			return 0, err
		}
		in.nextAuto, in.endAuto = first, first+uint64(n)
		if in.endAuto < first {
			in.endAuto = ^uint64(0)
		}
		v = in.aligned(first)
	}
	if v > in.maxAuto || v == 0 {
		return 0, sqlerr.AutoIncrementFailed()
	}
	in.nextAuto = v + 1
	return v, nil
}

// explicit notes a value that was given for the AUTO_INCREMENT column: later
// generated ones are greater.
func (in *Inserter) explicit(d value.Datum) {
	v := AutoValue(d)
	in.lastID = v
	if v == 0 && d.Kind() == value.KindInt {
		in.lastID = uint64(d.Int()) // for the OK packet alone
	}
	in.bump = max(in.bump, v)
	if v >= in.nextAuto && in.nextAuto < in.endAuto {
		in.nextAuto = min(v, in.endAuto-1) + 1
	}
}

// AutoValue is a value of an AUTO_INCREMENT column as it counts; 0 for one that does
// not.
func AutoValue(d value.Datum) uint64 {
	switch {
	case d.Kind() == value.KindUint:
		return d.Uint()
	case d.Kind() == value.KindInt && d.Int() > 0:
		return uint64(d.Int())
	case d.Kind() == value.KindFloat && d.Float() > 0 && d.Float() < 1<<63:
		return uint64(d.Float())
	}
	return 0
}

func (in *Inserter) flushBump(ctx context.Context) error {
	if in.bump == 0 {
		return nil
	}
	v := in.bump
	in.bump = 0
	return in.env.Sink.BumpAutoIncrement(ctx, in.t, v)
}

// Finish ends the insertion and gives the counters.
func (in *Inserter) Finish(ctx context.Context) (Result, error) {
	if err := in.flushBump(ctx); err != nil {
		return Result{}, err
	}
	r := Result{Records: in.records, GeneratedID: in.firstID, InsertID: in.firstID, Warnings: in.env.warnings.Load()}
	r.Affected = in.copied + in.deleted + in.updated
	if in.env.FoundRows {
		r.Affected = in.copied + in.deleted + in.touched
	}
	r.Duplicates = in.deleted + in.updated
	if in.x.Ignore {
		r.Duplicates = in.records - min(in.copied, in.records)
	}
	if r.InsertID == 0 && in.copied > 0 {
		r.InsertID = in.lastID
	}
	if !in.single {
		r.Info = fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", r.Records, r.Duplicates, r.Warnings)
	}
	return r, nil
}

// skip is INSERT IGNORE.
func (in *Inserter) skip(x *schema.Index, _ []value.Datum) (ConflictAction, error) {
	in.outcome = rowSkipped
	in.ec.Warning(duplicateEntry(in.t, x, in.row))
	return ConflictSkip, nil
}

func (in *Inserter) rejectDuplicate(x *schema.Index, _ []value.Datum) (ConflictAction, error) {
	in.outcome = rowSkipped
	if err := in.env.Reject(in.records, duplicateEntry(in.t, x, in.row)); err != nil {
		return ConflictFail, err
	}
	return ConflictSkip, nil
}

// rejected gives the error of a row to Env.Reject, if it is the row's.
func (in *Inserter) rejected(err error) error {
	var e *sqlerr.Error
	if err == nil || in.env.Reject == nil || !sqlerr.IsOfRow(err) || !errors.As(err, &e) {
		return err
	}
	return in.env.Reject(in.records, e)
}

// replace removes the conflicting row. Where MySQL would update it in place, a
// row that does not change does not count as deleted.
func (in *Inserter) replace(x *schema.Index, existing []value.Datum) (ConflictAction, error) {
	if err := in.env.Sink.Delete(in.ctx, in.t, existing); err != nil {
		return ConflictFail, err
	}
	if !lastUnique(in.t, x) || !sameRow(in.t, existing, in.row) {
		in.deleted++
	}
	return ConflictRetry, nil
}

// lastUnique reports that no unique index is checked after x, nil being the
// primary key.
func lastUnique(t *schema.Table, x *schema.Index) bool {
	var last *schema.Index
	for i := range t.Indexes {
		if u := &t.Indexes[i]; u.Unique && (last == nil || t.IndexClass(u) >= t.IndexClass(last)) {
			last = u
		}
	}
	if x == nil || last == nil {
		return x == last
	}
	return x.Name == last.Name
}

// sameRow reports that the stored row has the values of a new one, which has another
// hidden key.
func sameRow(t *schema.Table, stored, row []value.Datum) bool {
	for i := range row {
		if i < len(stored) && !(t.Columns[i].Hidden && t.Columns[i].Name == schema.HiddenKeyColumn) && !SameDatum(stored[i], row[i]) {
			return false
		}
	}
	return len(stored) >= len(row)
}

// update is ON DUPLICATE KEY UPDATE. Its expressions see the existing row,
// changed so far, and the new row.
func (in *Inserter) update(_ *schema.Index, existing []value.Datum) (ConflictAction, error) {
	in.outcome = rowUpdated
	in.touched++
	n := len(in.t.Columns)
	if len(existing) < n {
		return ConflictFail, sqlerr.Internal("a stored row of %d values for %d columns", len(existing), n)
	}
	in.pair = append(append(append(in.pair[:0], existing[:n]...), in.row...), in.extra...)
	changed, err := in.assign.apply(in.pair, existing[:n], int(in.records))
	if err != nil {
		return ConflictHandled, ignoreRow(in.ec, in.x.Ignore, err)
	}
	if !changed {
		return ConflictHandled, in.returned.row(in.pair[:n])
	}
	if ok, err := passes(in.ec, in.x.Check, in.x.Ignore, in.pair[:n]); !ok {
		return ConflictHandled, err
	}
	if err := in.env.Sink.Update(in.ctx, in.t, existing[:n], in.pair[:n]); err != nil {
		return ConflictHandled, ignoreRow(in.ec, in.x.Ignore, err)
	}
	in.updated++
	in.copied++
	if in.auto >= 0 {
		if in.assign.set[in.auto] {
			in.explicit(in.pair[in.auto])
		}
		in.lastID = AutoValue(in.pair[in.auto])
	}
	return ConflictHandled, in.returned.row(in.pair[:n])
}

// duplicateEntry is 1062 for a row and a key, nil for the primary key.
func duplicateEntry(t *schema.Table, x *schema.Index, row []value.Datum) *sqlerr.Error {
	parts, name := t.DeclaredKey(), "PRIMARY"
	if x != nil {
		parts, name = x.Parts, x.Name
	}
	var entry []byte
	for i, p := range parts {
		if i > 0 {
			entry = append(entry, '-')
		}
		c := t.ColumnIndex(p.Column)
		if c < 0 || row[c].IsNull() {
			entry = append(entry, "NULL"...)
			continue
		}
		typ := t.Columns[c].Type
		text := types.AppendText(nil, typ, row[c])
		if p.Prefix > 0 && typ.IsCharacter() {
			text = text[:collate.Must(typ.Collation).PrefixLen(text, p.Prefix)]
		} else if p.Prefix > 0 && p.Prefix < len(text) {
			text = text[:p.Prefix]
		}
		entry = append(entry, text...)
	}
	return sqlerr.DuplicateEntry(string(entry), t.Name+"."+name)
}
