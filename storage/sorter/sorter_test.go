package sorter

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestMain(m *testing.M) { testflag.Main(m) }

// randomKeys makes distinct keys of the shape that seed says: with much in
// common, of different lengths, with zeros at their ends, or short.
func randomKeys(rng *rand.Rand, n int) [][]byte {
	shape := rng.IntN(5)
	seen := map[string]bool{}
	var keys [][]byte
	for len(keys) < n {
		var k []byte
		switch shape {
		case 0:
			k = fmt.Appendf(nil, "common prefix %020d and %d", rng.IntN(10*n), rng.IntN(3))
		case 1:
			k = bytes.Repeat([]byte{byte(rng.IntN(2*n) % 250)}, 1+rng.IntN(200))
		case 2:
			k = append([]byte("x"), make([]byte, rng.IntN(40))...)
			k = append(k, byte(rng.IntN(3)), byte(rng.IntN(256)))
		case 3:
			k = make([]byte, 1+rng.IntN(3))
			for i := range k {
				k[i] = byte(rng.IntN(256))
			}
		default:
			k = append(make([]byte, 8*rng.IntN(3)), byte(rng.IntN(4)), byte(rng.IntN(256)), byte(rng.IntN(256)))
		}
		if !seen[string(k)] {
			seen[string(k)] = true
			keys = append(keys, k)
		}
	}
	return keys
}

func fill(t *testing.T, s *Sorter, groups [][][]byte) error {
	t.Helper()
	for i := 0; ; i++ {
		more := false
		for g, keys := range groups {
			if i >= len(keys) {
				continue
			}
			more = true
			if err := s.Add(g, keys[i], fmt.Appendf(nil, "%d:%s", g, keys[i])); err != nil {
				return err
			}
		}
		if !more {
			return s.Sort()
		}
	}
}

func TestSorter(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		groups := make([][][]byte, 3)
		groups[0] = randomKeys(rng, 1+rng.IntN(1500))
		groups[2] = randomKeys(rng, 1+rng.IntN(300))
		memory := []int64{0, 5_000, 50_000, 500_000}[seed%4]
		s := New(Options{Groups: 3, Memory: memory, TempDir: t.TempDir()})
		if err := fill(t, s, groups); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var wg sync.WaitGroup
		for g, want := range groups {
			if s.Empty(g) != (len(want) == 0) {
				t.Fatalf("seed %d: group %d is empty: %t", seed, g, s.Empty(g))
			}
			wg.Go(func() {
				slices.SortFunc(want, bytes.Compare)
				i := 0
				err := s.Merge(g, func(key, val []byte) error {
					if i >= len(want) || !bytes.Equal(key, want[i]) || string(val) != fmt.Sprintf("%d:%s", g, key) {
						return fmt.Errorf("pair %d: %q = %q", i, key, val)
					}
					i++
					return nil
				})
				if err != nil || i != len(want) {
					t.Errorf("seed %d, group %d: %d of %d pairs, %v", seed, g, i, len(want), err)
				}
			})
		}
		wg.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDuplicates: equal keys of a group are found wherever they meet; those of
// different groups are none.
func TestDuplicates(t *testing.T) {
	testflag.Normal(t)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		keys := randomKeys(rng, 2+rng.IntN(2000))
		for _, dup := range []bool{false, true} {
			groups := [][][]byte{slices.Clone(keys), slices.Clone(keys)}
			if dup {
				groups[1] = slices.Insert(groups[1], rng.IntN(len(keys)), keys[rng.IntN(len(keys))])
			}
			s := New(Options{Groups: 2, Memory: []int64{0, 5_000, 50_000}[seed%3], TempDir: t.TempDir()})
			err := fill(t, s, groups)
			for g := range groups {
				if err == nil {
					err = s.Merge(g, func([]byte, []byte) error { return nil })
				}
			}
			if errors.Is(err, ErrDuplicate) != dup || err != nil && !dup {
				t.Fatalf("seed %d, duplicate %t: %v", seed, dup, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func BenchmarkSorter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 500_000
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "prefix\x00\x00\x00\x00%c%c\x00\x00\x00%08d", rng.IntN(4), rng.IntN(256), i)
	}
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	val := make([]byte, 30)
	b.ReportAllocs()
	for b.Loop() {
		s := New(Options{Groups: 1})
		for _, k := range keys {
			if err := s.Add(0, k, val); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Sort(); err != nil {
			b.Fatal(err)
		}
		if err := s.Merge(0, func([]byte, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/pair")
}
