package backfill

import (
	"context"
	"time"
)

// Pacer leaves the machine to others while an index is built. A nil Pacer does
// not.
type Pacer struct {
	// Rate is the most rows that are read in a second, asked again and again; 0
	// means as many as leave half of the time to others while they write.
	Rate func() int64
	// Seq counts the commits of the store.
	Seq func() uint64

	from time.Time // start of the slice
	seq  uint64
}

// maxPause bounds a pause that the rate does not ask for: what a slice takes
// longer than that, somebody else has used.
const maxPause = 20 * time.Millisecond

// start begins the first slice.
func (p *Pacer) start() {
	if p != nil {
		p.from, p.seq = time.Now(), p.Seq()
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
		wait = min(took, maxPause)
	}
	if wait > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	p.start()
	return nil
}
