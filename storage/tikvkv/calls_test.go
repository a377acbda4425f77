package tikvkv_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pingcap/log"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"go.uber.org/zap"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

// TestCalls counts the calls that wait for each other.
func TestCalls(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{}, tikv.WithUpdateInterval(time.Hour))
	for i := range 20 {
		write(t, s, fmt.Sprintf("k%02d", i), "v")
	}
	put := func(x storage.Txn, key string) { must(t, x.Put(bg, []byte(key), []byte("new"))) }
	for _, c := range []struct {
		name string
		do   func()
		want map[string]int
	}{
		{"point", func() { value(t, s.Latest(), "k01") }, map[string]int{"Get": 1}},
		{"change", func() {
			x := begin(t, s)
			must(t, lock(x, "k01"))
			put(x, "k01")
			_, err := x.Commit(bg)
			must(t, err)
		}, map[string]int{tikvtest.TSO: 2, "PessimisticLock": 1, "Prewrite": 1, "Commit": 1}},
		{"insert with two entries", func() {
			x := begin(t, s)
			must(t, x.Insert(bg, []byte("n1"), []byte("row")))
			must(t, x.Insert(bg, []byte("n2"), []byte("unique entry")))
			put(x, "n3")
			_, err := x.Commit(bg)
			must(t, err)
		}, map[string]int{tikvtest.TSO: 2, "PessimisticLock": 2, "Prewrite": 1, "Commit": 1}},
		{"insert of reserved keys", func() {
			x := begin(t, s)
			keys := [][]byte{[]byte("m1"), []byte("m2"), []byte("m3")}
			must(t, x.Reserve(bg, keys))
			for _, key := range keys {
				must(t, x.Insert(bg, key, []byte("row")))
			}
			_, err := x.Commit(bg)
			must(t, err)
		}, map[string]int{tikvtest.TSO: 2, "PessimisticLock": 1, "Prewrite": 1, "Commit": 1}},
		{"many spans", func() {
			spans := []storage.Span{{Start: []byte("k05"), End: []byte("k07")}, {Start: []byte("k01"), End: []byte("k02")}, {Start: []byte("x"), End: []byte("y")}}
			sc, err := storage.ScanMany(bg, s.Latest(), spans, storage.ScanOptions{})
			must(t, err)
			var got []string
			must(t, storage.VisitAll(bg, sc, func(i int, key, _ []byte) error {
				got = append(got, fmt.Sprint(i, string(key)))
				return nil
			}))
			if fmt.Sprint(got) != "[0k05 0k06 1k01]" {
				t.Errorf("spans %v", got)
			}
		}, map[string]int{tikvtest.TSO: 1, "Scan": 3}},
		{"many locks", func() {
			x := begin(t, s)
			must(t, lock(x, "k03", "k04", "k05", "k06"))
			x.Rollback()
		}, map[string]int{tikvtest.TSO: 1, "PessimisticLock": 1, "PessimisticRollback": 1}},
		{"writes without locks", func() {
			x := begin(t, s)
			put(x, "k07")
			_, err := x.Commit(bg)
			must(t, err)
		}, map[string]int{tikvtest.TSO: 2, "Prewrite": 1, "Commit": 1}},
		{"stamped", func() {
			x := begin(t, s)
			putStamped(t, x, "one")
			_, err := x.Commit(bg)
			must(t, err)
		}, map[string]int{tikvtest.TSO: 3, "Prewrite": 1, "Commit": 1}},
		{"reading only", func() {
			x := begin(t, s)
			value(t, x, "k01")
			_, err := x.Commit(bg)
			must(t, err)
		}, map[string]int{tikvtest.TSO: 1, "Get": 1}},
		{"scan with a limit", func() {
			sc, err := s.Latest().Scan(bg, storage.Span{Start: []byte("k")}, storage.ScanOptions{Limit: 5})
			must(t, err)
			left := 5
			_, err = sc.Visit(bg, func(_, _ []byte) bool { left--; return left > 0 })
			must(t, err)
			must(t, sc.Close())
		}, map[string]int{tikvtest.TSO: 1, "Scan": 1}},
	} {
		n.Reset()
		c.do()
		if got := n.Calls(); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// killed ends the context of a call that is under way, and returns how long the call went
// on then.
func killed(t *testing.T, name string, do func(ctx context.Context) error) time.Duration {
	t.Helper()
	why := errors.New("killed")
	ctx, cancel := context.WithCancelCause(bg)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("%s: %v", name, err)
	}
	return time.Since(began)
}

