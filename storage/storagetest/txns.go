package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
)

func testTxnReadsOwnWrites(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"}, kv{"c", "3"}, kv{"e", "5"})
	x := begin(t, s)
	if x.Dirty() || x.Size() != 0 {
		t.Fatal("a new transaction is dirty")
	}
	put(t, x, kv{"b", "own"}, kv{"c", ""}, kv{"e", "own"}, kv{"zz", ""})
	want := []kv{{"a", "1"}, {"b", "own"}, {"e", "own"}}
	for _, r := range []storage.Reader{x, x.Latest()} {
		wantScan(t, r, storage.Span{}, want...)
		wantScan(t, r, span("b", "e"), kv{"b", "own"})
		got := batch(t, r, "a", "b", "c", "d", "e", "a")
		if fmt.Sprint(got) != "[1 own   own 1]" {
			t.Fatalf("%q", got)
		}
		wantValue(t, r, "c", "")
	}
	if !x.Dirty() || x.Size() != int64(len("b"+"own"+"c"+"e"+"own"+"zz")) {
		t.Fatalf("size %d", x.Size())
	}
	put(t, x, kv{"b", "longer"}, kv{"b", "x"}, kv{"e", ""})
	if x.Size() != int64(len("b"+"x"+"c"+"e"+"zz")) {
		t.Fatalf("size %d after overwriting", x.Size())
	}
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "1"}, kv{"c", "3"}, kv{"e", "5"})
	buf := []byte("k")
	val := []byte("v")
	must(t, x.Put(bg, buf, val))
	buf[0], val[0] = 'q', 'q' // Put copies
	wantValue(t, x, "k", "v")
	commit(t, x)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "1"}, kv{"b", "x"}, kv{"k", "v"})
}

// testTxnMergeShapes stops and resumes merged scans at every pair, for many
// interleavings of committed and own keys and both buffer representations.
func testTxnMergeShapes(t *testing.T, s storage.Store) {
	const n = 120
	x := begin(t, s)
	for i := 0; i < n; i += 2 {
		must(t, x.Put(bg, []byte(key(i)), []byte("old")))
	}
	commit(t, x)
	for _, own := range []int{1, 5, 31, 32, 33, n} { // 32 and more use a tree
		for stop := 1; stop <= 5; stop++ {
			for _, reverse := range []bool{false, true} {
				x := begin(t, s)
				model := map[int]string{}
				for i := 0; i < n; i += 2 {
					model[i] = "old"
				}
				for j := range own {
					i := (j*37 + 11) % n
					if i%5 == 0 {
						delete(model, i)
						put(t, x, kv{key(i), ""})
					} else {
						model[i] = "new"
						put(t, x, kv{key(i), "new"})
					}
				}
				sc, err := x.Scan(bg, span(key(3), key(n-3)), storage.ScanOptions{Reverse: reverse})
				must(t, err)
				var got []kv
				for done := false; !done; {
					taken := 0
					done, err = sc.Visit(bg, func(k, v []byte) bool {
						got = append(got, kv{string(k), string(v)})
						taken++
						return taken < stop
					})
					must(t, err)
				}
				must(t, sc.Close())
				var want []kv
				for i := 3; i < n-3; i++ {
					j := i
					if reverse {
						j = n - 1 - i
					}
					if v, ok := model[j]; ok {
						want = append(want, kv{key(j), v})
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("own %d stop %d reverse %v:\n got %v\nwant %v", own, stop, reverse, got, want)
				}
				x.Rollback()
			}
		}
	}
}

func testTxnView(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	x := begin(t, s)
	seq := write(t, s, kv{"a", "2"})
	wantValue(t, x, "a", "2") // the view is taken at the first read
	if got, err := x.ViewSeq(bg); err != nil || got < seq {
		t.Fatal(got, err)
	}
	sc, err := x.Scan(bg, storage.Span{}, storage.ScanOptions{})
	must(t, err)
	seq = write(t, s, kv{"a", "3"})
	wantValue(t, x, "a", "2")
	if got, err := x.ViewSeq(bg); err != nil || got >= seq {
		t.Fatal(got, err)
	}
	must(t, x.Refresh(bg))
	next := write(t, s, kv{"a", "4"})
	wantValue(t, x, "a", "3")
	if got, err := x.ViewSeq(bg); err != nil || got < seq || got >= next {
		t.Fatal(got, err)
	}
	_, err = sc.Visit(bg, func(_, v []byte) bool {
		if string(v) != "2" {
			t.Errorf("the open scanner moved to %q", v)
		}
		return true
	})
	must(t, err)
	must(t, sc.Close())
	y := begin(t, s)
	must(t, y.Refresh(bg))
	write(t, s, kv{"a", "5"})
	wantValue(t, y, "a", "4")
}

func testTxnLatest(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	x := begin(t, s)
	wantValue(t, x, "a", "1")
	write(t, s, kv{"a", "2"}, kv{"b", "2"})
	put(t, x, kv{"c", "own"})
	wantValue(t, x, "a", "1")
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"c", "own"})
	wantScan(t, x.Latest(), storage.Span{}, kv{"a", "2"}, kv{"b", "2"}, kv{"c", "own"})
	write(t, s, kv{"a", "3"})
	wantValue(t, x.Latest(), "a", "3")
}

