package seg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// packedOf packs values and reads them back as a section.
func packedOf(v []int64) packed {
	params, data := packInts(v)
	aligned := alignedBytes(len(data))
	copy(aligned, data)
	return asPacked(&section{entry: entry{params: params}, data: aligned})
}

// TestPacked compares all ways to read packed integers with the plain ones,
// over all widths, divisors and lengths.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := range 9 {
		for _, n := range []int{1, 63, 64, 65, 200, 1023, 1024, 1025, 3000} {
			for _, div := range []int64{1, 3, 1000} {
				v := make([]int64, n)
				base := int64(r.Uint64())
				for i := range v {
					v[i] = base + int64(r.Uint64()&widthMask[width])*div
				}
				check(t, v, r)
			}
		}
	}
	for _, most := range []int64{1, 100, 127, 128, 1000, 1<<15 - 1, 1 << 15} {
		for _, n := range []int{64, 1000, 2100} {
			v := make([]int64, n)
			for i := range v {
				v[i] = r.Int64N(most + 1)
			}
			v[r.IntN(n)] = most
			check(t, v, r)
		}
	}
	check(t, []int64{math.MinInt64, math.MaxInt64, 0, -1, 1}, r)
	check(t, []int64{math.MaxInt64, math.MaxInt64}, r)
	for range 100 { // two values far apart
		lo, hi := -1-r.Int64(), r.Int64()
		check(t, []int64{hi, lo, hi, hi}, r)
	}
}

func check(t *testing.T, v []int64, r *rand.Rand) {
	t.Helper()
	p := packedOf(v)
	if got := p.all(nil); !slices.Equal(got, v) {
		t.Fatalf("%d values: decoded others", len(v))
	}
	at := make([]uint32, 50)
	for i := range at {
		at[i] = uint32(r.IntN(len(v)))
		if p.get(int(at[i])) != v[at[i]] {
			t.Fatalf("get(%d) = %d, want %d", at[i], p.get(int(at[i])), v[at[i]])
		}
	}
	out := make([]int64, len(at))
	p.gather(at, out)
	for i := range at {
		if out[i] != v[at[i]] {
			t.Fatalf("gather(%d) = %d, want %d", at[i], out[i], v[at[i]])
		}
	}
	if lo, hi := slices.Min(v), slices.Max(v); uint64(hi)-uint64(lo) < 1<<16 {
		set, counts, want := make([]uint64, BitWords(len(v))), make([]int64, hi-lo+1), make([]int64, hi-lo+1)
		for i, x := range v {
			if r.IntN(3) > 0 {
				setBit(set, uint32(i))
				want[x-lo]++
			}
		}
		if p.histogram(set, 0, lo, counts); !slices.Equal(counts, want) {
			t.Fatalf("%d values of %d bytes: wrong counts", len(v), p.where[0]&15)
		}
	}
	for b, base := 0, v[r.IntN(len(v))]; b*blockLen < len(v); b++ {
		sum := uint64(0)
		for _, x := range v[b*blockLen : min((b+1)*blockLen, len(v))] {
			sum += uint64(x) - uint64(base)
		}
		if got := p.sum(b, base); got != sum {
			t.Fatalf("%d values of %d bytes: block %d has the sum %d, want %d", len(v), p.where[b]&15, b, got, sum)
		}
	}
	nulls := make([]uint64, BitWords(len(v)))
	for i := range v {
		if r.IntN(10) == 0 {
			setBit(nulls, uint32(i))
		}
	}
	for i := range 12 {
		lo, hi := v[r.IntN(len(v))]+int64(r.IntN(3)-1), v[r.IntN(len(v))]+int64(r.IntN(3)-1)
		switch i {
		case 0:
			lo, hi = math.MinInt64, math.MaxInt64
		case 1:
			lo = math.MinInt64
		case 2:
			hi = math.MaxInt64
		case 3:
			lo, hi = v[0], v[0]
		}
		for _, nulls := range [][]uint64{nil, nulls} {
			set, want := make([]uint64, BitWords(len(v))), make([]uint64, BitWords(len(v)))
			p.between(lo, hi, set, nulls)
			for j, x := range v {
				if lo <= x && x <= hi && (nulls == nil || !hasBit(nulls, uint32(j))) {
					setBit(want, uint32(j))
				}
			}
			if !slices.Equal(set, want) {
				t.Fatalf("%d values of %d bytes in %d..%d: wrong documents", len(v), p.where[0]&15, lo, hi)
			}
		}
	}
}

// BenchmarkSome reads the values of a third of a million places.
func BenchmarkSome(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, width := range []int{1, 2, 3} {
		v := make([]int64, 1<<20)
		set := make([]uint64, BitWords(len(v)))
		var at []uint32
		for i := range v {
			v[i] = int64(r.Uint64() & widthMask[width])
			if r.IntN(3) == 0 {
				setBit(set, uint32(i))
				at = append(at, uint32(i))
			}
		}
		p := packedOf(v)
		out, counts := make([]int64, 1024), make([]int64, 1<<24)
		for name, read := range map[string]func(){
			"gather": func() {
				for i := 0; i < len(at); i += 1024 {
					n := min(1024, len(at)-i)
					p.gather(at[i:i+n], out[:n])
				}
			},
			"histogram": func() { p.histogram(set, 0, 0, counts) },
		} {
			b.Run(string(rune('0'+width))+"/"+name, func(b *testing.B) {
				for b.Loop() {
					read()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(at)), "ns/value")
			})
		}
	}
}

// BenchmarkCompare scans a million values of each width for a third of them.
func BenchmarkCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, width := range []int{1, 2, 3, 4, 5, 8} {
		v := make([]int64, 1<<20)
		for i := range v {
			v[i] = int64(r.Uint64() & widthMask[width])
		}
		p := packedOf(v)
		set := make([]uint64, BitWords(len(v)))
		b.Run(string(rune('0'+width)), func(b *testing.B) {
			for b.Loop() {
				p.between(0, int64(widthMask[width]/3), set, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v)), "ns/value")
		})
		sum, buf := int64(0), make([]int64, 1024)
		b.Run(string(rune('0'+width))+"/sum", func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < p.n; {
					n := p.block(i, buf)
					for _, x := range buf[:n] {
						sum += x
					}
					i += n
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v)), "ns/value")
		})
	}
}
