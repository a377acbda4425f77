package storagetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
)

// later runs fn on another goroutine and returns once it waits for a lock.
func later(t *testing.T, s storage.Store, fn func() error) <-chan error {
	t.Helper()
	n := waiters(s)
	done := make(chan error, 1)
	go func() { done <- fn() }()
	eventually(t, "the request waits", func() bool { return waiters(s) == n+1 })
	return done
}

func putLater(t *testing.T, s storage.Store, x storage.Txn, key string) <-chan error {
	t.Helper()
	return later(t, s, func() error { return x.Put(bg, []byte(key), []byte("1")) })
}

func testRangeBlocks(t *testing.T, s storage.Store) {
	write(t, s, kv{"c", "0"})
	for name, change := range map[string]func(y storage.Txn) error{
		"put":    func(y storage.Txn) error { return y.Put(bg, []byte("c"), []byte("2")) },
		"delete": func(y storage.Txn) error { return y.Delete(bg, []byte("c")) },
		"insert": func(y storage.Txn) error { return y.Insert(bg, []byte("ca"), []byte("2")) },
		"first":  func(y storage.Txn) error { return y.Put(bg, []byte("b"), []byte("2")) },
	} {
		x, y := begin(t, s), begin(t, s)
		must(t, x.LockRange(bg, span("b", "d"), storage.WaitBlock))
		must(t, x.LockRange(bg, span("b", "c"), storage.WaitBlock)) // again
		put(t, y, kv{"d", "1"}, kv{"a", "1"}, kv{"azz", "1"})
		mustLock(t, y, "c") // a lock alone is not in its way
		put(t, x, kv{"bb", "1"})
		d := later(t, s, func() error { return change(y) })
		if name == "put" {
			commit(t, x)
		} else {
			x.Rollback()
		}
		granted(t, d)
		y.Rollback()
		if n := len(s.Locks()); n != 0 {
			t.Fatalf("%s: %d locks left", name, n)
		}
	}
	// Ranges do not exclude each other, and one of nothing is none.
	x, y := begin(t, s), begin(t, s)
	must(t, x.LockRange(bg, span("a", "c"), storage.WaitBlock))
	must(t, y.LockRange(bg, span("b", "d"), storage.WaitError))
	must(t, y.LockRange(bg, span("d", "d"), storage.WaitBlock))
	must(t, y.LockRange(bg, span("e", "d"), storage.WaitBlock))
	put(t, x, kv{"d", "1"})
	y.Rollback()
	// To the last key, and from the first.
	z := begin(t, s)
	must(t, z.LockRange(bg, storage.Span{Start: []byte("x")}, storage.WaitBlock))
	d := putLater(t, s, x, "zzz")
	z.Rollback()
	granted(t, d)
	z = begin(t, s)
	x.Rollback()
	must(t, z.LockRange(bg, storage.Span{}, storage.WaitBlock))
	x = begin(t, s)
	d = putLater(t, s, x, "a")
	z.Rollback()
	granted(t, d)
}

