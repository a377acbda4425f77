package tikvtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util/async"
	pd "github.com/tikv/pd/client"
	"github.com/tikv/pd/client/clients/tso"
	"github.com/tikv/pd/client/pkg/caller"
)

// ErrLost is the error of a call that got lost, or whose answer did.
var ErrLost = errors.New("tikvtest: the call was lost")

// Hook answers a call; next has it served.
type Hook func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error)

// TSOHook takes a timestamp; next does.
type TSOHook func(next func() (physical, logical int64, err error)) (physical, logical int64, err error)

// Node is the way of one client into a cluster. All methods may be called concurrently.
type Node struct {
	c             *Cluster
	cut           atomic.Bool
	delay         atomic.Int64
	hook          atomic.Pointer[Hook]
	tsoHook       atomic.Pointer[TSOHook]
	before, after atomic.Uint64 // events of a million

	mu    sync.Mutex
	calls map[string]int
}

var _ tikv.Client = (*Node)(nil)

// Node makes a way into the cluster.
func (c *Cluster) Node() *Node { return &Node{c: c, calls: make(map[string]int)} }

// Connect opens a client of the node. It belongs to the caller.
func (n *Node) Connect(opts ...tikv.Option) (*tikv.KVStore, error) {
	return tikv.NewTestTiKVStore(n, placement{n.c.pd, n}, nil, nil, 0, opts...)
}

// Cut cuts the client off, or ends that. What it has called for meanwhile is lost.
func (n *Node) Cut(off bool) { n.cut.Store(off) }

// Delay makes each call take up to d longer, at random.
func (n *Node) Delay(d time.Duration) { n.delay.Store(int64(d)) }

const million = 1e6

// Lose loses calls with a probability: before they take effect, and their answers.
func (n *Node) Lose(before, after float64) {
	n.before.Store(uint64(before * million))
	n.after.Store(uint64(after * million))
}

// Intercept has h answer all calls; nil ends that.
func (n *Node) Intercept(h Hook) {
	if h == nil {
		n.hook.Store(nil)
		return
	}
	n.hook.Store(&h)
}

// InterceptTSO has h take all timestamps; nil ends that.
func (n *Node) InterceptTSO(h TSOHook) {
	if h == nil {
		n.tsoHook.Store(nil)
		return
	}
	n.tsoHook.Store(&h)
}

// TSO is the name under which timestamps are counted.
const TSO = "TSO"

// Calls is the number of calls by their names since the last Reset.
func (n *Node) Calls() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[string]int, len(n.calls))
	for name, k := range n.calls {
		out[name] = k
	}
	return out
}

// Reset forgets the counts.
func (n *Node) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.calls)
}

func (n *Node) count(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls[name]++
}

// cutWait is how long a call into a cut takes.
const cutWait = 20 * time.Millisecond

// pass delays a call, or loses it.
func (n *Node) pass(ctx context.Context) error {
	d := time.Duration(n.delay.Load())
	if d > 0 {
		d = rand.N(d)
	}
	cut := n.cut.Load()
	if cut {
		d += cutWait
	}
	if d > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(d):
		}
	}
	if cut {
		return ErrLost
	}
	return nil
}

// SendRequest implements tikv.Client.
func (n *Node) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration) (*tikvrpc.Response, error) {
	n.count(req.Type.String())
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := n.pass(ctx); err != nil {
		return nil, err
	}
	serve := func() (*tikvrpc.Response, error) { return n.serve(ctx, addr, req) }
	if h := n.hook.Load(); h != nil {
		return (*h)(req, serve)
	}
	return serve()
}

// serve has a call served, or loses it or its answer.
func (n *Node) serve(ctx context.Context, addr string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
	if one(float64(n.before.Load()) / million) {
		return nil, ErrLost
	}
	resp, err := n.c.call(ctx, addr, req)
	if err == nil && (n.cut.Load() || one(float64(n.after.Load())/million)) {
		return nil, ErrLost
	}
	return resp, err
}

// asyncTimeout bounds the calls that come without a time.
const asyncTimeout = 30 * time.Second

// SendRequestAsync implements tikv.Client.
func (n *Node) SendRequestAsync(ctx context.Context, addr string, req *tikvrpc.Request, cb async.Callback[*tikvrpc.Response]) {
	go func() { cb.Schedule(n.SendRequest(ctx, addr, req, asyncTimeout)) }()
}

// Close implements tikv.Client.
func (n *Node) Close() error { return nil }

// CloseAddr implements tikv.Client.
func (n *Node) CloseAddr(string) error { return nil }

// SetEventListener implements tikv.Client.
func (n *Node) SetEventListener(tikv.ClientEventListener) {}

// placement is the placement driver as the node reaches it.
type placement struct {
	pd.Client
	n *Node
}

// WithCallerComponent implements pd.Client.
func (p placement) WithCallerComponent(caller.Component) pd.Client { return p }

// GetTS implements pd.Client.
func (p placement) GetTS(ctx context.Context) (int64, int64, error) {
	p.n.count(TSO)
	if err := p.n.pass(ctx); err != nil {
		return 0, 0, err
	}
	next := func() (int64, int64, error) { return p.Client.GetTS(ctx) }
	if h := p.n.tsoHook.Load(); h != nil {
		return (*h)(next)
	}
	return next()
}

// GetTSAsync implements pd.Client.
func (p placement) GetTSAsync(ctx context.Context) tso.TSFuture { return future{ctx, p} }

type future struct {
	ctx context.Context
	p   placement
}

// Wait implements tso.TSFuture.
func (f future) Wait() (int64, int64, error) { return f.p.GetTS(f.ctx) }
