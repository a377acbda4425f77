package exec

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// firstBlock is the number of left rows that are looked up first; the number
// doubles, so that a LIMIT above costs few lookups in vain.
const firstBlock = 32

// firstRemote is firstBlock where each block waits for other machines twice.
const firstRemote = vec.MaxRows

// lookupJoinOp collects left rows in blocks, finds the inner rows of a block
// at once and pairs them in the order of the left rows. Where the inner rows of
// a block are too many for memory, it takes fewer left rows at a time; those of
// a single one go to disk.
type lookupJoinOp struct {
	b    *builder
	node physical.Node
	keys []expr.Expr
	left Operator
	acct account
	// open starts the lookups.
	open func(ctx context.Context) (Lookup, error)
	// nulls: a NULL in a key may find something too.
	nulls bool

	lookup Lookup
	want   int
	block  vec.Batch // left rows
	rows   []uint16  // those of it that were not looked up yet
	step   int       // at most so many at a time
	sub    vec.Batch // the left rows that are worked on
	many   *manyRows // the inner rows of a single one, when they are on disk
	copied *vec.Batch
	// pending is a left batch of which the live rows from restAt on are left.
	pending *vec.Batch
	restAt  int
	done    bool

	inner rowStore
	chain chain
	pairs *pairs
	ids   []uint32
	vals  []*vec.Vec // of keys
	dense []*vec.Vec
	live  []uint16
}

func (b *builder) lookupJoin(x *physical.LookupJoin) (Operator, error) {
	left, err := b.build(x.Left)
	if err != nil {
		return nil, err
	}
	j := &lookupJoinOp{b: b, node: x, keys: x.Keys, left: left, acct: b.account(x, "lookup join")}
	j.open = func(ctx context.Context) (Lookup, error) {
		l, err := b.openLookup(ctx, x.Inner, len(x.Keys))
		if st := b.env.Stats.node(x.Inner); st != nil && err == nil {
			l = &statLookup{Lookup: l, st: st, entries: b.env.Stats.entries(x.Inner)}
		}
		return l, err
	}
	j.prepare(x.Kind, x.Filter, kindsOf(x.Left.Columns()), kindsOf(x.Inner.Columns()))
	return j, nil
}

// prepare sets up the joining of rows of the given kinds.
func (j *lookupJoinOp) prepare(kind physical.JoinKind, filter []expr.Expr, left, inner []value.Kind) {
	j.want, j.step = firstBlock, vec.MaxRows
	if j.b.env.Remote {
		j.want = firstRemote
	}
	j.b.spiller(j.node).attach(&j.acct, func() (bool, error) { return false, nil })
	j.inner = newRowStore(inner)
	j.pairs = newPairs(j.b.ec, kind, filter, j.b.env.batchSize(), left, &j.inner, false)
	j.copied = newOut(left)
}

func (j *lookupJoinOp) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		out, err := j.pairs.next(ctx)
		if err == nil && j.many != nil {
			err = j.many.err
		}
		if err != nil || out != nil {
			return out, err
		}
		if len(j.rows) == 0 {
			block, err := j.nextBlock(ctx)
			if err != nil || block == nil {
				return nil, err
			}
			j.sub = *block
			j.rows = liveRows(block)
		}
		if err := j.advance(ctx); err != nil {
			return nil, err
		}
	}
}

// advance looks the next left rows of the block up.
func (j *lookupJoinOp) advance(ctx context.Context) error {
	j.many.close()
	j.many = nil
	rows := j.rows
	for {
		rows = rows[:min(len(rows), j.step)]
		err := j.find(ctx, &j.sub, rows)
		if err == nil {
			break
		}
		if !errors.Is(err, errNoRoom) {
			return err
		}
		j.step = max(len(rows)/2, 1)
		if err := j.lookup.Close(); err != nil { // it ends with the error
			return err
		}
		j.lookup = nil
		j.acct.kept(0)
	}
	if len(rows) < len(j.rows) || j.sub.HasSel {
		j.sub.SetSel(rows)
	}
	j.rows = j.rows[len(rows):]
	if j.many != nil {
		j.pairs.start(&j.sub, j.many)
	} else {
		j.pairs.start(&j.sub, &j.chain)
	}
	return nil
}

