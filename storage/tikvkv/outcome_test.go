package tikvkv_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

// impatient makes the locks of dead clients end soon.
func impatient(t testing.TB) {
	was := atomic.SwapUint64(&transaction.ManagedLockTTL, 600)
	t.Cleanup(func() { atomic.StoreUint64(&transaction.ManagedLockTTL, was) })
}

// onCall answers the calls of one type by fn.
func onCall(n *tikvtest.Node, kind tikvrpc.CmdType, fn tikvtest.Hook) {
	n.Intercept(func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if req.Type != kind {
			return next()
		}
		return fn(req, next)
	})
}

var stamp = storage.Stamp{Key: 1, Time: 0}

// putStamped writes a stamped record with a name.
func putStamped(t testing.TB, x storage.Txn, name string) {
	t.Helper()
	must(t, x.PutStamped([]byte("q12345678"+name), []byte("12345678"+name), stamp))
}

// records are the names of the stamped records that a reader sees.
func records(t testing.TB, r storage.Reader) map[string]bool {
	t.Helper()
	out := make(map[string]bool)
	sc, err := r.Scan(bg, storage.Span{Start: []byte("q"), End: []byte("r")}, storage.ScanOptions{})
	must(t, err)
	_, err = sc.Visit(bg, func(key, _ []byte) bool {
		out[string(key[9:])] = true
		return true
	})
	must(t, err)
	must(t, sc.Close())
	return out
}

// TestOutcomes: each end of a commit has its class, and what the class says is so.
func TestOutcomes(t *testing.T) {
	impatient(t)
	t.Run("settled", unknownHoldsSettled)
	refuse := func() *tikvrpc.Response { // a new one each time: the client changes it
		return &tikvrpc.Response{Resp: &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{Abort: "refused by the test"}}}
	}
	type next = func() (*tikvrpc.Response, error)
	for _, c := range []struct {
		name string
		on   tikvrpc.CmdType
		fn   func(call int, next next) (*tikvrpc.Response, error)
		want error
		// there says whether the writes are there, as soon as the commit has an outcome.
		there bool
	}{
		{"acknowledged", tikvrpc.CmdCommit, func(_ int, next next) (*tikvrpc.Response, error) { return next() }, nil, true},
		{"refused before", tikvrpc.CmdPrewrite, func(int, next) (*tikvrpc.Response, error) {
			return &tikvrpc.Response{Resp: &kvrpcpb.PrewriteResponse{Errors: []*kvrpcpb.KeyError{{Abort: "refused by the test"}}}}, nil
		}, storage.ErrConflict, false},
		{"refused at the end", tikvrpc.CmdCommit, func(int, next) (*tikvrpc.Response, error) { return refuse(), nil }, storage.ErrConflict, false},
		{"lost once", tikvrpc.CmdCommit, func(call int, next next) (*tikvrpc.Response, error) {
			if call == 1 {
				return nil, tikvtest.ErrLost
			}
			return next()
		}, nil, true},
		{"answer lost once", tikvrpc.CmdCommit, func(call int, next next) (*tikvrpc.Response, error) {
			resp, err := next()
			if call == 1 {
				return nil, tikvtest.ErrLost
			}
			return resp, err
		}, nil, true},
		{"lost, then refused", tikvrpc.CmdCommit, func(call int, next next) (*tikvrpc.Response, error) {
			if call == 1 {
				return nil, tikvtest.ErrLost
			}
			return refuse(), nil
		}, storage.ErrConflict, false},
		{"lost", tikvrpc.CmdCommit, func(int, next) (*tikvrpc.Response, error) { return nil, tikvtest.ErrLost }, storage.ErrUndetermined, false},
		{"answers lost", tikvrpc.CmdCommit, func(_ int, next next) (*tikvrpc.Response, error) {
			_, _ = next()
			return nil, tikvtest.ErrLost
		}, storage.ErrUndetermined, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == storage.ErrUndetermined {
				testflag.Normal(t) // these wait longest
			}
			t.Parallel() // most of the time is waits
			s, n := open(t, cluster(t), tikvkv.Options{})
			x := begin(t, s)
			must(t, lock(x, "k"))
			must(t, x.Put(bg, []byte("k"), []byte("v")))
			must(t, x.Put(bg, []byte("l"), []byte("v")))
			putStamped(t, x, "one")
			var calls atomic.Int64
			looked := make(chan struct{})
			n.Intercept(func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
				switch {
				case req.Type == c.on:
					return c.fn(int(calls.Add(1)), next)
				case req.Type == tikvrpc.CmdCheckTxnStatus && c.want == storage.ErrUndetermined:
					<-looked // the outcome is not found before
				}
				return next()
			})
			free := sync.OnceFunc(func() { close(looked) })
			defer free()
			seq, err := x.Commit(bg)
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || seq == 0) {
				t.Fatalf("commit: %d, %v, want %v", seq, err, c.want)
			}
			if c.want == storage.ErrUndetermined && s.Metrics()["in_flight"] != 1 {
				t.Fatal("a commit of unknown outcome is not in flight")
			}
			n.Intercept(nil)
			free()
			eventually(t, "the outcome", func() bool { return s.Metrics()["in_flight"] == 0 })
			for _, key := range []string{"k", "l"} {
				if there := value(t, s.Latest(), key) != ""; there != c.there {
					t.Fatalf("%s is there: %v", key, there)
				}
			}
			if got := records(t, s.Latest())["one"]; got != c.there {
				t.Fatalf("the record is there: %v", got)
			}
		})
	}
}

