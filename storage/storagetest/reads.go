package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/storage"
)

func testGet(t *testing.T, s storage.Store) {
	_, err := s.Latest().Get(bg, []byte("a"), nil)
	wantErr(t, err, storage.ErrNotFound)
	write(t, s, kv{"a", "1"}, kv{"b\x00", "2"}, kv{"\xff\xff", "3"}, kv{"\x00\x00", "4"}, kv{"\x00\x01", "5"})
	for _, p := range []kv{{"a", "1"}, {"b\x00", "2"}, {"\xff\xff", "3"}, {"b", ""}, {"", ""}, {"\x00", ""}, {"\x00\x00", "4"}, {"\x00\x01", "5"}} {
		wantValue(t, s.Latest(), p.k, p.v)
	}
	got, err := s.Latest().Get(bg, []byte("a"), []byte("dst"))
	must(t, err)
	if string(got) != "dst1" {
		t.Fatalf("Get does not append: %q", got)
	}
	got[3] = 'x' // the result belongs to the caller
	wantValue(t, s.Latest(), "a", "1")
	write(t, s, kv{"a", ""})
	wantValue(t, s.Latest(), "a", "")
	wantScan(t, s.Latest(), storage.Span{}, kv{"\x00\x00", "4"}, kv{"\x00\x01", "5"}, kv{"b\x00", "2"}, kv{"\xff\xff", "3"})
}

func testBatchGet(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"}, kv{"c", "3"}, kv{"d", "4"})
	for _, keys := range [][]string{nil, {"a"}, {"x"}, {"a", "b", "c", "d", "e"}, {"d", "a", "c", "a"}, {"c", "c", "b", "c"}, {"", "a"}, {"z", "a"}} {
		var want []string
		for _, k := range keys {
			want = append(want, value(t, s.Latest(), k))
		}
		if got := batch(t, s.Latest(), keys...); !slices.Equal(got, want) {
			t.Errorf("batch of %q gave %q, want %q", keys, got, want)
		}
	}
	stop := errors.New("stop")
	calls := 0
	err := s.Latest().BatchGet(bg, [][]byte{[]byte("a"), []byte("c")}, func(int, []byte) error { calls++; return stop })
	wantErr(t, err, stop)
	if calls != 1 {
		t.Fatalf("%d calls after the error", calls)
	}
}

// testBatchGetShapes reads dense, sparse and mixed ascending keys, present and absent.
func testBatchGetShapes(t *testing.T, s storage.Store) {
	const n = 2000
	x := begin(t, s)
	for i := 0; i < n; i += 2 {
		must(t, x.Put(bg, []byte(key(i)), fmt.Appendf(nil, "v%d", i)))
	}
	commit(t, x)
	for _, step := range []int{1, 2, 3, 4, 10, 63, 64, 500} {
		var keys, want []string
		for i := 0; i < n; i += step {
			if i > n/2 && i < n/2+150 { // a stretch of another density
				continue
			}
			keys = append(keys, key(i))
			w := ""
			if i%2 == 0 {
				w = fmt.Sprintf("v%d", i)
			}
			want = append(want, w)
		}
		if got := batch(t, s.Latest(), keys...); !slices.Equal(got, want) {
			t.Errorf("step %d is wrong", step)
		}
	}
}

func testScan(t *testing.T, s storage.Store) {
	wantScan(t, s.Latest(), storage.Span{})
	write(t, s, kv{"a", "1"}, kv{"b", "2"}, kv{"bb", "3"}, kv{"c", "4"})
	r := s.Latest()
	wantScan(t, r, span("", ""), kv{"a", "1"}, kv{"b", "2"}, kv{"bb", "3"}, kv{"c", "4"})
	wantScan(t, r, span("b", "c"), kv{"b", "2"}, kv{"bb", "3"})
	wantScan(t, r, span("", "b"), kv{"a", "1"})
	wantScan(t, r, span("b\x00", ""), kv{"bb", "3"}, kv{"c", "4"})
	wantScan(t, r, span("c", "b"))
	wantScan(t, r, span("b", "b"))
	wantScan(t, r, span("x", ""))
	wantScan(t, r, span("0", "1"))
	got := collect(t, r, span("", ""), storage.ScanOptions{KeyOnly: true, Cold: true, Limit: 1})
	if len(got) != 4 {
		t.Fatalf("a limit hint must not cut: %v", got)
	}
}

