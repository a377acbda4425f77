package server

import (
	"context"
	"runtime/metrics"
	"time"
)

// cacheOwner is a store whose block cache can be made smaller for a while.
type cacheOwner interface {
	// ShrinkCache takes bytes off the size of the block cache, as against its options.
	ShrinkCache(bytes int64)
}

// pressure makes the block cache smaller while more is alive in the heap than the
// collector can keep within its limit: it would run without a pause, and the process
// still grow. What takes the memory may be what transactions wrote, write buffers that
// old scans hold, or what is not counted.
type pressure struct {
	store  cacheOwner
	target int64 // bytes alive
	most   int64 // to take from the cache
	cycle  uint64
	taken  int64
}

// pressureStep is how often the heap is looked at. There is news after each run of the
// collector only.
const pressureStep = 50 * time.Millisecond

// watch adjusts the cache until ctx ends.
func (p *pressure) watch(ctx context.Context) {
	tick := time.NewTicker(pressureStep)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			metrics.Read(sample)
			p.adjust(sample[0].Value.Uint64(), int64(sample[1].Value.Uint64()))
		}
	}
}

// adjust follows what a run of the collector found alive: at once upwards, and slowly
// back.
func (p *pressure) adjust(cycle uint64, live int64) {
	if cycle == p.cycle {
		return
	}
	p.cycle = cycle
	change := live - p.target
	if change < 0 {
		change /= 8
	}
	taken := min(max(p.taken+change, 0), p.most)
	if taken != p.taken {
		p.taken = taken
		p.store.ShrinkCache(taken)
	}
}