func testRangeWaits(t *testing.T, s storage.Store) {
	x, y, z := begin(t, s), begin(t, s), begin(t, s)
	put(t, y, kv{"c", "1"})
	must(t, x.LockRange(bg, span("a", "c"), storage.WaitBlock))
	wantErr(t, x.LockRange(bg, span("b", "d"), storage.WaitError), storage.ErrNoWait)
	wantErr(t, x.LockRange(bg, span("b", "d"), storage.WaitSkip), storage.ErrNoWait)
	d := later(t, s, func() error { return x.LockRange(bg, span("c", "d"), storage.WaitBlock) })
	// The one that it waits for goes on writing there, others wait behind it.
	put(t, y, kv{"cc", "1"})
	zd := putLater(t, s, z, "cd")
	waiting(t, d)
	commit(t, y)
	granted(t, d)
	waiting(t, zd)
	wantValue(t, x.Latest(), "cc", "1")
	x.Rollback()
	granted(t, zd)
	z.Rollback()
	// Two keys at once: the one that it waits for may write both.
	x, y, z = begin(t, s), begin(t, s), begin(t, s)
	put(t, y, kv{"m", "1"})
	d = later(t, s, func() error {
		return x.Locking(storage.WaitBlock).BatchGet(bg, [][]byte{[]byte("m"), []byte("o")}, func(int, []byte) error { return nil })
	})
	zd = putLater(t, s, z, "o")
	put(t, y, kv{"n", "1"})
	must(t, y.Put(bg, []byte("o"), []byte("1")))
	commit(t, y)
	granted(t, d)
	waiting(t, zd)
	x.Rollback()
	granted(t, zd)
	z.Rollback()
	// Many writes, undone ones, deletions.
	y, x = begin(t, s), begin(t, s)
	for i := range 100 {
		put(t, y, kv{key(i), "1"})
	}
	sp := y.Savepoint()
	must(t, y.Delete(bg, []byte("q")))
	wantErr(t, x.LockRange(bg, span("p", "r"), storage.WaitError), storage.ErrNoWait)
	wantErr(t, x.LockRange(bg, span(key(50), key(51)), storage.WaitError), storage.ErrNoWait)
	must(t, x.LockRange(bg, span(key(50)+"x", key(51)), storage.WaitError))
	must(t, y.RollbackTo(sp))
	must(t, x.LockRange(bg, span("p", "r"), storage.WaitError))
	y.Rollback()
	must(t, x.LockRange(bg, span("a", "r"), storage.WaitError))
}

func testRangeEnds(t *testing.T, s storage.Store) {
	y, z := begin(t, s), begin(t, s)
	put(t, y, kv{"c", "1"})
	x := beginOpts(t, s, storage.TxnOptions{LockTimeout: 500 * time.Millisecond}) // the next request comes meanwhile
	xd := later(t, s, func() error { return x.LockRange(bg, span("a", "d"), storage.WaitBlock) })
	zd := putLater(t, s, z, "b")
	wantErr(t, <-xd, storage.ErrLockTimeout)
	granted(t, zd) // what was not granted does not count
	put(t, x, kv{"q", "1"})

	ctx, cancel := context.WithCancelCause(bg)
	why := errors.New("killed")
	w := begin(t, s)
	wd := later(t, s, func() error { return w.LockRange(ctx, span("a", "d"), storage.WaitBlock) })
	cancel(why)
	wantErr(t, <-wd, why)
	must(t, w.LockRange(bg, span("e", "f"), storage.WaitBlock))
	ctx, cancel = context.WithCancelCause(bg)
	yd := later(t, s, func() error { return y.Put(ctx, []byte("e"), []byte("1")) })
	cancel(why)
	wantErr(t, <-yd, why)
	if y.Wrote([]byte("e")) {
		t.Fatal("a cancelled write was made")
	}
	wantErr(t, x.Put(bg, []byte("e"), []byte("1")), storage.ErrLockTimeout)
	// A range stays when a savepoint is rolled back.
	sp := w.Savepoint()
	must(t, w.LockRange(bg, span("m", "n"), storage.WaitBlock))
	must(t, w.RollbackTo(sp))
	yd = putLater(t, s, y, "m")
	commit(t, w)
	granted(t, yd)
}

