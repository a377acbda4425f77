package exec

import (
	"bytes"
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// mergeJoinOp joins two inputs that both come in the order of their keys; no
// two right rows have the same key. It holds the right rows that belong to one
// batch of left rows.
type mergeJoinOp struct {
	b           *builder
	node        *physical.MergeJoin
	left, right Operator
	acct        account

	leftKeys, rightKeys mergeKeys
	in                  *vec.Batch // of the right input
	rows                []uint16
	at                  int  // in rows
	ended               bool // the right input
	// taken are the rows of in that match and are not yet in the store; last is
	// the place there of row at, none if it is not among them.
	taken []uint16
	last  uint32

	store rowStore
	pairs *pairs
	ids   singles
	done  bool
}

// singles gives each probe row at most one candidate.
type singles []uint32

func (s singles) first(r int) uint32 { return s[r] }
func (singles) next(uint32) uint32   { return none }

func (b *builder) mergeJoin(x *physical.MergeJoin) (Operator, error) {
	left, err := b.build(x.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.build(x.Right)
	if err != nil {
		left.Close()
		return nil, err
	}
	j := &mergeJoinOp{b: b, node: x, left: left, right: right, acct: b.account(x, "merge join"), last: none}
	j.leftKeys, j.rightKeys = b.newMergeKeys(x.LeftKeys), b.newMergeKeys(x.RightKeys)
	j.store = newRowStore(kindsOf(x.Right.Columns()))
	j.pairs = newPairs(b.ec, x.Kind, x.Filter, b.env.batchSize(), kindsOf(x.Left.Columns()), &j.store, false)
	return j, nil
}

func (j *mergeJoinOp) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		out, err := j.pairs.next(ctx)
		if err != nil || out != nil {
			return out, err
		}
		if j.done || j.ended && j.at == len(j.rows) && j.node.Kind != physical.JoinLeft && j.node.Kind != physical.JoinAnti {
			return nil, nil
		}
		in, err := j.left.Next(ctx)
		if err != nil {
			return nil, err
		}
		if in == nil {
			j.done = true
			return nil, nil
		}
		if err := j.match(ctx, in); err != nil {
			return nil, err
		}
		j.pairs.start(in, j.ids)
	}
}

// match finds the right row of each row of a left batch.
func (j *mergeJoinOp) match(ctx context.Context, in *vec.Batch) error {
	j.store.chunks, j.store.n, j.store.size = nil, 0, 0
	j.last = none
	rows := liveRows(in)
	if err := j.leftKeys.read(j.b.ec, in, rows); err != nil {
		return err
	}
	j.ids = vec.Resize(j.ids[:0], len(rows))
	for r := range rows {
		j.ids[r] = none
		if j.leftKeys.null[r] {
			continue
		}
		found, err := j.seek(ctx, r)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if j.last == none {
			j.last = uint32(j.store.n + len(j.taken))
			j.taken = append(j.taken, j.rows[j.at])
		}
		j.ids[r] = j.last
	}
	return j.keep()
}

// seek moves to the first right row whose key is not before that of left row
// r, and reports whether it is the same.
func (j *mergeJoinOp) seek(ctx context.Context, r int) (bool, error) {
	for {
		for j.at < len(j.rows) {
			if !j.rightKeys.null[j.at] {
				if c := j.rightKeys.compare(j.at, &j.leftKeys, r); c >= 0 {
					return c == 0, nil
				}
			}
			j.at++
			j.last = none
		}
		if j.ended {
			return false, nil
		}
		if err := j.keep(); err != nil {
			return false, err
		}
		in, err := j.right.Next(ctx)
		if err != nil {
			return false, err
		}
		if j.in = in; in == nil {
			j.ended, j.rows, j.at = true, nil, 0
			return false, j.right.Close()
		}
		if err := interrupted(ctx); err != nil {
			return false, err
		}
		j.rows, j.at = liveRows(in), 0
		if err := j.rightKeys.read(j.b.ec, in, j.rows); err != nil {
			return false, err
		}
	}
}

// keep stores the right rows that match.
func (j *mergeJoinOp) keep() error {
	if len(j.taken) == 0 {
		return nil
	}
	j.store.add(j.in.Cols, j.taken)
	j.taken = j.taken[:0]
	return j.acct.to(j.store.size)
}

func (j *mergeJoinOp) Close() error {
	err := j.left.Close()
	if rerr := j.right.Close(); err == nil {
		err = rerr
	}
	j.done, j.ended, j.rows, j.in = true, true, nil, nil
	j.store = rowStore{}
	j.acct.close()
	return err
}

// mergeKeys are the keys of the live rows of a batch, by their numbers.
type mergeKeys struct {
	exprs []expr.Expr
	enc   sortEncoder
	word  bool // keys are words
	flip  uint64
	vecs  []*vec.Vec

	null  []bool
	words []uint64
	arena []byte
	ends  []int
}

func (b *builder) newMergeKeys(list []expr.Expr) mergeKeys {
	k := mergeKeys{exprs: list}
	for _, e := range list {
		k.enc.parts = append(k.enc.parts, b.env.newKeyPart(e.Type()))
		k.enc.notNull = append(k.enc.notNull, true)
	}
	kind := k.enc.parts[0].kind
	k.word = len(list) == 1 && vec.ClassOf(kind) == vec.ClassWord
	if kind == value.KindInt || kind == value.KindDuration {
		k.flip = 1 << 63
	}
	return k
}

func (k *mergeKeys) read(ec *expr.Ctx, in *vec.Batch, rows []uint16) (err error) {
	if k.vecs, err = evalAll(ec, k.exprs, in, k.vecs[:0]); err != nil {
		return err
	}
	k.null, k.words, k.arena, k.ends = k.null[:0], k.words[:0], k.arena[:0], k.ends[:0]
	for _, i := range rows {
		null := hasNull(k.vecs, int(i))
		k.null = append(k.null, null)
		if k.word {
			k.words = append(k.words, uint64(k.vecs[0].I64[i])^k.flip)
			continue
		}
		if !null {
			k.arena = k.enc.append(k.arena, k.vecs, int(i))
		}
		k.ends = append(k.ends, len(k.arena))
	}
	release(ec, k.vecs)
	return nil
}

func (k *mergeKeys) key(r int) []byte {
	if r == 0 {
		return k.arena[:k.ends[0]]
	}
	return k.arena[k.ends[r-1]:k.ends[r]]
}

func (k *mergeKeys) compare(r int, o *mergeKeys, s int) int {
	if !k.word {
		return bytes.Compare(k.key(r), o.key(s))
	}
	return order(k.words[r], o.words[s])
}

var _ Operator = (*mergeJoinOp)(nil)
