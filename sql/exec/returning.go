package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Returned are the rows of RETURNING, kept until the change has been committed.
// The methods of a nil one do nothing.
type Returned struct {
	ec    *expr.Ctx
	exprs []expr.Expr
	list  *rowList
	vals  []value.Datum
	// done frees what the rows need in addition to the list.
	done func()
}

func newReturned(env *Env, node physical.Node, exprs []expr.Expr) *Returned {
	if exprs == nil {
		return nil
	}
	kinds := make([]value.Kind, len(exprs))
	for i, e := range exprs {
		kinds[i] = types.KindOf(e.Type())
	}
	return &Returned{ec: env.Ctx, exprs: exprs, list: newKindList(env, node, kinds, "rows to return"), vals: make([]value.Datum, len(exprs))}
}

// row computes and keeps what is returned of a row.
func (r *Returned) row(row []value.Datum) error {
	if r == nil {
		return nil
	}
	if err := r.compute(row); err != nil {
		return err
	}
	return r.add()
}

// compute evaluates the expressions over a row; add keeps their values.
func (r *Returned) compute(row []value.Datum) (err error) {
	if r == nil {
		return nil
	}
	for i, e := range r.exprs {
		if r.vals[i], err = expr.EvalRow(r.ec, e, row); err != nil {
			return err
		}
	}
	return nil
}

func (r *Returned) add() error {
	if r == nil {
		return nil
	}
	return r.list.add(r.vals)
}

// result puts the rows into the outcome of a change, or drops them with it.
func (r *Returned) result(out Result, err error) (Result, error) {
	if err != nil {
		r.Close()
		return Result{}, err
	}
	out.Returned = r
	return out, nil
}

// OnClose sets a function that Close calls too.
func (r *Returned) OnClose(done func()) { r.done = done }

// Send calls fn with the rows, batch by batch; a batch is valid during the
// call.
func (r *Returned) Send(ctx context.Context, fn func(*vec.Batch) error) error {
	return r.list.batches(func(b *vec.Batch) error {
		if err := interrupted(ctx); err != nil {
			return err
		}
		return fn(b)
	})
}

// Close frees the rows.
func (r *Returned) Close() {
	if r == nil {
		return
	}
	r.list.close()
	if r.done != nil {
		r.done()
		r.done = nil
	}
}
