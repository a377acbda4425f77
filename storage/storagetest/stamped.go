package storagetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/storage"
)

// stampedKey is a key with a hole of 8 bytes after its first byte.
func stampedKey(space byte, tail string) []byte {
	return append([]byte{space, 0, 0, 0, 0, 0, 0, 0, 0}, tail...)
}

var stampBoth = storage.Stamp{Key: 1, Time: 0}

func putStamped(t *testing.T, x storage.Txn, key []byte, val string, at storage.Stamp) {
	t.Helper()
	must(t, x.PutStamped(key, append(make([]byte, 8), val...), at))
}

// stampOf is a stored stamped pair of space.
type stampOf struct {
	stamp uint64
	time  int64
	tail  string
	val   string
}

func stamps(t *testing.T, s storage.Store, space byte) []stampOf {
	t.Helper()
	var out []stampOf
	scan, err := s.Latest().Scan(t.Context(), storage.Span{Start: []byte{space}, End: []byte{space + 1}}, storage.ScanOptions{})
	must(t, err)
	defer scan.Close()
	_, err = scan.Visit(t.Context(), func(k, v []byte) bool {
		out = append(out, stampOf{binary.BigEndian.Uint64(k[1:]), int64(binary.BigEndian.Uint64(v)), string(k[9:]), string(v[8:])})
		return true
	})
	must(t, err)
	return out
}

// fits reports whether a commit may have a stamp that follows earlier commits.
func fits(s storage.Store, before, stamp, seq uint64) bool {
	return before < stamp && stamp <= seq && (stamp == seq || !s.Caps().Sole)
}

// ascend reports whether the times of two commits fit to the order of their stamps.
func ascend(s storage.Store, earlier, later int64) bool {
	return earlier < later || earlier == later && !s.Caps().Sole
}

// testStamped: holes are filled with the stamp and the time of the commit.
func testStamped(t *testing.T, s storage.Store) {
	x := begin(t, s)
	putStamped(t, x, stampedKey('q', "a"), "1", stampBoth)
	if !x.Dirty() || x.Size() == 0 {
		t.Fatal("a stamped write does not count")
	}
	if o1, o2 := x.Ordinal(), x.Ordinal(); o1 != 0 || o2 != 1 {
		t.Fatalf("ordinals %d %d", o1, o2)
	}
	wantScan(t, x, storage.Span{}) // not seen by its own transaction
	first := commit(t, x)
	x = begin(t, s)
	put(t, x, kv{"b", "plain"})
	putStamped(t, x, stampedKey('q', "a"), "2", stampBoth)
	putStamped(t, x, stampedKey('q', "a"), "3", stampBoth)
	putStamped(t, x, stampedKey('q', "b"), "4", stampBoth)
	putStamped(t, x, stampedKey('r', "c"), "5", storage.Stamp{Key: 1, Time: -1, Descending: true})
	putStamped(t, x, []byte("s1234567890"), "6", storage.Stamp{Key: -1, Time: 0})
	second := commit(t, x)
	got := stamps(t, s, 'q')
	if len(got) != 3 || !fits(s, 0, got[0].stamp, first) || !fits(s, first, got[1].stamp, second) || got[2].stamp != got[1].stamp {
		t.Fatalf("%+v after commits %d and %d", got, first, second)
	}
	if got[0].tail+got[0].val+got[1].tail+got[1].val+got[2].tail+got[2].val != "a1a3b4" {
		t.Fatalf("%+v", got)
	}
	if got[0].time <= 1e15 || !ascend(s, got[0].time, got[1].time) || got[1].time != got[2].time {
		t.Fatalf("times %+v", got)
	}
	if r := stamps(t, s, 'r'); len(r) != 1 || r[0].stamp != ^got[1].stamp || r[0].time != 0 {
		t.Fatalf("%+v", r)
	}
	wantValue(t, s.Latest(), "b", "plain")
}

// testStampedKnown: a transaction knows the keys that it has stamped.
func testStampedKnown(t *testing.T, s storage.Store) {
	x := begin(t, s)
	defer x.Rollback()
	put(t, x, kv{string(stampedKey('q', "p")), "plain"})
	if x.Stamped(stampedKey('q', "p")) || x.Stamped(stampedKey('q', "a")) {
		t.Fatal("stamped before any stamp")
	}
	sp := x.Savepoint()
	putStamped(t, x, stampedKey('q', "a"), "1", stampBoth)
	if !x.Stamped(stampedKey('q', "a")) || x.Stamped(stampedKey('q', "p")) {
		t.Fatal("not known")
	}
	must(t, x.RollbackTo(sp))
	if x.Stamped(stampedKey('q', "a")) {
		t.Fatal("known after going back")
	}
}