func testRangeDeadlock(t *testing.T, s storage.Store) {
	// Both have read a gap and write into it.
	x, y := begin(t, s), begin(t, s)
	must(t, x.LockRange(bg, span("a", "b"), storage.WaitBlock))
	must(t, y.LockRange(bg, span("a", "b"), storage.WaitBlock))
	d := putLater(t, s, x, "aa")
	wantErr(t, y.Put(bg, []byte("ab"), []byte("1")), storage.ErrDeadlock)
	wantErr(t, y.LockRange(bg, span("f", "g"), storage.WaitBlock), storage.ErrDeadlock)
	if found := s.LastDeadlock(); found == nil || found.Victim != y.ID() || len(found.Cycle) != 2 || !found.Cycle[0].Range || string(found.Cycle[0].Key) != "ab" {
		t.Fatalf("%+v", found)
	}
	y.Rollback()
	granted(t, d)
	x.Rollback()
	// A range against the lock of a key.
	x, y = begin(t, s), begin(t, s)
	must(t, x.LockRange(bg, span("a", "b"), storage.WaitBlock))
	mustLock(t, y, "k")
	d = lockLater(t, s, x, storage.LockOptions{}, "k")
	wantErr(t, y.Put(bg, []byte("ab"), []byte("1")), storage.ErrDeadlock)
	y.Rollback()
	granted(t, d)
	x.Rollback()
	// Each has written where the other reads; the one with less work loses.
	x, y = begin(t, s), begin(t, s)
	put(t, x, kv{"a", "1"}, kv{"ab", "1"}, kv{"ac", "1"}, kv{"ad", "1"})
	put(t, y, kv{"m", "1"})
	d = later(t, s, func() error { return y.LockRange(bg, span("a", "b"), storage.WaitBlock) })
	must(t, x.Put(bg, []byte("n"), []byte("1")))
	xd := make(chan error, 1)
	go func() { xd <- x.LockRange(bg, span("m", "mm"), storage.WaitBlock) }()
	wantErr(t, <-d, storage.ErrDeadlock)
	y.Rollback()
	granted(t, xd)
}

func testLockingReader(t *testing.T, s storage.Store) {
	for i := range 100 {
		write(t, s, kv{key(i), "0"})
	}
	blocked := func(key string) bool {
		y := beginOpts(t, s, storage.TxnOptions{LockTimeout: time.Millisecond})
		defer y.Rollback()
		err := y.Put(bg, []byte(key), []byte("1"))
		if err != nil {
			wantErr(t, err, storage.ErrLockTimeout)
		}
		return err != nil
	}
	check := func(what string, want map[string]bool) {
		t.Helper()
		for k, w := range want {
			if blocked(k) != w {
				t.Fatalf("%s: %s is locked: %v", what, k, !w)
			}
		}
	}
	x := begin(t, s)
	r := x.Locking(storage.WaitBlock)
	wantValue(t, r, key(5), "0")
	_, err := r.Get(bg, []byte("none"), nil)
	wantErr(t, err, storage.ErrNotFound)
	check("get", map[string]bool{key(5): true, key(6): false, key(5) + "x": false, "none": true, "none0": false})
	must(t, r.BatchGet(bg, [][]byte{[]byte(key(7)), []byte("gone")}, func(int, []byte) error { return nil }))
	check("batch", map[string]bool{key(7): true, "gone": true, key(8): false})
	x.Rollback()

	for _, reverse := range []bool{false, true} {
		x = begin(t, s)
		put(t, x, kv{key(20) + "x", "own"})
		sc, err := x.Locking(storage.WaitBlock).Scan(bg, span(key(20), key(60)), storage.ScanOptions{Limit: 3, Reverse: reverse})
		must(t, err)
		var got []string
		for done := false; !done && len(got) < 4; {
			done, err = sc.Visit(bg, func(key, _ []byte) bool {
				got = append(got, string(key))
				return len(got) < 4
			})
			must(t, err)
		}
		want := []string{key(20), key(20) + "x", key(21), key(22)}
		in, out := key(21)+"x", key(50)
		if reverse {
			want = []string{key(59), key(58), key(57), key(56)}
			in, out = key(57)+"x", key(30)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v", got)
		}
		check("scan", map[string]bool{in: true, out: false, key(60): false, key(19): false})
		// To the end.
		for done := false; !done; {
			done, err = sc.Visit(bg, func(key, _ []byte) bool { got = append(got, string(key)); return true })
			must(t, err)
		}
		must(t, sc.Close())
		if len(got) != 41 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 41 {
			t.Fatalf("%d keys", len(got))
		}
		check("all", map[string]bool{out: true, key(59) + "zz": true, key(60): false, key(19): false})
		x.Rollback()
	}
	x = begin(t, s)
	y := begin(t, s)
	put(t, y, kv{key(3), "1"})
	_, err = x.Locking(storage.WaitError).Get(bg, []byte(key(3)), nil)
	wantErr(t, err, storage.ErrNoWait)
	_, err = x.Locking(storage.WaitError).Scan(bg, span(key(0), key(9)), storage.ScanOptions{})
	wantErr(t, err, storage.ErrNoWait)
}

