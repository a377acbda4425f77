package statement

import (
	"context"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// openVirtual reads a virtual table into memory: none is large, and the state
// that it shows must not change while it is read.
func (s *Statement) openVirtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
	cols := v.Columns()
	equal := map[int]string{}
	for _, x := range v.Equal {
		d, err := expr.EvalConst(ec, x.Value)
		if err != nil {
			return nil, err
		}
		if d.Kind() == value.KindBytes {
			equal[x.Pos] = strings.Clone(d.Str())
		}
	}
	op := &rowsOperator{batch: vec.NewBatch(kindsOf(cols))}
	env := s.TypesEnv()
	err := s.Shared.info.Rows(ctx, (*introspected)(s.Connection), v.Key, equal, func(row []value.Datum) error {
		out := make([]value.Datum, len(v.Read))
		for i, pos := range v.Read {
			d, err := types.Cast(&env, row[pos], naturalType(row[pos]), cols[i].T)
			if err != nil {
				return err
			}
			out[i] = d.Clone()
		}
		op.rows = append(op.rows, out)
		return nil
	})
	return op, err
}

// naturalType is the type of a value that a provider made.
func naturalType(d value.Datum) schema.Type {
	switch d.Kind() {
	case value.KindInt:
		return types.BigInt
	case value.KindUint:
		return types.UBigInt
	case value.KindFloat:
		return types.Double
	case value.KindTime:
		return types.DatetimeOf(0)
	case value.KindNull:
		return types.Null
	}
	return types.Text(schema.CollationUTF8MB40900AICI)
}

func kindsOf(cols []physical.Column) []value.Kind {
	out := make([]value.Kind, len(cols))
	for i, c := range cols {
		out[i] = types.KindOf(c.T)
	}
	return out
}

// rowsOperator yields rows that are in memory.
type rowsOperator struct {
	rows  [][]value.Datum
	batch *vec.Batch
}

// Next implements exec.Operator.
func (o *rowsOperator) Next(context.Context) (*vec.Batch, error) {
	if len(o.rows) == 0 {
		return nil, nil
	}
	n := min(len(o.rows), vec.MaxRows)
	o.batch.Reset()
	for i, row := range o.rows[:n] {
		for j, d := range row {
			o.batch.Cols[j].SetDatum(i, d)
		}
	}
	o.batch.N = n
	o.rows = o.rows[n:]
	return o.batch, nil
}

// Close implements exec.Operator.
func (o *rowsOperator) Close() error { return nil }

// VirtualRows is the key of a virtual table of one statement.
type VirtualRows interface {
	// Open yields its rows, once.
	Open() exec.Operator
}

// virtual opens the virtual tables of a statement: its own, such as the file of
// LOAD DATA, or those of information_schema and SHOW.
func (s *Statement) virtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
	if src, ok := v.Key.(VirtualRows); ok {
		return src.Open(), nil
	}
	return s.openVirtual(ctx, ec, v)
}