// TestKill: calls end with their context at once, whatever the cluster does.
func TestKill(t *testing.T) {
	testflag.Normal(t)
	c := cluster(t)
	s, n := open(t, c, tikvkv.Options{})
	write(t, s, "k", "v")
	holder := begin(t, s)
	must(t, lock(holder, "held"))
	kill := func(name string, do func(ctx context.Context) error) {
		t.Helper()
		took := time.Hour
		for range 3 { // a busy machine makes one late
			if took = min(took, killed(t, name, do)); took <= 100*time.Millisecond {
				return
			}
		}
		t.Errorf("%s: ended after %v", name, took)
	}
	x, y := begin(t, s), begin(t, s)
	lockOf := func(x storage.Txn, key string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := x.Lock(ctx, [][]byte{[]byte(key)}, storage.LockOptions{})
			return err
		}
	}
	kill("lock", lockOf(x, "held"))
	must(t, lock(x, "k")) // the transaction goes on
	n.Cut(true)
	kill("lock in a cut", lockOf(y, "other"))
	kill("timestamp", func(ctx context.Context) error { _, err := s.Snapshot(ctx); return err })
	kill("get", func(ctx context.Context) error { _, err := s.Latest().Get(ctx, []byte("k"), nil); return err })
	snap := func() storage.Snapshot {
		n.Cut(false)
		defer n.Cut(true)
		return mustSnapshot(t, s)
	}()
	kill("batch", func(ctx context.Context) error {
		return snap.BatchGet(ctx, [][]byte{[]byte("a"), []byte("k")}, func(int, []byte) error { return nil })
	})
	kill("scan", func(ctx context.Context) error {
		sc, err := snap.Scan(ctx, storage.Span{}, storage.ScanOptions{})
		must(t, err)
		defer sc.Close()
		_, err = sc.Visit(ctx, func(_, _ []byte) bool { return true })
		return err
	})
	n.Cut(false)
	x.Rollback()
	y.Rollback()
	holder.Rollback()
	eventually(t, "the end of all locks", func() bool { return c.Locks() == 0 })
}

// TestPrefetch: the next batch of a scan is fetched while the caller has one.
func TestPrefetch(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	x := begin(t, s)
	for i := range 3000 {
		must(t, x.Put(bg, fmt.Appendf(nil, "k%06d", i), []byte("v")))
	}
	_, err := x.Commit(bg)
	must(t, err)
	sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{})
	must(t, err)
	n.Reset()
	_, err = sc.Visit(bg, func(_, _ []byte) bool { return false })
	must(t, err)
	eventually(t, "the second call", func() bool { return n.Calls()["Scan"] == 2 })
	seen := 1
	done, err := sc.Visit(bg, func(_, _ []byte) bool { seen++; return true })
	if err != nil || !done || seen != 3000 {
		t.Fatal(seen, done, err)
	}
	must(t, sc.Close())
}

// TestScanBytes: calls of a scan over large values read few pairs, both ways.
func TestScanBytes(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	const pairs, size = 600, 64 << 10
	for from := 0; from < pairs; from += 100 {
		x := begin(t, s)
		for i := range 100 {
			must(t, x.Put(bg, fmt.Appendf(nil, "k%06d", from+i), make([]byte, size)))
		}
		_, err := x.Commit(bg)
		must(t, err)
	}
	for _, reverse := range []bool{false, true} {
		var most int
		onCall(n, tikvrpc.CmdScan, func(req *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
			if calls := n.Calls()["Scan"]; calls > 2 {
				most = max(most, int(req.Scan().Limit))
			}
			return next()
		})
		n.Reset()
		sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{Reverse: reverse})
		must(t, err)
		seen := 0
		done, err := sc.Visit(bg, func(key, value []byte) bool {
			at := seen
			if reverse {
				at = pairs - 1 - seen
			}
			if string(key) != fmt.Sprintf("k%06d", at) || len(value) != size {
				t.Fatalf("pair %d is %s", seen, key)
			}
			seen++
			return true
		})
		must(t, sc.Close())
		n.Intercept(nil)
		if err != nil || !done || seen != pairs || most == 0 || most > 64 {
			t.Fatalf("%d pairs, calls of up to %d, %v", seen, most, err)
		}
	}
}

