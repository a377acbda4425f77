package pebblekv_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

const benchRows = 500_000

var bg = context.Background()

// benchKey is a table's key: ids and an integer.
func benchKey(dst []byte, i int) []byte {
	dst = append(dst[:0], 0, 0, 0, 7, 1)
	return binary.BigEndian.AppendUint64(dst, uint64(i)<<8)
}

func benchStore(b *testing.B) *pebblekv.Store {
	s := open(b, pebblekv.Options{Dir: b.TempDir(), CacheBytes: 512 << 20, DiskReserveBytes: -1})
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// loaded is a store with benchRows rows of 100 bytes.
func loaded(b *testing.B) *pebblekv.Store {
	s := benchStore(b)
	bl, err := s.BulkLoad(bg)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	val := make([]byte, 100)
	for i := range benchRows {
		for j := 0; j < 48; j += 8 {
			binary.LittleEndian.PutUint64(val[j:], rng.Uint64())
		}
		if err := bl.Add(benchKey(nil, i), val); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := bl.Finish(bg); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	b.ReportAllocs()
	return s
}

func BenchmarkGetHit(b *testing.B) {
	s := loaded(b)
	r := s.Latest()
	rng := rand.New(rand.NewPCG(2, 2))
	var key, dst []byte
	for b.Loop() {
		key = benchKey(key, rng.IntN(benchRows))
		var err error
		if dst, err = r.Get(bg, key, dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetPresumedAbsentMiss(b *testing.B) {
	s := loaded(b)
	rng := rand.New(rand.NewPCG(2, 2))
	var key []byte
	for b.Loop() {
		key = benchKey(key, rng.IntN(benchRows))
		key[len(key)-1] = 1
		if _, err := s.GetPresumedAbsent(bg, key, nil); err == nil {
			b.Fatal("found")
		}
	}
}

func BenchmarkSnapshotGet(b *testing.B) {
	s := loaded(b)
	var key, dst []byte
	for i := 0; b.Loop(); i++ {
		sn, err := s.Snapshot(bg)
		if err != nil {
			b.Fatal(err)
		}
		key = benchKey(key, i*7919%benchRows)
		if dst, err = sn.Get(bg, key, dst[:0]); err != nil {
			b.Fatal(err)
		}
		_ = sn.Close()
	}
}

func BenchmarkBatchGet(b *testing.B) {
	for _, c := range []struct {
		name string
		step int // 0 for random order
	}{{"every1", 1}, {"every3", 3}, {"every10", 10}, {"every100", 100}, {"every1000", 1000}, {"unsorted", 0}} {
		b.Run(c.name, func(b *testing.B) {
			s := loaded(b)
			rng := rand.New(rand.NewPCG(3, 3))
			const n = 400
			keys := make([][]byte, n)
			fn := func(_ int, v []byte) error {
				if v == nil {
					return fmt.Errorf("missing")
				}
				return nil
			}
			for b.Loop() {
				b.StopTimer()
				base := 0
				if c.step > 0 {
					base = rng.IntN(benchRows - n*c.step)
				}
				for i := range keys {
					k := base + i*c.step
					if c.step == 0 {
						k = rng.IntN(benchRows)
					}
					keys[i] = benchKey(keys[i], k)
				}
				b.StartTimer()
				if err := s.Latest().BatchGet(bg, keys, fn); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct {
		name  string
		dirty bool
		opts  storage.ScanOptions
	}{{"plain", false, storage.ScanOptions{}}, {"keys", false, storage.ScanOptions{KeyOnly: true}},
		{"reverse", false, storage.ScanOptions{Reverse: true}}, {"merged", true, storage.ScanOptions{}}} {
		b.Run(c.name, func(b *testing.B) {
			s := loaded(b)
			x, err := s.Begin(bg, storage.TxnOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Rollback()
			if c.dirty {
				for i := 0; i < benchRows; i += 5000 {
					_ = x.Put(bg, benchKey(nil, i), []byte("own"))
				}
			}
			for b.Loop() {
				sc, err := x.Scan(bg, storage.Span{}, c.opts)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				if _, err := sc.Visit(bg, func(_, _ []byte) bool { n++; return true }); err != nil || n != benchRows {
					b.Fatal(n, err)
				}
				_ = sc.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}

func BenchmarkCommit1(b *testing.B) {
	val := make([]byte, 100)
	for _, c := range []struct {
		name string
		d    storage.Durability
		par  int
	}{{"none", storage.DurabilityNone, 1}, {"write", storage.DurabilityWrite, 1}, {"write16", storage.DurabilityWrite, 16},
		{"sync1", storage.DurabilitySync, 1}, {"sync16", storage.DurabilitySync, 16}, {"sync64", storage.DurabilitySync, 64}} {
		b.Run(c.name, func(b *testing.B) {
			s := benchStore(b)
			b.ReportAllocs()
			var next atomic.Int64
			one := func() error {
				x, err := s.Begin(bg, storage.TxnOptions{Durability: c.d})
				if err != nil {
					return err
				}
				if err := x.Insert(bg, benchKey(nil, int(next.Add(1))), val); err != nil {
					return err
				}
				_, err = x.Commit(bg)
				return err
			}
			if c.par == 1 {
				for b.Loop() {
					if err := one(); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.SetParallelism(c.par / 2) // times GOMAXPROCS
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := one(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkTxnOverhead is a transaction of one row without the commit: what
// the machinery itself costs.
func BenchmarkTxnOverhead(b *testing.B) {
	s := benchStore(b)
	b.ReportAllocs()
	key, val := benchKey(nil, 1), make([]byte, 100)
	keys := [][]byte{key}
	b.Run("put", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x, _ := s.Begin(bg, storage.TxnOptions{})
			_ = x.Put(bg, key, val)
			x.Rollback()
		}
	})
	b.Run("lock", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x, _ := s.Begin(bg, storage.TxnOptions{})
			_, _ = x.Lock(bg, keys, storage.LockOptions{})
			_ = x.Put(bg, key, val)
			x.Rollback()
		}
	})
	b.Run("insert", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x, _ := s.Begin(bg, storage.TxnOptions{})
			_ = x.Insert(bg, key, val)
			x.Rollback()
		}
	})
}

// BenchmarkLargeTxn is LOAD DATA: 100k rows in one transaction, per row.
func BenchmarkLargeTxn(b *testing.B) {
	const n = 100_000
	val := make([]byte, 100)
	for _, insert := range []bool{false, true} {
		b.Run(fmt.Sprintf("insert=%v", insert), func(b *testing.B) {
			s := benchStore(b)
			b.ReportAllocs()
			next := 0
			for b.Loop() {
				x, _ := s.Begin(bg, storage.TxnOptions{})
				var key []byte
				for range n {
					key = benchKey(key, next)
					next++
					var err error
					if insert {
						err = x.Insert(bg, key, val)
					} else {
						err = x.Put(bg, key, val)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				if _, err := x.Commit(bg); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

func BenchmarkBulkLoad(b *testing.B) {
	s := benchStore(b)
	const n = 200_000
	val := make([]byte, 100)
	rng := rand.New(rand.NewPCG(1, 1))
	next := 0
	for b.Loop() {
		bl, err := s.BulkLoad(bg)
		if err != nil {
			b.Fatal(err)
		}
		var key []byte
		for range n {
			binary.LittleEndian.PutUint64(val, rng.Uint64())
			key = benchKey(key, next)
			next++
			if err := bl.Add(key, val); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := bl.Finish(bg); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

// BenchmarkBatchGetWritten is the lookup of an index: 14 scattered rows of a
// table that was loaded and then written to, so that its rows lie in the last
// level, in upper ones and in a write buffer.
func BenchmarkBatchGetWritten(b *testing.B) {
	s := loaded(b)
	rng := rand.New(rand.NewPCG(4, 4))
	val := make([]byte, 60)
	for range 6_000 {
		x, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
		if err != nil {
			b.Fatal(err)
		}
		for range 100 {
			key := benchKey(nil, rng.IntN(benchRows))
			key[len(key)-1] = byte(rng.IntN(255) + 1)
			if err := x.Put(bg, key, val); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := x.Commit(bg); err != nil {
			b.Fatal(err)
		}
	}
	const n = 14
	keys := make([][]byte, n)
	found := 0
	fn := func(_ int, v []byte) error {
		if v != nil {
			found++
		}
		return nil
	}
	b.ResetTimer()
	for b.Loop() {
		for i := range keys {
			keys[i] = benchKey(keys[i], i*(benchRows/n)+rng.IntN(benchRows/n))
		}
		if err := s.Latest().BatchGet(bg, keys, fn); err != nil {
			b.Fatal(err)
		}
	}
	if found != b.N*n {
		b.Fatal("missing rows")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
}
