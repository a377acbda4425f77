package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// markJoinOp is a semi or anti join that stores its left rows, which are fewer than the
// right ones: right rows mark those that they match, and then the left rows with a mark, or
// without one, are the output. What is spilled is joined partition by partition and piece
// by piece; a piece of left rows is complete once it has met all right rows.
type markJoinOp struct {
	*hashJoinOp // an inner join, whose stored rows are the left ones
	anti        bool
	marks       marks
	// probed: the stored rows have met all right rows and are output from chunk on.
	probed bool
	chunk  int
	sel    []uint16
	batch  vec.Batch
}

// marks are those of stored rows. Where a match depends on the key alone they belong to
// keys.
type marks struct {
	byKey bool
	bits  []uint64 // by row, or by key id; nil before the first
	left  int      // how many are not marked
}

func (m *marks) reset(n int) {
	m.bits, m.left = make([]uint64, (n+63)/64), n
}

func (m *marks) has(i uint32) bool { return m.bits[i>>6]&(1<<(i&63)) != 0 }

func (m *marks) set(i uint32) {
	if !m.has(i) {
		m.bits[i>>6] |= 1 << (i & 63)
		m.left--
	}
}

func (b *builder) markJoin(x *physical.HashJoin) (Operator, error) {
	inner := *x
	inner.Kind = physical.JoinInner
	j, err := b.newJoin(&inner, x)
	if err != nil {
		return nil, err
	}
	m := &markJoinOp{hashJoinOp: j, anti: x.Kind == physical.JoinAnti, marks: marks{byKey: len(x.Filter) == 0}}
	j.keepNulls = m.anti
	j.sp.attach(&j.acct, m.relieve)
	if j.build, err = b.input(x.Left); err != nil {
		return nil, err
	}
	if j.probe, err = b.input(x.Right); err != nil {
		j.build.Close()
		return nil, err
	}
	return m, nil
}

// relieve is account.relief. Stored rows with marks stay.
func (m *markJoinOp) relieve() (bool, error) {
	if m.marks.bits != nil {
		return false, nil
	}
	return m.hashJoinOp.relieve()
}

func (m *markJoinOp) Next(ctx context.Context) (*vec.Batch, error) {
	j := m.hashJoinOp
	if !j.built {
		if err := j.load(ctx); err != nil {
			return nil, err
		}
		j.built = true
	}
	if j.isEmpty() {
		return nil, nil
	}
	for j.spill == nil && !m.probed {
		if err := m.probeNext(ctx); err != nil {
			return nil, err
		}
	}
	if j.spill == nil {
		return m.output(), nil
	}
	return m.nextSpilled(ctx)
}

// probeNext marks what the next right rows match. It spills the stored rows when the input
// needs their memory before its first rows.
func (m *markJoinOp) probeNext(ctx context.Context) error {
	j := m.hashJoinOp
	if err := interrupted(ctx); err != nil {
		return err
	}
	if j.acct.wanted() {
		if ok, err := m.relieve(); ok || err != nil {
			return err
		}
		j.acct.kept(j.acct.held)
	}
	j.pickProbe()
	b, err := j.probe.Next(ctx)
	switch {
	case err != nil:
		return err
	case j.spill != nil:
		return j.spill.probeBatch(b)
	case m.marks.bits == nil:
		m.begin(0)
	}
	if b != nil {
		if err := j.find(b); err != nil {
			return err
		}
		if err := m.mark(ctx, b); err != nil {
			return err
		}
	}
	if m.probed = b == nil || m.marks.left == 0; m.probed {
		return j.probe.Close()
	}
	return nil
}

// begin makes marks of what is stored. Readers hold more bytes.
func (m *markJoinOp) begin(more int64) {
	n := m.store.n
	if m.marks.byKey {
		n = int(m.table.n)
	}
	m.marks.reset(n)
	m.acct.must(m.held() + m.chainSize() + int64(len(m.marks.bits))*8 + more)
	m.probed, m.chunk = false, 0
}

