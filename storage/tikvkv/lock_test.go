package tikvkv_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

func lockBy(x storage.Txn, opts storage.LockOptions, keys ...string) ([]storage.Locked, error) {
	bs := make([][]byte, len(keys))
	for i, k := range keys {
		bs[i] = []byte(k)
	}
	return x.Lock(bg, bs, opts)
}

// TestLockAfterFailure: client-go rolls back a failed call in the background. What the
// transaction locks again meanwhile stays locked.
func TestLockAfterFailure(t *testing.T) {
	testflag.Normal(t)
	c := cluster(t)
	c.Split([]byte("b")) // the call for a takes effect, that for b does not
	s, n := open(t, c, tikvkv.Options{})
	holder, x, y := begin(t, s), begin(t, s), begin(t, s)
	must(t, lock(holder, "b"))
	rolledBack := make(chan struct{}, 8)
	onCall(n, tikvrpc.CmdPessimisticRollback, func(_ *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		time.Sleep(50 * time.Millisecond)
		resp, err := next()
		rolledBack <- struct{}{}
		return resp, err
	})
	_, err := lockBy(x, storage.LockOptions{Timeout: 10 * time.Millisecond}, "a", "b")
	wantErr(t, err, storage.ErrLockTimeout)
	must(t, lock(x, "a"))
	<-rolledBack
	_, err = lockBy(y, storage.LockOptions{Wait: storage.WaitError}, "a")
	wantErr(t, err, storage.ErrNoWait)
	must(t, x.Put(bg, []byte("a"), []byte("v")))
	_, err = x.Commit(bg)
	must(t, err)
}

// TestStaleTimestamp: a lock at the timestamp of the transaction's first one finds what was
// committed since.
func TestStaleTimestamp(t *testing.T) {
	s, _ := open(t, cluster(t), tikvkv.Options{})
	x := begin(t, s)
	must(t, lock(x, "a"))
	write(t, s, "b", "1")
	write(t, s, "b", "2")
	got, err := lockBy(x, storage.LockOptions{}, "b", "c")
	must(t, err)
	if string(got[0].Value) != "2" || got[1].Value != nil {
		t.Fatalf("found %q and %q", got[0].Value, got[1].Value)
	}
}

// TestCloseInCut: Close does not wait for a cluster that does not answer, and ends waits.
func TestCloseInCut(t *testing.T) {
	testflag.Normal(t) // waits for seconds
	t.Parallel()
	c := cluster(t)
	s, n := open(t, c, tikvkv.Options{})
	holder, x := begin(t, s), begin(t, s)
	must(t, lock(holder, "k"))
	done := make(chan error, 1)
	go func() { done <- lock(x, "k") }()
	eventually(t, "the wait", func() bool { return c.Waiting() == 1 })
	n.Cut(true)
	began := time.Now()
	_ = s.Close() // what it cannot tell the cluster is not of interest here
	wantErr(t, <-done, storage.ErrClosed)
	if took := time.Since(began); took > 8*time.Second {
		t.Fatalf("closed after %v", took)
	}
	_, err := s.Begin(bg, storage.TxnOptions{})
	wantErr(t, err, storage.ErrClosed)
	n.Cut(false)
}

// TestClasses: errors of the servers have the classes of package storage.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name string
		err  *kvrpcpb.KeyError
		want error
	}{
		{"conflict", &kvrpcpb.KeyError{Conflict: &kvrpcpb.WriteConflict{}}, storage.ErrConflict},
		{"retryable", &kvrpcpb.KeyError{Retryable: "again"}, storage.ErrConflict},
		{"abort", &kvrpcpb.KeyError{Abort: "gone"}, storage.ErrConflict},
		{"other", &kvrpcpb.KeyError{}, storage.ErrUnavailable},
	} {
		s, n := open(t, cluster(t), tikvkv.Options{})
		x := begin(t, s)
		must(t, lock(x, "k"))
		must(t, x.Put(bg, []byte("k"), []byte("v")))
		onCall(n, tikvrpc.CmdPrewrite, func(*tikvrpc.Request, func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
			return &tikvrpc.Response{Resp: &kvrpcpb.PrewriteResponse{Errors: []*kvrpcpb.KeyError{c.err}}}, nil
		})
		if _, err := x.Commit(bg); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	s, n := open(t, cluster(t), tikvkv.Options{})
	n.Cut(true)
	ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
	defer cancel()
	if _, err := s.Latest().Get(ctx, []byte("k"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read in a cut: %v", err)
	}
	n.Cut(false)
}

// TestLockMemory: locks on other machines count as memory of this one, with what was found.
func TestLockMemory(t *testing.T) {
	s, _ := open(t, cluster(t), tikvkv.Options{})
	m := &memory{limit: 4 << 20}
	x, err := s.Begin(bg, storage.TxnOptions{Memory: m})
	must(t, err)
	defer x.Rollback()
	for i := 0; err == nil && i < 100; i++ {
		keys := make([][]byte, 1000)
		for j := range keys {
			keys[j] = fmt.Appendf(nil, "%0100d", i*1000+j)
		}
		_, err = x.Lock(bg, keys, storage.LockOptions{})
	}
	wantErr(t, err, storage.ErrLockTableFull)
	x.Rollback()
	if m.held != 0 {
		t.Fatalf("%d bytes held", m.held)
	}
}

// memory is a storage.Memory with a limit, of one goroutine.
type memory struct{ held, limit int64 }

func (m *memory) Grow(n int64) error {
	if m.held+n > m.limit {
		return errors.New("no memory")
	}
	m.held += n
	return nil
}

func (m *memory) Shrink(n int64) { m.held -= n }
