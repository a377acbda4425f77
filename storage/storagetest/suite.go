package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// Open makes an empty store for one test. The suite closes it.
type Open func(t *testing.T) storage.Store

// Run executes the whole suite.
func Run(t *testing.T, open Open) {
	tests := []struct {
		name string
		fn   func(t *testing.T, s storage.Store)
	}{
		{"Get", testGet},
		{"BatchGet", testBatchGet},
		{"BatchGetShapes", testBatchGetShapes},
		{"Scan", testScan},
		{"ScanResume", testScanResume},
		{"ScanMany", testScanMany},
		{"ReadersConcurrent", testReadersConcurrent},
		{"Snapshot", testSnapshot},
		{"SnapshotSeqs", testSnapshotSeqs},
		{"ContextCancel", testContextCancel},
		{"TxnReadsOwnWrites", testTxnReadsOwnWrites},
		{"TxnShow", testTxnShow},
		{"TxnMergeShapes", testTxnMergeShapes},
		{"TxnView", testTxnView},
		{"TxnLatest", testTxnLatest},
		{"TxnScanIsFrozen", testTxnScanIsFrozen},
		{"TxnEnd", testTxnEnd},
		{"CommitSeq", testCommitSeq},
		{"CommitCancelled", testCommitCancelled},
		{"Durability", testDurability},
		{"Insert", testInsert},
		{"Reserve", testReserve},
		{"Limits", testLimits},
		{"TxnMemory", testTxnMemory},
		{"OverwrittenMemory", testOverwrittenMemory},
		{"LockMemory", testLockMemory},
		{"ReservedKeys", testReservedKeys},
		{"ReadOnly", testReadOnly},
		{"Savepoints", testSavepoints},
		{"SavepointLarge", testSavepointLarge},
		{"LargeTxn", testLargeTxn},
		{"Stamped", testStamped},
		{"StampedKnown", testStampedKnown},
		{"StampedSavepoints", testStampedSavepoints},
		{"StampedLimits", testStampedLimits},
		{"StampedOrder", testStampedOrder},
		{"Marks", testMarks},
		{"MarkWakes", testMarkWakes},
		{"Settled", testSettled},
		{"LockValues", testLockValues},
		{"LockBlocks", testLockBlocks},
		{"LockShared", testLockShared},
		{"LockPolicies", testLockPolicies},
		{"LockTimeout", testLockTimeout},
		{"LockGivenUp", testLockGivenUp},
		{"LockNotShared", testLockNotShared},
		{"LockCancel", testLockCancel},
		{"LockUpgrade", testLockUpgrade},
		{"LockFIFO", testLockFIFO},
		{"LockSavepoint", testLockSavepoint},
		{"LockInfo", testLockInfo},
		{"Deadlock", testDeadlock},
		{"DeadlockTwo", testDeadlockTwo},
		{"DeadlockUpgrade", testDeadlockUpgrade},
		{"DeadlockThree", testDeadlockThree},
		{"RangeBlocks", testRangeBlocks},
		{"RangeWaits", testRangeWaits},
		{"RangeEnds", testRangeEnds},
		{"RangeDeadlock", testRangeDeadlock},
		{"LockingReader", testLockingReader},
		{"Watch", testWatch},
		{"ManyRanges", testManyRanges},
		{"Serializable", testSerializable},
		{"BulkLoad", testBulkLoad},
		{"BulkLoadAbort", testBulkLoadAbort},
		{"BulkLoadOverwrites", testBulkLoadOverwrites},
		{"BulkLoadRuns", testBulkLoadRuns},
		{"BulkLoadUnordered", testBulkLoadUnordered},
		{"Discard", testDiscard},
		{"Clear", testClear},
		{"Partitions", testPartitions},
		{"EstimateSize", testEstimateSize},
		{"Metrics", testMetrics},
		{"Transfers", testTransfers},
		{"Model", testModel},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			if needs := needed[test.name]; needs != nil && !needs(s.Caps()) {
				t.Skip("the store does not promise it")
			}
			test.fn(t, s)
		})
	}
	t.Run("Close", func(t *testing.T) { testClose(t, open(t)) })
}

// needed says what a test needs of a store that not every store can do.
var needed = map[string]func(c storage.Caps) bool{
	"Marks":           func(c storage.Caps) bool { return c.Sole },
	"LockShared":      func(c storage.Caps) bool { return c.SharedLocks && c.FairLocks },
	"LockUpgrade":     func(c storage.Caps) bool { return c.SharedLocks && c.FairLocks },
	"LockGivenUp":     func(c storage.Caps) bool { return c.SharedLocks && c.FairLocks },
	"LockInfo":        func(c storage.Caps) bool { return c.SharedLocks },
	"LockNotShared":   func(c storage.Caps) bool { return !c.SharedLocks },
	"LockFIFO":        func(c storage.Caps) bool { return c.FairLocks },
	"Deadlock":        func(c storage.Caps) bool { return c.FairLocks },
	"DeadlockUpgrade": func(c storage.Caps) bool { return c.SharedLocks && c.FairLocks },
}

var bg = context.Background()

