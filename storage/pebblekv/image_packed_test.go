package pebblekv

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// flatChunk holds pairs, which are sorted by their keys.
func flatChunk(keys, values [][]byte) *imageChunk {
	var c imageChunk
	for i, k := range keys {
		c.data = append(c.data, k...)
		c.ends = append(c.ends, uint32(len(c.data)))
		c.data = append(c.data, values[i]...)
		c.ends = append(c.ends, uint32(len(c.data)))
	}
	return &c
}

// somePairs are sorted pairs of a kind that packs, with keys of one length or of several,
// which may begin with each other.
func somePairs(r *rand.Rand) (keys, values [][]byte) {
	n := 1 + r.IntN(packedPairs)
	dense, text, columns := r.IntN(3) > 0, r.IntN(2) == 0, r.IntN(3)
	at := r.Uint64N(1 << 40)
	for range n {
		at += 1 + r.Uint64N(1+r.Uint64N(300))
		key := binary.BigEndian.AppendUint64([]byte{2, 0, 0, 0, 1, 0, 7}, at)
		if !dense {
			key = append(key, bytes.Repeat([]byte{byte(r.IntN(2))}, r.IntN(3))...)
		}
		value := []byte("a header of a row")
		for range columns {
			value = binary.LittleEndian.AppendUint32(value, uint32(r.IntN(1000)))
		}
		if text {
			value = append(value, "some text of several words"[:r.IntN(26)]...)
		}
		keys, values = append(keys, key), append(values, value)
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys, values
}

// TestPacked: a packed chunk has the pairs that it was made of, in the same places.
func TestPacked(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		keys, values := somePairs(r)
		c := flatChunk(keys, values)
		p := pack(c)
		if p == nil {
			if len(keys) > 300 {
				t.Errorf("seed %d: %d pairs are not packed", seed, len(keys))
			}
			continue
		}
		if p.n != len(keys) {
			t.Fatalf("seed %d: %d pairs of %d", seed, p.n, len(keys))
		}
		var buf []byte
		for i := range keys {
			key, value, more := p.pair(i, buf)
			if !bytes.Equal(key, keys[i]) || !bytes.Equal(value, values[i]) || !bytes.Equal(p.key(i, nil), keys[i]) {
				t.Fatalf("seed %d: pair %d is %x, %x, not %x, %x", seed, i, key, value, keys[i], values[i])
			}
			buf = more
		}
		for range 500 {
			key := bytes.Clone(keys[r.IntN(len(keys))])
			switch r.IntN(6) {
			case 0:
				key[r.IntN(len(key))]++
			case 1:
				key = key[:r.IntN(len(key))]
			case 2:
				key = append(key, byte(r.IntN(3)))
			}
			want, _ := slices.BinarySearchFunc(keys, key, bytes.Compare)
			if got := p.seek(key); got != want {
				t.Fatalf("seed %d: %x is at %d, not %d", seed, key, got, want)
			}
			if i := r.IntN(len(keys)); p.compare(i, key) != bytes.Compare(keys[i], key) {
				t.Fatalf("seed %d: %x and %x", seed, keys[i], key)
			}
		}
	}
}

// TestNotPacked: pairs that have nothing in common stay as they were, and so do long ones
// and those of very many lengths.
func TestNotPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for name, length := range map[string]func(i int) int{
		"random": func(int) int { return 80 },
		"long":   func(i int) int { return 20 + i%2*packedPairLen },
		"many":   func(i int) int { return i },
	} {
		var keys, values [][]byte
		for i := range 1000 {
			keys = append(keys, fmt.Appendf(nil, "key %06d", i))
			values = append(values, random(length(i)))
		}
		if p := pack(flatChunk(keys, values)); p != nil {
			t.Errorf("%s: %d bytes", name, p.size())
		}
	}
}

