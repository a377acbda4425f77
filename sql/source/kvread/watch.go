package kvread

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
)

// watchTries is how often a locking read finds its first rows before it locks the
// ranges before them.
const watchTries = 8

// watchOp is a locking read that locks ranges too. It reads and locks its first batch
// under a watch, and again where others have changed what it read. After the first
// batch it locks ranges when it reads them.
type watchOp struct {
	PassOp // nil before the first batch
	src    *Reader
	wait   storage.WaitPolicy
	open   func(ctx context.Context, reader storage.Reader) (exec.Operator, error)
	closed bool
}

var (
	_ exec.Counted      = (*watchOp)(nil)
	_ exec.EntryCounted = (*watchOp)(nil)
	_ exec.Limited      = (*watchOp)(nil)
)

func (s *Reader) watch(wait storage.WaitPolicy, open func(ctx context.Context, reader storage.Reader) (exec.Operator, error)) exec.Operator {
	return &watchOp{src: s, wait: wait, open: open}
}

// Next implements exec.Operator.
func (o *watchOp) Next(ctx context.Context) (*vec.Batch, error) {
	if o.Operator != nil {
		return o.Operator.Next(ctx)
	}
	if o.closed {
		return nil, nil
	}
	for range watchTries {
		b, ok, err := o.try(ctx)
		if ok || err != nil {
			return b, err
		}
	}
	var err error
	if o.Operator, err = o.open(ctx, o.src.state.Txn.Locking(o.wait)); err != nil {
		o.Operator = nil
		return nil, err
	}
	return o.Operator.Next(ctx)
}

// try reads the first batch; ok is false where it is out of date.
func (o *watchOp) try(ctx context.Context) (b *vec.Batch, ok bool, err error) {
	w := o.src.state.Txn.Watch(o.wait)
	op, err := o.open(ctx, w)
	if err != nil {
		w.Stop()
		return nil, false, err
	}
	if b, err = op.Next(ctx); err == nil {
		ok, err = w.Lock(ctx)
	}
	if ok {
		o.Operator = op
		return b, true, nil
	}
	w.Stop()
	return nil, false, errors.Join(err, op.Close())
}

// Close implements exec.Operator.
func (o *watchOp) Close() error {
	o.closed = true
	if o.Operator == nil {
		return nil
	}
	return o.Operator.Close()
}
