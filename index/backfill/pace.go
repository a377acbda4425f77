package backfill

import (
	"context"
	"time"
)

// Pacer leaves the machine to others during an index build or other background
// work. It belongs to one goroutine. A nil Pacer does not.
type Pacer struct {
	// Rate is the most rows that are read in a second, queried repeatedly; 0
	// means as many as leave three quarters of the time to others while they write, and
	// more where there is more to do than the machine can: that shows in pauses
	// that last longer than they were meant to.
	Rate func() int64
	// Commits is storage.Store.Commits.
	Commits func() uint64

	from   time.Time // start of the slice
	rows   int       // in it
	wrote  time.Time // when others were last seen to have written
	own    uint64
	seen   uint64  // others
	factor float64 // of the pause to the slice
}

const (
	// slice is for how long the work goes on without a pause. An operating system may
	// queue a thread that has become ready after one that works, although another
	// processor is idle: longer slices would show in the latency of others.
	slice = 300 * time.Microsecond
	// idle: the machine counts as free when others have not written for so long.
	idle      = 50 * time.Millisecond
	breath    = time.Millisecond
	minFactor = 3
	maxFactor = 8
	// late is by how much a pause may exceed its length before the machine counts as
	// busy.
	late = 2 * time.Millisecond
)

// Start begins the first slice.
func (p *Pacer) Start() {
	if p != nil {
		if p.factor == 0 {
			p.seen = p.others()
		}
		p.from, p.factor = time.Now(), max(p.factor, minFactor)
	}
}

// Committed reports a commit of the build itself.
func (p *Pacer) Committed() {
	if p != nil {
		p.own++
	}
}

// others is the number of commits of others.
func (p *Pacer) others() uint64 {
	if p == nil {
		return 0
	}
	return p.Commits() - p.own
}

// busy reports whether others write.
func (p *Pacer) busy() bool {
	now := time.Now()
	if n := p.others(); n != p.seen {
		p.seen, p.wrote = n, now
	}
	return now.Sub(p.wrote) < idle
}

// Pause ends a slice in which so many rows were read.
func (p *Pacer) Pause(ctx context.Context, rows int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p == nil {
		return nil
	}
	took := time.Since(p.from)
	p.rows += rows
	if took < slice {
		return nil
	}
	rows, p.rows = p.rows, 0
	var wait time.Duration
	if rate := p.Rate(); rate > 0 {
		wait = time.Duration(float64(rows)/float64(rate)*float64(time.Second)) - took
	} else if p.busy() {
		// What took longer was waiting itself.
		wait = time.Duration(float64(min(took, 2*slice)) * p.factor)
	}
	if wait > 0 {
		asked := time.Now()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		if time.Since(asked)-wait > late {
			p.factor = min(p.factor*1.5, maxFactor)
		} else {
			p.factor = max(p.factor*0.9, minFactor)
		}
	}
	p.Start()
	return nil
}

// breathe is a pause so short that followers of the writers can keep up.
func (p *Pacer) breathe(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p != nil && p.busy() {
		time.Sleep(min(time.Since(p.from), breath))
		p.Start()
	}
	return nil
}
