package derive

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Writer computes and tests rows that are being written. It belongs to one
// goroutine.
type Writer struct {
	*Exprs
	ec *expr.Ctx
	// session is where defaults are computed: they may read the session.
	session *expr.Ctx
}

// NewWriter makes a writer for a statement's context, with its warnings and
// its strictness. Nothing else of its sql_mode and its session counts: what is
// computed when a row is written is the same as when it is read.
func (x *Exprs) NewWriter(ec *expr.Ctx) *Writer {
	w := &Writer{Exprs: x, ec: ec.Fork(), session: ec}
	w.ec.Session = nil
	w.ec.Mode = evalMode | ec.Mode&(types.ModeStrictTransTables|types.ModeStrictAllTables|types.ModeErrorForDivisionByZero)
	return w
}

// evalMode is the part of the sql_mode that decides values.
const evalMode = types.ModeNoZeroDate | types.ModeNoZeroInDate

// Fill computes the generated columns of a row, and the defaults of the
// columns that late says; affected limits the generated ones, nil computes
// all. number is that of the row, for warnings. A value that does not fit is
// an error or a warning as the statement has it; NULL in a column that is NOT
// NULL is 1048.
func (w *Writer) Fill(row []value.Datum, late, affected []bool, number int) error {
	for i := range w.Steps {
		s := &w.Steps[i]
		if s.Default && (late == nil || !late[s.Pos]) || !s.Default && affected != nil && !affected[s.Pos] {
			continue
		}
		if s.ReadOnly {
			row[s.Pos] = value.Null
			continue
		}
		ec := w.ec
		if s.Default {
			ec = w.session
		}
		d, err := expr.EvalRow(ec, s.Expr, row)
		if err != nil {
			return err
		}
		col := &w.Table.Columns[s.Pos]
		if d.IsNull() && !col.Nullable && !ec.Ignore {
			return sqlerr.ColumnCannotBeNull(col.Name)
		}
		if row[s.Pos], err = types.Store(&ec.Env, d, s.Expr.Type(), col, number); err != nil {
			return err
		}
	}
	return nil
}

// Check is error 3819 for the first constraint that the row violates.
func (w *Writer) Check(row []value.Datum) error {
	for i := range w.Checks {
		c := &w.Checks[i]
		d, err := expr.EvalRow(w.ec, c.Expr, row)
		if err != nil {
			return err
		}
		if !d.IsNull() && d.Bits() == 0 {
			return sqlerr.CheckViolated(c.Name)
		}
	}
	return nil
}

// CheckBatch is Check for all live rows of a batch that has the columns of the
// table: the first constraint that some row violates.
func (w *Writer) CheckBatch(b *vec.Batch) error {
	ec := w.ec
	for i := range w.Checks {
		c := &w.Checks[i]
		v, err := expr.Eval(ec, c.Expr, b)
		if err != nil {
			return err
		}
		for k := range b.Live() {
			if j := b.Row(k); v.I64[j] == 0 && !v.Nulls.IsNull(j) {
				ec.Release(v)
				return sqlerr.CheckViolated(c.Name)
			}
		}
		ec.Release(v)
	}
	return nil
}
