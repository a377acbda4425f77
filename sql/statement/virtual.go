package statement

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// openVirtual reads a virtual table row by row: some are large. Its first row is made
// before a client has heard of the result, so that what an account may not see is an
// error of the statement.
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
	op := &virtualOperator{batch: vec.NewBatch(kindsOf(cols))}
	env := s.TypesEnv()
	op.next, op.stop = iter.Pull(func(yield func([]value.Datum) bool) {
		op.err = s.Shared.info.Rows(ctx, (*introspected)(s.Connection), v.Key, equal, func(row []value.Datum) error {
			out := make([]value.Datum, len(v.Read))
			for i, pos := range v.Read {
				d, err := types.Cast(&env, row[pos], naturalType(row[pos]), cols[i].T)
				if err != nil {
					return err
				}
				out[i] = d.Clone()
			}
			if !yield(out) {
				return errClosed
			}
			return nil
		})
	})
	if op.first, op.more = op.next(); !op.more {
		op.stop()
		if op.err != nil {
			return nil, op.err
		}
	}
	return op, nil
}

// errClosed ends the rows of a virtual table that are not read to their end.
var errClosed = errors.New("the operator is closed")

// virtualOperator yields the rows of a virtual table one after the other.
type virtualOperator struct {
	next  func() ([]value.Datum, bool)
	stop  func()
	first []value.Datum // if there is more
	more  bool
	err   error
	batch *vec.Batch
}

// Next implements exec.Operator.
func (o *virtualOperator) Next(context.Context) (*vec.Batch, error) {
	o.batch.Reset()
	n := 0
	for ; o.more && n < vec.MaxRows; n++ {
		for j, d := range o.first {
			o.batch.Cols[j].SetDatum(n, d)
		}
		o.first, o.more = o.next()
	}
	if !o.more && o.err != nil {
		return nil, o.err
	}
	if n == 0 {
		return nil, nil
	}
	o.batch.N = n
	return o.batch, nil
}

// Close implements exec.Operator.
func (o *virtualOperator) Close() error {
	o.stop()
	return nil
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
	case value.KindDecimal:
		return types.DecimalOf(value.MaxDecimalDigits, d.Decimal().Scale())
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
