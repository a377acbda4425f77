package exec

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// hashJoinOp stores the build input with its keys and probes with the other.
// When memory is short both inputs are cut into partitions, see join_spill.go.
type hashJoinOp struct {
	b                    *builder
	node                 physical.Node
	ec                   *expr.Ctx
	kind                 physical.JoinKind
	probe, build         Operator
	probeKeys, buildKeys []expr.Expr
	keyTypes             []schema.Type
	acct                 account
	sp                   *spiller
	keep                 bool // the order of the probe rows
	oneKey               bool // all rows have the same key
	keepNulls            bool // build rows with a NULL key are stored, too

	// probeNode is that of probe, which is given picks of the stored keys. picked: it
	// has them.
	probeNode physical.Node
	picks     []columnPick
	picked    bool

	built  bool
	store  rowStore
	table  keyTable
	chain  chain
	stored []uint32 // key ids of the stored rows, until they are linked
	pairs  *pairs
	keys   []*vec.Vec
	rows   []uint16
	// stores are the stored columns of output whose rows match one to one.
	stores []*vec.Vec
	out    vec.Batch
	spill  *joinSpill // nil while all is in memory
}

func (b *builder) hashJoin(x *physical.HashJoin) (Operator, error) { return b.join(x, x) }

func (b *builder) nestedLoop(x *physical.NestedLoop) (Operator, error) {
	return b.join(asHashJoin(x), x)
}

// asHashJoin is a nested loop as a hash join by a key that all rows share: all
// pairs are candidates.
func asHashJoin(x *physical.NestedLoop) *physical.HashJoin {
	one := []expr.Expr{expr.NewConst(value.Int(1), types.BigInt)}
	return &physical.HashJoin{Base: x.Base, Kind: x.Kind, Left: x.Left, Right: x.Right, LeftKeys: one, RightKeys: one, Filter: x.Filter}
}

// join makes a hash join that runs for node.
func (b *builder) join(x *physical.HashJoin, node physical.Node) (Operator, error) {
	if marksJoin(x) {
		return b.markJoin(x)
	}
	if j := b.joins[node]; j != nil {
		return b.sharedJoin(x, node, j)
	}
	j, err := b.newJoin(x, node)
	if err != nil {
		return nil, err
	}
	probe, build := sides(x)
	if j.build, err = b.input(build); err != nil {
		return nil, err
	}
	if j.probe, err = b.probe(x, probe); err != nil {
		j.build.Close()
		return nil, err
	}
	return j, nil
}

// probe makes the probe input, whose order matters unless the left one is built.
func (b *builder) probe(x *physical.HashJoin, n physical.Node) (Operator, error) {
	if x.BuildLeft {
		return b.input(n)
	}
	return b.build(n)
}

// sides are the inputs of a join by what it does with them.
func sides(x *physical.HashJoin) (probe, build physical.Node) {
	if x.BuildLeft {
		return x.Right, x.Left
	}
	return x.Left, x.Right
}

// newJoin makes a join without its inputs.
func (b *builder) newJoin(x *physical.HashJoin, node physical.Node) (*hashJoinOp, error) {
	ts, err := joinKeyTypes(x.LeftKeys, x.RightKeys)
	if err != nil {
		return nil, err
	}
	if x.BuildLeft && x.Kind != physical.JoinInner {
		return nil, sqlerr.Internal("a %s join cannot build its left input", x.Kind)
	}
	name, oneKey := "hash join", false
	if _, ok := node.(*physical.NestedLoop); ok {
		name, oneKey = "nested loop join", true
	}
	j := &hashJoinOp{b: b, node: node, ec: b.ec, kind: x.Kind, probeKeys: x.LeftKeys, buildKeys: x.RightKeys, oneKey: oneKey,
		keyTypes: ts, acct: b.account(node, name), sp: b.spiller(node), table: b.env.newKeyTable(ts), keep: comesOrdered(x)}
	if x.BuildLeft {
		j.probeKeys, j.buildKeys = x.RightKeys, x.LeftKeys
	}
	probe, build := sides(x)
	j.probeNode = probe
	j.store = newRowStore(kindsOf(build.Columns()))
	j.pairs = newPairs(b.ec, x.Kind, x.Filter, b.env.batchSize(), kindsOf(probe.Columns()), &j.store, x.BuildLeft)
	j.sp.attach(&j.acct, j.relieve)
	return j, nil
}

