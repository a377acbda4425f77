package tikvtest

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pingcap/failpoint"
	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/tikv/client-go/v2/testutils"
	"github.com/tikv/client-go/v2/util"
	"github.com/tikv/client-go/v2/util/codec"
	pd "github.com/tikv/pd/client"
)

const maxTS = math.MaxUint64

// Cluster is a TiKV cluster. All methods may be called concurrently.
type Cluster struct {
	regions *testutils.MockCluster
	pd      pd.Client

	mu    sync.Mutex
	data  *data
	waits map[uint64]waiting // by the start of who waits
	gone  chan struct{}      // closed by Close
}

// waiting is what one transaction waits for.
type waiting struct {
	of  uint64 // the start of the holder
	key []byte
}

var prepare = sync.OnceValue(func() error {
	// After a lost call the client looks for the store's port, which does not exist.
	util.EnableFailpoints()
	return failpoint.Enable("tikvclient/injectLiveness", `return("reachable")`)
})

// New starts a cluster of three stores with one region.
func New() (*Cluster, error) {
	if err := prepare(); err != nil {
		return nil, err
	}
	mock, regions, p, err := testutils.NewMockTiKV("", nil)
	if err != nil {
		return nil, err
	}
	if err := mock.Close(); err != nil { // its store of versions is not used
		return nil, err
	}
	testutils.BootstrapWithMultiStores(regions, 3)
	return &Cluster{regions: regions, pd: p, data: newData(), waits: make(map[uint64]waiting), gone: make(chan struct{})}, nil
}

// Close ends the waits for locks.
func (c *Cluster) Close() { close(c.gone) }

// Regions is the number of regions.
func (c *Cluster) Regions() int { return len(c.regions.ScanRegions(nil, nil, math.MaxInt32)) }

// Split makes key the start of a region.
func (c *Cluster) Split(key []byte) {
	at := codec.EncodeBytes(nil, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	region, _, _, _ := c.regions.GetRegionByKey(at)
	if region == nil || bytes.Equal(region.StartKey, at) {
		return
	}
	peers := c.regions.AllocIDs(len(region.Peers))
	c.regions.SplitRaw(region.Id, c.regions.AllocID(), at, peers, peers[0])
}

// MoveLeaders gives each region a leader at random.
func (c *Cluster) MoveLeaders() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.regions.ScanRegions(nil, nil, math.MaxInt32) {
		c.regions.ChangeLeader(r.Meta.Id, r.Meta.Peers[rand.IntN(len(r.Meta.Peers))].Id)
	}
}

// maxRegions is where Shake stops to split.
const maxRegions = 30

// Shake splits regions at keys that exist and moves leaders, until ctx ends.
func (c *Cluster) Shake(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if key := c.anyKey(); key != nil && c.Regions() < maxRegions {
			c.Split(key)
		}
		c.MoveLeaders()
	}
}

func (c *Cluster) anyKey() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data.Len() == 0 {
		return nil
	}
	e, _ := c.data.GetAt(rand.IntN(c.data.Len()))
	return e.key
}

// Locks is the number of keys that are locked, by open transactions or dead ones.
func (c *Cluster) Locks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	c.data.Scan(func(e *entry) bool {
		if e.lock != nil {
			n++
		}
		return true
	})
	return n
}

// Waiting is the number of transactions that wait for locks.
func (c *Cluster) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waits)
}

// bounds are the keys of a region, from start to before end, where nil is open.
type bounds struct{ start, end []byte }

// region checks that the store at addr serves the region of a call, as a server does.
func (c *Cluster) region(addr string, ctx *kvrpcpb.Context) (bounds, *errorpb.Error) {
	store := c.regions.GetStoreByAddr(addr)
	region, leader := c.regions.GetRegion(ctx.GetRegionId())
	if region == nil || store == nil {
		return bounds{}, &errorpb.Error{Message: "region not found", RegionNotFound: &errorpb.RegionNotFound{RegionId: ctx.GetRegionId()}}
	}
	for _, p := range region.Peers {
		if p.Id == leader && p.StoreId != store.Id {
			return bounds{}, &errorpb.Error{Message: "not leader", NotLeader: &errorpb.NotLeader{RegionId: region.Id, Leader: p}}
		}
	}
	if e := ctx.GetRegionEpoch(); e.GetVersion() != region.RegionEpoch.Version || e.GetConfVer() != region.RegionEpoch.ConfVer {
		now := []*metapb.Region{region}
		if next, _, _, _ := c.regions.GetRegionByKey(region.EndKey); next != nil && len(region.EndKey) > 0 {
			now = append(now, next)
		}
		return bounds{}, &errorpb.Error{Message: "epoch not match", EpochNotMatch: &errorpb.EpochNotMatch{CurrentRegions: now}}
	}
	return bounds{start: decode(region.StartKey), end: decode(region.EndKey)}, nil
}

// decode makes a key of the border of a region.
func decode(border []byte) []byte {
	if len(border) == 0 {
		return nil
	}
	_, key, err := codec.DecodeBytes(border, nil)
	if err != nil {
		panic(err) // Split wrote it
	}
	return key
}

// find returns the entry of a key, which it makes.
func (c *Cluster) find(key []byte) *entry {
	if e := c.peek(key); e != nil {
		return e
	}
	e := &entry{key: bytes.Clone(key)}
	c.data.Set(e)
	return e
}

// peek returns the entry of a key, nil when it was never touched.
func (c *Cluster) peek(key []byte) *entry {
	e, _ := c.data.Get(&entry{key: key})
	return e
}

// each calls fn with the entries from start to before end until it returns false.
func (c *Cluster) each(start, end []byte, fn func(e *entry) bool) {
	c.data.Ascend(&entry{key: start}, func(e *entry) bool {
		return (len(end) == 0 || bytes.Compare(e.key, end) < 0) && fn(e)
	})
}

// eachDown is each in descending order.
func (c *Cluster) eachDown(start, end []byte, fn func(e *entry) bool) {
	visit := func(e *entry) bool {
		if len(end) > 0 && bytes.Compare(e.key, end) >= 0 {
			return true
		}
		return bytes.Compare(e.key, start) >= 0 && fn(e)
	}
	if len(end) == 0 {
		c.data.Reverse(visit)
		return
	}
	c.data.Descend(&entry{key: end}, visit)
}