// testTxnScanIsFrozen: an open scan does not see later writes of its own
// transaction (nor meet the rows that its statement moves ahead of it).
func testTxnScanIsFrozen(t *testing.T, s storage.Store) {
	for _, n := range []int{4, 100} {
		x := begin(t, s)
		for i := range n {
			must(t, x.Put(bg, []byte(key(i)), []byte("1")))
		}
		sc, err := x.Scan(bg, storage.Span{}, storage.ScanOptions{})
		must(t, err)
		seen := 0
		for done := false; !done; {
			done, err = sc.Visit(bg, func(_, v []byte) bool {
				seen++
				if string(v) != "1" {
					t.Fatalf("saw %q", v)
				}
				return false
			})
			must(t, err)
			must(t, x.Put(bg, []byte(key(seen)), []byte("2")))
			must(t, x.Put(bg, []byte(key(1000+seen)), []byte("2")))
			if seen > n {
				t.Fatal("the scan follows the writes")
			}
		}
		if seen != n {
			t.Fatalf("%d of %d", seen, n)
		}
		must(t, sc.Close())
		x.Rollback()
	}
}

func testTxnEnd(t *testing.T, s storage.Store) {
	x := begin(t, s)
	put(t, x, kv{"a", "1"})
	x.Rollback()
	x.Rollback()
	wantValue(t, s.Latest(), "a", "")
	y := begin(t, s)
	put(t, y, kv{"a", "1"})
	commit(t, y)
	y.Rollback()
	wantValue(t, s.Latest(), "a", "1")
	if x.ID() == y.ID() {
		t.Fatal("ids repeat")
	}
	for _, z := range []storage.Txn{x, y} {
		wantErr(t, z.Put(bg, []byte("a"), []byte("2")), storage.ErrClosed)
		wantErr(t, z.Delete(bg, []byte("a")), storage.ErrClosed)
		wantErr(t, z.Insert(bg, []byte("a"), []byte("2")), storage.ErrClosed)
		wantErr(t, z.Refresh(bg), storage.ErrClosed)
		_, err := z.Get(bg, []byte("a"), nil)
		wantErr(t, err, storage.ErrClosed)
		_, err = z.Latest().Get(bg, []byte("a"), nil)
		wantErr(t, err, storage.ErrClosed)
		_, err = z.Scan(bg, storage.Span{}, storage.ScanOptions{})
		wantErr(t, err, storage.ErrClosed)
		_, err = z.Lock(bg, [][]byte{[]byte("a")}, storage.LockOptions{})
		wantErr(t, err, storage.ErrClosed)
		_, err = z.Commit(bg)
		wantErr(t, err, storage.ErrClosed)
	}
}

func testCommitSeq(t *testing.T, s storage.Store) {
	before, count := s.Seq(), s.Commits()
	a := write(t, s, kv{"a", "1"})
	b := write(t, s, kv{"a", "2"})
	if n := s.Commits() - count; n != 2 {
		t.Fatalf("%d commits were counted", n)
	}
	if a <= before || b <= a || s.Seq() < b {
		t.Fatalf("sequences %d, %d, %d; the store says %d", before, a, b, s.Seq())
	}
	x := begin(t, s)
	_ = value(t, x, "a")
	write(t, s, kv{"a", "3"})
	view, err := x.ViewSeq(bg)
	must(t, err)
	if got := commit(t, x); got < b || got > view {
		t.Fatalf("a commit without writes returned %d, its view is %d", got, view)
	}
}