// mark marks what a batch of right rows matches, whose keys were found.
func (m *markJoinOp) mark(ctx context.Context, b *vec.Batch) error {
	if m.marks.byKey {
		for _, id := range m.chain.ids {
			if id != none {
				m.marks.set(id)
			}
		}
		return nil
	}
	m.pairs.start(b, (*unmarked)(m))
	for {
		out, err := m.pairs.next(ctx)
		if err != nil || out == nil {
			return err
		}
		for _, i := range liveRows(out) {
			m.marks.set(m.pairs.slotCand[i])
		}
	}
}

// unmarked are the candidates without a mark. The others leave the lists of their keys, so
// that they are passed over once.
type unmarked markJoinOp

func (u *unmarked) first(r int) uint32 {
	id := u.chain.ids[r]
	if id == none {
		return none
	}
	heads := u.chain.heads
	heads[id] = u.skip(heads[id])
	return heads[id]
}

func (u *unmarked) next(row uint32) uint32 {
	links := u.chain.links
	if links == nil {
		return none
	}
	links[row] = u.skip(links[row])
	return links[row]
}

func (u *unmarked) skip(row uint32) uint32 {
	for row != none && u.marks.has(row) {
		row = u.chain.next(row)
	}
	return row
}

// output is the next batch of the stored rows that belong to the join, nil at their end.
func (m *markJoinOp) output() *vec.Batch {
	for m.chunk < len(m.store.chunks) {
		chunk := m.store.chunks[m.chunk]
		first := uint32(m.chunk) << chunkBits
		m.chunk++
		m.sel = m.sel[:0]
		for i := range uint32(chunk.N) {
			at := first + i
			if m.marks.byKey {
				at = m.stored[at]
			}
			if m.marks.has(at) != m.anti {
				m.sel = append(m.sel, uint16(i))
			}
		}
		if len(m.sel) == 0 {
			continue
		}
		m.batch = vec.Batch{Cols: chunk.Cols, N: chunk.N}
		if len(m.sel) < chunk.N {
			m.batch.SetSel(m.sel)
		}
		return &m.batch
	}
	return nil
}

// nextSpilled is the next batch of output of what was spilled.
func (m *markJoinOp) nextSpilled(ctx context.Context) (*vec.Batch, error) {
	s := m.spill
	if err := s.readInput(ctx); err != nil {
		return nil, err
	}
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if s.rd == nil {
			if more, err := s.nextPart(ctx); err != nil || !more {
				return nil, err
			}
			if s.rd != nil || s.pieces != nil { // it was not cut
				m.beginSpilled()
			}
			continue
		}
		if m.probed {
			if out := m.output(); out != nil {
				return out, nil
			}
			if err := m.endPiece(ctx); err != nil {
				return nil, err
			}
			continue
		}
		b, err := s.rd.Next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			m.probed = true
			continue
		}
		m.chain.ids = m.table.find(s.input.keysOf(b.Cols), liveRows(b), m.chain.ids[:0])
		if err := m.mark(ctx, b); err != nil {
			return nil, err
		}
		m.probed = m.marks.left == 0
	}
}

// endPiece goes on with the next piece of left rows, or ends the partition.
func (m *markJoinOp) endPiece(ctx context.Context) error {
	s := m.spill
	if s.pieces != nil {
		more, err := s.pieces.advance(ctx)
		if err != nil {
			return err
		}
		if more {
			m.beginSpilled()
			return nil
		}
		s.pieces = nil
	}
	m.marks.bits = nil
	s.endPart()
	return nil
}

// beginSpilled begins with a partition or a piece of left rows.
func (m *markJoinOp) beginSpilled() {
	s := m.spill
	if s.rd == nil {
		s.rd = s.part.probe.NewReader()
	}
	more := s.rd.Held()
	if s.pieces != nil {
		more += s.pieces.build.Held()
	}
	m.begin(more)
}

// marksJoin reports a join by marks of its left rows.
func marksJoin(x *physical.HashJoin) bool {
	return x.BuildLeft && (x.Kind == physical.JoinSemi || x.Kind == physical.JoinAnti)
}
