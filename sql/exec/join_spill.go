package exec

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// joinSpill is a hash join that is too large for its memory: both inputs are
// cut into partitions by the hash of the key, and each pair of partitions is
// joined alone; one that is still too large is cut again. Where that does not
// help, because one key has too many rows, its build rows are taken in pieces
// that fit, and the probe rows are read once for each.
type joinSpill struct {
	j            *hashJoinOp
	build, input *joinSide // input is the probe side; nil before the first batch
	buildEnded   bool
	ended        bool // the probe input
	todo         []joinPart
	part         joinPart
	rd           *spill.Reader // of the probe rows of part
	b            *vec.Batch    // of rd, that is worked on
	// pieces: part is joined piece by piece of its build rows.
	pieces *joinPieces

	// order brings the output back into the order of the probe rows.
	order   *sorter
	oacct   account
	number  *vec.Vec
	sorted  bool
	numbers int64
}

// joinPart is a pair of partitions.
type joinPart struct {
	build, probe *spill.Rows
	depth        int
	// parent are the build rows of the partition that this was cut from.
	parent int64
}

func (p joinPart) close() {
	p.build.Close()
	p.probe.Close()
}

// joinSide spills the rows of one input, followed by those keys that are no plain
// columns: expressions are evaluated once.
type joinSide struct {
	sp     *spiller
	kinds  []value.Kind
	width  int   // columns of the input
	keyAt  []int // the column of each key
	hasher keyHasher
	depth  int
	rows   []*spill.Rows
	cols   []*vec.Vec
	keys   []*vec.Vec
}

// newSide begins to spill an input; extra is a column after all others.
func (j *hashJoinOp) newSide(kinds []value.Kind, keys []expr.Expr, extra bool) *joinSide {
	s := &joinSide{sp: j.sp, width: len(kinds), kinds: slices.Clone(kinds), hasher: keyHasher{enc: j.table.enc}}
	for i, e := range keys {
		if c, ok := e.(*expr.Col); ok {
			s.keyAt = append(s.keyAt, c.Index)
			continue
		}
		s.keyAt = append(s.keyAt, len(s.kinds))
		s.kinds = append(s.kinds, kindsOfTypes(j.keyTypes[i:i+1])...)
	}
	if extra {
		s.kinds = append(s.kinds, value.KindInt)
	}
	return s
}

// add spills rows of the input. extra is the column after all others, if any.
func (s *joinSide) add(cols, keys []*vec.Vec, rows []uint16, extra ...*vec.Vec) error {
	s.cols = append(s.cols[:0], cols[:s.width]...)
	for i, at := range s.keyAt {
		if at >= s.width {
			s.cols = append(s.cols, keys[i])
		}
	}
	s.cols = append(s.cols, extra...)
	return s.sp.scatter(s.rows, s.depth, s.cols, rows, s.hasher.hash(keys, rows))
}

// keysOf are the keys of rows that were spilled.
func (s *joinSide) keysOf(cols []*vec.Vec) []*vec.Vec {
	s.keys = s.keys[:0]
	for _, at := range s.keyAt {
		s.keys = append(s.keys, cols[at])
	}
	return s.keys
}

// startSpill spills the stored rows.
func (j *hashJoinOp) startSpill() error {
	s := &joinSpill{j: j, build: j.newSide(j.store.kinds, j.buildKeys, false)}
	f, err := j.sp.begin()
	if err != nil {
		return err
	}
	s.build.rows = j.sp.partitionIn(f, s.build.kinds)
	s.input = j.newSide(j.pairs.probeKinds(), j.probeKeys, j.keep)
	s.input.rows = j.sp.partitionIn(f, s.input.kinds)
	if j.keep {
		s.number = vec.New(value.KindInt)
	}
	j.spill = s
	keyed, quiet := vec.Batch{}, j.ec.Fork()
	quiet.Warn = nil // they were evaluated before
	for _, chunk := range j.store.chunks {
		keyed.Cols, keyed.N = chunk.Cols, chunk.N
		keys, err := evalAll(quiet, j.buildKeys, &keyed, nil)
		if err != nil {
			return err
		}
		err = s.build.add(chunk.Cols, keys, liveRows(chunk))
		release(quiet, keys)
		if err != nil {
			return err
		}
	}
	j.forget()
	j.acct.kept(s.held())
	return nil
}