// patience bounds what must happen; it is reached only by failing tests.
const patience = 20 * time.Second

type kv struct{ k, v string }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func begin(t testing.TB, s storage.Store) storage.Txn {
	t.Helper()
	return beginOpts(t, s, storage.TxnOptions{})
}

func beginOpts(t testing.TB, s storage.Store, opts storage.TxnOptions) storage.Txn {
	t.Helper()
	if opts.LockTimeout == 0 {
		opts.LockTimeout = patience
	}
	x, err := s.Begin(bg, opts)
	must(t, err)
	t.Cleanup(x.Rollback)
	return x
}

func commit(t testing.TB, x storage.Txn) uint64 {
	t.Helper()
	seq, err := x.Commit(bg)
	must(t, err)
	return seq
}

// write commits pairs; an empty value deletes.
func write(t testing.TB, s storage.Store, pairs ...kv) uint64 {
	t.Helper()
	x := begin(t, s)
	put(t, x, pairs...)
	return commit(t, x)
}

func put(t testing.TB, x storage.Txn, pairs ...kv) {
	t.Helper()
	for _, p := range pairs {
		if p.v == "" {
			must(t, x.Delete(bg, []byte(p.k)))
		} else {
			must(t, x.Put(bg, []byte(p.k), []byte(p.v)))
		}
	}
}

// value is the value of key, "" when it is absent.
func value(t testing.TB, r storage.Reader, key string) string {
	t.Helper()
	v, err := r.Get(bg, []byte(key), nil)
	if errors.Is(err, storage.ErrNotFound) {
		return ""
	}
	must(t, err)
	return string(v)
}

func wantValue(t testing.TB, r storage.Reader, key, want string) {
	t.Helper()
	if got := value(t, r, key); got != want {
		t.Fatalf("value of %q is %q, want %q", key, got, want)
	}
}

func span(start, end string) storage.Span {
	var s storage.Span
	if start != "" {
		s.Start = []byte(start)
	}
	if end != "" {
		s.End = []byte(end)
	}
	return s
}

func collect(t testing.TB, r storage.Reader, sp storage.Span, opts storage.ScanOptions) []kv {
	t.Helper()
	sc, err := r.Scan(bg, sp, opts)
	must(t, err)
	defer func() { must(t, sc.Close()) }()
	var out []kv
	done, err := sc.Visit(bg, func(k, v []byte) bool {
		if opts.KeyOnly && v != nil {
			t.Errorf("key-only scan gave a value")
		}
		out = append(out, kv{string(k), string(v)})
		return true
	})
	must(t, err)
	if !done {
		t.Fatal("the scan ended without being done")
	}
	return out
}

func wantScan(t testing.TB, r storage.Reader, sp storage.Span, want ...kv) {
	t.Helper()
	if got := collect(t, r, sp, storage.ScanOptions{}); !slices.Equal(got, want) {
		t.Fatalf("scan [%q,%q) gave %v, want %v", sp.Start, sp.End, got, want)
	}
	back := slices.Clone(want)
	slices.Reverse(back)
	if got := collect(t, r, sp, storage.ScanOptions{Reverse: true}); !slices.Equal(got, back) {
		t.Fatalf("reverse scan [%q,%q) gave %v, want %v", sp.Start, sp.End, got, back)
	}
}

func batch(t testing.TB, r storage.Reader, keys ...string) []string {
	t.Helper()
	bs := make([][]byte, len(keys))
	for i, k := range keys {
		bs[i] = []byte(k)
	}
	var out []string
	err := r.BatchGet(bg, bs, func(i int, v []byte) error {
		if i != len(out) {
			return fmt.Errorf("call %d is for key %d", len(out), i)
		}
		if v != nil && len(v) == 0 {
			return errors.New("empty value")
		}
		out = append(out, string(v))
		return nil
	})
	must(t, err)
	if len(out) != len(keys) {
		t.Fatalf("%d calls for %d keys", len(out), len(keys))
	}
	return out
}

func key(i int) string { return fmt.Sprintf("k%06d", i) }

// fill commits n pairs key(i) = v<i>.
func fill(t testing.TB, s storage.Store, n int) {
	t.Helper()
	x := begin(t, s)
	for i := range n {
		must(t, x.Put(bg, []byte(key(i)), fmt.Appendf(nil, "v%d", i)))
	}
	commit(t, x)
}

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// waiters is the number of transactions that wait for any lock.
func waiters(s storage.Store) int {
	n := 0
	for _, l := range s.Locks() {
		n += len(l.Waiters)
	}
	return n
}

func locks(t testing.TB, x storage.Txn, opts storage.LockOptions, keys ...string) ([]storage.Locked, error) {
	t.Helper()
	bs := make([][]byte, len(keys))
	for i, k := range keys {
		bs[i] = []byte(k)
	}
	return x.Lock(bg, bs, opts)
}

func mustLock(t testing.TB, x storage.Txn, keys ...string) {
	t.Helper()
	_, err := locks(t, x, storage.LockOptions{}, keys...)
	must(t, err)
}

func repeated(c byte, n int) []byte { return bytes.Repeat([]byte{c}, n) }