// nextBlock gives up to want left rows. A batch of about the right size is used
// unchanged; small ones are copied together, large ones cut.
func (j *lookupJoinOp) nextBlock(ctx context.Context) (*vec.Batch, error) {
	j.copied.N = 0
	for _, v := range j.copied.Cols {
		v.Init(v.Kind, 0)
	}
	want := min(j.want, vec.MaxRows)
	j.want = min(2*j.want, vec.MaxRows)
	for j.copied.N < want {
		if j.pending == nil {
			if j.done {
				break
			}
			b, err := j.left.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				j.done = true
				break
			}
			j.pending, j.restAt = b, 0
		}
		rows := liveRows(j.pending)[j.restAt:]
		if j.copied.N == 0 && (len(rows) >= want/2 || len(rows) > want) {
			return j.cut(rows, want), nil
		}
		part := rows[:min(len(rows), want-j.copied.N)]
		for c, v := range j.copied.Cols {
			v.SetLen(j.copied.N + len(part))
			copyRows(v, j.copied.N, j.pending.Cols[c], part, true)
		}
		j.copied.N += len(part)
		if j.restAt += len(part); len(part) == len(rows) {
			j.pending = nil
		}
	}
	if j.copied.N == 0 {
		return nil, nil
	}
	return j.copied, nil
}

// cut makes a block of rows of the pending batch without copying.
func (j *lookupJoinOp) cut(rows []uint16, want int) *vec.Batch {
	n := min(len(rows), want)
	j.block.Cols, j.block.N = j.pending.Cols, j.pending.N
	if !j.pending.HasSel && j.restAt == 0 && n == j.pending.N {
		j.block.HasSel, j.block.Sel = false, nil
	} else {
		j.block.SetSel(rows[:n])
	}
	if j.restAt += n; n == len(rows) {
		j.pending = nil
	}
	return &j.block
}

// find stores the inner rows of rows of a block and chains them by left row. It
// fails with errNoRoom where that are too many; those of a single row go to
// disk then.
func (j *lookupJoinOp) find(ctx context.Context, block *vec.Batch, rows []uint16) (err error) {
	if j.lookup == nil {
		if j.lookup, err = j.open(ctx); err != nil {
			return err
		}
	}
	j.inner.chunks, j.inner.n, j.inner.size = nil, 0, 0
	part := vec.Batch{Cols: block.Cols, N: block.N}
	if len(rows) < block.N {
		part.SetSel(rows)
	}
	if j.vals, err = evalAll(j.b.ec, j.keys, &part, j.vals[:0]); err != nil {
		return err
	}
	var single *rowBuffer
	if len(rows) == 1 {
		single = j.b.newRowBuffer(j.node, j.inner.kinds, &j.acct)
	}
	j.live = j.live[:0]
	for _, i := range rows {
		if j.nulls || !hasNull(j.vals, int(i)) {
			j.live = append(j.live, i)
		}
	}
	j.ids = j.ids[:0]
	if len(j.live) > 0 {
		keys := j.denseKeys()
		err = j.lookup.Find(ctx, keys, identity[:len(j.live)], false, func(b *vec.Batch, key []uint16) error {
			found := liveRows(b)
			if single != nil {
				if err := single.add(b.Cols, found); err != nil {
					return err
				}
				return interrupted(ctx)
			}
			j.inner.add(b.Cols, found)
			for _, k := range key[:len(found)] {
				j.ids = append(j.ids, uint32(j.live[k]))
			}
			ok, err := j.acct.room(j.inner.size + int64(len(j.ids))*4)
			if err != nil {
				return err
			}
			if !ok {
				return errNoRoom
			}
			return interrupted(ctx)
		})
	}
	release(j.b.ec, j.vals)
	if err != nil {
		single.close()
		return err
	}
	if single != nil {
		if single.disk != nil {
			j.many = &manyRows{j: j, rows: single}
			return j.many.open()
		}
		j.inner = single.store
		for range j.inner.n {
			j.ids = append(j.ids, uint32(rows[0]))
		}
	}
	j.chain.linkPositions(j.ids, block.N)
	j.chain.ids = j.chain.ids[:0]
	for _, i := range rows {
		j.chain.ids = append(j.chain.ids, uint32(i))
	}
	return nil
}

