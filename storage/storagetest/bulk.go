package storagetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/storage"
)

func testBulkLoad(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"}, kv{"z", "1"})
	before := s.Seq()
	sn, err := s.Snapshot(bg)
	must(t, err)
	defer sn.Close()
	bl, err := s.BulkLoad(bg)
	must(t, err)
	const n = 5000
	k, v := make([]byte, 0, 16), make([]byte, 0, 16)
	for i := range n {
		k, v = fmt.Appendf(k[:0], "k%06d", i), fmt.Appendf(v[:0], "v%d", i) // Add copies
		must(t, bl.Add(k, v))
	}
	wantErr(t, bl.Add([]byte(key(n-1)), []byte("v")), storage.ErrKeyOrder)
	wantErr(t, bl.Add([]byte("a"), []byte("v")), storage.ErrKeyOrder)
	wantErr(t, bl.Add([]byte("x"), nil), storage.ErrEmptyValue)
	wantErr(t, bl.Add(repeated('x', s.Caps().MaxKey+1), []byte("v")), storage.ErrKeyTooLarge)
	wantErr(t, bl.Add([]byte("x"), repeated('x', s.Caps().MaxValue+1)), storage.ErrValueTooLarge)
	wantValue(t, s.Latest(), key(7), "") // nothing is visible before Finish
	seq, err := bl.Finish(bg)
	must(t, err)
	if seq <= before || s.Seq() < seq {
		t.Fatalf("sequence %d after %d, the store says %d", seq, before, s.Seq())
	}
	must(t, bl.Abort())
	_, err = bl.Finish(bg)
	wantErr(t, err, storage.ErrClosed)
	wantErr(t, bl.Add([]byte("y"), []byte("v")), storage.ErrClosed)
	wantScan(t, sn, storage.Span{}, kv{"a", "1"}, kv{"z", "1"})
	if got := len(collect(t, s.Latest(), storage.Span{}, storage.ScanOptions{})); got != n+2 {
		t.Fatalf("%d pairs", got)
	}
	wantValue(t, s.Latest(), key(n-1), fmt.Sprintf("v%d", n-1))
	after, err := s.Snapshot(bg)
	must(t, err)
	defer after.Close()
	if after.Seq() < seq {
		t.Fatalf("snapshot %d after the load %d", after.Seq(), seq)
	}
	// Commits go on from there.
	if got := write(t, s, kv{key(1), "new"}, kv{key(2), ""}); got <= after.Seq() {
		t.Fatalf("sequence %d after the load %d and a snapshot %d", got, seq, after.Seq())
	}
	wantValue(t, s.Latest(), key(1), "new")
	wantValue(t, s.Latest(), key(2), "")
	empty, err := s.BulkLoad(bg)
	must(t, err)
	if got, err := empty.Finish(bg); err != nil || got > s.Seq() {
		t.Fatal(got, err)
	}
}

func testBulkLoadAbort(t *testing.T, s storage.Store) {
	bl, err := s.BulkLoad(bg)
	must(t, err)
	must(t, bl.Add([]byte("a"), []byte("1")))
	must(t, bl.Abort())
	must(t, bl.Abort())
	_, err = bl.Finish(bg)
	wantErr(t, err, storage.ErrClosed)
	why := errors.New("killed")
	ctx, cancel := context.WithCancelCause(bg)
	bl, err = s.BulkLoad(ctx)
	must(t, err)
	must(t, bl.Add([]byte("a"), []byte("1")))
	cancel(why)
	_, err = bl.Finish(ctx)
	wantErr(t, err, why)
	wantScan(t, s.Latest(), storage.Span{})
}