func testCommitCancelled(t *testing.T, s storage.Store) {
	why := errors.New("killed")
	ctx, cancel := context.WithCancelCause(bg)
	cancel(why)
	x := begin(t, s)
	put(t, x, kv{"a", "1"})
	mustLock(t, x, "a")
	_, err := x.Commit(ctx)
	wantErr(t, err, why)
	wantValue(t, s.Latest(), "a", "")
	if n := len(s.Locks()); n != 0 {
		t.Fatalf("%d locks left", n)
	}
	_, err = x.Commit(bg)
	wantErr(t, err, storage.ErrClosed)
}

func testDurability(t *testing.T, s storage.Store) {
	for i, d := range []storage.Durability{storage.DurabilitySync, storage.DurabilityWrite, storage.DurabilityNone} {
		x := beginOpts(t, s, storage.TxnOptions{Durability: d})
		put(t, x, kv{"a", fmt.Sprint(i)})
		commit(t, x)
		wantValue(t, s.Latest(), "a", fmt.Sprint(i))
	}
}

func testInsert(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	x := begin(t, s)
	must(t, x.Insert(bg, []byte("b"), []byte("2")))
	var exists *storage.KeyExistsError
	err := x.Insert(bg, []byte("a"), []byte("9"))
	wantErr(t, err, storage.ErrKeyExists)
	if !errors.As(err, &exists) || string(exists.Key) != "a" || string(exists.Value) != "1" {
		t.Fatalf("%#v", exists)
	}
	err = x.Insert(bg, []byte("b"), []byte("9"))
	if !errors.As(err, &exists) || string(exists.Value) != "2" {
		t.Fatalf("insert over an own write: %v", err)
	}
	put(t, x, kv{"a", ""})
	must(t, x.Insert(bg, []byte("a"), []byte("3")))
	// Insert locked what it looked at.
	y := begin(t, s)
	for _, k := range []string{"a", "b"} {
		_, err := locks(t, y, storage.LockOptions{Wait: storage.WaitError}, k)
		wantErr(t, err, storage.ErrNoWait)
	}
	commit(t, x)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "3"}, kv{"b", "2"})
	// It looks at the latest state, not at the view.
	z := begin(t, s)
	wantValue(t, z, "c", "")
	write(t, s, kv{"c", "other"})
	wantErr(t, z.Insert(bg, []byte("c"), []byte("z")), storage.ErrKeyExists)
	wantValue(t, z, "c", "")
}

// countedMemory implements storage.Memory.
type countedMemory struct {
	held, most atomic.Int64
	limit      int64 // 0 for none
}

var errNoMemory = errors.New("no memory")

func (m *countedMemory) Grow(n int64) error {
	if m.limit > 0 && m.held.Load()+n > m.limit {
		return errNoMemory
	}
	m.most.Store(max(m.most.Load(), m.held.Add(n)))
	return nil
}

func (m *countedMemory) Shrink(n int64) { m.held.Add(-n) }

