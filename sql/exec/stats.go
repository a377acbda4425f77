package exec

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// Stats are the measurements of one execution by plan node.
type Stats struct {
	mu    sync.Mutex
	nodes map[physical.Node]*nodeStats
}

// NewStats makes an empty collector.
func NewStats() *Stats { return &Stats{nodes: map[physical.Node]*nodeStats{}} }

// nodeStats are the counters of a node; parallel copies share them.
type nodeStats struct {
	rows, batches, loops, nanos, mem atomic.Int64
	// spilled are bytes on disk; files and partitions were made for them.
	spilled, files, partitions atomic.Int64
	// What was read from the store.
	keys, bytes, seeks atomic.Int64
	// grouped are rows that a scan has aggregated itself.
	grouped atomic.Int64
	// What a search index did.
	segments, candidates, hits, overlay, waited atomic.Int64
}

// read adds what an operator or lookup that ends has read.
func (n *nodeStats) read(from any) {
	if c, ok := from.(Counted); ok {
		x := c.Counters()
		n.keys.Add(x.Pairs)
		n.bytes.Add(x.Bytes)
		n.seeks.Add(x.Seeks)
		if x.Segments+x.Overlay+x.Waited > 0 {
			n.segments.Add(x.Segments)
			n.candidates.Add(x.Candidates)
			n.hits.Add(x.Hits)
			n.overlay.Add(x.Overlay)
			n.waited.Add(x.Waited)
		}
	}
}

// readEntries adds what an operator or lookup that ends has read of an index, for
// an index join.
func (n *nodeStats) readEntries(from any) {
	if c, ok := from.(EntryCounted); ok && n != nil {
		passed, x := c.EntryCounters()
		n.rows.Add(passed)
		n.keys.Add(x.Pairs)
		n.bytes.Add(x.Bytes)
		n.seeks.Add(x.Seeks)
	}
}

func (n *nodeStats) memory(bytes int64) {
	for {
		m := n.mem.Load()
		if bytes <= m || n.mem.CompareAndSwap(m, bytes) {
			return
		}
	}
}

func (s *Stats) node(n physical.Node) *nodeStats {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.nodes[n]
	if st == nil {
		st = &nodeStats{}
		s.nodes[n] = st
	}
	return st
}

// entries are the counters of the entries of an index join, which are no operator
// of their own; nil for other nodes.
func (s *Stats) entries(n physical.Node) *nodeStats {
	if x, ok := n.(*physical.IndexJoin); ok {
		return s.node(x.Entries)
	}
	return nil
}

// loop counts a run.
func (n *nodeStats) loop() {
	if n != nil {
		n.loops.Add(1)
	}
}

// Keys is how many pairs of the store were read.
func (s *Stats) Keys() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(0)
	for _, st := range s.nodes {
		n += st.keys.Load()
	}
	return n
}

// Actual gives what was measured of a node, for physical.Printer; false when
// it did not run. The time includes that of the node's inputs; parallel copies
// add up.
func (s *Stats) Actual(n physical.Node) (physical.Actual, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.nodes[n]
	if st == nil || st.loops.Load() == 0 {
		return physical.Actual{}, false
	}
	a := physical.Actual{Rows: st.rows.Load(), Batches: st.batches.Load(), Loops: st.loops.Load(), Seconds: float64(st.nanos.Load()) / 1e9,
		Keys: st.keys.Load(), Bytes: st.bytes.Load(), Seeks: st.seeks.Load(),
		Segments: st.segments.Load(), Candidates: st.candidates.Load(), Hits: st.hits.Load(), Overlay: st.overlay.Load(), Waited: st.waited.Load(), Aggregated: st.grouped.Load(),
		Memory: st.mem.Load(), Spilled: st.spilled.Load(), Files: st.files.Load(), Partitions: st.partitions.Load()}
	return a, true
}

// statOp counts what passes through an operator.
type statOp struct {
	Operator
	st, entries *nodeStats
	opened      bool
	closed      bool
}

// Close implements Operator.
func (s *statOp) Close() error {
	if !s.closed {
		s.closed = true
		s.st.read(s.Operator)
		s.entries.readEntries(s.Operator)
	}
	return s.Operator.Close()
}

func (s *statOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.opened {
		s.opened = true
		s.st.loop()
		s.entries.loop()
	}
	start := time.Now()
	b, err := s.Operator.Next(ctx)
	s.st.nanos.Add(int64(time.Since(start)))
	if b != nil {
		s.st.rows.Add(int64(b.Live()))
		s.st.batches.Add(1)
	}
	return b, err
}

// Skip implements skipper.
func (s *statOp) Skip(ctx context.Context, n uint64) (uint64, error) {
	if in, ok := s.Operator.(skipper); ok {
		return in.Skip(ctx, n)
	}
	return 0, nil
}

// statLookup counts the rows that a Lookup finds; each Find is a loop.
type statLookup struct {
	Lookup
	st, entries *nodeStats
	closed      bool
}

// Close implements Lookup.
func (s *statLookup) Close() error {
	if !s.closed {
		s.closed = true
		s.st.read(s.Lookup)
		s.entries.readEntries(s.Lookup)
	}
	return s.Lookup.Close()
}

func (s *statLookup) Find(ctx context.Context, keys []*vec.Vec, live []uint16, ordered bool, emit func(*vec.Batch, []uint16) error) error {
	s.st.loop()
	s.entries.loop()
	start := time.Now()
	err := s.Lookup.Find(ctx, keys, live, ordered, func(rows *vec.Batch, key []uint16) error {
		s.st.rows.Add(int64(rows.Live()))
		s.st.batches.Add(1)
		return emit(rows, key)
	})
	s.st.nanos.Add(int64(time.Since(start)))
	return err
}
