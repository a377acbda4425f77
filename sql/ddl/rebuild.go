package ddl

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Bounds of one transaction of a copy.
const (
	copyRows  = 1000
	copyBytes = 8 << 20
)

// runRebuild copies the table, which no other session uses, into a new id in its
// new form, and puts the copy in its place.
func (a *alteration) runRebuild(ctx context.Context) (uint64, error) {
	r := a.c.r
	err := a.c.publish(ctx, func(ch *catalog.Change) error {
		a.t.ID = ch.NextTableID()
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i := range a.t.Search {
		if x := &a.t.Search[i]; !a.keepFiles(x) && x.Next != nil {
			*x = *x.Next // all files are new
		}
	}
	for i := range a.t.Columns {
		a.t.Columns[i].AddedDefault = nil // every copied row has a value
	}
	if a.t.Partitioning != nil {
		a.t.Partitioning.Removed = nil
	}
	made, gone := job{table: a.t.ID}, job{table: a.old.ID}
	if err := r.openJobs(ctx, made, gone); err != nil {
		return 0, err
	}
	a.c.state("copy to tmp table")
	rows, err := a.copyRows(ctx)
	if err == nil {
		err = a.validateForeignKeys(ctx)
	}
	if err == nil {
		r.step("before publish")
		err = a.publish(ctx, a.t)
	}
	if err != nil {
		r.closeJobs(ctx, gone)
		a.c.releaseTables()
		a.c.finish(ctx, made)
		return 0, err
	}
	a.c.releaseTables()
	r.step("after publish")
	r.closeJobs(ctx, made)
	a.c.finish(ctx, gone)
	if !a.converts() {
		rows = 0
	}
	return rows, nil
}

// converts reports whether values get another type: MySQL copies the table then,
// and reports the number of rows.
func (a *alteration) converts() bool {
	for i := range a.t.Columns {
		c := &a.t.Columns[i]
		if o := a.old.Column(c.ID); o != nil && !a.sameStorage(o, c) {
			return true
		}
	}
	return false
}

// copier makes the new rows of the old ones.
type copier struct {
	a        *alteration
	env      types.Env
	from     []int // position of each new column in the old table, -1 for none
	convert  []bool
	defaults []func(ctx context.Context) (value.Datum, error)
	auto     int // position of the AUTO_INCREMENT column, -1 if none
	next     uint64
	hidden   int // position of a hidden key that the old table does not have
	rowID    int64
	rows     uint64
	out      []value.Datum
	derive   *derive.Writer // nil: none
	late     []bool         // new columns whose default reads the row
	checker  *rowChecker    // nil where there are no expressions
	// promotion fills columns from attributes; nil without.
	promotion *promotion
}

func (a *alteration) newCopier(ctx context.Context) (*copier, error) {
	t := a.t
	k := &copier{a: a, env: a.c.env.Types, auto: -1, hidden: -1, out: make([]value.Datum, len(t.Columns)),
		from: make([]int, len(t.Columns)), convert: make([]bool, len(t.Columns)), defaults: make([]func(context.Context) (value.Datum, error), len(t.Columns))}
	k.env.Write, k.env.Warn, k.promotion = true, a.c.env.Warn, a.newPromotion()
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated != nil {
			k.from[i] = -1 // computed, whatever it was
			k.defaults[i] = nothing
			continue
		}
		k.from[i] = a.old.ColumnIndex(c.ID)
		if c.AutoIncrement {
			k.auto = i
		}
		switch {
		case k.from[i] >= 0:
			k.convert[i] = !a.sameStorage(&a.old.Columns[k.from[i]], c)
		case isHiddenKey(c):
			k.hidden = i
		case c.Default != nil && len(c.Default.Reads) > 0:
			if k.late == nil {
				k.late = make([]bool, len(t.Columns))
			}
			k.late[i], k.defaults[i] = true, nothing
		default:
			var err error
			if k.defaults[i], err = a.freshValue(c); err != nil {
				return nil, err
			}
		}
	}
	exprs, err := define.Compile(a.c.r.Binder, t)
	if err != nil {
		return nil, err
	}
	if exprs != nil {
		k.derive = exprs.NewWriter(a.c.exprCtx(ctx))
		k.checker = newRowChecker(ctx, a.c, exprs)
	}
	return k, k.startNumbers(ctx)
}

// check tests the constraints on a new row, sooner or later.
func (k *copier) check(row []value.Datum) error {
	if k.checker == nil {
		return nil
	}
	k.checker.add(row)
	if k.checker.batch.N < vec.MaxRows {
		return nil
	}
	return k.checker.flush()
}

// startNumbers lets AUTO_INCREMENT continue from its present value when the
// column had it before, or else from the value of the statement or the table.
func (k *copier) startNumbers(ctx context.Context) error {
	if k.auto < 0 {
		return nil
	}
	k.next = max(k.a.autoNext, 1)
	if i := k.from[k.auto]; i < 0 || !k.a.old.Columns[i].AutoIncrement {
		return nil
	}
	n, err := k.a.c.r.Sequences.Peek(ctx, k.a.old, table.AutoIncrement)
	if err != nil {
		return err
	}
	if n == 0 {
		n = math.MaxUint64
	}
	k.next = max(k.next, n)
	return nil
}

// freshValue gives the value of a new column in existing rows.
func (a *alteration) freshValue(c *schema.Column) (func(context.Context) (value.Datum, error), error) {
	fixed := func(d value.Datum, err error) (func(context.Context) (value.Datum, error), error) {
		d = a.c.toStored(d.Clone(), c.Type)
		return func(context.Context) (value.Datum, error) { return d, nil }, err
	}
	env := a.c.env.Types
	env.Write = true
	d := c.Default
	switch {
	case c.AutoIncrement, (d == nil || d.Null) && c.Nullable:
		return fixed(value.Null, nil)
	case d == nil || d.Null:
		if c.Type.HasDate() && env.Mode.Strict() && env.Mode&types.ModeNoZeroDate != 0 {
			return func(context.Context) (value.Datum, error) {
				zero := string(types.AppendText(nil, c.Type, value.TimeOf(value.ZeroTime)))
				return value.Null, sqlerr.IncorrectTemporalForColumn(kindName(c.Type), zero, c.Name, 1)
			}, nil
		}
		if c.Type.ID == schema.TypeGeometry {
			return func(context.Context) (value.Datum, error) { return value.Null, sqlerr.CantCreateGeometryObject() }, nil
		}
		return fixed(types.ImplicitDefault(c.Type), nil)
	case isNow(d.Expr):
		now := value.TimeOf(value.FromGo(env.Now.In(a.c.location())))
		return fixed(types.Store(&env, now, types.DatetimeOf(6), c, 1))
	case d.Expr == "":
		return fixed(types.Store(&env, value.String(d.Literal), types.Text(schema.CollationUTF8MB4Bin), c, 1))
	case isLiteralExpr(d.Expr):
		literal := *c
		literal.AddedDefault = d
		return fixed(decode.AddedDefault(&literal))
	}
	row := 0
	return func(ctx context.Context) (value.Datum, error) {
		row++
		v, from, err := a.c.env.Eval(ctx, d.Expr, c.Type)
		if err != nil {
			return value.Null, err
		}
		v, err = types.Store(&env, v, from, c, row)
		return a.c.toStored(v, c.Type), err
	}, nil
}

func kindName(t schema.Type) string {
	if t.ID == schema.TypeDate {
		return "date"
	}
	return "datetime"
}

// row makes the new form of a row. The result is valid until the next call.
func (k *copier) row(ctx context.Context, old []value.Datum) ([]value.Datum, error) {
	k.rows++
	for i := range k.out {
		c := &k.a.t.Columns[i]
		var d value.Datum
		var err error
		switch {
		case i == k.hidden:
			k.rowID++
			d = value.Int(k.rowID)
		case k.from[i] < 0:
			d, err = k.defaults[i](ctx)
		default:
			d, err = k.carry(i, old[k.from[i]])
		}
		if err != nil {
			return nil, err
		}
		if i == k.auto {
			if d, err = k.number(c, d); err != nil {
				return nil, err
			}
		}
		k.out[i] = d
	}
	if k.promotion != nil {
		if err := k.promote(old); err != nil {
			return nil, err
		}
	}
	return k.out, k.compute()
}

// nothing is the value of a column that is computed with the whole row.
func nothing(context.Context) (value.Datum, error) { return value.Null, nil }

// carry brings an old value into the form of its column.
func (k *copier) carry(i int, d value.Datum) (value.Datum, error) {
	a := k.a
	c := &a.t.Columns[i]
	if d.IsNull() {
		switch {
		case c.Nullable || i == k.auto && a.numbered == c.ID:
			return d, nil
		case k.env.Mode.Strict(), c.Type.ID == schema.TypeGeometry:
			return d, sqlerr.InvalidUseOfNull()
		}
		k.env.Warning(sqlerr.DataTruncatedForColumn(c.Name, int(k.rows)))
		return types.ImplicitDefault(c.Type), nil
	}
	if !k.convert[i] {
		return d, nil
	}
	was := a.old.Columns[k.from[i]].Type
	if was.ID == schema.TypeEnum && c.Type.ID == schema.TypeEnum && d.Kind() == value.KindUint && d.Uint() == 0 {
		return d, nil // the empty value of a wrong one stays what it is
	}
	d, err := types.Store(&k.env, a.c.toSession(d, was), was, c, int(k.rows))
	if err != nil {
		return value.Null, err
	}
	return a.c.toStored(d, c.Type), nil
}

// number gives 0 and NULL the next number when the column becomes
// AUTO_INCREMENT, and remembers the numbers that there are.
func (k *copier) number(c *schema.Column, d value.Datum) (value.Datum, error) {
	zero := d.IsNull()
	if !zero && k.env.Mode&types.ModeNoAutoValueOnZero == 0 {
		zero = d.Bits() == 0
	}
	if zero && k.a.numbered == c.ID {
		if !k.a.firstInKey(c.ID) {
			return d, sqlerr.NotSupported("numbering existing rows within a key prefix")
		}
		n := types.NextAuto(k.next, k.a.c.env.AutoStep, k.a.c.env.AutoOffset)
		if n == 0 {
			return d, sqlerr.AutoIncrementFailed()
		}
		k.next = n + 1
		return types.Store(&k.env, value.Uint(n), types.UBigInt, c, int(k.rows))
	}
	var n uint64
	switch d.Kind() {
	case value.KindInt:
		n = uint64(max(d.Int(), 0))
	case value.KindUint:
		n = d.Uint()
	case value.KindFloat:
		n = uint64(max(d.Float(), 0))
	}
	if n >= k.next && n < math.MaxUint64 {
		k.next = n + 1
	}
	return d, nil
}

func (a *alteration) firstInKey(id schema.ColumnID) bool {
	if a.t.DeclaredKey()[0].Column == id {
		return true
	}
	for i := range a.t.Indexes {
		if a.t.Indexes[i].Parts[0].Column == id {
			return true
		}
	}
	return false
}

// copyRows writes the new table: rows, entries and sequences.
func (a *alteration) copyRows(ctx context.Context) (uint64, error) {
	r := a.c.r
	src, err := a.c.codec(a.old)
	if err != nil {
		return 0, err
	}
	dst, err := a.c.codec(a.t)
	if err != nil {
		return 0, err
	}
	k, err := a.newCopier(ctx)
	if err != nil {
		return 0, err
	}
	w := &batchWriter{a: a, codec: dst}
	defer w.abort()
	err = readRows(ctx, r.Store, src, func(row []value.Datum) error {
		if isRemoved(a.old, row) {
			return nil
		}
		out, err := k.row(ctx, row)
		if err != nil {
			return err
		}
		if err := k.check(out); err != nil {
			return err
		}
		return w.insert(ctx, out)
	})
	if err == nil && k.checker != nil {
		err = k.checker.flush()
	}
	if err == nil {
		err = w.commit(ctx)
	}
	if errors.Is(err, errFirst) {
		err = k.checker.violation
	}
	if err != nil {
		return 0, err
	}
	return k.rows, k.saveSequences(ctx)
}

// saveSequences brings the sequences of the new table past its largest values.
func (k *copier) saveSequences(ctx context.Context) error {
	seqs := k.a.c.r.Sequences
	if k.auto >= 0 && k.next > 1 {
		if err := seqs.Bump(ctx, k.a.t, table.AutoIncrement, k.next-1); err != nil {
			return err
		}
	}
	if k.a.sameCounters() {
		if err := table.CopyCounters(ctx, k.a.c.r.Store, k.a.old.ID, k.a.t.ID); err != nil {
			return err
		}
	}
	last := uint64(k.rowID)
	if k.hidden < 0 && isHiddenKey(k.a.t.Column(k.a.t.DeclaredKey()[0].Column)) {
		n, err := seqs.Peek(ctx, k.a.old, table.HiddenKey)
		if err != nil {
			return err
		}
		last = n - 1
	}
	if last == 0 {
		return nil
	}
	return seqs.Bump(ctx, k.a.t, table.HiddenKey, last)
}

// sameCounters reports whether a column counts within the primary key, and the
// key has the same parts before it in both tables.
func (a *alteration) sameCounters() bool {
	from, to := a.old, a.t
	n := from.AutoInKey()
	if n == 0 || n != to.AutoInKey() || from.PrimaryKey[n].Column != to.PrimaryKey[n].Column {
		return false
	}
	for i, p := range from.PrimaryKey[:n] {
		if p != to.PrimaryKey[i] || !a.sameStorage(from.Column(p.Column), to.Column(p.Column)) {
			return false
		}
	}
	return true
}

// readRows calls fn with each present row of a table.
func readRows(ctx context.Context, store storage.Store, codec *table.Codec, fn func(row []value.Datum) error) error {
	return readSpan(ctx, store, codec, table.IndexSpan(codec.Table.ID, schema.PrimaryIndexID), fn)
}

// readSpan is readRows of those whose keys are in a span.
func readSpan(ctx context.Context, store storage.Store, codec *table.Codec, span storage.Span, fn func(row []value.Datum) error) error {
	snap, err := store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	scan, err := snap.Scan(ctx, span, storage.ScanOptions{Cold: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	rd := codec.NewRowReader()
	row := make([]value.Datum, len(codec.Columns))
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		if bad = rd.Fetch(ctx, snap, key, val, row); bad == nil {
			bad = fn(row)
		}
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	return err
}

// batchWriter inserts rows in transactions of bounded size.
type batchWriter struct {
	a     *alteration
	codec *table.Codec
	txn   storage.Txn
	w     *table.Writer
	n     int
	total int
}

func (b *batchWriter) insert(ctx context.Context, row []value.Datum) error {
	store := b.a.c.r.Store
	if b.txn == nil {
		// The catalog's commit that publishes the table is durable, and with it
		// what was committed before.
		txn, err := store.Begin(ctx, storage.TxnOptions{Label: "table copy", Durability: storage.DurabilityWrite})
		if err != nil {
			return err
		}
		b.txn, b.w, b.n = txn, b.codec.NewWriter(txn, store.Caps()), 0
		b.w.Silent()
	}
	conflict, err := b.w.Insert(ctx, row)
	if err != nil {
		var dup *table.DuplicateError
		if errors.As(err, &dup) {
			return b.a.c.duplicate(dup)
		}
		return err
	}
	if conflict != nil {
		return b.a.c.duplicate(b.w.Duplicate(conflict, row))
	}
	if b.n++; b.n >= copyRows || b.txn.Size() > copyBytes {
		return b.commit(ctx)
	}
	return nil
}

func (b *batchWriter) commit(ctx context.Context) error {
	if b.txn == nil {
		return nil
	}
	txn := b.txn
	b.txn = nil
	defer txn.Rollback()
	if _, err := txn.Commit(ctx); err != nil {
		return fmt.Errorf("copying table %s: %w", b.a.t.Name, err)
	}
	b.total += b.n
	b.a.c.state(fmt.Sprintf("copy to tmp table: %d rows", b.total))
	b.a.c.r.step("copied batch")
	return nil
}

func (b *batchWriter) abort() {
	if b.txn != nil {
		b.txn.Rollback()
	}
}