// TestPackedImages: groups that fit have images as they are, those that are too large for
// that have packed ones, and those that are too large for these have none.
func TestPackedImages(t *testing.T) {
	testflag.Normal(t)
	s := openSmall(t)
	defer s.Close()
	const small, large, noise = 1, 2, 3
	loadGroups(t, s, map[byte]loaded{small: {20_000, 24}, large: {250_000, 24}, noise: {400_000, 60}})
	scanOften(t, s, small, large, noise)
	forms := map[byte]string{}
	for g, im := range s.images.by {
		forms[g[groupLen-1]] = fmt.Sprint("packed=", im.packed, " ready=", im.ready)
	}
	if want := "map[1:packed=false ready=true 2:packed=true ready=true]"; fmt.Sprint(forms) != want {
		t.Errorf("%v, not %s", forms, want)
	}
	if held, most := s.images.held(), s.opts.mostImages(); held <= s.opts.ImageBytes*3/4 || held > most {
		t.Errorf("images of %d bytes, at most %d", held, most)
	}
	r1, r2 := s.images.heatOf(group(imageKey(noise, 0))), s.images.heatOf(group(imageKey(large, 0)))
	if r1.packedSize() < s.opts.mostImages()/2 || r2.packedSize() > r2.size/2 {
		t.Errorf("packed sizes are %d and %d", r1.packedSize(), r2.packedSize())
	}
	s.ShrinkCache(s.opts.CacheBytes)
	if held := s.images.held(); held == 0 || held > s.opts.ImageBytes {
		t.Errorf("%d bytes of images are left, of %d", held, s.opts.ImageBytes)
	}
}

