package tikvkv

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/txnkv/rangetask"
	"github.com/tikv/client-go/v2/txnkv/txnlock"

	"github.com/sqlots/sqlots/storage"
)

// locatePatience bounds, in milliseconds, the wait for where regions are.
const locatePatience = 2000

// borders are the starts of the regions in a span, but for the first, as keys of the store;
// nil where the placement driver does not answer.
func (s *Store) borders(ctx context.Context, span storage.Span) (out [][]byte) {
	if s.usable(ctx) != nil {
		return nil
	}
	start, end := s.outSpan(span)
	regions, err := s.kv.GetRegionCache().LocateKeyRange(tikv.NewBackofferWithVars(ctx, locatePatience, nil), start, end)
	if err != nil {
		return nil
	}
	for _, r := range regions {
		if bytes.Compare(r.StartKey, start) > 0 {
			out = append(out, bytes.TrimPrefix(r.StartKey, s.prefix))
		}
	}
	return out
}

// Partitions implements storage.Store: pieces are regions, or several of them.
func (s *Store) Partitions(ctx context.Context, span storage.Span, n int) []storage.Span {
	if n <= 1 {
		return []storage.Span{span}
	}
	cuts := s.borders(ctx, span)
	n = min(n, len(cuts)+1)
	parts := make([]storage.Span, 0, n)
	start := span.Start
	for i := 1; i < n; i++ {
		cut := cuts[i*(len(cuts)+1)/n-1]
		parts = append(parts, storage.Span{Start: start, End: cut})
		start = cut
	}
	return append(parts, storage.Span{Start: start, End: span.End})
}

// regionSize is what a region has when it is in the middle of a large span.
const regionSize = 64 << 20

// EstimateSize implements storage.Store: the size of what one call reads, and where there
// is more, that of the regions.
func (s *Store) EstimateSize(ctx context.Context, span storage.Span) (int64, error) {
	scan, err := s.Latest().Scan(ctx, span, storage.ScanOptions{Limit: firstBatch})
	if err != nil {
		return 0, err
	}
	var size int64
	pairs := 0
	done, err := scan.Visit(ctx, func(key, value []byte) bool {
		size += int64(len(key) + len(value))
		pairs++
		return pairs < firstBatch
	})
	if cerr := scan.Close(); err == nil {
		err = cerr
	}
	if err != nil || done {
		return size, err
	}
	return max(2*size, int64(len(s.borders(ctx, span)))*regionSize), nil
}

// Discard implements storage.Store: all versions of the keys go at once.
func (s *Store) Discard(ctx context.Context, span storage.Span) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	start, end := s.outSpan(span)
	if end != nil && bytes.Compare(start, end) >= 0 {
		return nil
	}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	both, stop := s.until(ctx)
	defer stop()
	for try := 1; ; try++ {
		err := s.settle(both, start, end, now)
		if err == nil {
			err = s.kv.UnsafeDestroyRange(both, start, end)
		}
		if err == nil || try == discardTries || both.Err() != nil {
			return s.ended(ctx, err)
		}
		select {
		case <-both.Done():
		case <-time.After(discardPause):
		}
	}
}

// settle resolves the locks of transactions whose primary key is in a range, wherever the
// locks are. Whether such a transaction was committed is known from its primary key alone:
// without that, its other writes would be taken for those of one that was rolled back.
func (s *Store) settle(ctx context.Context, start, end []byte, now uint64) error {
	r := primaries{tikv.NewRegionLockResolver("sqlots", s.kv), start, end}
	run := func(ctx context.Context, part kv.KeyRange) (rangetask.TaskStat, error) {
		return tikv.ResolveLocksForRange(ctx, r, now, part.StartKey, part.EndKey, func(ctx context.Context) *tikv.Backoffer {
			return tikv.NewBackofferWithVars(ctx, settlePatience, nil)
		}, settleLocks)
	}
	return rangetask.NewRangeTaskRunner("sqlots-discard", s.kv, settleWorkers, run).RunOnRange(ctx, s.out(nil), s.end)
}

// settleWorkers are the regions in which settle looks at a time, settleLocks the locks that
// one call gives, and settlePatience bounds, in milliseconds, the wait for one region.
const (
	settleWorkers  = 8
	settleLocks    = 1024
	settlePatience = 40_000
)

// primaries resolves locks whose primary key is from start on up to end.
type primaries struct {
	*tikv.BaseRegionLockResolver
	start, end []byte
}

// ResolveLocksInOneRegion implements tikv.RegionLockResolver.
func (p primaries) ResolveLocksInOneRegion(bo *tikv.Backoffer, locks []*txnlock.Lock, loc *tikv.KeyLocation) (*tikv.KeyLocation, error) {
	locks = slices.DeleteFunc(slices.Clone(locks), func(l *txnlock.Lock) bool {
		return bytes.Compare(l.Primary, p.start) < 0 || p.end != nil && bytes.Compare(l.Primary, p.end) >= 0
	})
	if len(locks) == 0 {
		return loc, nil
	}
	return p.BaseRegionLockResolver.ResolveLocksInOneRegion(bo, locks, loc)
}

// discardTries is how often Discard calls all servers, which does no harm, and discardPause
// is the time between two tries.
const (
	discardTries = 10
	discardPause = 50 * time.Millisecond
)
