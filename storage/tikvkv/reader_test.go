package tikvkv_test

import (
	"sync/atomic"
	"testing"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sqlots/sqlots/storage/tikvkv"
)

// withoutCommitTimes serves as TiKV before 2026: answers do not say when a value was
// committed.
func withoutCommitTimes(gets *atomic.Int64) func(*tikvrpc.Request, func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
	return func(_ *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		resp, err := next()
		if err != nil {
			return nil, err
		}
		if get, ok := resp.Resp.(*kvrpcpb.GetResponse); ok {
			gets.Add(1)
			get.CommitTs = 0
		}
		return resp, nil
	}
}

// TestReadWithoutCommitTimes reads the latest value of a key from servers that do not say
// when it was committed: only the first read is made again.
func TestReadWithoutCommitTimes(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	x := begin(t, s)
	must(t, x.Put(bg, []byte("a"), []byte("1")))
	_, err := x.Commit(bg)
	must(t, err)
	var gets atomic.Int64
	n.Intercept(withoutCommitTimes(&gets))
	defer n.Intercept(nil)
	for _, want := range []int64{2, 3, 4} {
		if v := value(t, s.Latest(), "a"); v != "1" {
			t.Fatalf("value %q", v)
		}
		if got := gets.Load(); got != want {
			t.Fatalf("%d reads, want %d", got, want)
		}
	}
	if v := value(t, s.Latest(), "b"); v != "" {
		t.Fatalf("value %q of a key that is not there", v)
	}
}
