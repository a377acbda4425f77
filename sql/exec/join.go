package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// hashJoinOp stores the build input with its keys and probes with the other.
type hashJoinOp struct {
	ec                   *expr.Ctx
	kind                 physical.JoinKind
	probe, build         Operator
	probeKeys, buildKeys []expr.Expr
	acct                 account

	built bool
	store rowStore
	table keyTable
	chain chain
	pairs *pairs
	keys  []*vec.Vec
	rows  []uint16
	// beside are the stored columns of aligned output.
	beside []*vec.Vec
	out    vec.Batch
}

func (b *builder) hashJoin(x *physical.HashJoin) (Operator, error) {
	ts, err := joinKeyTypes(x.LeftKeys, x.RightKeys)
	if err != nil {
		return nil, err
	}
	if x.BuildLeft && x.Kind != physical.JoinInner {
		return nil, sqlerr.Internal("a %s join cannot build its left input", x.Kind)
	}
	left, right, err := b.build2(x.Left, x.Right)
	if err != nil {
		return nil, err
	}
	j := &hashJoinOp{ec: b.ec, kind: x.Kind, probe: left, build: right, probeKeys: x.LeftKeys, buildKeys: x.RightKeys,
		acct: b.account(x, "hash join"), table: newKeyTable(ts)}
	probe, build := x.Left, x.Right
	if x.BuildLeft {
		probe, build = build, probe
		j.probe, j.build, j.probeKeys, j.buildKeys = right, left, x.RightKeys, x.LeftKeys
	}
	j.store = newRowStore(kindsOf(build.Columns()))
	j.pairs = newPairs(b.ec, x.Kind, x.Filter, b.env.batchSize(), kindsOf(probe.Columns()), &j.store, x.BuildLeft)
	return j, nil
}

func (j *hashJoinOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !j.built {
		j.built = true
		if err := j.load(ctx); err != nil {
			return nil, err
		}
	}
	if j.store.n == 0 && (j.kind == physical.JoinInner || j.kind == physical.JoinSemi) {
		return nil, nil
	}
	for {
		out, err := j.pairs.next(ctx)
		if err != nil || out != nil {
			return out, err
		}
		b, err := j.probe.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if j.keys, err = evalAll(j.ec, j.probeKeys, b, j.keys[:0]); err != nil {
			return nil, err
		}
		j.chain.ids = j.table.find(j.keys, liveRows(b), j.chain.ids[:0])
		release(j.ec, j.keys)
		if j.chain.links == nil && len(j.pairs.filter) == 0 && !j.pairs.storeFirst {
			if out := j.aligned(b); out.Live() > 0 {
				return out, nil
			}
			if err := interrupted(ctx); err != nil {
				return nil, err
			}
			continue
		}
		j.pairs.start(b, &j.chain)
	}
}

// aligned is the join of a probe batch when no key is stored twice and there is
// no filter: the probe columns stay as they are, with a selection, and the
// stored ones are put beside them.
func (j *hashJoinOp) aligned(b *vec.Batch) *vec.Batch {
	rows := liveRows(b)
	j.rows = j.rows[:0]
	if j.kind == physical.JoinSemi || j.kind == physical.JoinAnti {
		for r, id := range j.chain.ids {
			if (id != none) == (j.kind == physical.JoinSemi) {
				j.rows = append(j.rows, rows[r])
			}
		}
		b.SetSel(append(b.SelBuf(), j.rows...))
		return b
	}
	for r, id := range j.chain.ids {
		if id != none {
			j.chain.ids[len(j.rows)] = j.chain.heads[id]
			j.rows = append(j.rows, rows[r])
		}
	}
	if j.beside == nil {
		j.beside = newOut(j.store.kinds).Cols
	}
	j.out.Cols = append(append(j.out.Cols[:0], b.Cols...), j.beside...)
	for c, v := range j.beside {
		v.Init(v.Kind, b.N)
		j.store.gatherAt(c, j.chain.ids[:len(j.rows)], v, j.rows)
	}
	j.out.N, j.out.Sel, j.out.HasSel = b.N, b.Sel, b.HasSel
	if len(j.rows) == len(rows) {
		return &j.out
	}
	if j.kind == physical.JoinInner {
		j.out.SetSel(j.rows)
		return &j.out
	}
	for _, v := range j.beside {
		r := 0
		for _, i := range rows {
			if r < len(j.rows) && j.rows[r] == i {
				r++
				continue
			}
			v.Nulls.Set(int(i))
		}
	}
	return &j.out
}