// testTxnMemory: what large transactions hold is counted, and given back at their end.
func testTxnMemory(t *testing.T, s storage.Store) {
	for _, end := range []string{"commit", "rollback"} {
		m := &countedMemory{}
		x := beginOpts(t, s, storage.TxnOptions{Memory: m})
		size := 0
		for i := range 1000 {
			key, val := fmt.Sprintf("key %d", i), repeated('v', 1000)
			must(t, x.Put(bg, []byte(key), val))
			size += len(key) + len(val)
		}
		if held := m.held.Load(); held < 2*int64(size)-128<<10 || held > 3*int64(size) {
			t.Fatalf("%d bytes held for %d", held, size)
		}
		if end == "commit" {
			commit(t, x)
		}
		x.Rollback()
		if m.held.Load() != 0 || m.most.Load() == 0 {
			t.Fatalf("%d bytes held after the %s", m.held.Load(), end)
		}
	}
	// What does not fit is refused, and leaves nothing.
	m := &countedMemory{limit: 1 << 20}
	x := beginOpts(t, s, storage.TxnOptions{Memory: m})
	sp := x.Savepoint()
	n := 0
	var err error
	for ; err == nil; n++ {
		err = x.Put(bg, []byte(key(n)), repeated('v', 1000))
	}
	wantErr(t, err, errNoMemory)
	if n < 300 || n > 600 || x.Wrote([]byte(key(n-1))) || m.most.Load() > m.limit {
		t.Fatalf("refused after %d, %d bytes held", n, m.most.Load())
	}
	wantErr(t, x.Insert(bg, []byte("large"), repeated('v', 1<<20)), errNoMemory)
	must(t, x.RollbackTo(sp))
	must(t, x.Put(bg, []byte("a"), []byte("1")))
	for i := range 200 {
		must(t, x.Put(bg, []byte(key(i)), repeated('v', 1000)))
	}
	commit(t, x)
	if m.held.Load() != 0 {
		t.Fatalf("%d bytes held in the end", m.held.Load())
	}
	// To go back takes no memory, also where none is left.
	x = beginOpts(t, s, storage.TxnOptions{Memory: m})
	for i := range 100 {
		must(t, x.Put(bg, []byte(key(i)), repeated('v', 1000)))
	}
	sp = x.Savepoint()
	must(t, x.Put(bg, []byte("a"), []byte("2")))
	m.limit = 1
	must(t, x.RollbackTo(sp))
	commit(t, x)
}

// Collect implements storage.Collector.
func (m *countedMemory) Collect() {
	collected := make(chan struct{})
	last := new([64]byte)
	runtime.AddCleanup(last, func(c chan struct{}) { close(c) }, collected)
	runtime.GC()
	<-collected // cleanups run after it, on other goroutines
	time.Sleep(10 * time.Millisecond)
}

// testOverwrittenMemory: values that savepoints keep are counted after they have been
// replaced, others until they are collected.
func testOverwrittenMemory(t *testing.T, s storage.Store) {
	limit := 2 << 20
	for _, size := range []int{1000, 100_000} {
		m := &countedMemory{limit: int64(limit)}
		x := beginOpts(t, s, storage.TxnOptions{Memory: m})
		for range 10 * limit / size {
			must(t, x.Put(bg, []byte("a"), repeated('v', size)))
		}
		var err error
		n := 0
		for ; err == nil && n < 10*limit/size; n++ {
			x.Savepoint()
			err = x.Put(bg, []byte("a"), repeated('v', size))
		}
		wantErr(t, err, errNoMemory)
		if n < limit/size/8 {
			t.Errorf("refused after %d savepoints of %d bytes", n, size)
		}
		x.Rollback()
		if m.held.Load() != 0 {
			t.Errorf("%d bytes held in the end", m.held.Load())
		}
		x = beginOpts(t, s, storage.TxnOptions{Memory: m})
		first := x.Savepoint()
		last := first
		for range 4 * limit / size {
			sp := x.Savepoint()
			if last != first {
				x.Forget(last)
			}
			last = sp
			must(t, x.Put(bg, []byte("a"), repeated('v', size)))
		}
		must(t, x.RollbackTo(last))
		wantValue(t, x, "a", string(repeated('v', size)))
		must(t, x.RollbackTo(first))
		wantValue(t, x, "a", "")
		x.Rollback()
	}
}

