package seg

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

var benchDocs = flag.Int("docs", 1_000_000, "documents of the benchmarks' index")

// Fields of the benchmarks' index: a keyword of 10 and one of 200,000 values,
// two integers, a double, a time, a text of 8 to 16 words, a place.
const (
	bLow FieldID = iota + 1
	bHigh
	bWide
	bNarrow
	bDouble
	bTime
	bText
	bGeo
)

func benchSchema() Schema {
	return Schema{Fields: []Field{
		{ID: bLow, Kind: KindKey}, {ID: bHigh, Kind: KindKey}, {ID: bWide, Kind: KindWord}, {ID: bNarrow, Kind: KindWord},
		{ID: bDouble, Kind: KindWord}, {ID: bTime, Kind: KindWord}, {ID: bText, Kind: KindText}, {ID: bGeo, Kind: KindPoint},
	}}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchFill adds document i to the batch.
func benchFill(b *Batch, i int, r *rand.Rand, zipf *rand.Zipf, tokens []Token) []Token {
	var id [9]byte
	for j := range 8 {
		id[8-j] = byte(i >> (8 * j))
	}
	id[0] = 0x80
	b.Upsert(id[:])
	b.Key(bLow, nil, fmt.Appendf(nil, "kind%d", r.IntN(10)))
	b.Key(bHigh, nil, fmt.Appendf(nil, "user%06d", r.IntN(200_000)))
	b.Word(bWide, int64(r.IntN(1_000_000)))
	b.Word(bNarrow, int64(r.IntN(1000)))
	b.Word(bDouble, int64(math.Float64bits(math.Exp(r.NormFloat64()))))
	b.Word(bTime, 1_700_000_000_000_000+int64(r.IntN(365*86400*1000))*1000)
	tokens = tokens[:0]
	off := uint32(0)
	for j := range 8 + r.IntN(9) {
		w := fmt.Appendf(nil, "word%d", zipf.Uint64())
		tokens = append(tokens, Token{Term: w, Pos: uint32(j + 1), Start: off, End: off + uint32(len(w))})
		off += uint32(len(w)) + 1
	}
	b.Text(bText, tokens, len(tokens))
	c := r.IntN(20)
	b.Point(bGeo, placeOf(int32(400_000_000+c*10_000_000+int(r.NormFloat64()*500_000)), int32(-50_000_000+c*20_000_000+int(r.NormFloat64()*500_000))))
	return tokens
}

var benchIndex = sync.OnceValues(func() (*Index, string) {
	dir := mustTempDir()
	ix, err := Open(dir, benchSchema(), Options{})
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 49_999)
	var tokens []Token
	start, cpu := time.Now(), cpuTime()
	b := ix.NewBatch()
	for i := range *benchDocs {
		tokens = benchFill(b, i, r, zipf, tokens)
		if b.Len() == 5000 || i == *benchDocs-1 {
			b.Checkpoint(uint64(i))
			if err := ix.Apply(b); err != nil {
				panic(err)
			}
			b.Reset()
		}
	}
	if err := ix.Persist(context.Background()); err != nil {
		panic(err)
	}
	built, used := time.Since(start), cpuTime()-cpu
	st := must(ix.Stats())
	note := fmt.Sprintf("built %d documents in %.1f s, %.1f s of processor: %.0f documents/s per core; %d segments, %.0f bytes/document",
		*benchDocs, built.Seconds(), used.Seconds(), float64(*benchDocs)/used.Seconds(), st.Segments, float64(st.DiskBytes)/float64(*benchDocs))
	return ix, note
})

// BenchmarkBuild reports the rate and size of the build that the others need.
func BenchmarkBuild(b *testing.B) {
	ix, note := benchIndex()
	b.Log(note)
	s := must(ix.Snapshot())
	defer s.Close()
	for _, g := range s.Segments() {
		b.Logf("segment %d: %d documents", g.ID(), g.Docs())
	}
	parts := map[string]uint64{}
	for _, g := range s.Segments() {
		for _, x := range g.c.f.dir {
			parts[fmt.Sprintf("field %d part %d", x.field, x.part)] += x.len
		}
	}
	for p, n := range parts {
		b.Logf("%s: %.1f bytes/document", p, float64(n)/float64(*benchDocs))
	}
}

