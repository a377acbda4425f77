package tikvkv

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util/async"
	pd "github.com/tikv/pd/client"
	"github.com/tikv/pd/client/clients/tso"
	"github.com/tikv/pd/client/pkg/caller"

	"github.com/sqlots/sqlots/metrics"
)

// calls counts the calls of a node to the servers of its cluster. A call takes at least a
// hundred times as long as the lock.
type calls struct {
	mu    sync.Mutex
	kinds map[string]*metrics.Calls
}

func newCalls() *calls { return &calls{kinds: map[string]*metrics.Calls{}} }

// ended counts a call. reason is that of an error; "" for none.
func (c *calls) ended(kind string, d time.Duration, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kinds[kind]
	if k == nil {
		k = &metrics.Calls{Kind: kind, Errors: map[string]int64{}}
		c.kinds[kind] = k
	}
	if reason != metrics.NoAnswer {
		k.Times.Add(d)
	}
	if reason != "" {
		k.Errors[reason]++
	}
}

// list is a copy of the counts.
func (c *calls) list() []metrics.Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]metrics.Calls, 0, len(c.kinds))
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		k := metrics.Calls{Kind: kind, Errors: maps.Clone(c.kinds[kind].Errors)}
		k.Times.Merge(&c.kinds[kind].Times)
		out = append(out, k)
	}
	return out
}

// countedClient is a client whose calls are counted.
type countedClient struct {
	tikv.Client
	calls *calls
}

// SendRequest implements tikv.Client.
func (c countedClient) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration) (*tikvrpc.Response, error) {
	began := time.Now()
	resp, err := c.Client.SendRequest(ctx, addr, req, timeout)
	c.calls.ended(req.Type.String(), time.Since(began), reasonOf(ctx, resp, err))
	return resp, err
}

// SendRequestAsync implements tikv.Client.
func (c countedClient) SendRequestAsync(ctx context.Context, addr string, req *tikvrpc.Request, cb async.Callback[*tikvrpc.Response]) {
	began, kind := time.Now(), req.Type.String()
	cb.Inject(func(resp *tikvrpc.Response, err error) (*tikvrpc.Response, error) {
		c.calls.ended(kind, time.Since(began), reasonOf(ctx, resp, err))
		return resp, err
	})
	c.Client.SendRequestAsync(ctx, addr, req, cb)
}

// CloseAddrVer is a part of client-go's clients that their interface leaves out.
func (c countedClient) CloseAddrVer(addr string, ver uint64) error {
	if x, ok := c.Client.(interface {
		CloseAddrVer(addr string, ver uint64) error
	}); ok {
		return x.CloseAddrVer(addr, ver)
	}
	return c.CloseAddr(addr)
}

// reasonOf is why a call has failed, "" if it did not. A caller that has gone is no failure.
func reasonOf(ctx context.Context, resp *tikvrpc.Response, err error) string {
	if err != nil {
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ""
		}
		return metrics.NoAnswer
	}
	if resp == nil {
		return ""
	}
	e, err := resp.GetRegionError()
	if err != nil || e == nil {
		return ""
	}
	return regionReason(e)
}

func regionReason(e *errorpb.Error) string {
	switch {
	case e.NotLeader != nil:
		return "not_leader"
	case e.EpochNotMatch != nil:
		return "epoch_not_match"
	case e.RegionNotFound != nil:
		return "region_not_found"
	case e.KeyNotInRegion != nil:
		return "key_not_in_region"
	case e.ServerIsBusy != nil:
		return "server_is_busy"
	case e.StaleCommand != nil:
		return "stale_command"
	case e.StoreNotMatch != nil:
		return "store_not_match"
	case e.RaftEntryTooLarge != nil:
		return "raft_entry_too_large"
	case e.MaxTimestampNotSynced != nil:
		return "max_timestamp_not_synced"
	case e.DiskFull != nil:
		return "disk_full"
	case strings.Contains(e.Message, "Deadline is exceeded"):
		return "deadline"
	}
	return "other"
}

// tsoCall is the name under which timestamps are counted.
const tsoCall = "TSO"

// countedPD is a placement driver whose timestamps are counted.
type countedPD struct {
	pd.Client
	calls *calls
}

// WithCallerComponent implements pd.Client.
func (p countedPD) WithCallerComponent(name caller.Component) pd.Client {
	return countedPD{p.Client.WithCallerComponent(name), p.calls}
}

// GetTS implements pd.Client.
func (p countedPD) GetTS(ctx context.Context) (physical, logical int64, err error) {
	began := time.Now()
	physical, logical, err = p.Client.GetTS(ctx)
	p.calls.ended(tsoCall, time.Since(began), reasonOf(ctx, nil, err))
	return physical, logical, err
}

// GetTSAsync implements pd.Client.
func (p countedPD) GetTSAsync(ctx context.Context) tso.TSFuture {
	return countedTS{p.Client.GetTSAsync(ctx), ctx, p.calls, time.Now()}
}

type countedTS struct {
	tso.TSFuture
	ctx   context.Context
	calls *calls
	began time.Time
}

// Wait implements tso.TSFuture.
func (f countedTS) Wait() (physical, logical int64, err error) {
	physical, logical, err = f.TSFuture.Wait()
	f.calls.ended(tsoCall, time.Since(f.began), reasonOf(f.ctx, nil, err))
	return physical, logical, err
}