func (s *joinSpill) held() int64 {
	return heldRows(s.build.rows, s.input.rows)
}

// relieve is account.relief: the stored rows go to disk when no probe batch is
// half done.
func (j *hashJoinOp) relieve() (bool, error) {
	if j.spill != nil || j.store.n == 0 || j.pairs.probe != nil {
		return false, nil
	}
	return true, j.startSpill()
}

// probeBatch spills a batch of the probe input; nil is its end. Rows whose
// key is NULL match nothing: they are kept where the join gives such rows.
func (s *joinSpill) probeBatch(b *vec.Batch) (err error) {
	if b == nil {
		return s.endInput()
	}
	if !s.buildEnded {
		s.buildEnded = true
		for _, r := range s.build.rows {
			if err := r.Finish(); err != nil { // its buffers make room
				return err
			}
		}
	}
	j := s.j
	if j.keys, err = evalAll(j.ec, j.probeKeys, b, j.keys[:0]); err != nil {
		return err
	}
	rows := liveRows(b)
	if j.kind == physical.JoinInner || j.kind == physical.JoinSemi {
		rows = j.dropNulls(rows)
	}
	if s.number == nil {
		err = s.input.add(b.Cols, j.keys, rows)
	} else {
		for _, i := range rows {
			s.number.I64[i] = s.numbers
			s.numbers++
		}
		err = s.input.add(b.Cols, j.keys, rows, s.number)
	}
	release(j.ec, j.keys)
	return err
}

func (s *joinSpill) endInput() error {
	s.ended = true
	return s.push(0, -1)
}

// push makes the partitions that were written work to do.
func (s *joinSpill) push(depth int, parent int64) error {
	inner := s.j.kind == physical.JoinInner || s.j.kind == physical.JoinSemi
	for i := range s.build.rows {
		p := joinPart{s.build.rows[i], s.input.rows[i], depth, parent}
		s.todo = append(s.todo, p)
		if err := p.build.Finish(); err != nil {
			return err
		}
		if err := p.probe.Finish(); err != nil {
			return err
		}
		if p.probe.Len() == 0 && !s.j.keepNulls || p.build.Len() == 0 && inner {
			p.close()
			s.todo = s.todo[:len(s.todo)-1]
		}
	}
	s.j.sp.count()
	s.build.rows, s.input.rows = nil, nil
	return nil
}

// readInput spills what is left of the probe input.
func (s *joinSpill) readInput(ctx context.Context) error {
	for !s.ended {
		b, err := s.j.probe.Next(ctx)
		if err != nil {
			return err
		}
		if err := interrupted(ctx); err != nil {
			return err
		}
		if err := s.probeBatch(b); err != nil {
			return err
		}
	}
	return nil
}

// next is the next batch of output.
func (s *joinSpill) next(ctx context.Context) (*vec.Batch, error) {
	if err := s.readInput(ctx); err != nil {
		return nil, err
	}
	if s.number == nil {
		return s.joined(ctx)
	}
	if !s.sorted {
		s.sorted = true
		if err := s.sortAll(ctx); err != nil {
			return nil, err
		}
	}
	return s.order.next(ctx)
}

// sortAll computes all output and brings it into the order of the probe rows.
func (s *joinSpill) sortAll(ctx context.Context) error {
	j := s.j
	s.order = j.b.newOrder(j.node, kindsOf(j.node.Columns()), &s.oacct)
	number := vec.New(value.KindInt)
	for {
		out, err := s.joined(ctx)
		if err != nil {
			return err
		}
		if out == nil {
			return s.order.finish(ctx)
		}
		from := s.b.Cols[len(s.b.Cols)-1].I64
		for _, i := range liveRows(out) {
			number.I64[i] = from[j.pairs.slotRow[i]]
		}
		if err := s.order.add(ctx, out.Cols, liveRows(out), []*vec.Vec{number}); err != nil {
			return err
		}
	}
}