// testScanMany: many spans are read as one after the other would be.
func testScanMany(t *testing.T, s storage.Store) {
	fill(t, s, 300)
	x := begin(t, s)
	put(t, x, kv{key(7), "own"}, kv{key(9), ""}, kv{key(299), ""})
	sn, err := s.Snapshot(bg)
	must(t, err)
	defer sn.Close()
	lists := [][]storage.Span{
		nil,
		{span(key(5), key(10))},
		{span(key(5), key(10)), span(key(5), key(10)), span("x", "y"), span(key(1), key(2)), span(key(6), key(8))},
		{span(key(298), ""), span("", key(3)), span("b", "a")},
	}
	var short []storage.Span
	for i := 20; i < 280; i += 2 {
		short = append(short, span(key(i), key(i+1)))
	}
	view, err := x.LatestView(bg)
	must(t, err)
	defer view.Close()
	for _, r := range []storage.Reader{s.Latest(), sn, x, x.Latest(), view} {
		for _, spans := range append(lists, short) {
			for _, opts := range []storage.ScanOptions{{}, {Reverse: true}, {KeyOnly: true, Limit: 3}} {
				manyAsEach(t, r, spans, opts)
			}
		}
	}
	put(t, x, kv{key(20), "own"})
	manyAsEach(t, x, short, storage.ScanOptions{})
	why := errors.New("killed")
	ctx, cancel := context.WithCancelCause(bg)
	sc, err := storage.ScanMany(ctx, s.Latest(), short, storage.ScanOptions{})
	must(t, err)
	_, err = sc.Visit(ctx, func(int, []byte, []byte) bool { cancel(why); return false })
	must(t, err)
	_, err = sc.Visit(ctx, func(int, []byte, []byte) bool { return true })
	wantErr(t, err, why)
	must(t, sc.Close())
	must(t, sc.Close())
}

func manyAsEach(t *testing.T, r storage.Reader, spans []storage.Span, opts storage.ScanOptions) {
	t.Helper()
	var want, got []string
	for i, sp := range spans {
		for _, p := range collect(t, r, sp, opts) {
			want = append(want, fmt.Sprint(i, p))
		}
	}
	sc, err := storage.ScanMany(bg, r, spans, opts)
	must(t, err)
	for done := false; !done; {
		n := 0
		done, err = sc.Visit(bg, func(i int, k, v []byte) bool {
			got = append(got, fmt.Sprint(i, kv{string(k), string(v)}))
			n++
			return n < 7
		})
		must(t, err)
	}
	must(t, sc.Close())
	if !slices.Equal(got, want) {
		t.Fatalf("%d spans, %+v: %v, want %v", len(spans), opts, got, want)
	}
}

func testScanResume(t *testing.T, s storage.Store) {
	fill(t, s, 1000)
	for _, reverse := range []bool{false, true} {
		sc, err := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{Reverse: reverse})
		must(t, err)
		n := 0
		for done := false; !done; {
			taken := 0
			done, err = sc.Visit(bg, func(k, _ []byte) bool {
				want := key(n)
				if reverse {
					want = key(999 - n)
				}
				if string(k) != want {
					t.Fatalf("pair %d is %q", n, k)
				}
				n++
				taken++
				return taken < 7
			})
			must(t, err)
		}
		if n != 1000 {
			t.Fatalf("%d pairs", n)
		}
		must(t, sc.Close())
		must(t, sc.Close())
	}
}

func testReadersConcurrent(t *testing.T, s storage.Store) {
	fill(t, s, 500)
	sn, err := s.Snapshot(bg)
	must(t, err)
	defer sn.Close()
	x := begin(t, s)
	for i := 0; i < 500; i += 50 {
		must(t, x.Put(bg, []byte(key(i)), []byte("own")))
	}
	var wg sync.WaitGroup
	for _, r := range []storage.Reader{s.Latest(), sn, x, x.Latest(), x, sn} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				if n := len(collect(t, r, storage.Span{}, storage.ScanOptions{})); n != 500 {
					t.Errorf("%d pairs", n)
				}
				_ = value(t, r, key(7))
				_ = batch(t, r, key(1), key(50), key(499))
			}
		}()
	}
	wg.Wait()
}