// load reads the build input. Rows with a NULL key match nothing and are left
// out: the stored rows are the right ones, which need no output of their own.
func (j *hashJoinOp) load(ctx context.Context) error {
	var ids []uint32
	err := drain(ctx, j.build, func(b *vec.Batch) error {
		var err error
		if j.keys, err = evalAll(j.ec, j.buildKeys, b, j.keys[:0]); err != nil {
			return err
		}
		rows := liveRows(b)
		for _, k := range j.keys {
			if k.Nulls.Any() {
				rows = j.dropNulls(rows)
				break
			}
		}
		ids = j.table.insert(j.keys, rows, ids, func(uint16) {})
		release(j.ec, j.keys)
		j.store.add(b.Cols, rows)
		return j.acct.to(j.store.size + j.table.size() + int64(cap(ids))*4)
	})
	if err != nil {
		return err
	}
	if err := j.build.Close(); err != nil {
		return err
	}
	need := j.store.size + j.table.size() + int64(cap(ids))*4
	if err := j.acct.to(need + int64(len(ids)+int(j.table.n))*4); err != nil {
		return err
	}
	j.chain.link(ids, int(j.table.n))
	return nil
}

func (j *hashJoinOp) dropNulls(rows []uint16) []uint16 {
	j.rows = j.rows[:0]
	for _, i := range rows {
		if !hasNull(j.keys, int(i)) {
			j.rows = append(j.rows, i)
		}
	}
	return j.rows
}

func (j *hashJoinOp) Close() error {
	err := j.probe.Close()
	if berr := j.build.Close(); err == nil {
		err = berr
	}
	j.store, j.table, j.chain = rowStore{}, keyTable{}, chain{}
	j.acct.close()
	return err
}

// nestedLoopOp tries all pairs with the stored right input.
type nestedLoopOp struct {
	kind        physical.JoinKind
	left, right Operator
	acct        account
	built       bool
	store       rowStore
	pairs       *pairs
}

func (b *builder) nestedLoop(x *physical.NestedLoop) (Operator, error) {
	left, right, err := b.build2(x.Left, x.Right)
	if err != nil {
		return nil, err
	}
	j := &nestedLoopOp{kind: x.Kind, left: left, right: right, acct: b.account(x, "nested loop join")}
	j.store = newRowStore(kindsOf(x.Right.Columns()))
	j.pairs = newPairs(b.ec, x.Kind, x.Filter, b.env.batchSize(), kindsOf(x.Left.Columns()), &j.store, false)
	return j, nil
}

// everyRow makes all stored rows candidates.
type everyRow uint32

func (n everyRow) first(int) uint32 {
	if n == 0 {
		return none
	}
	return 0
}

func (n everyRow) next(row uint32) uint32 {
	if row+1 < uint32(n) {
		return row + 1
	}
	return none
}

func (j *nestedLoopOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !j.built {
		j.built = true
		err := drain(ctx, j.right, func(b *vec.Batch) error {
			j.store.add(b.Cols, liveRows(b))
			return j.acct.to(j.store.size)
		})
		if err != nil {
			return nil, err
		}
		if err := j.right.Close(); err != nil {
			return nil, err
		}
	}
	if j.store.n == 0 && (j.kind == physical.JoinInner || j.kind == physical.JoinSemi) {
		return nil, nil
	}
	for {
		out, err := j.pairs.next(ctx)
		if err != nil || out != nil {
			return out, err
		}
		b, err := j.left.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		j.pairs.start(b, everyRow(j.store.n))
	}
}

func (j *nestedLoopOp) Close() error {
	err := j.left.Close()
	if rerr := j.right.Close(); err == nil {
		err = rerr
	}
	j.store = rowStore{}
	j.acct.close()
	return err
}