// joined is the next batch of output, in any order. Its rows are pairs of
// j.pairs with rows of s.b.
func (s *joinSpill) joined(ctx context.Context) (*vec.Batch, error) {
	j := s.j
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if s.rd == nil {
			if more, err := s.nextPart(ctx); err != nil || !more {
				return nil, err
			}
			continue
		}
		if s.pieces != nil {
			out, err := s.pieces.next(ctx)
			if err != nil || out != nil {
				return out, err
			}
			s.pieces = nil
			s.endPart()
			continue
		}
		out, err := j.pairs.next(ctx)
		if err != nil || out != nil {
			return out, err
		}
		if s.b, err = s.rd.Next(); err != nil {
			return nil, err
		}
		if s.b == nil {
			s.endPart()
			continue
		}
		s.probeStored(s.b)
	}
}

// nextPart opens the next pair of partitions, if there is one.
func (s *joinSpill) nextPart(ctx context.Context) (more bool, err error) {
	n := len(s.todo)
	if n == 0 {
		s.j.acct.kept(0)
		return false, nil
	}
	s.part, s.todo = s.todo[n-1], s.todo[:n-1]
	return true, s.open(ctx)
}

// probeStored begins to pair a batch of probe rows with the stored rows.
func (s *joinSpill) probeStored(b *vec.Batch) {
	j := s.j
	j.chain.ids = j.table.find(s.input.keysOf(b.Cols), liveRows(b), j.chain.ids[:0])
	j.pairs.start(b, &j.chain)
}

func (s *joinSpill) endPart() {
	s.j.forget()
	s.rd = nil
	s.part.close()
}

// open stores the build rows of the next part, or cuts it.
func (s *joinSpill) open(ctx context.Context) error {
	j, p := s.j, s.part
	j.forget()
	j.acct.kept(0)
	// Cutting does not help where all rows have one key. A partition that is no
	// smaller than the one that it was cut from has one key, or few.
	cut := !j.oneKey && p.depth < maxSpillDepth && p.build.Len() != p.parent
	rd := p.build.NewReader()
	for {
		b, err := rd.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := interrupted(ctx); err != nil {
			return err
		}
		j.put(b.Cols[:s.build.width], s.build.keysOf(b.Cols), liveRows(b))
		ok, err := j.acct.room(j.held() + j.chainSize() + rd.Held())
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		if cut {
			return s.cut(ctx)
		}
		s.pieces = &joinPieces{s: s, build: rd}
		s.pieces.init()
		break
	}
	s.rd = p.probe.NewReader()
	if s.pieces == nil {
		j.link()
		j.acct.must(j.held() + j.chainSize() + s.rd.Held())
	}
	return nil
}

// cut spreads the rows of the part over partitions of the next depth.
func (s *joinSpill) cut(ctx context.Context) error {
	j, p := s.j, s.part
	j.forget()
	f, err := j.sp.begin()
	if err != nil {
		return err
	}
	s.build.rows, s.input.rows = j.sp.partitionIn(f, s.build.kinds), j.sp.partitionIn(f, s.input.kinds)
	j.acct.kept(s.held())
	for _, side := range []struct {
		to   *joinSide
		from *spill.Rows
	}{{s.build, p.build}, {s.input, p.probe}} {
		side.to.depth = p.depth + 1
		rd := side.from.NewReader()
		for {
			b, err := rd.Next()
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := interrupted(ctx); err != nil {
				return err
			}
			rows := liveRows(b)
			err = j.sp.scatter(side.to.rows, side.to.depth, b.Cols, rows, side.to.hasher.hash(side.to.keysOf(b.Cols), rows))
			if err != nil {
				return err
			}
		}
	}
	j.acct.must(s.held())
	p.close()
	return s.push(p.depth+1, p.build.Len())
}

