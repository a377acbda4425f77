package exec

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// unionOp is UNION ALL: one input after the other.
type unionOp struct {
	left, right Operator
	second      bool
}

func (u *unionOp) Next(ctx context.Context) (*vec.Batch, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	if !u.second {
		b, err := u.left.Next(ctx)
		if err != nil || b != nil {
			return b, err
		}
		u.second = true
	}
	return u.right.Next(ctx)
}

func (u *unionOp) Close() error {
	err := u.left.Close()
	if rerr := u.right.Close(); err == nil {
		err = rerr
	}
	return err
}

// setOp is INTERSECT and EXCEPT by counting the rows of the right input. When
// memory is short the counts and all later rows are spilled in partitions,
// which are worked on one after the other.
type setOp struct {
	op          physical.SetOp
	all         bool
	left, right Operator
	acct        account
	sp          *spiller
	types       []schema.Type
	kinds       []value.Kind

	table  keyTable
	hasher keyHasher
	counts []int64 // of the right rows
	seen   []bool  // rows that were output (without ALL)
	loaded bool
	ids    []uint32
	sel    []uint16

	depth      int
	sums, rows []*spill.Rows // by partition, after spilling
	todo       []setPart
	part       setPart
	rd         *spill.Reader // of the left rows of a partition
	leftEnded  bool
	sumCols    []*vec.Vec
	sumKinds   []value.Kind
}

// setPart is a partition: keys with their counts, which may come several
// times, and left rows.
type setPart struct {
	sums, rows *spill.Rows
	depth      int
}

func (p setPart) close() {
	p.sums.Close()
	p.rows.Close()
}