// benchQuery runs a query over all segments.
func benchQuery(b *testing.B, query func(g *Segment, set []uint64) int) {
	ix, _ := benchIndex()
	s := must(ix.Snapshot())
	defer s.Close()
	sets := make([][]uint64, len(s.Segments()))
	for i, g := range s.Segments() {
		sets[i] = make([]uint64, BitWords(g.Docs()))
		g.Live()
	}
	hits := 0
	cpu := cpuTime()
	b.ReportAllocs()
	for b.Loop() {
		hits = 0
		for i, g := range s.Segments() {
			clear(sets[i])
			hits += query(g, sets[i])
		}
	}
	b.ReportMetric(float64(hits), "hits")
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-us/op")
}

// countLive is the number of documents of the set that are not deleted.
func countLive(g *Segment, set []uint64) int {
	if g.Deleted() == 0 {
		return countBits(set)
	}
	live, _ := g.Live()
	for i := range set {
		set[i] &= live[i]
	}
	return countBits(set)
}

func BenchmarkTermCount(b *testing.B) {
	benchQuery(b, func(g *Segment, set []uint64) int {
		k := must(g.Keys(bLow))
		c, ok := k.FindKey([]byte("kind3"))
		if !ok {
			return 0
		}
		if g.Deleted() == 0 {
			return k.Count(c, c+1)
		}
		k.Into(c, c+1, set)
		return countLive(g, set)
	})
}

func BenchmarkTermBits(b *testing.B) {
	benchQuery(b, func(g *Segment, set []uint64) int {
		k := must(g.Keys(bLow))
		c, _ := k.FindKey([]byte("kind3"))
		k.Into(c, c+1, set)
		return countLive(g, set)
	})
}

func BenchmarkTermRare(b *testing.B) {
	benchQuery(b, func(g *Segment, set []uint64) int {
		k := must(g.Keys(bHigh))
		c, ok := k.FindKey([]byte("user123456"))
		if !ok {
			return 0
		}
		return len(k.ClassDocs(c, nil))
	})
}

func BenchmarkPrefix(b *testing.B) {
	benchQuery(b, func(g *Segment, set []uint64) int {
		k := must(g.Keys(bHigh))
		from, to := k.FindPrefix([]byte("user01"))
		k.Into(from, to, set)
		return countLive(g, set)
	})
}

// BenchmarkValues reads strings of 48 bytes, all of which differ, at random places of a
// dictionary: each by itself, and many together.
func BenchmarkValues(b *testing.B) {
	const n = 200_000
	ends, at := make([]int64, n), make([]uint32, n)
	for i := range n {
		ends[i], at[i] = int64(i+1)*48, uint32(i)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { at[i], at[j] = at[j], at[i] })
	params, data := packInts(ends)
	k := &Keys{values: dict{n: n, ends: asPacked(&section{entry: entry{params: params}, data: data}), data: bytes.Repeat([]byte("0123456789abcdef"), 3*n)}}
	const batch = 1024
	room, out := make([]byte, batch*48), make([][]byte, batch)
	run := func(name string, read func(at []uint32)) {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				read(at[i*batch%(n-batch):][:batch])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/value")
		})
	}
	run("each", func(at []uint32) {
		for i, o := range at {
			v := k.Value(o)
			out[i] = room[i*48:][:copy(room[i*48:], v)]
		}
	})
	run("together", func(at []uint32) {
		free := room
		k.CopyValues(at, func(n int) []byte {
			b := free[:n]
			free = free[n:]
			return b
		}, out)
	})
}

func BenchmarkRange(b *testing.B) {
	for _, percent := range []int{1, 10, 30, 60, 100} {
		b.Run(fmt.Sprintf("%d%%", percent), func(b *testing.B) {
			benchQuery(b, func(g *Segment, set []uint64) int {
				must(g.Words(bWide)).RangeInto(0, int64(percent)*10_000-1, set)
				return countLive(g, set)
			})
		})
	}
	b.Run("double", func(b *testing.B) {
		benchQuery(b, func(g *Segment, set []uint64) int {
			must(g.Words(bDouble)).RangeInto(int64(math.Float64bits(1.2)), math.MaxInt64, set)
			return countLive(g, set)
		})
	})
	b.Run("time", func(b *testing.B) {
		benchQuery(b, func(g *Segment, set []uint64) int {
			must(g.Words(bTime)).RangeInto(1_700_000_000_000_000, 1_700_000_000_000_000+30*86400_000_000, set)
			return countLive(g, set)
		})
	})
	b.Run("unsorted10%", func(b *testing.B) {
		benchQuery(b, func(g *Segment, set []uint64) int {
			w := *must(g.Words(bNarrow))
			w.sorted = false
			w.RangeInto(100, 199, set)
			return countLive(g, set)
		})
	})
	b.Run("count30%", func(b *testing.B) {
		benchQuery(b, func(g *Segment, _ []uint64) int { return must(g.Words(bWide)).RangeCount(0, 299_999) })
	})
}