// testLockMemory: locks are counted, and given back at the end of the transaction. One
// whose locks do not fit can only be rolled back.
func testLockMemory(t *testing.T, s storage.Store) {
	m := &countedMemory{limit: 4 << 20}
	x := beginOpts(t, s, storage.TxnOptions{Memory: m})
	lock := func(prefix []byte, n int) (int, error) {
		for i := range n {
			if _, err := x.Lock(bg, [][]byte{append(bytes.Clone(prefix), key(i)...)}, storage.LockOptions{}); err != nil {
				return i, err
			}
		}
		return n, nil
	}
	n, err := lock(nil, 100_000)
	wantErr(t, err, storage.ErrLockTableFull)
	if n < 12_000 || n > 40_000 || m.held.Load() < m.limit*3/4 {
		t.Fatalf("refused after %d, %d bytes held", n, m.held.Load())
	}
	wantErr(t, x.Put(bg, []byte("a"), []byte("1")), storage.ErrLockTableFull)
	if _, err := x.Commit(bg); !errors.Is(err, storage.ErrLockTableFull) {
		t.Fatal(err)
	}
	x.Rollback()
	if m.held.Load() != 0 || len(s.Locks()) != 0 {
		t.Fatalf("%d bytes held, %d locks left", m.held.Load(), len(s.Locks()))
	}

	// Long keys count.
	x = beginOpts(t, s, storage.TxnOptions{Memory: m})
	if n, err := lock(repeated('k', 1000), 100_000); err == nil || n > 4<<10 {
		t.Fatalf("%d locks of long keys, %v", n, err)
	}
	x.Rollback()

	if s.Caps().Remote { // there locks stay until the end
		return
	}
	// The lock of a key that is written is part of what the write takes. A statement
	// whose writes do not fit gives its locks back with them, and no others.
	x = beginOpts(t, s, storage.TxnOptions{Memory: m})
	if _, err := lock([]byte("first"), 100); err != nil {
		t.Fatal(err)
	}
	sp := x.Savepoint()
	for n = 0; err == nil || n == 0; n++ {
		err = x.Insert(bg, []byte(key(n)), []byte("v"))
	}
	wantErr(t, err, errNoMemory)
	if n < 12_000 {
		t.Fatalf("refused after %d", n)
	}
	must(t, x.RollbackTo(sp))
	if held := m.held.Load(); held > 64<<10 || len(s.Locks()) != 100 {
		t.Fatalf("%d bytes held, %d locks", held, len(s.Locks()))
	}
	// Otherwise they stay.
	must(t, x.Insert(bg, []byte(key(1)), []byte("v")))
	must(t, x.RollbackTo(sp))
	if len(s.Locks()) != 101 {
		t.Fatalf("%d locks", len(s.Locks()))
	}
	x.Rollback()
	if m.held.Load() != 0 || len(s.Locks()) != 0 {
		t.Fatalf("%d bytes held, %d locks left", m.held.Load(), len(s.Locks()))
	}
}

// testReserve: what is reserved is inserted as without it, and others may have the locks
// before or after.
func testReserve(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	x := begin(t, s)
	put(t, x, kv{"own", "1"})
	var keys [][]byte
	for _, k := range []string{"a", "b", "c", "own", "b"} {
		keys = append(keys, []byte(k))
	}
	must(t, x.Reserve(bg, keys))
	must(t, x.Reserve(bg, nil))
	wantHeld(t, x)
	for k, want := range map[string]string{"a": "1", "own": "1"} {
		var exists *storage.KeyExistsError
		if err := x.Insert(bg, []byte(k), []byte("2")); !errors.As(err, &exists) || string(exists.Value) != want {
			t.Fatal(err)
		}
	}
	sp := x.Savepoint()
	must(t, x.Insert(bg, []byte("b"), []byte("2")))
	if err := x.Insert(bg, []byte("b"), []byte("3")); !errors.Is(err, storage.ErrKeyExists) {
		t.Fatal(err)
	}
	must(t, x.RollbackTo(sp))
	must(t, x.Insert(bg, []byte("b"), []byte("4")))
	must(t, x.Put(bg, []byte("a"), []byte("5")))
	must(t, x.Delete(bg, []byte("own")))
	must(t, x.Insert(bg, []byte("own"), []byte("6")))
	y := begin(t, s)
	_, err := locks(t, y, noWait, "b")
	wantErr(t, err, storage.ErrNoWait)
	commit(t, x)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "5"}, kv{"b", "4"}, kv{"own", "6"})
	must(t, y.Reserve(bg, [][]byte{[]byte("a"), []byte("c")}))
	if err := y.Insert(bg, []byte("a"), []byte("9")); !errors.Is(err, storage.ErrKeyExists) {
		t.Fatal(err)
	}
	must(t, y.Insert(bg, []byte("c"), []byte("9")))
	commit(t, y)
	ro := beginOpts(t, s, storage.TxnOptions{ReadOnly: true})
	wantErr(t, ro.Reserve(bg, keys), storage.ErrReadOnly)
	y.Rollback()
	wantErr(t, y.Reserve(bg, keys), storage.ErrClosed)
}