func testWatch(t *testing.T, s storage.Store) {
	write(t, s, kv{"b", "0"}, kv{"c", "0"})
	many := false
	read := func(w storage.Watch, want string) {
		t.Helper()
		var got []string
		spans := []storage.Span{span("a", "d")}
		if many = !many; many {
			spans = []storage.Span{span("a", "bz"), span("bz", "d")}
		}
		sc, err := storage.ScanMany(bg, w, spans, storage.ScanOptions{})
		must(t, err)
		_, err = sc.Visit(bg, func(_ int, key, _ []byte) bool { got = append(got, string(key)); return true })
		must(t, err)
		must(t, sc.Close())
		if fmt.Sprint(got) != want {
			t.Fatalf("%v, want %s", got, want)
		}
	}
	lock := func(w storage.Watch, want bool) {
		t.Helper()
		if ok, err := w.Lock(bg); err != nil || ok != want {
			t.Fatal(ok, err)
		}
	}
	// Two workers that want the first key: the one that waits has no range yet.
	x, y, z := begin(t, s), begin(t, s), begin(t, s)
	w := x.Watch(storage.WaitBlock)
	read(w, "[b c]")
	mustLock(t, x, "b")
	lock(w, true)
	w.Stop()
	v := y.Watch(storage.WaitBlock)
	read(v, "[b c]")
	d := lockLater(t, s, y, storage.LockOptions{}, "b")
	must(t, x.Delete(bg, []byte("b")))
	zd := putLater(t, s, z, "bb") // x holds the range
	commit(t, x)
	granted(t, d)
	granted(t, zd)
	// z has not ended: y waits for it, and looks again.
	vd := later(t, s, func() error {
		ok, err := v.Lock(bg)
		if ok {
			return errors.New("what was read is out of date")
		}
		return err
	})
	commit(t, z)
	granted(t, vd)
	v = y.Watch(storage.WaitBlock)
	read(v, "[bb c]")
	lock(v, true)
	_, err := v.Get(bg, []byte("m"), nil) // it locks now
	wantErr(t, err, storage.ErrNotFound)
	z = begin(t, s)
	zd = putLater(t, s, z, "m")
	y.Rollback()
	granted(t, zd)
	z.Rollback()
	// A committed change, one that is rolled back, one elsewhere, one's own.
	y = begin(t, s)
	v = y.Watch(storage.WaitBlock)
	read(v, "[bb c]")
	write(t, s, kv{"cc", "0"})
	lock(v, false)
	v = y.Watch(storage.WaitBlock)
	read(v, "[bb c cc]")
	z = begin(t, s)
	put(t, z, kv{"a", "1"})
	z.Rollback()
	lock(v, false)
	v = y.Watch(storage.WaitBlock)
	read(v, "[bb c cc]")
	write(t, s, kv{"d", "0"})
	put(t, y, kv{"ba", "1"})
	lock(v, true)
	y.Rollback()
	// Without a wait.
	z, y = begin(t, s), begin(t, s)
	put(t, z, kv{"bb", "1"})
	v = y.Watch(storage.WaitError)
	read(v, "[bb c cc]")
	_, err = v.Lock(bg)
	wantErr(t, err, storage.ErrNoWait)
	v = y.Watch(storage.WaitError)
	read(v, "[bb c cc]")
	v.Stop()
	v.Stop()
	put(t, z, kv{"b", "1"}, kv{"a", "1"})
}

