package pebblekv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/storagetest"
)

func openEager(t testing.TB) *Store { return openImages(t, false) }

// openImages opens a store that makes images at once, packed ones or others.
func openImages(t testing.TB, packs bool) *Store {
	t.Helper()
	s, err := Open(Options{PackImages: packs, Dir: "store", FS: vfs.NewMem(), CacheBytes: 32 << 20, MemTableBytes: 64 << 10, DiskReserveBytes: -1,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), EagerImages: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The contract of the store holds when everything that can be is read from
// images.
func TestConformanceWithImages(t *testing.T) {
	testflag.Normal(t)
	for _, packs := range []bool{false, true} {
		t.Run(fmt.Sprintf("packed=%v", packs), func(t *testing.T) {
			storagetest.Run(t, func(t *testing.T) storage.Store { return openImages(t, packs) })
		})
	}
}

func imageKey(g byte, i uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{2, 0, 0, 0, 1, 0, g}, i)
}

type pair struct{ key, val string }

func collect(t testing.TB, sc storage.Scanner, stopEvery int) (out []pair) {
	t.Helper()
	defer sc.Close()
	for {
		n := 0
		done, err := sc.Visit(t.Context(), func(k, v []byte) bool {
			out = append(out, pair{string(k), string(v)})
			n++
			return stopEvery == 0 || n < stopEvery
		})
		if err != nil {
			t.Error(err)
			return nil
		}
		if done {
			return out
		}
	}
}

// While groups are written to in every way, scans of a snapshot find what an
// iterator finds, from images or not.
func TestImagesUnderWrites(t *testing.T) {
	testflag.Normal(t)
	t.Run("flat", func(t *testing.T) { imagesUnderWrites(t, openImages(t, false)) })
	t.Run("packed", func(t *testing.T) {
		s := openImages(t, true)
		imagesUnderWrites(t, s)
		for g := range byte(2) {
			if im := s.images.by[group(imageKey(g+1, 0))]; im != nil && im.ready && im.chunks[0].packed == nil {
				t.Errorf("the image of group %d is not packed", g+1)
			}
		}
	})
}

func imagesUnderWrites(t *testing.T, s *Store) {
	defer s.Close()
	const groups = 3
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			r := rand.New(rand.NewPCG(uint64(w), 7))
			for i := range 300 {
				writeSome(t, s, r, byte(r.IntN(groups)), i)
			}
		}()
	}
	var fromImage, scans [4]int
	for n := range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			r := rand.New(rand.NewPCG(uint64(n), 9))
			for {
				select {
				case <-stop:
					return
				default:
				}
				scans[n]++
				if readSome(t, s, r, byte(r.IntN(groups))) {
					fromImage[n]++
				}
			}
		}()
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	// What is left is at rest: all of it comes from images.
	r := rand.New(rand.NewPCG(1, 1))
	for g := range byte(groups) {
		for range 50 {
			readSome(t, s, r, g)
		}
		if !readSome(t, s, r, g) {
			t.Errorf("group %d has no image", g)
		}
	}
	t.Logf("%v of %v scans from images", fromImage, scans)
	if n, _, size := s.images.usage(); n != groups || size <= 0 {
		t.Errorf("%d images, %d bytes", n, size)
	}
	if err := s.Discard(t.Context(), storage.Span{Start: imageKey(0, 0), End: imageKey(0, 1)}); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := s.images.usage(); n != groups-1 {
		t.Errorf("%d images after a range of one group was deleted", n)
	}
}

// A commit is seen by lookups of the latest state as soon as it has ended,
// while others write to the same groups.
func TestImagesLatest(t *testing.T) {
	for _, packs := range []bool{false, true} {
		imagesLatest(t, openImages(t, packs))
	}
}

func imagesLatest(t *testing.T, s *Store) {
	defer s.Close()
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range uint64(400) {
				txn, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
				if err != nil {
					t.Error(err)
					return
				}
				key, val := imageKey(byte(i%2), i%50*4+w), binary.BigEndian.AppendUint64(nil, i)
				err = txn.Put(t.Context(), key, val)
				if err == nil {
					_, err = txn.Commit(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Latest().Get(t.Context(), key, nil)
				if err != nil || !bytes.Equal(got, val) {
					t.Errorf("latest %x, %v instead of %x", got, err, val)
				}
				if _, err := s.GetPresumedAbsent(t.Context(), imageKey(byte(i%2), 1000+w), nil); err == nil {
					t.Error("a key that never was is found")
				}
				if i%10 == 0 {
					readSome(t, s, rand.New(rand.NewPCG(w, i)), byte(i%2))
				}
			}
		}()
	}
	wg.Wait()
}

