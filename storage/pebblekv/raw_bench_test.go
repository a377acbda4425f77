package pebblekv

import (
	"encoding/binary"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sqlots/sqlots/storage"
)

// BenchmarkRaw measures what Pebble itself costs on the same data as the
// benchmarks of the store, to see the store's own share.
func BenchmarkRaw(b *testing.B) {
	const n = 500_000
	s, err := Open(Options{Dir: b.TempDir(), CacheBytes: 512 << 20, DiskReserveBytes: -1,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	bl, err := s.BulkLoad(bg)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	val := make([]byte, 100)
	key := func(i int) []byte {
		return binary.BigEndian.AppendUint64([]byte{0, 0, 0, 7, 1}, uint64(i)<<8)
	}
	for i := range n {
		for j := 0; j < 48; j += 8 {
			binary.LittleEndian.PutUint64(val[j:], rng.Uint64())
		}
		if err := bl.Add(key(i), val); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := bl.Finish(bg); err != nil {
		b.Fatal(err)
	}
	b.Run("Get", func(b *testing.B) {
		for b.Loop() {
			_, c, err := s.db.Get(key(rng.IntN(n)))
			if err != nil {
				b.Fatal(err)
			}
			_ = c.Close()
		}
	})
	b.Run("GetStore", func(b *testing.B) {
		var dst []byte
		for b.Loop() {
			var err error
			if dst, err = s.Latest().Get(bg, key(rng.IntN(n)), dst[:0]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Scan", func(b *testing.B) {
		for b.Loop() {
			it, _ := s.db.NewIter(&pebble.IterOptions{})
			sum := 0
			for ok := it.First(); ok; ok = it.Next() {
				v, _ := it.ValueAndErr()
				sum += len(it.Key()) + len(v)
			}
			_ = it.Close()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	})
	b.Run("ScanStore", func(b *testing.B) {
		for b.Loop() {
			sc, _ := s.Latest().Scan(bg, storage.Span{}, storage.ScanOptions{})
			sum := 0
			_, _ = sc.Visit(bg, func(k, v []byte) bool { sum += len(k) + len(v); return true })
			_ = sc.Close()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
	})
	b.Run("Commit", func(b *testing.B) {
		for i := n; b.Loop(); i++ {
			w := s.db.NewBatch()
			_ = w.Set(key(i), val, nil)
			_ = w.Set(seqKey[:], val[:8], nil)
			if err := s.db.Apply(w, pebble.NoSync); err != nil {
				b.Fatal(err)
			}
			_ = w.Close()
		}
	})
	b.Run("CommitStore", func(b *testing.B) {
		for i := 2 * n; b.Loop(); i++ {
			x, _ := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
			_ = x.Put(bg, key(i), val)
			if _, err := x.Commit(bg); err != nil {
				b.Fatal(err)
			}
		}
	})
}