func (b *builder) setOperation(x *physical.SetOperation) (Operator, error) {
	left, err := b.build(x.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.build(x.Right)
	if err != nil {
		left.Close()
		return nil, err
	}
	for i := range x.Cols {
		for _, side := range []physical.Node{x.Left, x.Right} {
			if len(side.Columns()) != len(x.Cols) || !sameRepresentation(side.Columns()[i].T, x.Cols[i].T) {
				left.Close()
				right.Close()
				return nil, sqlerr.Internal("a set operation's input does not have the columns of its result")
			}
		}
	}
	ts, kinds := typesOf(x.Cols), kindsOf(x.Cols)
	if x.Op == physical.SetUnion {
		union := &unionOp{left: left, right: right}
		if x.All {
			return union, nil
		}
		return b.distinctOf(union, x, ts, kinds, false), nil
	}
	s := &setOp{op: x.Op, all: x.All, left: left, right: right, acct: b.account(x, "set operation"), sp: b.spiller(x), types: ts, kinds: kinds,
		table: b.env.newKeyTable(ts), hasher: b.env.newKeyHasher(ts)}
	s.sumKinds = []value.Kind{s.table.keyKind(), value.KindInt, value.KindInt}
	s.sp.attach(&s.acct, func() (bool, error) {
		if s.table.n == 0 || s.rd != nil {
			return false, nil
		}
		return true, s.spill()
	})
	return s, nil
}

// sameRepresentation reports that a column of type b can hold values of type a
// unchanged.
func sameRepresentation(a, b schema.Type) bool {
	k := types.KindOf(a)
	return k == types.KindOf(b) || k == value.KindNull
}

func (s *setOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.loaded {
		s.loaded = true
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		b, err := s.pull(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if s.rows != nil {
			if err := s.sp.scatter(s.rows, s.depth, b.Cols, liveRows(b), s.hasher.hash(b.Cols, liveRows(b))); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.keep(b); err != nil {
			return nil, err
		}
		if b.Live() > 0 {
			return b, nil
		}
	}
}

// pull is the next batch of left rows: of the input, then of the partitions.
func (s *setOp) pull(ctx context.Context) (*vec.Batch, error) {
	if !s.leftEnded {
		b, err := s.left.Next(ctx)
		if err != nil || b != nil {
			return b, err
		}
		s.leftEnded = true
	}
	for {
		if s.rd != nil {
			b, err := s.rd.Next()
			if err != nil || b != nil {
				return b, err
			}
			s.part.close()
			s.rd, s.part = nil, setPart{}
		}
		if more, err := s.open(ctx); err != nil || !more {
			return nil, err
		}
	}
}

// open begins with the next partition.
func (s *setOp) open(ctx context.Context) (bool, error) {
	for i := range s.rows {
		part := setPart{s.sums[i], s.rows[i], s.depth + 1}
		s.todo = append(s.todo, part)
		if err := part.sums.Finish(); err != nil {
			return false, err
		}
		if err := part.rows.Finish(); err != nil {
			return false, err
		}
	}
	s.sp.count()
	s.sums, s.rows = nil, nil
	s.forget()
	for n := len(s.todo); n > 0; n = len(s.todo) {
		s.part, s.todo = s.todo[n-1], s.todo[:n-1]
		if s.part.rows.Len() > 0 {
			break
		}
		s.part.close()
		s.part = setPart{}
	}
	s.acct.kept(s.held())
	if s.part.rows == nil {
		return false, nil
	}
	s.depth = s.part.depth
	s.rd = s.part.rows.NewReader()
	rd := s.part.sums.NewReader()
	for {
		b, err := rd.Next()
		if err != nil {
			return false, err
		}
		if b == nil {
			if s.rows != nil { // what is in memory belongs to the same partitions
				err = s.spill()
			}
			return err == nil, err
		}
		if err := interrupted(ctx); err != nil {
			return false, err
		}
		s.ids = s.table.insertKeys(b.Cols[0], liveRows(b), s.ids[:0])
		s.room()
		for r, id := range s.ids {
			s.counts[id] += b.Cols[1].I64[r]
			s.seen[id] = s.seen[id] || b.Cols[2].I64[r] != 0
		}
		if err := s.fit(); err != nil {
			return false, err
		}
	}
}

// room makes counts and seen as long as there are keys.
func (s *setOp) room() {
	s.counts, s.seen = growTo(s.counts, int(s.table.n)), growTo(s.seen, int(s.table.n))
}

func (s *setOp) forget() {
	s.counts, s.seen = nil, nil
	s.table.reset()
}

func (s *setOp) held() int64 {
	return s.table.size() + int64(cap(s.counts))*9 + heldRows(s.sums, s.rows)
}

// fit accounts for the keys and spills when they are too many.
func (s *setOp) fit() error {
	ok, err := s.sp.room(&s.acct, s.depth, s.held())
	if err != nil || ok {
		return err
	}
	return s.spill()
}

// spill spills the keys with their counts; left rows follow them.
func (s *setOp) spill() error {
	if s.rows == nil {
		f, err := s.sp.begin()
		if err != nil {
			return err
		}
		s.sums, s.rows = s.sp.partitionIn(f, s.sumKinds), s.sp.partitionIn(f, s.kinds)
	}
	if s.sumCols == nil {
		s.sumCols = newOut(s.sumKinds).Cols
	}
	s.room()
	count, seen := s.sumCols[1], s.sumCols[2]
	err := s.table.keys(func(col *vec.Vec, ids []uint32) error {
		count.Init(value.KindInt, len(ids))
		seen.Init(value.KindInt, len(ids))
		for r, id := range ids {
			count.I64[r], seen.I64[r] = s.counts[id], 0
			if s.seen[id] {
				seen.I64[r] = 1
			}
		}
		rows := identity[:len(ids)]
		return s.sp.scatter(s.sums, s.depth, []*vec.Vec{col, count, seen}, rows, s.hasher.keys(col, rows))
	})
	if err != nil {
		return err
	}
	s.forget()
	s.acct.kept(s.held())
	return nil
}

func (s *setOp) load(ctx context.Context) error {
	err := drain(ctx, s.right, func(b *vec.Batch) error {
		s.ids = s.table.insert(b.Cols, liveRows(b), s.ids[:0], func(uint16) {})
		s.room()
		for _, id := range s.ids {
			s.counts[id]++
		}
		return s.fit()
	})
	if err != nil {
		return err
	}
	if s.rows != nil { // what is in memory belongs to the same partitions
		if err := s.spill(); err != nil {
			return err
		}
	}
	return s.right.Close()
}

// keep shortens b to the rows of the result. A row that the right input lacks
// has count 0.
func (s *setOp) keep(b *vec.Batch) error {
	rows := liveRows(b)
	s.ids = s.table.insert(b.Cols, rows, s.ids[:0], func(uint16) {})
	s.room()
	s.sel = s.sel[:0]
	for r, id := range s.ids {
		ok := false
		if s.all {
			has := s.counts[id] > 0
			if has {
				s.counts[id]--
			}
			ok = has == (s.op == physical.SetIntersect)
		} else {
			ok = (s.counts[id] > 0) == (s.op == physical.SetIntersect) && !s.seen[id]
			s.seen[id] = s.seen[id] || ok
		}
		if ok {
			s.sel = append(s.sel, rows[r])
		}
	}
	b.SetSel(append(b.SelBuf(), s.sel...))
	return s.fit()
}

func (s *setOp) Close() error {
	err := s.left.Close()
	if rerr := s.right.Close(); err == nil {
		err = rerr
	}
	closeRows(s.sums, s.rows)
	for _, p := range s.todo {
		p.close()
	}
	s.part.close()
	s.loaded, s.leftEnded = true, true
	s.sums, s.rows, s.todo, s.rd, s.part = nil, nil, nil, nil, setPart{}
	s.table, s.counts, s.seen = keyTable{}, nil, nil
	s.acct.close()
	return err
}