// testBulkLoadRuns fills runs concurrently.
func testBulkLoadRuns(t *testing.T, s storage.Store) {
	bl, err := s.BulkLoad(bg)
	must(t, err)
	const runs, n = 4, 2000
	var wg sync.WaitGroup
	for i := range runs {
		r, err := bl.Run()
		must(t, err)
		wg.Go(func() {
			for j := range n {
				if err := r.Add(fmt.Appendf(nil, "%d-%06d", runs-i, j), []byte("v")); err != nil {
					t.Error(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	must(t, bl.Add([]byte("own"), []byte("v")))
	_, err = bl.Finish(bg)
	must(t, err)
	if got := len(collect(t, s.Latest(), storage.Span{}, storage.ScanOptions{})); got != runs*n+1 {
		t.Fatalf("%d pairs", got)
	}
	_, err = bl.Run()
	wantErr(t, err, storage.ErrClosed)
	bl, err = s.BulkLoad(bg)
	must(t, err)
	for _, keys := range [][]string{{"b", "d"}, {"c"}} { // they interleave
		r, err := bl.Run()
		must(t, err)
		for _, k := range keys {
			must(t, r.Add([]byte(k), []byte("v")))
		}
		wantErr(t, r.Add([]byte("a"), []byte("v")), storage.ErrKeyOrder)
		must(t, r.Close())
	}
	_, err = bl.Finish(bg)
	wantErr(t, err, storage.ErrKeyOrder)
	for _, k := range []string{"b", "c", "d"} {
		wantValue(t, s.Latest(), k, "")
	}
}

func testBulkLoadOverwrites(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "old"}, kv{"b", "old"})
	write(t, s, kv{"b", ""})
	bl, err := s.BulkLoad(bg)
	must(t, err)
	must(t, bl.Add([]byte("a"), []byte("new")))
	must(t, bl.Add([]byte("b"), []byte("new")))
	_, err = bl.Finish(bg)
	must(t, err)
	wantScan(t, s.Latest(), storage.Span{}, kv{"a", "new"}, kv{"b", "new"})
}

// testDiscard: the keys of a span go, at once where calls are not remote, and no
// others.
func testDiscard(t *testing.T, s storage.Store) {
	remote := s.Caps().Remote
	fill(t, s, 100)
	sn, err := s.Snapshot(bg)
	must(t, err)
	defer sn.Close()
	must(t, s.Discard(bg, span(key(10), key(20))))
	must(t, s.Discard(bg, span(key(10), key(20)))) // again
	outside := slices.Concat(collect(t, s.Latest(), span("", key(10)), storage.ScanOptions{}), collect(t, s.Latest(), span(key(20), ""), storage.ScanOptions{}))
	if len(outside) != 90 {
		t.Fatalf("%d pairs outside", len(outside))
	}
	if !remote {
		wantScan(t, s.Latest(), span(key(10), key(20)))
		if len(collect(t, sn, storage.Span{}, storage.ScanOptions{})) != 100 {
			t.Fatal("the snapshot changed")
		}
	}
	must(t, s.Discard(bg, span("x", "b")))
	must(t, s.Discard(bg, span(key(95), "")))
	if got := collect(t, s.Latest(), span("", key(95)), storage.ScanOptions{}); got[len(got)-1].k != key(94) {
		t.Fatal("too much is gone")
	}
	if !remote {
		wantScan(t, s.Latest(), span(key(95), ""))
	}
	why := errors.New("killed")
	ctx, cancel := context.WithCancelCause(bg)
	cancel(why)
	wantErr(t, s.Discard(ctx, storage.Span{}), why)
}

// testClear: the keys of a span are gone, and it can be used again.
func testClear(t *testing.T, s storage.Store) {
	fill(t, s, 5000)
	before := s.Seq()
	sn, err := s.Snapshot(bg)
	must(t, err)
	defer sn.Close()
	must(t, storage.Clear(bg, s, span(key(10), key(4900))))
	got := collect(t, s.Latest(), storage.Span{}, storage.ScanOptions{})
	if len(got) != 110 || got[9].k != key(9) || got[10].k != key(4900) {
		t.Fatalf("%d pairs", len(got))
	}
	wantValue(t, s.Latest(), key(15), "")
	if s.Seq() <= before || len(collect(t, sn, storage.Span{}, storage.ScanOptions{})) != 5000 {
		t.Fatal("the snapshot changed")
	}
	write(t, s, kv{key(15), "again"})
	wantValue(t, s.Latest(), key(15), "again")
	must(t, storage.Clear(bg, s, storage.Span{}))
	must(t, storage.Clear(bg, s, storage.Span{}))
	wantScan(t, s.Latest(), storage.Span{})
	last := write(t, s, kv{"a", "1"})
	after, err := s.Snapshot(bg)
	must(t, err)
	defer after.Close()
	if s.Seq() < last || after.Seq() < last {
		t.Fatalf("commit %d, the store is at %d, a snapshot at %d", last, s.Seq(), after.Seq())
	}
	wantScan(t, after, storage.Span{}, kv{"a", "1"})
}

func testPartitions(t *testing.T, s storage.Store) {
	check := func(sp storage.Span, n int) []storage.Span {
		t.Helper()
		parts := s.Partitions(bg, sp, n)
		if len(parts) == 0 || len(parts) > max(n, 1) {
			t.Fatalf("%d parts of %d", len(parts), n)
		}
		at := sp.Start
		for i, p := range parts {
			if !bytes.Equal(p.Start, at) || (i > 0 && bytes.Compare(parts[i-1].Start, p.Start) >= 0) {
				t.Fatalf("part %d starts at %q, want %q", i, p.Start, at)
			}
			at = p.End
		}
		if !bytes.Equal(at, sp.End) || (at == nil) != (sp.End == nil) {
			t.Fatalf("the last part ends at %q, want %q", at, sp.End)
		}
		return parts
	}
	check(storage.Span{}, 4)
	check(span("a", "b"), 4)
	check(span("b", "a"), 4)
	fill(t, s, 3)
	check(storage.Span{}, 8)
	bl, err := s.BulkLoad(bg)
	must(t, err)
	const n = 20_000
	val := make([]byte, 400)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		for j := 0; j < len(val); j += 8 { // does not compress
			binary.LittleEndian.PutUint64(val[j:], rng.Uint64())
		}
		must(t, bl.Add([]byte(key(i+10)), val))
	}
	_, err = bl.Finish(bg)
	must(t, err)
	check(storage.Span{}, 1)
	check(storage.Span{}, 0)
	for _, sp := range []storage.Span{{}, span(key(5000), key(15000)), span(key(100), "")} {
		total := len(collect(t, s.Latest(), sp, storage.ScanOptions{KeyOnly: true}))
		parts := check(sp, 4)
		sum := 0
		for _, p := range parts {
			m := len(collect(t, s.Latest(), p, storage.ScanOptions{KeyOnly: true}))
			// A remote store has pieces of the sizes that its servers gave them.
			if len(parts) > 1 && m > total*3/4 && !s.Caps().Remote {
				t.Errorf("a part holds %d of %d", m, total)
			}
			sum += m
		}
		if sum != total {
			t.Fatalf("parts hold %d pairs, the span %d", sum, total)
		}
		if len(parts) < 2 && !s.Caps().Remote { // there a table may be all on one machine
			t.Errorf("%d parts of a large span", len(parts))
		}
	}
}

func testEstimateSize(t *testing.T, s storage.Store) {
	size := func(sp storage.Span) int64 {
		t.Helper()
		n, err := s.EstimateSize(bg, sp)
		must(t, err)
		return n
	}
	if size(storage.Span{}) != 0 || size(span("b", "a")) != 0 {
		t.Fatal("size of nothing")
	}
	fill(t, s, 1000)
	// Of a store on other machines only the number of regions is known, which may be cut.
	if n := size(storage.Span{}); n <= 0 || n > 1<<20 && !s.Caps().Remote {
		t.Fatalf("size %d", n)
	}
	if size(span("x", "y")) != 0 {
		t.Fatal("size of an empty span")
	}
}

func testMetrics(t *testing.T, s storage.Store) {
	write(t, s, kv{"a", "1"})
	before := s.Seq()
	if m := s.Metrics(); m["seq"] < int64(before) || m["seq"] > int64(s.Seq()) {
		t.Fatalf("%v", m)
	}
	if c := s.Caps(); c.MaxKey <= 0 || c.MaxValue <= 0 || c.MaxTxn <= 0 {
		t.Fatalf("%+v", c)
	}
}

// testBulkLoadUnordered loads during commits.
func testBulkLoadUnordered(t *testing.T, s storage.Store) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				write(t, s, kv{fmt.Sprintf("a-%d", i%10), "v"})
			}
		}
	})
	const runs, n = 5, 300
	for i := range runs {
		bl, err := s.BulkLoad(bg)
		must(t, err)
		r, err := bl.Run()
		must(t, err)
		for j := range n {
			must(t, r.Add(fmt.Appendf(nil, "b-%06d", j*(i+1)), fmt.Append(nil, i)))
		}
		must(t, r.Close())
		must(t, bl.FinishUnordered(bg))
		must(t, bl.Abort())
		wantErr(t, bl.FinishUnordered(bg), storage.ErrClosed)
		wantValue(t, s.Latest(), fmt.Sprintf("b-%06d", (n-1)*(i+1)), fmt.Sprint(i))
	}
	close(stop)
	wg.Wait()
	write(t, s, kv{"b-000000", "later"})
	wantValue(t, s.Latest(), "b-000000", "later")
	wantValue(t, s.Latest(), "b-000001", "0")
	wantValue(t, s.Latest(), "b-000002", "1")
	empty, err := s.BulkLoad(bg)
	must(t, err)
	must(t, empty.FinishUnordered(bg))
}
