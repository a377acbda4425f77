package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// wordStreams are words in the orders and distances in which columns have them.
func wordStreams(r *rand.Rand) map[string]func(i int) int64 {
	far := r.Int63n(1<<62) - 1<<61
	return map[string]func(i int) int64{
		"ascending":  func(i int) int64 { return far + int64(i) },
		"descending": func(i int) int64 { return far - int64(i) },
		"steps":      func(i int) int64 { return far + int64(i)*int64(1+i%50) },
		"dense":      func(int) int64 { return far + r.Int63n(20000) },
		"sparse":     func(int) int64 { return int64(r.Uint64()) },
		"two heaps":  func(i int) int64 { return far*int64(i&1) + r.Int63n(5000) },
		"a few far": func(int) int64 {
			if r.Intn(100) == 0 {
				return int64(r.Uint64())
			}
			return r.Int63n(50000)
		},
		"sides":          func(i int) int64 { return r.Int63n(int64(i)+1)*2 - int64(i) },
		"times":          func(i int) int64 { return (far>>30 + r.Int63n(30000)) << 24 },
		"some odd times": func(i int) int64 { return (1000+r.Int63n(30000))<<24 + r.Int63n(200)/199 },
		"even, then odd": func(i int) int64 { return r.Int63n(30000)<<1 + int64(i/20000) },
		"least":          func(int) int64 { return math.MinInt64 + r.Int63n(3000) },
		"most":           func(int) int64 { return math.MaxInt64 - r.Int63n(3000) },
		"both": func(int) int64 {
			if r.Intn(2) == 0 {
				return math.MinInt64 + r.Int63n(3000)
			}
			return math.MaxInt64 - r.Int63n(3000)
		},
	}
}

// TestWordSet compares with a map.
func TestWordSet(t *testing.T) {
	for seed := range int64(testflag.Rounds(3, 20, 200)) {
		r := rand.New(rand.NewSource(int64(testflag.Seed(1)) + seed))
		for name, next := range wordStreams(r) {
			var s wordSet
			met := map[int64]bool{}
			n := r.Intn(60000)
			for i := range n {
				k := next(i)
				if isNew := s.insert(k); isNew == met[k] {
					t.Fatalf("%s: word %d of the stream, %d, is new: %v", name, i, k, isNew)
				}
				met[k] = true
				if s.len() != len(met) {
					t.Fatalf("%s: %d words, want %d", name, s.len(), len(met))
				}
			}
			seen := map[int64]bool{}
			err := s.each(func(k int64) error {
				if seen[k] || !met[k] {
					return fmt.Errorf("%d is there twice, or was not inserted", k)
				}
				seen[k] = true
				return nil
			})
			if err != nil || len(seen) != len(met) {
				t.Fatalf("%s: each gave %d of %d words, %v", name, len(seen), len(met), err)
			}
			if most := int64(max(len(met), fewWords))*80 + 4096; s.size() > most {
				t.Fatalf("%s: %d bytes for %d words", name, s.size(), len(met))
			}
			if name == "ascending" && n > 10000 && s.table.n > n/2 {
				t.Errorf("%s: %d of %d words are in the table", name, s.table.n, n)
			}
		}
	}
}

// BenchmarkWordSet compares with a table, at a million different words in two million.
func BenchmarkWordSet(b *testing.B) {
	const n = 2 << 20
	dense := func(i int) int64 { return int64(hashWord(int64(i)) % 1000000) }
	for name, next := range map[string]func(i int) int64{
		"dense":     dense,
		"ascending": func(i int) int64 { return int64(i / 2) },
		"times":     func(i int) int64 { return dense(i) << 24 },
		"sparse":    func(i int) int64 { return int64(hashWord(dense(i))) },
	} {
		words := make([]int64, n)
		for i := range words {
			words[i] = next(i)
		}
		b.Run(name+"/set", func(b *testing.B) {
			for b.Loop() {
				var s wordSet
				fresh := make([]uint16, 0, vec.MaxRows)
				for at := 0; at < n; at += vec.MaxRows {
					s.insertRows(words[at:], identity[:vec.MaxRows], fresh)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
		b.Run(name+"/table", func(b *testing.B) {
			for b.Loop() {
				var s wordTable
				for _, k := range words {
					s.insert(k, uint32(s.n))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// TestGroupedWords compares with a map, and with what keys and items give.
func TestGroupedWords(t *testing.T) {
	r := rand.New(rand.NewSource(int64(testflag.Seed(1))))
	env := &Env{}
	enc := env.newKeyEncoder([]schema.Type{types.BigInt, types.BigInt})
	for _, groups := range []int{1, 3, 500} {
		var s, again groupedWords
		met := map[string]bool{}
		cols := []*vec.Vec{vec.NewSized(value.KindInt, 1), vec.NewSized(value.KindInt, 1)}
		for range 20000 {
			g, k := r.Intn(groups), r.Int63n(3000)-1000
			cols[0].I64[0], cols[1].I64[0] = int64(g), k
			key := string(enc.append(nil, cols, 0))
			if isNew := s.insert(g, k); isNew == met[key] {
				t.Fatalf("%d of group %d is new: %v", k, g, isNew)
			}
			met[key] = true
		}
		n := 0
		err := s.keys(func(col *vec.Vec, rows int) error {
			for _, key := range col.Bytes[:rows] {
				if !met[string(key)] {
					return fmt.Errorf("key %x was not inserted", key)
				}
				again.insertKey(key)
				n++
			}
			return nil
		})
		if err != nil || n != len(met) {
			t.Fatalf("%d groups: %d keys of %d, %v", groups, n, len(met), err)
		}
		for g := range groups {
			for list := s.items(g); len(list) > 0; {
				item, rest, err := nextItem(list)
				if err != nil {
					t.Fatal(err)
				}
				list = rest
				key := appendGroupKey(nil, g, 0)[:groupPrefix]
				if key = append(key, item...); !met[string(key)] || again.insert(g, int64(binary.LittleEndian.Uint64(key[groupPrefix+1:]))) {
					t.Fatalf("item %x of group %d", item, g)
				}
				n--
			}
		}
		if n != 0 {
			t.Fatalf("%d groups: %d keys are no items", groups, n)
		}
	}
}

// BenchmarkGroupedWords compares with a table of keys, for two million words of a million.
func BenchmarkGroupedWords(b *testing.B) {
	const n = 2 << 20
	for _, groups := range []int64{10, 1000, 100000} {
		g, k := vec.New(value.KindInt), vec.New(value.KindInt)
		fill := func(at int) {
			for i := range vec.MaxRows {
				g.I64[i] = int64(hashWord(int64(at+i)+1<<40)>>20) % groups
				k.I64[i] = int64(hashWord(int64(at+i)) >> 20 % 1000000)
			}
		}
		ts := []schema.Type{types.BigInt, types.BigInt}
		kinds := []value.Kind{value.KindInt, value.KindInt}
		for _, byGroup := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d groups/sets %v", groups, byGroup), func(b *testing.B) {
				var size int64
				for b.Loop() {
					d := (&Env{}).newDedup(nil, nil, ts, kinds)
					d.byGroup = byGroup
					for at := 0; at < n; at += vec.MaxRows {
						fill(at)
						d.insert([]*vec.Vec{g, k}, identity[:vec.MaxRows])
					}
					size = d.bytes()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
				b.ReportMetric(float64(size)/n, "bytes/row")
			})
		}
	}
}
