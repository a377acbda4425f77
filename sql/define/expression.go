package define

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
)

// expression is an expression over the columns of a table.
type expression struct {
	e         expr.Expr
	text      string // with the names of the columns as the table has them
	condition bool
	reads     []schema.ColumnID
}

// bind gives the text of an expression its meaning over t. Columns are read in
// table order.
func (o Owner) bind(b Binder, t *schema.Table, text string) (*expression, error) {
	out := &expression{}
	names := Names{
		Column: func(_, _, name string) (expr.Expr, error) { return o.column(out, t, name) },
		Stored: func(name string) string {
			if i := t.ColumnByName(name); i >= 0 {
				return t.Columns[i].Name
			}
			return name
		},
	}
	if o.Kind == OfIndex {
		names.Index = &o.Name
	}
	bound, err := b.Bind(text, names)
	if err != nil {
		return nil, err
	}
	if isRow(bound.Expr) {
		return nil, o.rowValue()
	}
	if err := o.checkFunctions(bound.Expr); err != nil {
		return nil, err
	}
	out.e = expr.Fold(&expr.Ctx{Env: types.Env{Mode: Mode}}, bound.Expr)
	out.text, out.condition = bound.Text, bound.Condition
	return out, nil
}

// column is what a name in the expression is: a column of t, or the attribute of
// that name of rows with dynamic columns. out notes what it reads.
func (o Owner) column(out *expression, t *schema.Table, name string) (expr.Expr, error) {
	i := t.ColumnByName(name)
	if attrs := t.AttributesColumn(); i < 0 && attrs >= 0 && CheckColumnName(name) == nil {
		c := &t.Columns[attrs]
		out.read(c.ID)
		return expr.NewAttribute(&expr.Col{ID: expr.ColID(-1 - attrs), Index: attrs, T: c.Type, Name: c.Name}, name), nil
	}
	if i < 0 || t.Columns[i].Hidden {
		return nil, o.unknownColumn(name)
	}
	c := &t.Columns[i]
	if c.AutoIncrement && o.Kind != OfPartition {
		return nil, o.autoIncrement()
	}
	out.read(c.ID)
	return &expr.Col{ID: expr.ColID(-1 - i), Index: i, T: c.Type, Null: true, Name: c.Name}, nil
}

func (x *expression) read(id schema.ColumnID) {
	if !slices.Contains(x.reads, id) {
		x.reads = append(x.reads, id)
	}
}

// positions are those of the columns that the expression reads.
func (x *expression) positions(t *schema.Table) []int {
	out := make([]int, len(x.reads))
	for i, id := range x.reads {
		out[i] = t.ColumnIndex(id)
	}
	return out
}

// checkFunctions refuses functions whose value is not that of their arguments
// alone.
func (o Owner) checkFunctions(e expr.Expr) error {
	var err error
	expr.Walk(e, func(x expr.Expr) bool {
		f, ok := x.(*expr.Func)
		if !ok || err != nil {
			return err == nil
		}
		switch f.Op {
		case expr.OpGetVar, expr.OpSetVar, expr.OpSysVar:
			err = o.Banned(true, "")
		default:
			if o.Kind == OfDefault && !inDefault(f) || o.Kind != OfDefault && !IsDeterministic(f) {
				err = o.Banned(false, f.Name)
			}
		}
		return err == nil
	})
	return err
}

// IsDeterministic reports a call that has the same value whoever evaluates it
// and when. The time zone does not count: MySQL lets it in. Nor do variables
// such as lc_time_names: these expressions are evaluated without a session,
// under the defaults.
func IsDeterministic(f *expr.Func) bool {
	switch f.Op {
	case expr.OpTimestamp, expr.OpFromUnixTime, expr.OpConvertTZ:
		return true
	case expr.OpUnixTimestamp:
		return len(f.Args) > 0
	}
	return !f.B.Volatile && !f.B.Session
}

// inDefault reports functions that MySQL allows in the default of a column:
// time and chance may be in it, the state of the session not.
func inDefault(f *expr.Func) bool {
	switch f.Op {
	case expr.OpSleep, expr.OpBenchmark, expr.OpLastInsertID, expr.OpFoundRows, expr.OpRowCount, expr.OpGetLock, expr.OpReleaseLock, expr.OpIsFreeLock, expr.OpIsUsedLock,
		expr.OpReleaseAllLocks:
		return false
	}
	return true
}

// Compile binds the expressions of a table that its rows need; nil when it has
// none.
func Compile(b Binder, t *schema.Table) (*derive.Exprs, error) {
	if !t.HasExprs() {
		return nil, nil
	}
	out := &derive.Exprs{Table: t}
	var err error
	if out.Steps, err = compileSteps(b, t); err != nil {
		return nil, err
	}
	for i := range out.Steps {
		if of, ok := expr.AsPartitionOf(out.Steps[i].Expr); ok {
			out.Partitions = of
		}
	}
	for i := range t.Checks {
		c := &t.Checks[i]
		if c.NotEnforced {
			continue
		}
		x, err := Owner{OfCheck, c.Name}.bind(b, t, c.Expr)
		if err != nil {
			return nil, err
		}
		out.Checks = append(out.Checks, derive.Check{Name: c.Name, Expr: x.e, Reads: x.positions(t)})
	}
	return out, nil
}