// TestRenewedBeside: an image that has most of the memory for such images is made again
// while it serves reads, scans or lookups.
func TestRenewedBeside(t *testing.T) {
	testflag.Normal(t)
	for name, read := range map[string]func(s *Store){
		"scans": func(s *Store) { scanGroup(t, s, 1) },
		"lookups": func(s *Store) {
			for i := range uint64(2 * seekSample) {
				if _, err := s.Latest().Get(t.Context(), imageKey(1, i), nil); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		s := openSmall(t)
		defer s.Close()
		loadGroups(t, s, map[byte]loaded{1: {60_000, 60}})
		scanOften(t, s, 1)
		g := group(imageKey(1, 0))
		old := s.images.by[g]
		if old == nil || !old.ready || old.packed || old.size < s.opts.ImageBytes/2 {
			t.Fatalf("no image, or a packed or small one: %v", old != nil)
		}
		for i := range uint64(8) {
			putMany(t, s, 800, func(j uint64) uint64 { return j*60 + i })
			read(s)
			s.waitForImage(t.Context())
		}
		if now := s.images.by[g]; now == nil || now == old || !now.ready || now.packed || now.changes.size > old.size/renewShare+renewAllowed {
			t.Errorf("%s: dropped %v, not made again %v", name, now == nil, now == old)
		}
	}
}

// TestRenewalFails: an image that has outgrown its room is not copied in vain with each
// read.
func TestRenewalFails(t *testing.T) {
	testflag.Normal(t)
	s := openSmall(t)
	defer s.Close()
	const pairs = 89_000 // nearly all of the room
	loadGroups(t, s, map[byte]loaded{1: {pairs, 12}})
	scanOften(t, s, 1)
	g := group(imageKey(1, 0))
	for i := range uint64(20) {
		putMany(t, s, 1000, func(j uint64) uint64 { return pairs + i*1000 + j })
		_, _ = s.Latest().Get(t.Context(), imageKey(1, 5), nil)
	}
	old := s.images.by[g]
	if old == nil || !old.ready || old.packed || old.changes.size < old.size/renewShare+renewAllowed {
		t.Fatalf("no image, or one with few changes: %v", old != nil)
	}
	builds := 0
	for range 30 {
		scanGroup(t, s, 1)
		s.images.mu.Lock()
		if s.images.busy {
			builds++
		}
		s.images.mu.Unlock()
		s.waitForImage(t.Context())
	}
	if builds > 2 || s.images.by[g] != old {
		t.Errorf("%d builds in vain, other image %v", builds, s.images.by[g] != old)
	}
}

// TestSmallParts: an image that has nearly all the room is made again in small parts.
func TestSmallParts(t *testing.T) {
	testflag.Normal(t)
	s := openSmall(t)
	defer s.Close()
	loadGroups(t, s, map[byte]loaded{1: {250_000, 40}})
	scanOften(t, s, 1)
	g := group(imageKey(1, 0))
	old := s.images.by[g]
	if old == nil || !old.packed || len(old.chunks) < partChunks {
		t.Fatalf("no packed image: %v", old != nil)
	}
	s.ShrinkCache(s.images.most - old.size - old.size/imageParts/2)
	for i := range uint64(6) {
		putMany(t, s, 800, func(j uint64) uint64 { return j*100 + i })
		scanGroup(t, s, 1)
		s.waitForImage(t.Context())
	}
	if now := s.images.by[g]; now == nil || now.since == now.tag || now.changes.size > old.size/renewPackedShare+renewAllowed {
		t.Errorf("dropped %v, not made again %v", now == nil, now == old)
	}
}

// TestUselessParts: an image of many chunks that is written to and hardly read is dropped,
// not made again part by part.
func TestUselessParts(t *testing.T) {
	testflag.Normal(t)
	s, err := Open(Options{Dir: t.TempDir(), CacheBytes: 128 << 20, MemTableBytes: 4 << 20, DiskReserveBytes: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	loadGroups(t, s, map[byte]loaded{1: {280_000, 60}})
	scanOften(t, s, 1)
	g := group(imageKey(1, 0))
	last := s.images.by[g]
	if last == nil || !last.ready || len(last.chunks) < partChunks {
		t.Fatalf("no image of many chunks: %v", last != nil)
	}
	r := rand.New(rand.NewPCG(1, 1))
	renewals := 0
	for i := 0; i < 60 && last != nil; i++ {
		putMany(t, s, 1900, func(uint64) uint64 { return r.Uint64N(280_000) })
		if _, err := s.Latest().Get(t.Context(), imageKey(1, 5), nil); err != nil {
			t.Fatal(err)
		}
		s.waitForImage(t.Context())
		if now := s.images.by[g]; now != last {
			last, renewals = now, renewals+1
		}
	}
	if last != nil || renewals > 1 {
		t.Errorf("it is kept %v, and was made again %d times", last != nil, renewals-1)
	}
}

// TestForgottenGuess: an image that seemed too large once is made when it is not.
func TestForgottenGuess(t *testing.T) {
	testflag.Normal(t)
	s := openSmall(t)
	defer s.Close()
	loadGroups(t, s, map[byte]loaded{1: {250_000, 24}})
	g := group(imageKey(1, 0))
	scanGroup(t, s, 1)
	h := s.images.heatOf(g)
	h.packed, h.failed = s.opts.CacheBytes*2, true
	scanOften(t, s, 1)
	if s.images.by[g] != nil {
		t.Error("there is an image that would be too large")
	}
	for range 60 { // minutes
		s.images.age()
	}
	scanOften(t, s, 1)
	if im := s.images.by[g]; im == nil || !im.packed {
		t.Error("the guess is not forgotten")
	}
}

func putMany(t *testing.T, s *Store, n uint64, at func(i uint64) uint64) {
	t.Helper()
	tx, err := s.Begin(t.Context(), storage.TxnOptions{Durability: storage.DurabilityNone})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := tx.Put(t.Context(), imageKey(1, at(i)), make([]byte, 60)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func openSmall(t *testing.T) *Store {
	t.Helper()
	s, err := Open(Options{Dir: t.TempDir(), CacheBytes: 32 << 20, MemTableBytes: 1 << 20, DiskReserveBytes: -1,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// loaded is how many pairs a group gets, and how many of the 60 bytes of their values are
// random.
type loaded struct{ pairs, random int }

func loadGroups(t *testing.T, s *Store, groups map[byte]loaded) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	b, err := s.BulkLoad(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for g := range byte(10) {
		value := make([]byte, 60)
		for i := range groups[g].pairs {
			for j := range groups[g].random {
				value[j] = byte(r.Uint32())
			}
			if err := b.Add(imageKey(g, uint64(i)), value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := b.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// scanOften reads groups until images are made of those that may have one.
func scanOften(t *testing.T, s *Store, groups ...byte) {
	t.Helper()
	for range 6 {
		for _, g := range groups {
			scanGroup(t, s, g)
			s.waitForImage(t.Context())
		}
	}
}

// scanGroup reads all pairs of a group.
func scanGroup(t *testing.T, s *Store, g byte) {
	t.Helper()
	sn, err := s.Snapshot(bg)
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	start := imageKey(g, 0)[:groupLen]
	sc, err := sn.Scan(t.Context(), storage.Span{Start: start, End: keyenc.PrefixEnd(start)}, storage.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	if _, err := sc.Visit(t.Context(), func(_, _ []byte) bool { return true }); err != nil {
		t.Fatal(err)
	}
}

// waitForImage waits while an image is being made.
func (s *Store) waitForImage(ctx context.Context) {
	for ctx.Err() == nil {
		s.images.mu.Lock()
		busy := s.images.busy
		s.images.mu.Unlock()
		if !busy {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