// wantHeld looks at the state of testReserve when its keys are locked, in which z is not.
func wantHeld(t *testing.T, x storage.Txn) {
	t.Helper()
	wantValue(t, x.Latest(), "a", "1")
	wantValue(t, x.Latest(), "b", "")
	wantValue(t, x.Latest(), "own", "1")
	if got := batch(t, x.Latest(), "a", "b", "own", "z", "c"); fmt.Sprint(got) != "[1  1  ]" {
		t.Fatalf("%q", got)
	}
	wantScan(t, x.Over(x.Committed()), storage.Span{}, kv{"a", "1"}, kv{"own", "1"})
	wantScan(t, x.Over(x.Committed()), span("b", ""), kv{"own", "1"})
}

func testLimits(t *testing.T, s storage.Store) {
	caps := s.Caps()
	x := beginOpts(t, s, storage.TxnOptions{MaxSize: 100_000_000})
	put(t, x, kv{"a", "1"})
	size := x.Size()
	longKey, longValue := repeated('k', caps.MaxKey+1), repeated('v', caps.MaxValue+1)
	check := func(err, class error) {
		t.Helper()
		wantErr(t, err, class)
		var le *storage.LimitError
		if !errors.As(err, &le) || le.Size <= le.Limit {
			t.Fatalf("%#v", err)
		}
	}
	check(x.Put(bg, longKey, []byte("v")), storage.ErrKeyTooLarge)
	check(x.Insert(bg, longKey, []byte("v")), storage.ErrKeyTooLarge)
	check(x.Delete(bg, longKey), storage.ErrKeyTooLarge)
	check(x.Put(bg, []byte("b"), longValue), storage.ErrValueTooLarge)
	check(x.Insert(bg, []byte("b"), longValue), storage.ErrValueTooLarge)
	wantErr(t, x.Put(bg, []byte("b"), nil), storage.ErrEmptyValue)
	wantErr(t, x.Put(bg, []byte("b"), []byte{}), storage.ErrEmptyValue)
	wantErr(t, x.Insert(bg, []byte("b"), nil), storage.ErrEmptyValue)
	if x.Size() != size || len(s.Locks()) != 0 {
		t.Fatal("a refused write left something behind")
	}
	must(t, x.Put(bg, longKey[1:], []byte("v")))
	must(t, x.Put(bg, []byte("b"), longValue[1:]))
	commit(t, x)
	if got := value(t, s.Latest(), "b"); len(got) != caps.MaxValue {
		t.Fatalf("value of %d bytes", len(got))
	}

	y := beginOpts(t, s, storage.TxnOptions{MaxSize: 10})
	put(t, y, kv{"k", "123456789"})
	check(y.Put(bg, []byte("l"), []byte("1")), storage.ErrTxnTooLarge)
	check(y.Delete(bg, []byte("l")), storage.ErrTxnTooLarge)
	check(y.Put(bg, []byte("k"), []byte("1234567890")), storage.ErrTxnTooLarge)
	wantValue(t, y, "k", "123456789")
	put(t, y, kv{"k", "1"}, kv{"l", "1"})
	commit(t, y)
	wantValue(t, s.Latest(), "l", "1")
}

func testReservedKeys(t *testing.T, s storage.Store) {
	x := begin(t, s)
	for _, k := range []string{"", "\x00"} {
		wantErr(t, x.Put(bg, []byte(k), []byte("v")), storage.ErrReservedKey)
		wantErr(t, x.Delete(bg, []byte(k)), storage.ErrReservedKey)
		wantErr(t, x.Insert(bg, []byte(k), []byte("v")), storage.ErrReservedKey)
	}
	put(t, x, kv{"\x01", "v"}, kv{"\x00\x00", "w"})
	commit(t, x)
	wantScan(t, s.Latest(), span("\x00", ""), kv{"\x00\x00", "w"}, kv{"\x01", "v"})
	if got := batch(t, s.Latest(), "", "\x00", "\x00\x00", "\x01"); fmt.Sprint(got) != "[  w v]" {
		t.Fatalf("%q", got)
	}
}

func testReadOnly(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	x := beginOpts(t, s, storage.TxnOptions{ReadOnly: true})
	wantErr(t, x.Put(bg, []byte("a"), []byte("2")), storage.ErrReadOnly)
	wantErr(t, x.Delete(bg, []byte("a")), storage.ErrReadOnly)
	wantErr(t, x.Insert(bg, []byte("b"), []byte("2")), storage.ErrReadOnly)
	wantValue(t, x, "a", "1")
	commit(t, x)
}