// denseKeys are the keys of the live rows without gaps.
func (j *lookupJoinOp) denseKeys() []*vec.Vec {
	if vec.IsDense(j.live) {
		return j.vals
	}
	if j.dense == nil {
		j.dense = newOut(exprKinds(j.keys)).Cols
	}
	for c, v := range j.dense {
		v.Init(v.Kind, len(j.live))
		copyRows(v, 0, j.vals[c], j.live, false)
	}
	return j.dense
}

// linkPositions is link with the positions of a batch as keys, of which some
// have no row.
func (c *chain) linkPositions(ids []uint32, n int) {
	c.heads = vec.Resize(c.heads[:0], n)
	for i := range c.heads {
		c.heads[i] = none
	}
	if cap(c.links) < len(ids) || c.links == nil {
		c.links = make([]uint32, len(ids), len(ids)+64)
	}
	c.links = c.links[:len(ids)]
	for row := len(ids) - 1; row >= 0; row-- {
		c.links[row], c.heads[ids[row]] = c.heads[ids[row]], uint32(row)
	}
}

func (j *lookupJoinOp) Close() error {
	err := j.left.Close()
	if j.lookup != nil {
		if lerr := j.lookup.Close(); err == nil {
			err = lerr
		}
		j.lookup = nil
	}
	j.pending, j.done, j.rows = nil, true, nil
	j.inner.chunks = nil
	j.many.close()
	j.many = nil
	j.acct.close()
	return err
}

// manyRows are the inner rows of a single left row, on disk. They come to the
// store of the pairs as these go on; chunks that were passed are dropped.
type manyRows struct {
	j    *lookupJoinOp
	rows *rowBuffer
	rd   *spill.Reader
	err  error
}

func (m *manyRows) open() error {
	if err := m.rows.disk.Finish(); err != nil {
		return err
	}
	m.rows.sp.count()
	m.rd = m.rows.disk.NewReader()
	m.j.acct.kept(m.rows.disk.Held())
	return m.load()
}

// load reads a block more.
func (m *manyRows) load() error {
	b, err := m.rd.Next()
	if err != nil || b == nil {
		return err
	}
	in := &m.j.inner
	before := len(in.chunks)
	in.add(b.Cols, liveRows(b))
	// The pairs of a batch are of as many neighbouring rows, at most.
	if drop := before - 3; drop >= 0 {
		in.chunks[drop] = nil
	}
	size := m.rows.disk.Held() + m.rd.Held() + int64(len(in.chunks))*8
	if len(in.chunks) > 0 {
		size += in.size / int64(len(in.chunks)) * int64(min(len(in.chunks), 4))
	}
	m.j.acct.must(size)
	return nil
}

func (m *manyRows) first(int) uint32 {
	if m.j.inner.n == 0 {
		return none
	}
	return 0
}

func (m *manyRows) next(row uint32) uint32 {
	if int(row)+1 == m.j.inner.n && m.err == nil {
		m.err = m.load()
	}
	if int(row)+1 == m.j.inner.n || m.err != nil {
		return none
	}
	return row + 1
}

func (m *manyRows) close() {
	if m != nil {
		m.rows.close()
	}
}

var _ Operator = (*lookupJoinOp)(nil)