func (s *joinSpill) close() {
	closeRows(s.build.rows, s.input.rows)
	for _, p := range s.todo {
		p.close()
	}
	s.part.close()
	s.todo, s.rd, s.b, s.ended, s.pieces = nil, nil, nil, true, nil
	if s.order != nil {
		s.order.close()
	}
	s.oacct.close()
}

// joinPieces joins a part whose build rows do not fit: it stores as many as do,
// reads all probe rows, and goes on with the next ones. The first piece is
// stored when it begins.
type joinPieces struct {
	s     *joinSpill
	build *spill.Reader
	// matched has a bit for each probe row that was paired; nil for inner
	// joins.
	matched []uint64
	base    int64 // number of the first row of s.b
	after   int64 // of the first row after s.b
	ended   bool  // there are no more build rows
	last    bool  // the pass that gives the rows without a pair
	rows    []uint16
}

func (p *joinPieces) init() {
	j := p.s.j
	if j.kind != physical.JoinInner {
		p.matched = make([]uint64, (p.s.part.probe.Len()+63)/64)
	}
	p.begin()
	j.acct.must(p.held())
}

func (p *joinPieces) held() int64 {
	return p.s.j.held() + p.s.j.chainSize() + int64(len(p.matched))*8 + p.build.Held()
}

// begin starts a pass with the stored rows. A pass finds pairs only: the rows
// without any are known after the last one.
func (p *joinPieces) begin() {
	j := p.s.j
	j.link()
	if j.kind == physical.JoinLeft {
		j.pairs.kind = physical.JoinInner
	}
	if j.kind == physical.JoinAnti {
		j.pairs.kind = physical.JoinSemi
	}
	p.after = 0
}

func (p *joinPieces) next(ctx context.Context) (*vec.Batch, error) {
	s, j := p.s, p.s.j
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		out, err := j.pairs.next(ctx)
		if err != nil {
			return nil, err
		}
		if out != nil {
			if p.matched != nil && !p.last {
				for _, i := range liveRows(out) {
					row := p.base + int64(j.pairs.slotRow[i])
					p.matched[row>>6] |= 1 << (row & 63)
				}
				if j.kind == physical.JoinAnti {
					continue
				}
			}
			return out, nil
		}
		if s.rd == nil {
			s.rd = s.part.probe.NewReader()
		}
		if s.b, err = s.rd.Next(); err != nil {
			return nil, err
		}
		if s.b == nil {
			more, err := p.advance(ctx)
			if err != nil || !more {
				return nil, err
			}
			continue
		}
		p.base = p.after
		p.after += int64(s.b.N)
		// Semi joins give a row once; the last pass gives those without a pair.
		if p.last || p.matched != nil && j.kind != physical.JoinLeft {
			p.rows = p.rows[:0]
			for _, i := range liveRows(s.b) {
				if row := p.base + int64(i); p.matched[row>>6]&(1<<(row&63)) == 0 {
					p.rows = append(p.rows, i)
				}
			}
			s.b.SetSel(p.rows)
		}
		s.probeStored(s.b)
	}
}

// advance stores the next piece of build rows and goes back to the first probe
// row; false at the end of all passes.
func (p *joinPieces) advance(ctx context.Context) (bool, error) {
	s, j := p.s, p.s.j
	s.rd = s.part.probe.NewReader()
	j.forget()
	j.acct.kept(p.held())
	for !p.ended {
		if err := interrupted(ctx); err != nil {
			return false, err
		}
		b, err := p.build.Next()
		if err != nil {
			return false, err
		}
		if b == nil {
			p.ended = true
			break
		}
		j.put(b.Cols[:s.build.width], s.build.keysOf(b.Cols), liveRows(b))
		ok, err := j.acct.room(p.held())
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
	}
	j.acct.must(p.held())
	if j.store.n > 0 {
		p.begin()
		return true, nil
	}
	if p.last || j.kind != physical.JoinLeft && j.kind != physical.JoinAnti {
		j.pairs.kind = j.kind
		return false, nil
	}
	p.last = true
	p.begin()
	j.pairs.kind = j.kind
	return true, nil
}
