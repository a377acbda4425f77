package tikvkv_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// TestDiscardKeepsCommits: what a transaction has written elsewhere is there when the
// keys go by which it was committed, though its other locks were not resolved yet.
func TestDiscardKeepsCommits(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	const keys = 3000 // more than one call commits
	x := begin(t, s)
	must(t, lock(x, "a"))
	must(t, x.Put(bg, []byte("a"), []byte("v")))
	for i := range keys {
		must(t, x.Put(bg, fmt.Appendf(nil, "z%08d", i), []byte("v")))
	}
	var calls atomic.Int64
	free := make(chan struct{})
	onCall(n, tikvrpc.CmdCommit, func(_ *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if calls.Add(1) > 1 {
			<-free
		}
		return next()
	})
	_, err := x.Commit(bg)
	must(t, err)
	must(t, s.Discard(bg, storage.Span{Start: []byte("a"), End: []byte("b")}))
	seen := 0
	sc, err := s.Latest().Scan(bg, storage.Span{Start: []byte("z")}, storage.ScanOptions{})
	must(t, err)
	_, err = sc.Visit(bg, func([]byte, []byte) bool { seen++; return true })
	must(t, err)
	must(t, sc.Close())
	close(free)
	if seen != keys || calls.Load() < 2 {
		t.Fatalf("%d of %d keys, after %d calls", seen, keys, calls.Load())
	}
}