func testSavepoints(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "0"}, kv{"z", "0"})
	x := begin(t, s)
	empty := x.Savepoint()
	put(t, x, kv{"a", "1"}, kv{"b", "1"})
	size := x.Size()
	one := x.Savepoint()
	put(t, x, kv{"a", "2"}, kv{"b", ""}, kv{"c", "2"})
	two := x.Savepoint()
	put(t, x, kv{"c", ""}, kv{"z", ""})
	must(t, x.RollbackTo(two))
	wantScan(t, x, storage.Span{}, kv{"a", "2"}, kv{"c", "2"}, kv{"z", "0"})
	must(t, x.RollbackTo(one))
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"b", "1"}, kv{"z", "0"})
	if x.Size() != size {
		t.Fatalf("size %d, want %d", x.Size(), size)
	}
	if x.RollbackTo(two) == nil {
		t.Fatal("a later savepoint survived")
	}
	put(t, x, kv{"d", "3"})
	must(t, x.RollbackTo(one)) // the mark stays usable
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"b", "1"}, kv{"z", "0"})
	put(t, x, kv{"e", "4"})
	three := x.Savepoint()
	put(t, x, kv{"f", "5"})
	x.Release(one) // forgets three too, keeps the writes
	if x.RollbackTo(one) == nil || x.RollbackTo(three) == nil {
		t.Fatal("a released savepoint works")
	}
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"b", "1"}, kv{"e", "4"}, kv{"f", "5"}, kv{"z", "0"})
	must(t, x.RollbackTo(empty))
	if x.Dirty() || x.Size() != 0 {
		t.Fatal("dirty after undoing everything")
	}
	put(t, x, kv{"g", "6"})
	commit(t, x)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "0"}, kv{"g", "6"}, kv{"z", "0"})
}

func testSavepointLarge(t *testing.T, s storage.Store) {
	x := begin(t, s)
	for round := range 20 {
		for i := range 30 {
			must(t, x.Put(bg, []byte(key(round*30+i)), []byte("1")))
		}
		sp := x.Savepoint()
		for i := range 10 {
			must(t, x.Put(bg, []byte(key(i*7)), []byte("bad")))
			must(t, x.Delete(bg, []byte(key(i*11))))
			must(t, x.Put(bg, []byte(key(5000+i)), []byte("bad")))
		}
		must(t, x.RollbackTo(sp))
		x.Release(sp)
		got := collect(t, x, storage.Span{}, storage.ScanOptions{})
		if len(got) != (round+1)*30 {
			t.Fatalf("round %d: %d pairs", round, len(got))
		}
		for _, p := range got {
			if p.v != "1" {
				t.Fatalf("round %d: %v", round, p)
			}
		}
	}
	commit(t, x)
}

func testLargeTxn(t *testing.T, s storage.Store) {
	const n = 50_000
	x := begin(t, s)
	val := repeated('v', 300)
	for i := range n {
		must(t, x.Put(bg, []byte(key((i*7919)%n)), val))
	}
	if want := int64(n * (len(val) + len(key(0)))); x.Size() != want {
		t.Fatalf("size %d, want %d", x.Size(), want)
	}
	commit(t, x)
	got := 0
	sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{})
	must(t, err)
	_, err = sc.Visit(bg, func(k, v []byte) bool {
		if string(k) != key(got) || len(v) != len(val) {
			t.Fatalf("pair %d is %q, %d bytes", got, k, len(v))
		}
		got++
		return true
	})
	must(t, err)
	must(t, sc.Close())
	if got != n {
		t.Fatalf("%d pairs", got)
	}
}