// unknownHoldsSettled: what is settled does not pass a commit of unknown outcome.
func unknownHoldsSettled(t *testing.T) {
	testflag.Normal(t) // waits for seconds
	t.Parallel()
	c := cluster(t)
	s, n := open(t, c, tikvkv.Options{})
	before, err := s.Settled(bg)
	must(t, err)
	x := begin(t, s)
	putStamped(t, x, "one")
	onCall(n, tikvrpc.CmdCommit, func(*tikvrpc.Request, func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		return nil, tikvtest.ErrLost
	})
	_, err = x.Commit(bg)
	wantErr(t, err, storage.ErrUndetermined)
	at, err := s.Settled(bg)
	must(t, err)
	stampOf := s.Seq()
	if at < before || at >= stampOf {
		t.Fatalf("settled %d after %d, seen %d", at, before, stampOf)
	}
	n.Intercept(nil)
	eventually(t, "the outcome", func() bool {
		now, err := s.Settled(bg)
		must(t, err)
		return now > stampOf
	})
}

// TestSettledOrder: a commit that ends while a snapshot is taken is missed by it, so the
// snapshot is not settled up to its stamp.
func TestSettledOrder(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	hold, held := make(chan struct{}), make(chan struct{})
	x := begin(t, s)
	putStamped(t, x, "one")
	onCall(n, tikvrpc.CmdPrewrite, func(_ *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		close(held)
		<-hold
		return next()
	})
	done := make(chan error, 1)
	go func() {
		_, err := x.Commit(bg)
		done <- err
	}()
	<-held
	// The commit gets its place in time behind that of the snapshot, and ends before the
	// snapshot has been made.
	n.InterceptTSO(func(next func() (int64, int64, error)) (int64, int64, error) {
		physical, logical, err := next()
		n.InterceptTSO(nil)
		close(hold)
		if cerr := <-done; cerr != nil {
			t.Error(cerr)
		}
		return physical, logical, err
	})
	snap, err := s.Snapshot(bg)
	must(t, err)
	defer snap.Close()
	settled, err := snap.Settled(bg)
	must(t, err)
	all := records(t, s.Latest())
	var missed bool
	sc, err := s.Latest().Scan(bg, storage.Span{Start: []byte("q"), End: []byte("r")}, storage.ScanOptions{})
	must(t, err)
	_, err = sc.Visit(bg, func(key, _ []byte) bool {
		_, gerr := snap.Get(bg, key, nil)
		missed = missed || errors.Is(gerr, storage.ErrNotFound) && number(key[1:9]) <= settled
		return true
	})
	must(t, err)
	must(t, sc.Close())
	if missed || !all["one"] {
		t.Fatalf("settled up to %d, and the snapshot misses a commit: %v, records %v", settled, missed, all)
	}
}

