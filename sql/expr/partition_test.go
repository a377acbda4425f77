package expr

import (
	"math"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// TestLinearHash holds the numbers of LINEAR HASH against the loop by which MySQL's
// manual defines them.
func TestLinearHash(t *testing.T) {
	for n := 1; n <= 17; n++ {
		p := &Partitioner{Kind: schema.PartitionHash, Linear: true, Numbers: make([]int64, n)}
		for h := int64(0); h < 70; h++ {
			v := int64(math.Pow(2, math.Ceil(math.Log2(float64(n)))))
			want := h & (v - 1)
			for want >= int64(n) {
				v = v / 2
				want &= v - 1
			}
			if got := p.hashed([]value.Datum{value.Int(h)}, nil); int64(got) != want {
				t.Errorf("%d of %d partitions: %d, want %d", h, n, got, want)
			}
		}
	}
}

// TestHash: the remainder has no sign.
func TestHash(t *testing.T) {
	p := &Partitioner{Kind: schema.PartitionHash, Numbers: make([]int64, 5)}
	for _, c := range []struct {
		d    value.Datum
		want int
	}{{value.Int(0), 0}, {value.Int(7), 2}, {value.Int(-7), 2}, {value.Int(-5), 0}, {value.Int(math.MinInt64), 3}} {
		if got := p.hashed([]value.Datum{c.d}, nil); got != c.want {
			t.Errorf("%s: %d, want %d", datumText(c.d), got, c.want)
		}
	}
}

// TestMark: the partitions of all values between two bounds are marked. wasted are the
// partitions that are marked and have no value there, over all bounds.
func TestMark(t *testing.T) {
	ints := func(list ...any) (out []value.Datum) {
		for _, x := range list {
			if n, ok := x.(int); ok {
				out = append(out, value.Int(int64(n)))
			} else {
				out = append(out, value.Null)
			}
		}
		return out
	}
	col := &Col{T: intType(), Null: true, Name: "c"}
	one, two := []schema.Type{intType()}, []schema.Type{intType(), intType()}
	ranges, numbers := [][]value.Datum{ints(2), ints(5), ints(6), {}}, make([]int64, 4)
	list := []PartitionEntry{{ints(nil), 1}, {ints(0), 0}, {ints(2), 0}, {ints(3), 2}, {ints(7), 1}, {ints(8), 3}}
	for _, c := range []struct {
		name   string
		p      Partitioner
		wasted int
	}{
		{"range columns", Partitioner{Kind: schema.PartitionRange, Reads: []int{0}, Types: one, Bounds: ranges, Numbers: numbers}, 77},
		{"range columns without the last", Partitioner{Kind: schema.PartitionRange, Reads: []int{0}, Types: one, Bounds: ranges[:3], Numbers: numbers[:3]}, 63},
		{"range of two columns", Partitioner{Kind: schema.PartitionRange, Reads: []int{0, 1}, Types: two, Bounds: [][]value.Datum{ints(2, 3), ints(2, 5), ints(4), {}}, Numbers: numbers}, 166},
		{"range", Partitioner{Kind: schema.PartitionRange, Value: col, Reads: []int{0}, Types: one, Bounds: ranges, Numbers: numbers}, 77},
		{"range of a step", Partitioner{Kind: schema.PartitionRange, Value: call("div", col, 3), Reads: []int{0}, Types: one, Bounds: [][]value.Datum{ints(0), ints(1), ints(2), {}}, Numbers: numbers}, 170},
		{"list columns", Partitioner{Kind: schema.PartitionList, Reads: []int{0}, Types: one, List: list, Numbers: numbers}, 0},
		{"list", Partitioner{Kind: schema.PartitionList, Value: col, Reads: []int{0}, Types: one, List: list, Numbers: numbers}, 165},
		{"hash", Partitioner{Kind: schema.PartitionHash, Value: call("+", col, 1), Reads: []int{0}, Types: one, Numbers: numbers}, 121},
		{"linear hash", Partitioner{Kind: schema.PartitionHash, Linear: true, Value: col, Reads: []int{0}, Types: one, Numbers: numbers[:3]}, 91},
		{"key", Partitioner{Kind: schema.PartitionKey, Reads: []int{0}, Types: one, Numbers: numbers}, 115},
		{"key of two columns", Partitioner{Kind: schema.PartitionKey, Reads: []int{0, 1}, Types: two, Numbers: numbers}, 504},
	} {
		var bounds, rows [][]value.Datum
		values := []any{nil, -4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 11}
		for _, v := range values {
			bounds = append(bounds, ints(v))
			if len(c.p.Reads) == 1 {
				rows = append(rows, ints(v))
				continue
			}
			for _, w := range values {
				rows = append(rows, ints(v, w))
				if v != nil && w == 3 {
					bounds = append(bounds, ints(v, w))
				}
			}
		}
		bounds = append(bounds, nil)
		at := make([]int, len(rows))
		for i, row := range rows {
			vals, err := c.p.Values(testCtx(nil), row)
			if err != nil {
				t.Fatal(c.name, err)
			}
			at[i] = c.p.At(vals)
		}
		ec, wasted := testCtx(nil), 0
		for _, low := range bounds {
			for _, high := range bounds {
				if comparePartition(low, high, c.p.Types) > 0 {
					continue
				}
				for open := range 4 {
					if open&1 != 0 && len(low) == 0 || open&2 != 0 && len(high) == 0 {
						continue
					}
					mark, need := make([]bool, len(c.p.Numbers)), make([]bool, len(c.p.Numbers))
					if err := c.p.Mark(ec, low, high, open&1 != 0, open&2 != 0, mark); err != nil {
						t.Fatal(c.name, err)
					}
					for i, row := range rows {
						l, h := comparePartition(low, row, c.p.Types), comparePartition(row, high, c.p.Types)
						if at[i] < 0 || l > 0 || h > 0 || l == 0 && open&1 != 0 || h == 0 && open&2 != 0 {
							continue
						}
						if need[at[i]] = true; !mark[at[i]] {
							t.Fatalf("%s: from %v to %v, open %d: %v is in partition %d, which is not marked", c.name, low, high, open, row, at[i])
						}
					}
					for i := range mark {
						if mark[i] && !need[i] {
							wasted++
						}
					}
				}
			}
		}
		if wasted != c.wasted {
			t.Errorf("%s: %d partitions are marked for nothing, want %d", c.name, wasted, c.wasted)
		}
	}
}