func writeSome(t testing.TB, s *Store, r *rand.Rand, g byte, i int) {
	switch {
	case i%50 == 17:
		lo := r.Uint64N(3000)
		if err := s.Discard(t.Context(), storage.Span{Start: imageKey(g, lo), End: imageKey(g, lo+r.Uint64N(300))}); err != nil {
			t.Error(err)
		}
		return
	case i%50 == 34:
		b, err := s.BulkLoad(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		at := r.Uint64N(3000)
		for range 100 {
			at += 1 + r.Uint64N(5)
			if err := b.Add(imageKey(g, at), binary.BigEndian.AppendUint64(nil, r.Uint64())); err != nil {
				t.Error(err)
			}
		}
		if _, err := b.Finish(t.Context()); err != nil {
			t.Error(err)
		}
		return
	}
	txn, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
	if err != nil {
		t.Error(err)
		return
	}
	defer txn.Rollback()
	for range 1 + r.IntN(20) {
		key := imageKey(g, r.Uint64N(3000))
		if r.IntN(4) == 0 {
			err = txn.Delete(t.Context(), key)
		} else {
			n := 1 + r.IntN(200) // few pairs of the same length, as texts are
			if g > 0 {
				n = []int{8, 12, 30}[r.IntN(3)]
			}
			err = txn.Put(t.Context(), key, bytes.Repeat([]byte{byte(r.Uint32())}, n))
		}
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := txn.Commit(t.Context()); err != nil {
		t.Error(err)
	}
}

// noViews is a reader that never uses images.
type noViews struct{}

func (noViews) view(group, []byte) (view, bool) { return view{}, false }

// lookSome compares lookups of a snapshot with those past images.
func lookSome(t testing.TB, s *Store, sn *snapshot, r *rand.Rand, g byte) {
	keys := make([][]byte, 1+r.IntN(30))
	for i := range keys {
		keys[i] = imageKey(g, r.Uint64N(3200))
	}
	if r.IntN(2) == 0 {
		slices.SortFunc(keys, bytes.Compare)
	}
	read := func(get func(fn func(i int, value []byte) error) error) []string {
		out := make([]string, len(keys))
		if err := get(func(i int, value []byte) error { out[i] = string(value); return nil }); err != nil {
			t.Error(err)
		}
		return out
	}
	got := read(func(fn func(int, []byte) error) error { return sn.BatchGet(t.Context(), keys, fn) })
	want := read(func(fn func(int, []byte) error) error { return s.batchGet(t.Context(), noViews{}, sn, keys, fn) })
	if !slices.Equal(got, want) {
		t.Errorf("look-ups differ: %q, %q", got, want)
	}
	v, err := sn.Get(t.Context(), keys[0], nil)
	if string(v) != want[0] || err != nil && want[0] != "" {
		t.Errorf("get: %q, %v instead of %q", v, err, want[0])
	}
}

// readSome compares a scan with that of an iterator and reports whether it came from an
// image.
func readSome(t testing.TB, s *Store, r *rand.Rand, g byte) (fromImage bool) {
	st, err := s.Snapshot(bg)
	if err != nil {
		t.Error(err)
		return false
	}
	defer st.Close()
	sn := st.(*snapshot)
	lookSome(t, s, sn, r, g)
	span := storage.Span{Start: imageKey(g, 0)[:groupLen], End: keyenc.PrefixEnd(imageKey(g, 0)[:groupLen])}
	if r.IntN(2) == 0 {
		lo := r.Uint64N(3200)
		span.Start, span.End = imageKey(g, lo), imageKey(g, lo+r.Uint64N(1000))
	}
	opts := storage.ScanOptions{Reverse: r.IntN(2) == 0, KeyOnly: r.IntN(3) == 0, Limit: []int{0, 0, 1, 30, 500}[r.IntN(5)]}
	stopEvery := []int{0, 1, 100, 256, 1000}[r.IntN(5)]
	sc, err := sn.Scan(t.Context(), span, opts)
	if err != nil {
		t.Error(err)
		return false
	}
	_, fromImage = sc.(*imageScanner)
	got := collect(t, sc, stopEvery)
	raw, err := s.scan(t.Context(), sn, span, opts)
	if err != nil {
		t.Error(err)
		return false
	}
	if want := collect(t, raw, 0); !slices.Equal(got, want) {
		t.Errorf("image %v, %+v: %d pairs instead of %d", fromImage, opts, len(got), len(want))
	}
	return fromImage
}

// BenchmarkImageScan is a scan of 500,000 pairs with changes since the image
// was made, next to that of an iterator, per pair.
func BenchmarkImageScan(b *testing.B) {
	const rows = 500_000
	for _, c := range []struct {
		name    string
		changes int
		image   bool
		packed  bool
	}{{"iterator", 20_000, false, false}, {"unchanged", 0, true, false}, {"changed1%", 5_000, true, false}, {"changed4%", 20_000, true, false}, {"packed", 0, true, true}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := Open(Options{Dir: b.TempDir(), CacheBytes: 1 << 30, DiskReserveBytes: -1,
				Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			bl, err := s.BulkLoad(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			val := make([]byte, 60)
			for i := range rows {
				binary.LittleEndian.PutUint64(val, uint64(i)*0x9e3779b97f4a7c15)
				if err := bl.Add(imageKey(1, uint64(2*i)), val); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := bl.Finish(b.Context()); err != nil {
				b.Fatal(err)
			}
			if c.image {
				im := &image{packed: c.packed}
				g := group(imageKey(1, 0))
				s.images.by[g] = im
				s.images.count.Add(1)
				s.images.finish(g, im, s.makeImage(g, im))
				s.images.limit = 0 // this image stays
			}
			r := rand.New(rand.NewPCG(1, 1))
			for done := 0; done < c.changes; done += 100 {
				txn, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
				if err != nil {
					b.Fatal(err)
				}
				for range 100 {
					if err := txn.Put(b.Context(), imageKey(1, r.Uint64N(2*rows)), val); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := txn.Commit(b.Context()); err != nil {
					b.Fatal(err)
				}
				if im := s.images.by[group(imageKey(1, 0))]; im != nil {
					im.served.Add(1) // it is in use
				}
			}
			span := storage.Span{Start: imageKey(1, 0)[:groupLen], End: keyenc.PrefixEnd(imageKey(1, 0)[:groupLen])}
			for b.Loop() {
				sn, err := s.Snapshot(bg)
				if err != nil {
					b.Fatal(err)
				}
				var sc storage.Scanner
				if c.image {
					sc, err = sn.Scan(b.Context(), span, storage.ScanOptions{})
				} else {
					sc, err = s.scan(b.Context(), sn.(*snapshot), span, storage.ScanOptions{})
				}
				if err != nil {
					b.Fatal(err)
				}
				if _, ok := sc.(*imageScanner); ok != c.image {
					b.Fatalf("%T", sc)
				}
				n := 0
				if _, err := sc.Visit(b.Context(), func(_, _ []byte) bool { n++; return true }); err != nil || n < rows {
					b.Fatal(n, err)
				}
				_ = sc.Close()
				_ = sn.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/pair")
			if im := s.images.by[group(imageKey(1, 0))]; im != nil {
				b.ReportMetric(float64(im.size)/rows, "bytes/pair")
			}
		})
	}
}

// TestImagesTakeBlocks: the block cache gives up what images have, and takes it again.
func TestImagesTakeBlocks(t *testing.T) {
	testflag.Normal(t) // a cache of the whole size
	s := openEager(t)
	defer s.Close()
	if had := s.claims.claimed(); had != s.opts.ImageBytes {
		t.Errorf("%d bytes of a small cache are left for images", had)
	}
	s.claims.mu.Lock()
	s.claims.spare = 0 // as in a large one
	s.claims.mu.Unlock()
	s.claims.setImages(0)
	whole := s.Metrics()["block_cache_capacity"]
	if whole != s.opts.CacheBytes-s.opts.FilterBytes {
		t.Errorf("the cache has %d bytes without an image", whole)
	}
	tx, err := s.Begin(t.Context(), storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(4000) {
		if err := tx.Put(t.Context(), imageKey(1, i), bytes.Repeat([]byte{1}, 200)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first scan has the image made
		sn, err := s.Snapshot(bg)
		if err != nil {
			t.Fatal(err)
		}
		sc, err := sn.Scan(t.Context(), storage.Span{Start: imageKey(1, 0), End: imageKey(1, 4000)}, storage.ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(collect(t, sc, 0)); n != 4000 {
			t.Errorf("%d pairs", n)
		}
		if err := sn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, _, size := s.images.usage()
	if taken := whole - s.Metrics()["block_cache_capacity"]; size < 4000*200 || taken < size || taken > size+s.claims.unit {
		t.Errorf("an image of %d bytes takes %d of the cache", size, taken)
	}
	s.images.mu.Lock()
	s.images.dropAll()
	s.images.mu.Unlock()
	for end := time.Now().Add(10 * time.Second); s.Metrics()["block_cache_capacity"] != whole; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the cache stays small without the image")
		}
	}
}

// TestReadOnce: reads that are marked as made once have no image made.
func TestReadOnce(t *testing.T) {
	s := openEager(t)
	defer s.Close()
	tx, err := s.Begin(bg, storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for i := range uint64(4 * seekSample) {
		keys = append(keys, imageKey(1, i))
		if err := tx.Put(bg, keys[i], []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(bg); err != nil {
		t.Fatal(err)
	}
	none := func(int, []byte) error { return nil }
	scan := func(cold bool) {
		sc, err := s.Latest().Scan(bg, storage.Span{Start: keys[0], End: imageKey(2, 0)}, storage.ScanOptions{Cold: cold})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(collect(t, sc, 0)); n != len(keys) {
			t.Errorf("%d pairs", n)
		}
	}
	once := storage.ReadingOnce(bg)
	scan(true)
	if err := s.Latest().BatchGet(once, keys, none); err != nil {
		t.Fatal(err)
	}
	sn, err := s.Snapshot(bg)
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	fresh := storage.ReadingFresh(bg)
	found := 0
	if err := sn.BatchGet(fresh, append(keys, imageKey(1, 1<<40), nil), func(i int, value []byte) error {
		if (i < len(keys)) != (value != nil) {
			return fmt.Errorf("%d: %x", i, value)
		}
		found++
		return nil
	}); err != nil || found != len(keys)+2 {
		t.Errorf("%d keys: %v", found, err)
	}
	for _, k := range keys {
		if _, err := s.Latest().Get(once, k, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, _ := s.images.usage(); n != 0 {
		t.Errorf("%d images", n)
	}
	if err := s.Latest().BatchGet(bg, keys, none); err != nil {
		t.Fatal(err)
	}
	scan(false)
	if n, _, _ := s.images.usage(); n != 1 {
		t.Errorf("%d images of what is read more often", n)
	}
}

// TestImagesInParts: images of many chunks are made again part by part, and what snapshots
// and the latest state have of them stays what an iterator finds, while others write.
func TestImagesInParts(t *testing.T) {
	testflag.Normal(t)
	for _, packs := range []bool{false, true} {
		s := openImages(t, packs)
		var others sync.WaitGroup
		stop := make(chan struct{})
		others.Go(func() {
			for r := rand.New(rand.NewPCG(3, 3)); ; {
				select {
				case <-stop:
					return
				default:
					writeNear(t, s, r, 3000, 3)
					time.Sleep(time.Millisecond)
				}
			}
		})
		imagesInParts(t, s)
		close(stop)
		others.Wait()
		s.Close()
	}
}

func imagesInParts(t *testing.T, s *Store) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 5))
	parts := 0
	var last *image
	var old []storage.Snapshot
	for i := range uint64(testflag.Rounds(0, 400, 4000)) {
		writeNear(t, s, r, 3000+i, 40)
		if r.IntN(10) == 0 {
			sn, err := s.Snapshot(bg)
			if err != nil {
				t.Fatal(err)
			}
			old = append(old, sn)
		}
		if len(old) > 5 {
			_ = old[0].Close()
			old = old[1:]
		}
		for _, sn := range old {
			lookSome(t, s, sn.(*snapshot), r, 1)
		}
		readSome(t, s, r, 1)
		s.images.mu.Lock()
		if im := s.images.by[group(imageKey(1, 0))]; im != last {
			if im != nil && im.since < im.tag {
				parts++
			}
			last = im
		}
		s.images.mu.Unlock()
	}
	for _, sn := range old {
		_ = sn.Close()
	}
	if parts < testflag.Rounds(0, 50, 500) {
		t.Errorf("%d images have parts of several ages", parts)
	}
}

// writeNear changes up to n keys below most, many of them near each other.
func writeNear(t *testing.T, s *Store, r *rand.Rand, most uint64, n int) {
	txn, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
	if err != nil {
		t.Error(err)
		return
	}
	defer txn.Rollback()
	at := r.Uint64N(most)
	for range 1 + r.IntN(n) {
		if at += r.Uint64N(20); r.IntN(8) == 0 {
			at = r.Uint64N(most)
		}
		if r.IntN(4) == 0 {
			err = txn.Delete(t.Context(), imageKey(1, at))
		} else {
			err = txn.Put(t.Context(), imageKey(1, at), bytes.Repeat([]byte{byte(r.Uint32())}, []int{8, 12, 30}[r.IntN(3)]))
		}
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := txn.Commit(t.Context()); err != nil {
		t.Error(err)
	}
}