func (j *hashJoinOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !j.built {
		if err := j.load(ctx); err != nil {
			return nil, err
		}
		j.built = true
	}
	for j.spill == nil {
		if j.isEmpty() {
			return nil, nil
		}
		out, err := j.pairs.next(ctx)
		if err != nil || out != nil {
			return out, err
		}
		if j.acct.wanted() {
			ok, err := j.relieve()
			if err != nil {
				return nil, err
			}
			if ok {
				continue
			}
			j.acct.kept(j.acct.held)
		}
		j.pickProbe()
		b, err := j.probe.Next(ctx)
		if err != nil {
			return nil, err
		}
		if j.spill != nil { // the input needed the memory
			if err := j.spill.probeBatch(b); err != nil {
				return nil, err
			}
			break
		}
		if b == nil {
			return nil, nil
		}
		if err := j.find(b); err != nil {
			return nil, err
		}
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
	return j.spill.next(ctx)
}

// isEmpty reports, once the build input was read, that no probe row gives a row.
func (j *hashJoinOp) isEmpty() bool {
	return j.spill == nil && j.store.n == 0 && (j.kind == physical.JoinInner || j.kind == physical.JoinSemi)
}

// find looks the keys of a probe batch up.
func (j *hashJoinOp) find(b *vec.Batch) (err error) {
	if j.keys, err = evalAll(j.ec, j.probeKeys, b, j.keys[:0]); err != nil {
		return err
	}
	j.chain.ids = j.table.find(j.keys, liveRows(b), j.chain.ids[:0])
	release(j.ec, j.keys)
	return nil
}

// aligned is the join of a probe batch when no key is stored twice and there is
// no filter: the probe columns are used unchanged, with a selection, and the
// stored ones are put next to them.
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
	if j.stores == nil {
		j.stores = newOut(j.store.kinds).Cols
	}
	j.out.Cols = append(append(j.out.Cols[:0], b.Cols...), j.stores...)
	for c, v := range j.stores {
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
	for _, v := range j.stores {
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
	err := drain(ctx, j.build, func(b *vec.Batch) error {
		var err error
		if j.keys, err = evalAll(j.ec, j.buildKeys, b, j.keys[:0]); err != nil {
			return err
		}
		rows := liveRows(b)
		for _, k := range j.keys {
			if k.Nulls.Any() && !j.keepNulls {
				rows = j.dropNulls(rows)
				break
			}
		}
		if j.spill != nil {
			err = j.spill.build.add(b.Cols, j.keys, rows)
			release(j.ec, j.keys)
			return err
		}
		j.put(b.Cols, j.keys, rows)
		release(j.ec, j.keys)
		ok, err := j.acct.room(j.held())
		if err == nil && !ok {
			err = j.startSpill()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := j.build.Close(); err != nil {
		return err
	}
	if j.spill != nil {
		return nil
	}
	j.picks = j.keyPicks()
	ok, err := j.acct.room(j.held() + j.chainSize())
	switch {
	case err != nil:
		return err
	case !ok:
		return j.startSpill()
	}
	j.link()
	return nil
}

// put stores build rows.
func (j *hashJoinOp) put(cols, keys []*vec.Vec, rows []uint16) {
	j.stored = j.table.insert(keys, rows, j.stored, func(uint16) {})
	j.store.add(cols, rows)
}

func (j *hashJoinOp) held() int64 {
	return j.store.size + j.table.size() + int64(cap(j.stored))*4 + pickBytes(j.picks)
}

func (j *hashJoinOp) chainSize() int64 { return int64(j.store.n+int(j.table.n)) * 4 }

func (j *hashJoinOp) link() {
	j.chain.link(j.stored, int(j.table.n))
}

// forget drops the stored rows.
func (j *hashJoinOp) forget() {
	j.store, j.chain, j.stored, j.picks = newRowStore(j.store.kinds), chain{}, nil, nil
	j.table.reset()
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
	var err error
	for _, in := range []Operator{j.probe, j.build} {
		if in == nil {
			continue
		}
		if cerr := in.Close(); err == nil {
			err = cerr
		}
	}
	j.built = true
	if j.spill != nil {
		j.spill.close()
	}
	j.forget()
	j.acct.close()
	return err
}
