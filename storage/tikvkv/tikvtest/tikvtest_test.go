package tikvtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

var bg = context.Background()

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB) (*tikvtest.Cluster, *tikvtest.Node, *tikv.KVStore) {
	t.Helper()
	c, err := tikvtest.New()
	must(t, err)
	t.Cleanup(c.Close)
	n, s := connect(t, c)
	return c, n, s
}

func connect(t testing.TB, c *tikvtest.Cluster) (*tikvtest.Node, *tikv.KVStore) {
	t.Helper()
	n := c.Node()
	s, err := n.Connect()
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return n, s
}

func begin(t testing.TB, s *tikv.KVStore, pessimistic bool) *transaction.KVTxn {
	t.Helper()
	x, err := s.Begin()
	must(t, err)
	x.SetPessimistic(pessimistic)
	return x
}

func write(t testing.TB, s *tikv.KVStore, keys ...string) {
	t.Helper()
	x := begin(t, s, false)
	for _, k := range keys {
		must(t, x.Set([]byte(k), []byte("value of "+k)))
	}
	must(t, x.Commit(bg))
}

// lock locks keys at a timestamp, 0 for the current one, and returns the latest value
// of the first.
func lock(s *tikv.KVStore, x *transaction.KVTxn, ts uint64, wait int64, keys ...string) (string, error) {
	if ts == 0 {
		var err error
		if ts, err = s.CurrentTimestamp(oracle.GlobalTxnScope); err != nil {
			return "", err
		}
	}
	l := kv.NewLockCtx(ts, wait, time.Now())
	l.InitReturnValues(len(keys))
	bs := make([][]byte, len(keys))
	for i, k := range keys {
		bs[i] = []byte(k)
	}
	err := x.LockKeys(bg, l, bs...)
	return string(l.Values[keys[0]].Value), err
}

func mustLock(t testing.TB, s *tikv.KVStore, x *transaction.KVTxn, keys ...string) string {
	t.Helper()
	v, err := lock(s, x, 0, 10_000, keys...)
	must(t, err)
	return v
}

func value(t testing.TB, s *tikv.KVStore, key string) string {
	t.Helper()
	ts, err := s.CurrentTimestamp(oracle.GlobalTxnScope)
	must(t, err)
	e, err := s.GetSnapshot(ts).Get(bg, []byte(key))
	if tikverr.IsErrNotFound(err) {
		return ""
	}
	must(t, err)
	return string(e.Value)
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timed out: " + what)
		}
	}
}

func scan(t testing.TB, s *tikv.KVStore, start, end string, reverse bool) (keys []string) {
	t.Helper()
	ts, err := s.CurrentTimestamp(oracle.GlobalTxnScope)
	must(t, err)
	sn := s.GetSnapshot(ts)
	sn.SetScanBatchSize(3)
	it, err := sn.Iter([]byte(start), []byte(end))
	if reverse {
		it, err = sn.IterReverse([]byte(end), []byte(start))
	}
	must(t, err)
	for it.Valid() {
		keys = append(keys, string(it.Key()))
		must(t, it.Next())
	}
	return keys
}

// TestScan reads both ways over the borders of regions.
func TestScan(t *testing.T) {
	c, _, s := open(t)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("k%02d", i))
	}
	write(t, s, want...)
	for _, at := range []string{"k05", "k06", "k11"} {
		c.Split([]byte(at))
	}
	if n := c.Regions(); n != 4 {
		t.Fatalf("%d regions", n)
	}
	c.MoveLeaders()
	if got := scan(t, s, "k03", "k15", false); fmt.Sprint(got) != fmt.Sprint(want[3:15]) {
		t.Fatalf("forward %v", got)
	}
	got := scan(t, s, "k03", "k15", true)
	for i, k := range got {
		if k != want[14-i] || len(got) != 12 {
			t.Fatalf("reverse %v", got)
		}
	}
}

// TestLockAfterCommit: who locks a key after another's commit sees its value, and
// writes it.
func TestLockAfterCommit(t *testing.T) {
	_, _, s := open(t)
	x := begin(t, s, true)
	write(t, s, "k")
	if _, err := lock(s, x, x.StartTS(), 1000, "k"); !tikverr.IsErrWriteConflict(err) {
		t.Fatalf("a lock from before the commit: %v", err)
	}
	if v := mustLock(t, s, x, "k"); v != "value of k" {
		t.Fatalf("locked %q", v)
	}
	must(t, x.Set([]byte("k"), []byte("new")))
	must(t, x.Commit(bg))
	if v := value(t, s, "k"); v != "new" {
		t.Fatalf("read %q", v)
	}
}

// TestOptimistic: of two that write the same key without locks, the second fails.
func TestOptimistic(t *testing.T) {
	_, _, s := open(t)
	x := begin(t, s, false)
	write(t, s, "k")
	must(t, x.Set([]byte("k"), []byte("late")))
	if err := x.Commit(bg); !tikverr.IsErrWriteConflict(err) {
		t.Fatalf("commit: %v", err)
	}
}

