package bench

import (
	"math/big"
	"slices"
	"strconv"
)

// The functions of this file answer the workloads' queries by going through
// all rows of the data set: slow, plain, and without any server. Averages
// have MySQL's four more decimals, rounded half away from zero.

func text(values ...int64) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.FormatInt(v, 10)
	}
	return out
}

// filtered returns the rows that keep holds for.
func filtered(d *dataset, keep func(call) bool) []call {
	var out []call
	for i := range d.Rows {
		if c := d.row(i); keep(c) {
			out = append(out, c)
		}
	}
	return out
}

func truthPoint(d *dataset, args []int64) [][]string {
	i := args[1] - firstStart
	if i < 0 || i >= d.Rows || d.row(i).cell != args[0] {
		return nil
	}
	c := d.row(i)
	return [][]string{text(c.called, c.duration, c.station)}
}

func truthPrefix(d *dataset, args []int64) [][]string {
	var out [][]string
	for _, c := range filtered(d, func(c call) bool { return c.cell == args[0] }) {
		out = append(out, text(c.start, c.called, c.duration))
	}
	return out
}

func truthLookup(d *dataset, args []int64) [][]string {
	found := filtered(d, func(c call) bool { return c.called == args[0] })
	slices.SortStableFunc(found, func(a, b call) int { return int(a.cell - b.cell) })
	var out [][]string
	for _, c := range found {
		out = append(out, text(c.cell, c.start, c.duration, c.station))
	}
	return out
}

func sumOf(calls []call) (sum int64) {
	for _, c := range calls {
		sum += c.duration
	}
	return sum
}

func average(sum, n int64) string {
	return new(big.Rat).SetFrac64(sum, n).FloatString(4)
}

func truthCover(d *dataset, args []int64) [][]string {
	found := filtered(d, func(c call) bool {
		return c.station == args[0] && c.start >= args[1] && c.start <= args[2]
	})
	n := int64(len(found))
	if n == 0 {
		return [][]string{{"0", "NULL", "NULL"}}
	}
	sum := sumOf(found)
	return [][]string{append(text(n, sum), average(sum, n))}
}

func truthSum(d *dataset, _ []int64) [][]string {
	var sum int64
	for i := range d.Rows {
		sum += d.row(i).duration
	}
	return [][]string{text(sum)}
}

func truthGroup(d *dataset, _ []int64) [][]string {
	return groupByStation(d, func(call) bool { return true })
}

func groupByStation(d *dataset, keep func(call) bool) [][]string {
	counts, sums := make([]int64, d.Stations+1), make([]int64, d.Stations+1)
	for i := range d.Rows {
		if c := d.row(i); keep(c) {
			counts[c.station]++
			sums[c.station] += c.duration
		}
	}
	var out [][]string
	for id, n := range counts {
		if n > 0 {
			out = append(out, text(int64(id), n, sums[id]))
		}
	}
	return out
}

func truthFilter(d *dataset, args []int64) [][]string {
	var n int64
	for i := range d.Rows {
		if c := d.row(i); c.duration > args[0] && c.called < c.cell {
			n++
		}
	}
	return [][]string{text(n)}
}

func truthTop(d *dataset, _ []int64) [][]string {
	var best []call
	for i := range d.Rows {
		c := d.row(i)
		if len(best) == 10 && c.duration <= best[9].duration {
			continue
		}
		// Rows come by start, so equal durations stay in its order.
		at, _ := slices.BinarySearchFunc(best, c, func(a, b call) int {
			if a.duration >= b.duration {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), 10)]
	}
	var out [][]string
	for _, c := range best {
		out = append(out, text(c.cell, c.start, c.duration))
	}
	return out
}

func truthJoin(d *dataset, args []int64) [][]string {
	return groupByStation(d, func(c call) bool {
		return regionOf(c.station) == args[0] && c.start >= args[1] && c.start <= args[2]
	})
}