// testManyRanges locks more ranges than a transaction keeps apart.
func testManyRanges(t *testing.T, s storage.Store) {
	const n = 20_000
	x := begin(t, s)
	r := x.Locking(storage.WaitBlock)
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		_, err := r.Get(bg, []byte(key(2*i)), nil)
		wantErr(t, err, storage.ErrNotFound)
	}
	if held := len(s.Locks()); held > 2048 {
		t.Fatalf("%d ranges", held)
	}
	y := beginOpts(t, s, storage.TxnOptions{LockTimeout: time.Millisecond})
	for i := 0; i < n; i += 999 {
		wantErr(t, y.Put(bg, []byte(key(2*i)), []byte("1")), storage.ErrLockTimeout)
	}
	must(t, y.Put(bg, []byte("zzz"), []byte("1")))
	x.Rollback()
	// All at once, and by a watch.
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = []byte(key(2 * i))
	}
	for _, watched := range []bool{false, true} {
		x := begin(t, s)
		r := x.Locking(storage.WaitBlock)
		w := x.Watch(storage.WaitBlock)
		if watched {
			r = w
		}
		must(t, r.BatchGet(bg, keys, func(int, []byte) error { return nil }))
		if watched {
			if ok, err := w.Lock(bg); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if held := len(s.Locks()); held > 1024 {
			t.Fatalf("%d ranges", held)
		}
		y := beginOpts(t, s, storage.TxnOptions{LockTimeout: time.Millisecond})
		wantErr(t, y.Put(bg, keys[n/2], []byte("1")), storage.ErrLockTimeout)
		x.Rollback()
		y.Rollback()
	}
}

// access is what a transaction read or wrote: value "" is nothing.
type access struct {
	key, value string
}

// history is a transaction that has ended well.
type history struct {
	seq    uint64
	reads  []access
	scans  []scanned
	writes map[string]string
}

type scanned struct {
	start, end string
	reverse    bool
	found      []kv
	all        bool // the scan came to its end
}

// testSerializable runs random transactions whose reads lock, side by side, and then
// one after the other in the order of their commits: each must have read the same.
func testSerializable(t *testing.T, s storage.Store) {
	const workers, keys = 8, 24
	rounds := 60
	if s.Caps().Remote { // each call waits
		rounds = testflag.Pick(20, 20, 60)
	}
	var mu sync.Mutex
	var done []history
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), 77))
			for n := 0; n < rounds; {
				h, err := randomTxn(s, rng, keys, fmt.Sprint(w, ".", n))
				switch {
				case err == nil:
					n++
					mu.Lock()
					done = append(done, h)
					mu.Unlock()
				case !errors.Is(err, storage.ErrDeadlock):
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	if n := len(s.Locks()); n != 0 {
		t.Errorf("%d locks left", n)
	}
	replay(t, done)
}

// replay checks histories against a map.
func replay(t *testing.T, done []history) {
	// A transaction that only read belongs after the commit with its sequence.
	slices.SortStableFunc(done, func(a, b history) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(min(len(b.writes), 1), min(len(a.writes), 1)))
	})
	state := map[string]string{}
	for _, h := range done {
		for _, r := range h.reads {
			if state[r.key] != r.value {
				t.Fatalf("sequence %d read %q under %s, which was %q", h.seq, r.value, r.key, state[r.key])
			}
		}
		for _, sc := range h.scans {
			if want := sc.of(state); !slices.Equal(want, sc.found) {
				t.Fatalf("sequence %d found %v from %s to %s, which had %v", h.seq, sc.found, sc.start, sc.end, want)
			}
		}
		for k, v := range h.writes {
			if v == "" {
				delete(state, k)
			} else {
				state[k] = v
			}
		}
	}
}