// testStampedSavepoints: rolled back writes leave nothing, in small buffers and
// large ones.
func testStampedSavepoints(t *testing.T, s storage.Store) {
	x := begin(t, s)
	sp := x.Savepoint()
	putStamped(t, x, stampedKey('q', "x"), "gone", stampBoth)
	must(t, x.RollbackTo(sp))
	if x.Dirty() || x.Size() != 0 {
		t.Fatal("dirty after going back")
	}
	const n = 100
	for i := range n {
		putStamped(t, x, stampedKey('q', fmt.Sprintf("%03d", i)), "kept", stampBoth)
		sp := x.Savepoint()
		putStamped(t, x, stampedKey('q', fmt.Sprintf("%03d", i)), "gone", stampBoth)
		putStamped(t, x, stampedKey('q', "x"), "gone", stampBoth)
		must(t, x.RollbackTo(sp))
	}
	commit(t, x)
	got := stamps(t, s, 'q')
	for i, g := range got {
		if g.tail != fmt.Sprintf("%03d", i) || g.val != "kept" {
			t.Fatalf("%d: %+v", i, g)
		}
	}
	if len(got) != n {
		t.Fatalf("%d pairs", len(got))
	}
}

func testStampedLimits(t *testing.T, s storage.Store) {
	x := begin(t, s)
	defer x.Rollback()
	v := make([]byte, 8)
	for _, at := range []storage.Stamp{{Key: 2, Time: 0}, {Key: 1, Time: 1}} {
		if err := x.PutStamped(stampedKey('q', ""), v, at); !errors.Is(err, storage.ErrStamp) {
			t.Fatalf("%+v: %v", at, err)
		}
	}
	if err := x.PutStamped(stampedKey('q', ""), make([]byte, s.Caps().MaxValue+1), stampBoth); !errors.Is(err, storage.ErrValueTooLarge) {
		t.Fatal(err)
	}
	small, err := s.Begin(bg, storage.TxnOptions{MaxSize: 100})
	must(t, err)
	defer small.Rollback()
	if err := small.PutStamped(stampedKey('q', ""), make([]byte, 100), stampBoth); !errors.Is(err, storage.ErrTxnTooLarge) {
		t.Fatal(err)
	}
	ro, err := s.Begin(bg, storage.TxnOptions{ReadOnly: true})
	must(t, err)
	defer ro.Rollback()
	if err := ro.PutStamped(stampedKey('q', ""), v, stampBoth); !errors.Is(err, storage.ErrReadOnly) {
		t.Fatal(err)
	}
	if x.Dirty() {
		t.Fatal("a refused write is there")
	}
}