// TestTwoNodes: locks and deadlocks go over the nodes of a cluster, and stores with
// different prefixes have nothing in common.
func TestTwoNodes(t *testing.T) {
	c := cluster(t)
	a, _ := open(t, c, tikvkv.Options{Prefix: []byte("one/")})
	b, _ := open(t, c, tikvkv.Options{Prefix: []byte("one/")})
	other, _ := open(t, c, tikvkv.Options{Prefix: []byte("one0")})
	write(t, a, "k", "v")
	if value(t, b.Latest(), "k") != "v" || value(t, other.Latest(), "k") != "" {
		t.Fatal("prefixes")
	}
	z := begin(t, other)
	must(t, lock(z, "a", "b", "k"))
	x, y := begin(t, a), begin(t, b)
	must(t, lock(x, "a"))
	must(t, lock(y, "b"))
	done := make(chan error, 1)
	go func() { done <- lock(x, "b") }()
	eventually(t, "the wait", func() bool { return c.Waiting() == 1 })
	wantErr(t, lock(y, "a"), storage.ErrDeadlock)
	if d := b.LastDeadlock(); d == nil || d.Victim != y.ID() || len(d.Cycle) != 2 || string(d.Cycle[0].Key) != "a" {
		t.Fatalf("deadlock %+v", d)
	}
	y.Rollback()
	must(t, <-done)
	must(t, other.Discard(bg, storage.Span{}))
	if value(t, a.Latest(), "k") != "v" {
		t.Fatal("Discard went over its prefix")
	}
}

// TestSnapshotAt: a view of a time has all commits with stamps up to it, also those under
// way, and later ones get later times.
func TestSnapshotAt(t *testing.T) {
	s, n := open(t, cluster(t), tikvkv.Options{})
	x := begin(t, s)
	putStamped(t, x, "one")
	hold := make(chan struct{})
	held := make(chan struct{})
	var once sync.Once
	onCall(n, tikvrpc.CmdCommit, func(_ *tikvrpc.Request, next func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		once.Do(func() { close(held) })
		<-hold
		return next()
	})
	done := make(chan error, 1)
	go func() {
		_, err := x.Commit(bg)
		done <- err
	}()
	<-held
	now := time.Now().UnixMicro()
	got := make(chan storage.Snapshot, 1)
	go func() {
		snap, err := s.SnapshotAt(bg, now)
		if err != nil {
			t.Error(err)
		}
		got <- snap
	}()
	select {
	case <-got:
		t.Fatal("did not wait for the commit")
	case <-time.After(30 * time.Millisecond):
	}
	close(hold)
	must(t, <-done)
	if snap := <-got; !records(t, snap)["one"] {
		t.Fatal("the commit is missing")
	}
}

// lines collects log lines.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(p))
	return len(p), nil
}

// TestLog: what client-go reports goes to the log of the store, a level lower, but for what is
// frequent.
func TestLog(t *testing.T) {
	out := &lines{}
	open(t, cluster(t), tikvkv.Options{Log: slog.New(slog.NewTextHandler(out, nil))})
	log.Info("of one transaction")
	log.L().With(zap.Int("n", 7)).Warn("tried again", zap.String("why", "busy"))
	log.Warn("get timestamp too slow")
	out.mu.Lock()
	defer out.mu.Unlock()
	text := strings.Join(out.all, "")
	if strings.Contains(text, "of one") || strings.Contains(text, "too slow") || !strings.Contains(text, `level=INFO msg="tikv: tried again" n=7 why=busy`) {
		t.Fatal(text)
	}
}