func BenchmarkSum(b *testing.B) {
	var buf [1024]int64
	benchQuery(b, func(g *Segment, _ []uint64) int {
		w := must(g.Words(bNarrow))
		sum := int64(0)
		for i := 0; ; {
			n := w.Block(i, buf[:])
			if n == 0 {
				return int(sum & 1)
			}
			for _, v := range buf[:n] {
				sum += v
			}
			i += n
		}
	})
}

func BenchmarkIDs(b *testing.B) {
	ix, _ := benchIndex()
	s := must(ix.Snapshot())
	defer s.Close()
	docs := make([][]uint32, len(s.Segments()))
	total := 0
	for i, g := range s.Segments() {
		k := must(g.Keys(bLow))
		c, _ := k.FindKey([]byte("kind3"))
		docs[i] = k.ClassDocs(c, nil)
		total += len(docs[i])
	}
	var out [][]byte
	for b.Loop() {
		for i, g := range s.Segments() {
			out = g.IDs(docs[i], out[:0])
		}
	}
	b.ReportMetric(float64(total), "ids")
}

func BenchmarkFind(b *testing.B) {
	ix, _ := benchIndex()
	s := must(ix.Snapshot())
	defer s.Close()
	var ids [][]byte
	r := rand.New(rand.NewPCG(3, 3))
	for range 10_000 {
		id := []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0}
		n := r.IntN(*benchDocs)
		for j := range 8 {
			id[8-j] = byte(n >> (8 * j))
		}
		ids = append(ids, id)
	}
	var out []uint32
	for b.Loop() {
		for _, g := range s.Segments() {
			out = g.DocNumbers(ids, out[:0])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ids)), "ns/id")
}

func BenchmarkBox(b *testing.B) {
	for _, km := range []int32{1, 10} {
		b.Run(fmt.Sprintf("%dkm", km), func(b *testing.B) {
			d := km * 90_000
			benchQuery(b, func(g *Segment, set []uint64) int {
				return len(must(g.Points(bGeo)).BoxPlaces(Box{400_000_000 - d, 400_000_000 + d, -50_000_000 - d, -50_000_000 + d}, nil))
			})
		})
	}
}

func BenchmarkText(b *testing.B) {
	for _, term := range []string{"word1", "word40000"} {
		b.Run("bits/"+term, func(b *testing.B) {
			benchQuery(b, func(g *Segment, set []uint64) int {
				must(must(must(g.Text(bText)).Terms()).Postings([]byte(term), nil)).Into(set)
				return countLive(g, set)
			})
		})
		b.Run("freqs/"+term, func(b *testing.B) {
			benchQuery(b, func(g *Segment, _ []uint64) int {
				h := must(must(must(must(g.Text(bText)).Terms()).Postings([]byte(term), nil)).Scan(false, nil))
				n := 0
				for hit := must(h.Next()); hit != nil; hit = must(h.Next()) {
					n++
				}
				return n
			})
		})
	}
}

// BenchmarkUpdate upserts random documents of the index in small batches.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ix, _ := benchIndex()
			r := rand.New(rand.NewPCG(8, 8))
			zipf := rand.NewZipf(r, 1.1, 4, 49_999)
			var tokens []Token
			cpu := cpuTime()
			for b.Loop() {
				batch := ix.NewBatch()
				for range n {
					tokens = benchFill(batch, r.IntN(*benchDocs), r, zipf, tokens)
				}
				if err := ix.Apply(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N*n), "cpu-us/doc")
		})
	}
}

// mustTempDir is removed when the benchmarks end.
func mustTempDir() string {
	dir, err := os.MkdirTemp("", "seg-bench")
	if err != nil {
		panic(err)
	}
	benchDir = dir
	return dir
}

var benchDir string

func TestMain(m *testing.M) {
	flag.Parse()
	testflag.CollectSeldom()
	code := m.Run()
	if benchDir != "" {
		_ = os.RemoveAll(benchDir)
	}
	os.Exit(code)
}
