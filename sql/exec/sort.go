package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// sortOp orders all rows.
type sortOp struct {
	env    *Env
	ec     *expr.Ctx
	in     Operator
	keys   []expr.Expr
	acct   account
	sort   *sorter
	ctx    context.Context // of the call of Next that runs, for account.relief
	loaded bool
	vecs   []*vec.Vec
}

func (env *Env) newSortEncoder(keys []physical.SortKey) (e sortEncoder, exprs []expr.Expr) {
	for _, k := range keys {
		e.addPart(env, k.Expr, k.Desc)
		exprs = append(exprs, k.Expr)
	}
	return e, exprs
}

func (b *builder) sort(x *physical.Sort) (Operator, error) {
	in, err := b.input(x.Input)
	if err != nil {
		return nil, err
	}
	return b.newSort(in, x, x.Input, x.Keys), nil
}

func (b *builder) newSort(in Operator, node, input physical.Node, keys []physical.SortKey) *sortOp {
	s := &sortOp{env: b.env, ec: b.ec, acct: b.account(node, "sort")}
	enc, list := b.env.newSortEncoder(keys)
	s.keys, s.in = list, sliced(b.ec, in, list)
	s.sort = b.newSorter(node, enc, kindsOf(input.Columns()), &s.acct)
	s.sort.sp.attach(&s.acct, func() (bool, error) { return s.sort.relieve(s.ctx) })
	return s
}

func (s *sortOp) Next(ctx context.Context) (*vec.Batch, error) {
	s.ctx = ctx
	if !s.loaded {
		s.loaded = true
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	return s.sort.next(ctx)
}

func (s *sortOp) load(ctx context.Context) error {
	err := drain(ctx, s.in, func(b *vec.Batch) error {
		var err error
		if s.vecs, err = evalAll(s.ec, s.keys, b, s.vecs[:0]); err != nil {
			return err
		}
		err = s.sort.add(ctx, b.Cols, liveRows(b), s.vecs)
		s.env.sorted(b.Live())
		release(s.ec, s.vecs)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.in.Close(); err != nil {
		return err
	}
	return s.sort.finish(ctx)
}

func (s *sortOp) Close() error {
	s.loaded, s.ctx = true, nil
	s.sort.close()
	s.acct.close()
	return s.in.Close()
}
