package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/value"
)

// A partition is cut into 32, each time by other bits of the hash, and at most 6
// times: equal keys stay together however often that is, and 32^6 partitions
// hold anything else.
const (
	partBits      = 5
	maxSpillDepth = 6
)

// spiller is how one operator spills rows.
type spiller struct {
	disk     *spill.Disk
	ctx      context.Context // of the statement, or nil
	counters *Usage
	stat     *nodeStats
	// block is the size of blocks in bytes, fan the number of runs that are
	// merged at once, parts that of partitions.
	block, fan, parts int
	most              int64
	// blocks are the bytes that the blocks of merged runs may take.
	blocks  int64
	file    *spill.File // the last one
	size    int64       // of it, as counted
	counted bool
	lists   [][]uint16 // of scatter
}

// spiller gives an operator the means to spill; disk is nil if the server has
// none.
func (b *builder) spiller(n physical.Node) *spiller {
	s := &spiller{disk: b.env.Spill, counters: b.env.Usage, stat: b.env.Stats.node(n), block: spill.DefaultBlock, fan: 64, parts: 1 << partBits, blocks: 64 << 20}
	if b.ec != nil {
		s.ctx = b.ec.Context
	}
	if s.counters == nil {
		s.counters = &Usage{}
	}
	if limit := b.env.Memory.Limit(); limit > 0 {
		s.block = int(min(max(limit/512, minBlock), spill.DefaultBlock))
		s.fan = int(min(max(limit/int64(10*s.block), 4), 64))
		s.blocks = min(limit/5, s.blocks)
	}
	if s.most = b.env.SpillOver; s.most > 0 {
		s.block, s.fan, s.parts = 256, 3, 4
	}
	return s
}

// minBlock is the least size of blocks.
const minBlock = 4 << 10

// among is the spiller of each of n that spill at the same time: the more there are, the
// smaller are their blocks, and the fewer their partitions.
func (s *spiller) among(n int) *spiller {
	if n <= 1 {
		return s
	}
	one := *s
	one.lists, one.file = nil, nil
	one.block = max(s.block/n, min(s.block, minBlock))
	switch {
	case n > 64:
		one.parts = min(s.parts, 2)
	case n > 4:
		one.parts = min(s.parts, 8)
	}
	return &one
}

// attach makes an account spill by fn; see account.relief.
func (s *spiller) attach(a *account, fn func() (bool, error)) {
	if s.disk != nil {
		a.relief, a.most = fn, s.most
	}
}

// begin makes a new file.
func (s *spiller) begin() (*spill.File, error) {
	s.count()
	f, err := s.disk.NewFile()
	if err != nil {
		return nil, err
	}
	if s.ctx != nil { // a batch of wide rows is many blocks
		f.Stop = func() error { return interrupted(s.ctx) }
	}
	s.file, s.size = f, 0
	if s.stat != nil {
		s.stat.files.Add(1)
	}
	if !s.counted {
		s.counted = true
		s.counters.Tables.Add(1)
	}
	return f, nil
}

// context is that of the statement.
func (s *spiller) context() context.Context {
	if s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// count adds what was written to the last file to the operator's numbers.
func (s *spiller) count() {
	if s.file != nil && s.stat != nil {
		n := s.file.Size()
		s.stat.spilled.Add(n - s.size)
		s.size = n
	}
}

// partitionIn makes a row store for each partition in a file.
func (s *spiller) partitionIn(f *spill.File, kinds []value.Kind) []*spill.Rows {
	out := make([]*spill.Rows, s.parts)
	for i := range out {
		out[i] = f.NewRows(kinds, s.block)
	}
	if s.stat != nil {
		s.stat.partitions.Add(int64(len(out)))
	}
	return out
}

// of is the partition of a hash at a depth.
func (s *spiller) of(hash uint64, depth int) int {
	return int(hash >> (64 - partBits*(depth+1)) & (1<<partBits - 1) % uint64(s.parts))
}

// room is account.room for an operator that works on a partition: beyond the
// greatest depth the partition has to fit.
func (s *spiller) room(a *account, depth int, n int64) (bool, error) {
	if depth >= maxSpillDepth {
		return true, a.to(n)
	}
	return a.room(n)
}

// mergeable is how many of the runs, from the first on, can be merged at once: a reader
// holds a block of each, and large rows make large blocks.
func (s *spiller) mergeable(runs []*spill.Rows) int {
	n, bytes := 0, int64(0)
	for n < len(runs) && n < s.fan {
		if bytes += runs[n].LargestBlock(); n >= 2 && bytes > s.blocks {
			break
		}
		n++
	}
	return n
}

// worth is the least that a part of an operator's memory must hold to be spilled
// alone.
func (s *spiller) worth() int64 {
	if s.most > 0 {
		return s.most / 4
	}
	return spillFloor
}

func closeRows(lists ...[]*spill.Rows) {
	for _, l := range lists {
		for _, r := range l {
			r.Close()
		}
	}
}

// heldRows are the bytes that stores hold in memory.
func heldRows(lists ...[]*spill.Rows) (n int64) {
	for _, l := range lists {
		for _, r := range l {
			if r != nil {
				n += r.Held()
			}
		}
	}
	return n
}

// finishRows ends the writing of stores; empty ones are closed and left out.
func (s *spiller) finishRows(list []*spill.Rows) error {
	for i, r := range list {
		if r == nil {
			continue
		}
		if err := r.Finish(); err != nil {
			return err
		}
		if r.Len() == 0 {
			r.Close()
			list[i] = nil
		}
	}
	s.count()
	return nil
}