func testSnapshot(t *testing.T, s storage.Store) {
	first := write(t, s, kv{"a", "1"}, kv{"b", "1"})
	sn, err := s.Snapshot(bg)
	must(t, err)
	if sn.Seq() < first || s.Seq() < first {
		t.Fatalf("snapshot %d and state %d after commit %d", sn.Seq(), s.Seq(), first)
	}
	seq := sn.Seq()
	sc, err := sn.Scan(bg, storage.Span{}, storage.ScanOptions{})
	must(t, err)
	if next := write(t, s, kv{"a", "2"}, kv{"b", ""}, kv{"c", "2"}); next <= seq {
		t.Fatalf("commit %d after snapshot %d", next, seq)
	}
	wantScan(t, sn, storage.Span{}, kv{"a", "1"}, kv{"b", "1"})
	if got := batch(t, sn, "a", "b", "c"); !slices.Equal(got, []string{"1", "1", ""}) {
		t.Fatal(got)
	}
	n := 0
	_, err = sc.Visit(bg, func(_, v []byte) bool {
		n++
		return string(v) == "1"
	})
	must(t, err)
	if n != 2 {
		t.Fatalf("the open scanner saw %d pairs", n)
	}
	must(t, sc.Close())
	if sn.Seq() != seq {
		t.Fatal("the sequence of a snapshot changed")
	}
	must(t, sn.Close())
	must(t, sn.Close())
	_, err = sn.Get(bg, []byte("a"), nil)
	wantErr(t, err, storage.ErrClosed)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "2"}, kv{"c", "2"})
}

// testSnapshotSeqs takes snapshots while others commit: each sees exactly the commits
// whose sequences are not higher than its own.
func testSnapshotSeqs(t *testing.T, s storage.Store) {
	const commits = 300
	seqs := make([]uint64, commits+1)
	seqs[0] = write(t, s, kv{"n", "0"}, kv{"m", "0"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; i <= commits; i++ {
			seqs[i] = write(t, s, kv{"n", fmt.Sprint(i)}, kv{"m", fmt.Sprint(i)})
		}
	}()
	type seen struct {
		seq uint64
		n   int
	}
	var views []seen
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		sn, err := s.Snapshot(bg)
		must(t, err)
		n, m := value(t, sn, "n"), value(t, sn, "m")
		if n != m {
			t.Fatalf("snapshot %d sees n=%s m=%s", sn.Seq(), n, m)
		}
		i, err := strconv.Atoi(n)
		must(t, err)
		views = append(views, seen{sn.Seq(), i})
		must(t, sn.Close())
	}
	for _, v := range views {
		if v.seq < seqs[v.n] || v.n < commits && v.seq >= seqs[v.n+1] {
			t.Fatalf("snapshot %d sees commit %d with sequence %d", v.seq, v.n, seqs[v.n])
		}
	}
}

func testContextCancel(t *testing.T, s storage.Store) {
	fill(t, s, 5000)
	why := errors.New("killed")
	dead, cancel := context.WithCancelCause(bg)
	cancel(why)
	x := begin(t, s)
	must(t, x.Put(bg, []byte("own"), []byte("1")))
	for _, r := range []storage.Reader{s.Latest(), x, x.Latest()} {
		_, err := r.Get(dead, []byte(key(1)), nil)
		wantErr(t, err, why)
		wantErr(t, r.BatchGet(dead, [][]byte{[]byte(key(1))}, func(int, []byte) error { return nil }), why)
		_, err = r.Scan(dead, storage.Span{}, storage.ScanOptions{})
		wantErr(t, err, why)

		ctx, stop := context.WithCancelCause(bg)
		sc, err := r.Scan(ctx, storage.Span{}, storage.ScanOptions{})
		must(t, err)
		n := 0
		_, err = sc.Visit(ctx, func(_, _ []byte) bool {
			if n++; n == 10 {
				stop(why)
			}
			return true
		})
		wantErr(t, err, why)
		if n > 1000 {
			t.Fatalf("%d pairs after the cancellation", n)
		}
		must(t, sc.Close())
	}
}