// of is what the scan finds in a state.
func (sc *scanned) of(state map[string]string) (out []kv) {
	for _, k := range slices.Sorted(maps.Keys(state)) {
		if sc.start <= k && k < sc.end {
			out = append(out, kv{k, state[k]})
		}
	}
	if sc.reverse {
		slices.Reverse(out)
	}
	if !sc.all {
		out = out[:min(len(out), len(sc.found))]
	}
	return out
}

// randomTxn runs one transaction. It reads each key before it writes it, so that its
// own writes do not show in what it reads.
func randomTxn(s storage.Store, rng *rand.Rand, keys int, id string) (h history, err error) {
	x, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone, LockTimeout: patience})
	if err != nil {
		return h, err
	}
	defer x.Rollback()
	if rng.IntN(2) == 0 {
		err = h.read(x.Locking(storage.WaitBlock), rng, keys)
	} else {
		err = h.watch(x, rng, keys)
	}
	if err != nil {
		return h, err
	}
	h.writes = map[string]string{}
	for range rng.IntN(3) {
		k := key(rng.IntN(keys))
		v := ""
		if rng.IntN(3) > 0 {
			v = id + "." + strconv.Itoa(len(h.writes))
		}
		h.writes[k] = v
		if _, err := x.Lock(bg, [][]byte{[]byte(k)}, storage.LockOptions{}); err != nil {
			return h, err
		}
		if v == "" {
			err = x.Delete(bg, []byte(k))
		} else {
			err = x.Put(bg, []byte(k), []byte(v))
		}
		if err != nil {
			return h, err
		}
	}
	if h.seq = s.Seq(); len(h.writes) == 0 {
		return h, nil
	}
	h.seq, err = x.Commit(bg)
	return h, err
}

// read makes random reads.
func (h *history) read(r storage.Reader, rng *rand.Rand, keys int) error {
	for range 1 + rng.IntN(3) {
		if rng.IntN(2) == 0 {
			k := key(rng.IntN(keys))
			v, err := r.Get(bg, []byte(k), nil)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			h.reads = append(h.reads, access{k, string(v)})
			continue
		}
		sc, err := randomScan(r, rng, keys)
		if err != nil {
			return err
		}
		h.scans = append(h.scans, sc)
	}
	return nil
}

// watch makes random reads and locks the keys that it found, until no one has changed
// them meanwhile.
func (h *history) watch(x storage.Txn, rng *rand.Rand, keys int) error {
	for {
		w := x.Watch(storage.WaitBlock)
		defer w.Stop()
		h.reads, h.scans = nil, nil
		if err := h.read(w, rng, keys); err != nil {
			return err
		}
		for _, sc := range h.scans {
			for _, p := range sc.found {
				if _, err := x.Lock(bg, [][]byte{[]byte(p.k)}, storage.LockOptions{}); err != nil {
					return err
				}
			}
		}
		if ok, err := w.Lock(bg); ok || err != nil {
			return err
		}
	}
}

func randomScan(r storage.Reader, rng *rand.Rand, keys int) (sc scanned, err error) {
	from := rng.IntN(keys)
	sc = scanned{start: key(from), end: key(from + 1 + rng.IntN(6)), reverse: rng.IntN(2) == 0}
	opts := storage.ScanOptions{Reverse: sc.reverse, Limit: rng.IntN(3)}
	scan, err := r.Scan(bg, span(sc.start, sc.end), opts)
	if err != nil {
		return sc, err
	}
	defer scan.Close()
	for !sc.all {
		enough := false
		sc.all, err = scan.Visit(bg, func(key, value []byte) bool {
			sc.found = append(sc.found, kv{string(key), string(value)})
			enough = len(sc.found) == opts.Limit
			return !enough
		})
		if err != nil || enough {
			sc.all = sc.all && !enough
			return sc, err
		}
	}
	return sc, nil
}
