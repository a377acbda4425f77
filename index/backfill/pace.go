package backfill

import (
	"context"
	"time"
)

// Pacer leaves the machine to others while an index is built. A nil Pacer does
// not.
type Pacer struct {
	// Rate is the most rows that are read in a second, asked again and again; 0
	// means as many as leave two thirds of the time to others while they write, and
	// more where there is more to do than the machine can: that shows in pauses
	// that last longer than they were meant to.
	Rate func() int64
	// Seq counts the commits of the store.
	Seq func() uint64

	from   time.Time // start of the slice
	seq    uint64
	factor float64 // of the pause to the slice
}

const (
	// maxPause bounds a pause that the rate does not ask for.
	maxPause  = time.Second
	minFactor = 2
	maxFactor = 8
	// late is by how much a pause may be longer than asked for before the
	// machine counts as busy.
	late = time.Millisecond
)

// start begins the first slice.
func (p *Pacer) start() {
	if p != nil {
		p.from, p.seq, p.factor = time.Now(), p.Seq(), max(p.factor, minFactor)
	}
}

// pause ends a slice in which so many rows were read.
func (p *Pacer) pause(ctx context.Context, rows int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p == nil {
		return nil
	}
	took := time.Since(p.from)
	var wait time.Duration
	if rate := p.Rate(); rate > 0 {
		wait = time.Duration(float64(rows)/float64(rate)*float64(time.Second)) - took
	} else if p.Seq() != p.seq {
		wait = min(time.Duration(float64(took)*p.factor), maxPause)
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
	p.start()
	return nil
}