// testStampedOrder: under concurrency each commit has a stamp of its own that fits to
// the sequence which Commit returned, and times ascend with stamps.
func testStampedOrder(t *testing.T, s storage.Store) {
	const workers, commits = 8, 50
	var mu sync.Mutex
	want := map[string]uint64{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range commits {
				x, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
				if err != nil {
					t.Error(err)
					return
				}
				name := fmt.Sprintf("%d/%d", w, i)
				if err := x.PutStamped(stampedKey('q', ""), append(make([]byte, 8), name...), stampBoth); err != nil {
					t.Error(err)
				}
				seq, err := x.Commit(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				want[name] = seq
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	got := stamps(t, s, 'q')
	if len(got) != workers*commits {
		t.Fatalf("%d pairs", len(got))
	}
	for i, g := range got {
		if !fits(s, 0, g.stamp, want[g.val]) || i > 0 && (g.stamp == got[i-1].stamp || !ascend(s, got[i-1].time, g.time)) {
			t.Fatalf("%+v, its commit is %d", g, want[g.val])
		}
	}
}

// testMarks: a mark is raised before a commit with stamped writes of its prefix can
// be seen, and by no other.
func testMarks(t *testing.T, s storage.Store) {
	put1 := func(space byte) uint64 {
		x := begin(t, s)
		defer x.Rollback()
		putStamped(t, x, stampedKey(space, "a"), "1", stampBoth)
		putStamped(t, x, stampedKey('z', "a"), "1", stampBoth)
		return commit(t, x)
	}
	put1('q')
	q, r := s.Mark([]byte("q")), s.Mark([]byte("r"))
	if q.Seq() != s.Seq() || q != s.Mark([]byte("q")) || q == r {
		t.Fatal("a new mark")
	}
	told := make(chan struct{}, 1)
	q.Tell(told)
	put1('r')
	if was := q.Seq(); was == s.Seq() || r.Seq() != s.Seq() || len(told) != 0 {
		t.Fatalf("marks at %d and %d, the commit is %d", was, r.Seq(), s.Seq())
	}
	put1('q')
	if q.Seq() != s.Seq() || r.Seq() == s.Seq() || len(told) != 1 {
		t.Fatalf("marks at %d and %d, the commit is %d", q.Seq(), r.Seq(), s.Seq())
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for range 200 {
			put1('q')
		}
	})
	for stop := false; !stop; {
		select {
		case <-done:
			stop = true
		default:
		}
		view, err := s.Snapshot(bg)
		must(t, err)
		if at := view.Seq(); q.Seq() < at {
			t.Fatalf("the mark is at %d, a snapshot at %d", q.Seq(), at)
		}
		view.Close()
	}
	wg.Wait()
}

// testMarkWakes: a mark is raised by the commits of this process, wherever others are.
func testMarkWakes(t *testing.T, s storage.Store) {
	q := s.Mark([]byte("q"))
	woken := make(chan struct{}, 1)
	q.Tell(woken)
	x := begin(t, s)
	putStamped(t, x, stampedKey('q', "a"), "1", stampBoth)
	commit(t, x)
	stamp := stamps(t, s, 'q')[0].stamp
	if len(woken) != 1 || q.Seq() < stamp {
		t.Fatalf("the mark is at %d, the commit has stamp %d", q.Seq(), stamp)
	}
}

// testSettled: who follows stamped writes up to Settled meets each of them once, in the
// order of their stamps, and so does who reads snapshots.
func testSettled(t *testing.T, s storage.Store) {
	const workers, commits = 6, 60
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range commits {
				x, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone, LockTimeout: patience})
				if err != nil {
					t.Error(err)
					return
				}
				if err := x.PutStamped(stampedKey('q', ""), append(make([]byte, 8), fmt.Sprintf("%d/%d", w, i)...), stampBoth); err != nil {
					t.Error(err)
				}
				if _, err := x.Commit(bg); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var followed []uint64
	at := uint64(0)
	views := map[uint64]int{} // how many stamps a snapshot had up to what was settled
	eventually(t, "all commits are settled", func() bool {
		upTo, err := s.Settled(bg)
		must(t, err)
		if upTo < at || upTo > s.Seq() {
			t.Fatalf("settled are %d after %d, the store is at %d", upTo, at, s.Seq())
		}
		for _, g := range stamps(t, s, 'q') {
			if at < g.stamp && g.stamp <= upTo {
				followed = append(followed, g.stamp)
			}
		}
		at = upTo
		sn, err := s.Snapshot(bg)
		must(t, err)
		seen, err := sn.Settled(bg)
		must(t, err)
		if seen > sn.Seq() {
			t.Fatalf("settled are %d in snapshot %d", seen, sn.Seq())
		}
		views[seen] = countStamps(t, sn, seen)
		must(t, sn.Close())
		return len(followed) == workers*commits
	})
	wg.Wait()
	for i, g := range stamps(t, s, 'q') {
		if followed[i] != g.stamp {
			t.Fatalf("stamp %d was met in place %d, want %d", followed[i], i, g.stamp)
		}
	}
	for upTo, n := range views {
		if all := countStamps(t, s.Latest(), upTo); all != n {
			t.Fatalf("a snapshot had %d stamps up to %d, there are %d", n, upTo, all)
		}
	}
}

func countStamps(t *testing.T, r storage.Reader, upTo uint64) (n int) {
	t.Helper()
	for _, p := range collect(t, r, storage.Span{Start: []byte("q"), End: []byte("r")}, storage.ScanOptions{}) {
		if binary.BigEndian.Uint64([]byte(p.k[1:])) <= upTo {
			n++
		}
	}
	return n
}
