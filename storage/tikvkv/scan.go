package tikvkv

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/tikv/client-go/v2/kv"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/storage"
)

// A call of a scan reads firstBatch pairs at first, and then as many as have about
// batchBytes together, up to scanBatch: client-go bounds pairs, and not bytes.
const (
	firstBatch = 256
	scanBatch  = 1024
	minBatch   = 2 // client-go takes 1 for the default
	batchBytes = 4 << 20
)

// checkEvery is the number of pairs after which Visit looks at its context.
const checkEvery = 256

// iterator is that of client-go.
type iterator interface {
	Valid() bool
	Key() []byte
	Value() []byte
	Next() error
	Close()
}

type pair struct{ key, value []byte }

// batch are the next pairs of a scan.
type batch struct {
	pairs []pair
	done  bool // nothing follows
	err   error
}

// scanner implements storage.Scanner. client-go fetches without a context, so each batch
// is fetched in a goroutine of its own, the next one while the caller has this one.
type scanner struct {
	r          reader
	start, end []byte
	opts       storage.ScanOptions
	size       int      // pairs of a batch
	killed     uint32   // atomic: client-go reads it
	it         iterator // of the goroutine that fetches; nil to open one

	coming chan batch // of the batch that is fetched; nil without
	now    batch
	taken  int // pairs given out
	closed bool
}

// Scan implements storage.Reader.
func (r reader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	return r.scan(ctx, span, opts)
}

func (r reader) scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (*scanner, error) {
	c := &scanner{r: r, opts: opts, size: firstBatch}
	if c.start, c.end = r.s.outSpan(span); c.end != nil && bytes.Compare(c.start, c.end) >= 0 {
		c.now.done = true
		return c, nil
	}
	if opts.Limit > 0 {
		c.size = min(max(opts.Limit, minBatch), firstBatch)
	}
	if r.ts == 0 {
		var err error
		if c.r.ts, err = r.s.readTS(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// open begins the stream, and gets its first pairs.
func (c *scanner) open() (err error) {
	snap := c.r.s.kv.GetSnapshot(c.r.ts)
	snap.SetKeyOnly(c.opts.KeyOnly)
	snap.SetNotFillCache(c.opts.Cold)
	snap.SetScanBatchSize(c.size)
	snap.SetVars(kv.NewVariables(&c.killed))
	if c.opts.Reverse {
		c.it, err = snap.IterReverse(c.end, c.start)
	} else {
		c.it, err = snap.Iter(c.start, c.end)
	}
	return err
}

// fetch reads the next batch.
func (c *scanner) fetch() (b batch) {
	step := c.open
	if c.it != nil {
		step = c.it.Next
	}
	bytes := 0
	for {
		if b.err = step(); b.err != nil {
			return b
		}
		if b.done = !c.it.Valid(); b.done {
			return b
		}
		p := pair{key: c.it.Key()[len(c.r.s.prefix):]}
		if !c.opts.KeyOnly {
			p.value = c.it.Value()
		}
		bytes += len(p.key) + len(p.value)
		if b.pairs = append(b.pairs, p); len(b.pairs) >= c.size {
			c.adapt(bytes)
			return b
		}
		step = c.it.Next
	}
}

// adapt sets the size of the next batches by the bytes of the last one. Another size needs
// another iterator, so small differences do not count.
func (c *scanner) adapt(bytes int) {
	size := scanBatch
	if bytes > 0 {
		size = max(min(c.size*batchBytes/bytes, scanBatch), minBatch)
	}
	if size < 2*c.size && c.size < 2*size {
		return
	}
	last := c.it.Key()
	if c.opts.Reverse {
		c.end = last
	} else {
		c.start = append(last[:len(last):len(last)], 0)
	}
	c.it.Close()
	c.it, c.size = nil, size
}

// fetchNext has the next batch fetched, unless that is under way.
func (c *scanner) fetchNext() {
	if c.coming != nil || c.now.done {
		return
	}
	c.coming = make(chan batch, 1)
	to := c.coming
	started := c.r.s.background("scan", func() {
		var b batch
		if err := guard.Run(func() error { b = c.fetch(); return nil }); err != nil {
			b.err = err
		}
		to <- b
	})
	if !started {
		to <- batch{err: storage.ErrClosed}
	}
}

// next waits for the next batch.
func (c *scanner) next(ctx context.Context) error {
	c.fetchNext()
	select {
	case c.now = <-c.coming:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.r.s.ctx.Done():
		return storage.ErrClosed
	}
	c.coming = nil
	if c.now.err != nil {
		return c.r.s.ended(ctx, c.now.err)
	}
	if c.taken += len(c.now.pairs); !c.now.done && (c.opts.Limit <= 0 || c.taken < c.opts.Limit) {
		c.fetchNext()
	}
	return nil
}

// Visit implements storage.Scanner.
func (c *scanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	if c.closed {
		return false, storage.ErrClosed
	}
	if err := c.r.s.usable(ctx); err != nil { // its snapshot may be closed
		return false, err
	}
	for {
		for i, p := range c.now.pairs {
			if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
				c.now.pairs = c.now.pairs[i:]
				return false, context.Cause(ctx)
			}
			if !fn(p.key, p.value) {
				c.now.pairs = c.now.pairs[i+1:]
				return false, nil
			}
		}
		c.now.pairs = nil
		if c.now.done {
			return true, nil
		}
		if err := c.next(ctx); err != nil {
			return false, err
		}
	}
}

// Close implements storage.Scanner.
func (c *scanner) Close() error {
	c.stop()
	return nil
}

// stop has client-go give up what it fetches.
func (c *scanner) stop() {
	c.closed = true
	atomic.StoreUint32(&c.killed, 1)
	c.now = batch{}
}