// TestSettledLooksLast: a commit that takes its stamp while Settled runs stays above what that
// returns.
func TestSettledLooksLast(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	x := begin(t, s)
	putStamped(t, x, "one")
	hold, held := make(chan struct{}), make(chan uint64, 1)
	onCall(n, tikvrpc.CmdPrewrite, func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		held <- number(req.Prewrite().Mutations[0].Key[1:9])
		<-hold
		return next()
	})
	done := make(chan error, 1)
	var stamped uint64
	n.InterceptTSO(func(next func() (int64, int64, error)) (int64, int64, error) {
		n.InterceptTSO(nil)
		go func() {
			_, err := x.Commit(bg)
			done <- err
		}()
		stamped = <-held
		return next()
	})
	settled, err := s.Settled(bg)
	must(t, err)
	if settled >= stamped {
		t.Errorf("settled %d with stamp %d in flight", settled, stamped)
	}
	close(hold)
	must(t, <-done)
	settled, err = s.Settled(bg)
	must(t, err)
	if settled < stamped {
		t.Errorf("settled %d after the end of %d", settled, stamped)
	}
}

func number(b []byte) (n uint64) {
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n
}

// testLease is a lease that ends at a timestamp.
type testLease struct {
	until atomic.Uint64
	stale atomic.Bool
}

func (l *testLease) Until() uint64 { return l.until.Load() }
func (l *testLease) Fresh() bool   { return !l.stale.Load() }

// TestLease: nothing commits behind the lease, also where a reader has pushed the commit
// behind it, and nothing is left in the way of others.
func TestLease(t *testing.T) {
	c := cluster(t)
	l := &testLease{}
	l.until.Store(1 << 63)
	s, n := open(t, c, tikvkv.Options{Lease: l})
	other, _ := open(t, c, tikvkv.Options{})
	try := func(during func()) {
		t.Helper()
		l.until.Store(1 << 63)
		x := begin(t, s)
		must(t, lock(x, "k"))
		must(t, x.Put(bg, []byte("k"), []byte("v")))
		during()
		began := time.Now()
		_, err := x.Commit(bg)
		n.Intercept(nil)
		wantErr(t, err, storage.ErrUnavailable)
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("refused after %v", took)
		}
		if v := value(t, other.Latest(), "k"); v != "" {
			t.Fatalf("committed %q behind the lease", v)
		}
		y := begin(t, other)
		must(t, lock(y, "k"))
		y.Rollback()
	}
	try(func() { l.until.Store(s.Seq() + 1) })
	pushed := false
	try(func() {
		onCall(n, tikvrpc.CmdCommit, func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
			if !pushed {
				pushed = true
				l.until.Store(req.Commit().CommitVersion + 1)
				if v := value(t, mustSnapshot(t, other), "k"); v != "" {
					t.Errorf("read %q", v)
				}
			}
			return next()
		})
	})
	if !pushed {
		t.Fatal("no commit was pushed")
	}
	l.until.Store(1)
	_, err := s.Snapshot(bg)
	wantErr(t, err, storage.ErrUnavailable)
	l.stale.Store(true)
	_, err = s.Latest().Get(bg, []byte("k"), nil)
	wantErr(t, err, storage.ErrUnavailable)
}

func mustSnapshot(t testing.TB, s storage.Store) storage.Snapshot {
	t.Helper()
	snap, err := s.Snapshot(bg)
	must(t, err)
	return snap
}
