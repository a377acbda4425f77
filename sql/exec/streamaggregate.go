package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// streamAggregateOp groups adjacent equal rows. It holds the groups of one
// batch; the last one stays open for the next batch.
type streamAggregateOp struct {
	b    *builder
	node *physical.StreamAggregate
	in   *stepOp
	acct account
	enc  keyEncoder

	cur       *aggregation
	last, buf []byte // encoded key of the open group
	full      int    // complete groups of cur that are not emitted
	at        int
	sp        *spiller
	// rest are the rows of a batch after a group whose distinct values are on
	// disk: it is complete before they come.
	rest     *vec.Batch
	restRows []uint16
	ended    bool
	out      *vec.Batch
}

func (b *builder) streamAggregate(x *physical.StreamAggregate) (Operator, error) {
	in, err := b.build(x.Input)
	if err != nil {
		return nil, err
	}
	s := &streamAggregateOp{b: b, node: x, acct: b.account(x, "stream aggregate"), enc: b.env.newKeyEncoder(exprTypes(x.GroupBy)),
		out: newOut(aggKinds(x.GroupBy, x.Aggs)), sp: b.spiller(x)}
	s.in = stepped(slicedForGroups(b.ec, in, x.GroupBy, x.Aggs), &s.acct, func() int64 { return s.cur.size() })
	s.sp.attach(&s.acct, s.relieve)
	return s, nil
}

func (s *streamAggregateOp) Next(ctx context.Context) (_ *vec.Batch, err error) {
	if s.cur == nil {
		if s.cur, err = s.newGroups(); err != nil {
			return nil, err
		}
	}
	for {
		if s.at < s.full {
			n := min(s.full-s.at, s.b.env.batchSize())
			if err := s.cur.emit(s.at, n, s.out); err != nil {
				return nil, err
			}
			s.at += n
			return s.out, nil
		}
		if s.ended {
			return nil, nil
		}
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if err := s.carry(); err != nil {
			return nil, err
		}
		s.acct.lower(s.cur.size())
		b, rows := s.rest, s.restRows
		if s.rest = nil; b == nil {
			if b, err = s.in.Next(ctx); err != nil {
				return nil, err
			}
			if b == nil {
				s.ended, s.full = true, s.cur.n
				if err := s.cur.finish(ctx); err != nil {
					return nil, err
				}
				continue
			}
			rows = liveRows(b)
		}
		s.in.begin()
		if err := s.consume(ctx, b, rows); err != nil {
			return nil, err
		}
		if s.rest == nil {
			s.in.took(len(rows))
		}
		if err := s.fit(); err != nil {
			return nil, err
		}
	}
}

func (s *streamAggregateOp) newGroups() (*aggregation, error) {
	a, err := newAggregation(s.b.env, s.b.ec, s.node.GroupBy, s.node.Aggs)
	if err == nil {
		a.account(s.b, s.node, &s.acct, s.sp, 1, func() int64 { return s.cur.size() })
	}
	return a, err
}

// fit accounts for the groups. Where one group has too many distinct values
// these are spilled; complete groups go out first.
func (s *streamAggregateOp) fit() error {
	if s.full > 0 {
		s.acct.must(s.cur.size())
		return nil
	}
	return s.acct.fit(s.cur.size, s.cur.buffers)
}

// relieve is account.relief.
func (s *streamAggregateOp) relieve() (bool, error) {
	if s.cur == nil || s.full > 0 || s.ended || s.cur.distinctSize() == 0 {
		return false, nil
	}
	if err := s.cur.spillDistinct(); err != nil {
		return false, err
	}
	s.acct.kept(s.cur.size())
	return true, nil
}

// carry drops the emitted groups and keeps the open one.
func (s *streamAggregateOp) carry() (err error) {
	if s.at == 0 || len(s.node.GroupBy) == 0 {
		return nil
	}
	next, err := s.newGroups()
	if err != nil {
		return err
	}
	if s.cur.finished { // the open group went out too
		s.cur.close()
		s.cur, s.at, s.full = next, 0, 0
		return nil
	}
	n := s.cur.n - 1
	next.vals.add(s.cur.vals.chunks[n>>chunkBits].Cols, []uint16{uint16(n & chunkMask)})
	next.grow(1)
	for i, acc := range next.accs {
		if err := moveGroup(acc, s.cur.accs[i], n); err != nil {
			return err
		}
	}
	s.cur, s.at, s.full = next, 0, 0
	return nil
}

// consume adds rows of b. Where distinct values are on disk it stops at the end
// of the group.
func (s *streamAggregateOp) consume(ctx context.Context, b *vec.Batch, rows []uint16) error {
	if len(s.node.GroupBy) == 0 {
		return s.cur.fold(b, rows, nil)
	}
	c := s.cur
	var err error
	if c.cols, err = evalAll(c.ec, c.groupBy, b, c.cols[:0]); err != nil {
		return err
	}
	c.ids = c.ids[:0]
	n, aside := c.n, c.onDisk()
	for r, i := range rows {
		s.buf = s.enc.append(s.buf[:0], c.cols, int(i))
		if n == 0 || string(s.buf) != string(s.last) {
			if aside {
				s.rest, s.restRows = b, rows[r:]
				rows = rows[:r]
				break
			}
			s.last, s.buf = s.buf, s.last
			c.one[0] = i
			c.vals.add(c.cols, c.one[:])
			n++
		}
		c.ids = append(c.ids, uint32(n-1))
	}
	release(c.ec, c.cols)
	c.grow(n)
	s.full = n - 1
	if len(rows) > 0 {
		if err := c.fold(b, rows, c.ids); err != nil {
			return err
		}
	}
	if s.rest != nil {
		s.full = n
		return c.finish(ctx)
	}
	return nil
}

func (s *streamAggregateOp) Close() error {
	if s.cur != nil {
		s.cur.close()
	}
	s.ended, s.full, s.at, s.rest = true, 0, 0, nil
	s.acct.close()
	return s.in.Close()
}
