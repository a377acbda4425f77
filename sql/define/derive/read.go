package derive

import (
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// A row that is read was written before: what did not fit was refused or cut
// then. Values are stored leniently when they are computed again, whatever the
// session's sql_mode says, and without warnings.

// ReadCtx is where the virtual columns of rows that are read are computed, in a
// session's time zone. It belongs to one goroutine.
func ReadCtx(loc *time.Location, now time.Time) *expr.Ctx {
	return &expr.Ctx{Env: types.Env{Loc: loc, Now: now, Mode: evalMode}}
}

// store brings a computed value into the form of its column.
func store(ec *expr.Ctx, d value.Datum, from schema.Type, col *schema.Column) (value.Datum, error) {
	if d.IsNull() && col.Nullable {
		return d, nil
	}
	return types.Store(&ec.Env, d, from, col, 1)
}

// Reader computes the virtual columns of rows. It belongs to one goroutine.
type Reader struct {
	ec    *expr.Ctx
	exprs *Exprs
	zoned bool
	only  []bool // the columns that are computed, the others are NULL; nil for all
}

// NewReader makes a reader for rows whose TIMESTAMPs are in a session's time
// zone.
func (x *Exprs) NewReader(loc *time.Location) *Reader {
	return &Reader{ec: ReadCtx(loc, time.Now()), exprs: x, zoned: true}
}

// NewStoredReader makes a reader for rows in their stored form. Columns that
// depend on the time zone are NULL: no index has them.
func (x *Exprs) NewStoredReader() *Reader { return &Reader{ec: ReadCtx(nil, time.Time{}), exprs: x} }

// NewEntryReader is NewStoredReader for some of the columns, by position; the
// others are NULL.
func (x *Exprs) NewEntryReader(only []bool) *Reader {
	e := x.NewStoredReader()
	e.only = only
	return e
}

// Row computes the virtual columns of a row in place.
func (r *Reader) Row(row []value.Datum) error {
	for i := range r.exprs.Steps {
		s := &r.exprs.Steps[i]
		col := &r.exprs.Table.Columns[s.Pos]
		if !col.IsVirtual() {
			continue
		}
		if s.Zoned && !r.zoned || r.only != nil && !r.only[s.Pos] {
			row[s.Pos] = value.Null
			continue
		}
		d, err := expr.EvalRow(r.ec, s.Expr, row)
		if err != nil {
			return err
		}
		if row[s.Pos], err = store(r.ec, d, s.Expr.Type(), col); err != nil {
			return err
		}
	}
	return nil
}

// Column computes a column of a batch: e, a step's expression over the batch's
// columns, goes into out for the live rows.
func Column(ec *expr.Ctx, e expr.Expr, col *schema.Column, b *vec.Batch, out *vec.Vec) error {
	v, err := expr.Eval(ec, e, b)
	if err != nil {
		return err
	}
	from := e.Type()
	for k := range b.Live() {
		i := b.Row(k)
		d, err := store(ec, v.Datum(i), from, col)
		if err != nil {
			return err
		}
		out.SetDatum(i, d)
		if d.IsNull() && vec.ClassOf(out.Kind) == vec.ClassBytes {
			out.Bytes[i] = nil // NULL must stay readable
		}
	}
	ec.Release(v)
	return nil
}