func testClose(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	sn, err := s.Snapshot(bg)
	must(t, err)
	x, err := s.Begin(bg, storage.TxnOptions{})
	must(t, err)
	put(t, x, kv{"a", "2"})
	_ = value(t, x, "a")
	mustLock(t, x, "a")
	sc, err := x.Scan(bg, storage.Span{}, storage.ScanOptions{})
	must(t, err)
	y, err := s.Begin(bg, storage.TxnOptions{LockTimeout: patience})
	must(t, err)
	waited := make(chan error, 1)
	go func() {
		_, err := locks(t, y, storage.LockOptions{}, "a")
		waited <- err
	}()
	eventually(t, "the waiter", func() bool { return waiters(s) == 1 })
	bl, err := s.BulkLoad(bg)
	must(t, err)
	must(t, bl.Add([]byte("b"), []byte("1")))
	must(t, s.Close())
	must(t, s.Close())
	wantErr(t, <-waited, storage.ErrClosed)
	_, err = s.Latest().Get(bg, []byte("a"), nil)
	wantErr(t, err, storage.ErrClosed)
	_, err = sn.Get(bg, []byte("a"), nil)
	wantErr(t, err, storage.ErrClosed)
	_, err = sc.Visit(bg, func(_, _ []byte) bool { return true })
	wantErr(t, err, storage.ErrClosed)
	_, err = x.Commit(bg)
	wantErr(t, err, storage.ErrClosed)
	wantErr(t, y.Put(bg, []byte("a"), []byte("1")), storage.ErrClosed)
	_, err = bl.Finish(bg)
	wantErr(t, err, storage.ErrClosed)
	_, err = s.Begin(bg, storage.TxnOptions{})
	wantErr(t, err, storage.ErrClosed)
	_, err = s.Snapshot(bg)
	wantErr(t, err, storage.ErrClosed)
	_, err = s.BulkLoad(bg)
	wantErr(t, err, storage.ErrClosed)
	err = s.Discard(bg, storage.Span{})
	wantErr(t, err, storage.ErrClosed)
	_ = sc.Close()
	_ = sn.Close()
	_ = bl.Abort()
	x.Rollback()
	y.Rollback()
}

// testTxnShow changes what a view holds without writing it.
func testTxnShow(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"}, kv{"c", "3"}, kv{"e", "5"})
	x := begin(t, s)
	if r, seq := x.View(); r != nil || seq != 0 {
		t.Fatal("a view before the first read")
	}
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"c", "3"}, kv{"e", "5"})
	write(t, s, kv{"a", "2"}, kv{"d", "4"})
	must(t, x.Show([]byte("b"), []byte("shown")))
	first := x.Savepoint()
	must(t, x.Show([]byte("c"), nil))
	must(t, x.Show([]byte("e"), []byte("shown")))
	put(t, x, kv{"e", "own"}, kv{"f", "own"})
	if x.Wrote([]byte("c")) || !x.Wrote([]byte("e")) {
		t.Fatal("Wrote is wrong")
	}
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"b", "shown"}, kv{"e", "own"}, kv{"f", "own"})
	wantScan(t, x.Latest(), storage.Span{}, kv{"a", "2"}, kv{"c", "3"}, kv{"d", "4"}, kv{"e", "own"}, kv{"f", "own"})
	if got := fmt.Sprint(batch(t, x, "a", "b", "c", "e", "f")); got != "[1 shown  own own]" {
		t.Fatal(got)
	}
	view, seq := x.View()
	if vs, err := x.ViewSeq(bg); err != nil || vs != seq {
		t.Fatal(vs, seq, err)
	}
	wantScan(t, view, storage.Span{}, kv{"a", "1"}, kv{"b", "shown"}, kv{"e", "shown"})
	must(t, x.RollbackTo(first))
	wantScan(t, x, storage.Span{}, kv{"a", "1"}, kv{"b", "shown"}, kv{"c", "3"}, kv{"e", "5"})
	must(t, x.Refresh(bg))
	wantScan(t, x, storage.Span{}, kv{"a", "2"}, kv{"c", "3"}, kv{"d", "4"}, kv{"e", "5"})
	must(t, x.RollbackTo(first))
	must(t, x.Show([]byte("a"), []byte("shown")))
	var mark storage.Watermark
	x.Raise(&mark)
	put(t, x, kv{"z", "own"})
	seq = commit(t, x)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "2"}, kv{"c", "3"}, kv{"d", "4"}, kv{"e", "5"}, kv{"z", "own"})
	if mark.Seq() < seq {
		t.Fatalf("the mark is at %d, the commit at %d", mark.Seq(), seq)
	}
	x, err := s.Begin(bg, storage.TxnOptions{MaxSize: 10})
	must(t, err)
	defer x.Rollback()
	must(t, x.Show([]byte("k"), []byte("12345")))
	if err := x.Put(bg, []byte("q"), []byte("12345")); !errors.Is(err, storage.ErrTxnTooLarge) {
		t.Fatal(err)
	}
}
