package exec

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// distinctOp passes the first of equal rows.
type distinctOp struct {
	in     Operator
	acct   account
	table  keyTable
	enc    keyEncoder
	sorted bool
	last   []byte
	buf    []byte
	begun  bool
	ids    []uint32
	sel    []uint16
}

func (b *builder) distinct(x *physical.Distinct) (Operator, error) {
	in, err := b.build(x.Input)
	if err != nil {
		return nil, err
	}
	ts := typesOf(x.Input.Columns())
	return &distinctOp{in: in, acct: b.account(x, "distinct"), table: newKeyTable(ts), enc: newKeyEncoder(ts), sorted: x.Sorted}, nil
}

func (d *distinctOp) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := d.in.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if err := d.keepFresh(b); err != nil {
			return nil, err
		}
		if b.Live() > 0 {
			return b, nil
		}
	}
}

func (d *distinctOp) keepFresh(b *vec.Batch) error {
	rows := liveRows(b)
	sel := d.sel[:0]
	switch {
	case d.sorted || len(d.enc) == 0:
		for _, i := range rows {
			d.buf = d.enc.append(d.buf[:0], b.Cols, int(i))
			if !d.begun || string(d.buf) != string(d.last) {
				d.begun = true
				d.last, d.buf = d.buf, d.last
				sel = append(sel, i)
			}
		}
	default:
		d.ids = d.table.insert(b.Cols, rows, d.ids[:0], func(i uint16) { sel = append(sel, i) })
		if err := d.acct.to(d.table.size()); err != nil {
			return err
		}
	}
	d.sel = sel
	b.SetSel(append(b.SelBuf(), sel...))
	return nil
}

func (d *distinctOp) Close() error {
	d.table = keyTable{}
	d.acct.close()
	return d.in.Close()
}

// setOp is INTERSECT and EXCEPT by counting the rows of the right input, and
// UNION [ALL], which is one input after the other.
type setOp struct {
	op          physical.SetOp
	all         bool
	left, right Operator
	acct        account

	table  keyTable
	counts []int64 // of the right rows
	seen   []bool  // rows that were output (without ALL)
	loaded bool
	second bool
	ids    []uint32
	sel    []uint16
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
	s := &setOp{op: x.Op, all: x.All, left: left, right: right, acct: b.account(x, "set operation"), table: newKeyTable(typesOf(x.Cols))}
	return s, nil
}

// sameRepresentation reports that values of type a can stand in a column of
// type b as they are.
func sameRepresentation(a, b schema.Type) bool {
	k := types.KindOf(a)
	return k == types.KindOf(b) || k == value.KindNull
}

func (s *setOp) Next(ctx context.Context) (*vec.Batch, error) {
	if s.op != physical.SetUnion && !s.loaded {
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
		if s.op == physical.SetUnion && s.all {
			return b, nil
		}
		if err := s.keep(b); err != nil {
			return nil, err
		}
		if b.Live() > 0 {
			return b, nil
		}
	}
}

func (s *setOp) pull(ctx context.Context) (*vec.Batch, error) {
	if !s.second {
		b, err := s.left.Next(ctx)
		if err != nil || b != nil || s.op != physical.SetUnion {
			return b, err
		}
		s.second = true
	}
	return s.right.Next(ctx)
}

func (s *setOp) load(ctx context.Context) error {
	err := drain(ctx, s.right, func(b *vec.Batch) error {
		s.ids = s.table.insert(b.Cols, liveRows(b), s.ids[:0], func(uint16) {})
		s.counts = growTo(s.counts, int(s.table.n))
		for _, id := range s.ids {
			s.counts[id]++
		}
		return s.acct.to(s.table.size() + int64(cap(s.counts))*8)
	})
	if err != nil {
		return err
	}
	return s.right.Close()
}

// keep shortens b to the rows of the result. A row that the right input lacks
// has count 0.
func (s *setOp) keep(b *vec.Batch) error {
	rows := liveRows(b)
	s.ids = s.table.insert(b.Cols, rows, s.ids[:0], func(uint16) {})
	s.counts, s.seen = growTo(s.counts, int(s.table.n)), growTo(s.seen, int(s.table.n))
	s.sel = s.sel[:0]
	for r, id := range s.ids {
		ok := false
		switch {
		case s.op == physical.SetUnion:
			ok = true
		case s.all:
			has := s.counts[id] > 0
			if has {
				s.counts[id]--
			}
			ok = has == (s.op == physical.SetIntersect)
		default:
			ok = (s.counts[id] > 0) == (s.op == physical.SetIntersect)
		}
		if ok && !s.all {
			ok, s.seen[id] = !s.seen[id], true
		}
		if ok {
			s.sel = append(s.sel, rows[r])
		}
	}
	b.SetSel(append(b.SelBuf(), s.sel...))
	return s.acct.to(s.table.size() + int64(cap(s.counts))*9)
}

func (s *setOp) Close() error {
	err := s.left.Close()
	if rerr := s.right.Close(); err == nil {
		err = rerr
	}
	s.table, s.counts, s.seen = keyTable{}, nil, nil
	s.acct.close()
	return err
}