// TestWait: a wait ends with the lock, its time, or at once.
func TestWait(t *testing.T) {
	c, _, s := open(t)
	x, y := begin(t, s, true), begin(t, s, true)
	mustLock(t, s, x, "k")
	if _, err := lock(s, y, 0, kv.LockNoWait, "k"); !errors.Is(err, tikverr.ErrLockAcquireFailAndNoWaitSet) {
		t.Fatalf("no wait: %v", err)
	}
	began := time.Now()
	if _, err := lock(s, y, 0, 50, "k"); !errors.Is(err, tikverr.ErrLockWaitTimeout) || time.Since(began) > 5*time.Second {
		t.Fatalf("timeout: %v after %v", err, time.Since(began))
	}
	got := make(chan error)
	go func() {
		_, err := lock(s, y, 0, 10_000, "k")
		got <- err
	}()
	eventually(t, "the wait", func() bool { return c.Waiting() == 1 })
	must(t, x.Rollback())
	if err := <-got; !tikverr.IsErrWriteConflict(err) {
		t.Fatalf("after the end of the lock: %v", err)
	}
	mustLock(t, s, y, "k")
	must(t, y.Rollback())
	eventually(t, "the end of the locks", func() bool { return c.Locks() == 0 })
}

// TestDeadlock: the transaction that closes a cycle fails, with the cycle.
func TestDeadlock(t *testing.T) {
	c, _, s := open(t)
	x, y := begin(t, s, true), begin(t, s, true)
	mustLock(t, s, x, "a")
	mustLock(t, s, y, "b")
	var wg sync.WaitGroup
	wg.Go(func() {
		for { // a conflict when the lock ends
			_, err := lock(s, x, 0, 10_000, "b")
			if err == nil {
				return
			}
			if !tikverr.IsErrWriteConflict(err) {
				t.Error(err)
				return
			}
		}
	})
	eventually(t, "the wait", func() bool { return c.Waiting() == 1 })
	_, err := lock(s, y, 0, 10_000, "a")
	var d *tikverr.ErrDeadlock
	if !errors.As(err, &d) || len(d.WaitChain) != 2 || d.WaitChain[0].Txn != y.StartTS() {
		t.Fatalf("error %v", err)
	}
	must(t, y.Rollback())
	wg.Wait()
	must(t, x.Rollback())
}

// TestExpired: the locks of a client that is gone end with their time.
func TestExpired(t *testing.T) {
	testflag.Normal(t)
	c, _, s := open(t)
	n, dead := connect(t, c)
	was := atomic.SwapUint64(&transaction.ManagedLockTTL, 300)
	defer atomic.StoreUint64(&transaction.ManagedLockTTL, was)
	mustLock(t, dead, begin(t, dead, true), "k")
	n.Cut(true)
	x := begin(t, s, true)
	for {
		_, err := lock(s, x, 0, 20_000, "k")
		if err == nil {
			break
		}
		if !tikverr.IsErrWriteConflict(err) {
			t.Fatal(err)
		}
	}
	must(t, x.Rollback())
}

// TestPushed: a reader that meets the locks of a commit under way pushes its timestamp,
// and the commit takes a new one.
func TestPushed(t *testing.T) {
	_, n, s := open(t)
	x := begin(t, s, false)
	must(t, x.Set([]byte("k"), []byte("v")))
	var once sync.Once
	n.Intercept(func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if req.Type == tikvrpc.CmdCommit {
			once.Do(func() {
				if v := value(t, s, "k"); v != "" {
					t.Errorf("read %q before the commit", v)
				}
			})
		}
		return next()
	})
	must(t, x.Commit(bg))
	n.Intercept(nil)
	if n.Calls()["Commit"] != 2 || value(t, s, "k") != "v" {
		t.Fatalf("calls %v", n.Calls())
	}
}

// TestLost: calls that get lost, or their answers, change nothing in the end.
func TestLost(t *testing.T) {
	c, n, s := open(t)
	n.Lose(0.02, 0.02)
	ctx, stop := context.WithCancel(bg)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { c.Shake(ctx, 5*time.Millisecond) })
	for i := range 30 {
		x := begin(t, s, true)
		k := fmt.Sprintf("k%02d", i)
		for {
			_, err := lock(s, x, 0, 10_000, k, "all")
			if err == nil {
				break
			}
			if !tikverr.IsErrWriteConflict(err) {
				t.Fatal(err)
			}
		}
		must(t, x.Set([]byte(k), []byte("v")))
		must(t, x.Set([]byte("all"), []byte(k)))
		must(t, x.Commit(bg))
	}
	stop()
	wg.Wait()
	n.Lose(0, 0)
	if got := scan(t, s, "k", "l", false); len(got) != 30 {
		t.Fatalf("%d keys", len(got))
	}
}

// TestGC: old versions go, the latest ones stay.
func TestGC(t *testing.T) {
	_, _, s := open(t)
	for range 3 {
		write(t, s, "a", "b")
	}
	ts, err := s.CurrentTimestamp(oracle.GlobalTxnScope)
	must(t, err)
	if _, err := s.GC(bg, ts); err != nil {
		t.Fatal(err)
	}
	if value(t, s, "a") == "" {
		t.Fatal("a is gone")
	}
	must(t, s.UnsafeDestroyRange(bg, []byte("a"), []byte("b")))
	if value(t, s, "a") != "" || value(t, s, "b") == "" {
		t.Fatal("the wrong keys were destroyed")
	}
}
