package metrics

import (
	"math/bits"
	"time"
)

// A Histogram counts durations in buckets of which each is at most a sixteenth
// wider than its lower end: 16 for each power of two nanoseconds. Shorter ones than
// a microsecond share the first, longer ones than about half an hour the last. The
// zero value is empty. It is not safe for concurrent use.
type Histogram struct {
	Count uint64
	Sum   time.Duration
	rows  [histogramRows]*[bucketsInRow]uint32
}

const (
	bucketBits   = 4
	bucketsInRow = 1 << bucketBits
	// lowestBit is that of about a microsecond.
	lowestBit     = 10
	histogramRows = 32
	// NumBuckets is how many buckets exist.
	NumBuckets = histogramRows * bucketsInRow
)

// bucketOf is the bucket of a duration.
func bucketOf(d time.Duration) int {
	if d < 1<<lowestBit {
		return 0
	}
	high := bits.Len64(uint64(d)) - 1
	b := (high-lowestBit)*bucketsInRow + int(uint64(d)>>(high-bucketBits))&(bucketsInRow-1)
	return min(b, NumBuckets-1)
}

// BucketBounds are the least duration of a bucket, and the least one above it.
func BucketBounds(i int) (low, high time.Duration) {
	at := func(i int) time.Duration {
		row, in := i/bucketsInRow, i%bucketsInRow
		return time.Duration(1)<<(row+lowestBit) + time.Duration(in)<<(row+lowestBit-bucketBits)
	}
	if i > 0 {
		low = at(i)
	}
	return low, at(i + 1)
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	h.Count++
	h.Sum += d
	b := bucketOf(d)
	row := h.rows[b/bucketsInRow]
	if row == nil {
		row = new([bucketsInRow]uint32)
		h.rows[b/bucketsInRow] = row
	}
	row[b%bucketsInRow]++
}

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	h.Count += o.Count
	h.Sum += o.Sum
	for i, from := range o.rows {
		if from == nil {
			continue
		}
		if h.rows[i] == nil {
			h.rows[i] = new([bucketsInRow]uint32)
		}
		for j, n := range from {
			h.rows[i][j] += n
		}
	}
}

// Buckets calls fn with each bucket in order, also empty ones, until it returns
// false.
func (h *Histogram) Buckets(fn func(i int, count uint64) bool) {
	for i := range NumBuckets {
		n := uint64(0)
		if row := h.rows[i/bucketsInRow]; row != nil {
			n = uint64(row[i%bucketsInRow])
		}
		if !fn(i, n) {
			return
		}
	}
}

// Below is how many durations are at or below each bound; bounds ascend. A bucket belongs
// where its middle is.
func (h *Histogram) Below(bounds []time.Duration) []uint64 {
	out := make([]uint64, len(bounds))
	at, n := 0, uint64(0)
	for row, counts := range h.rows {
		if counts == nil {
			continue
		}
		for i, count := range counts {
			if count == 0 {
				continue
			}
			low, high := BucketBounds(row*bucketsInRow + i)
			for at < len(bounds) && low+(high-low)/2 > bounds[at] {
				out[at] = n
				at++
			}
			n += uint64(count)
		}
	}
	for ; at < len(bounds); at++ {
		out[at] = n
	}
	return out
}

// Quantile is the upper end of the bucket that has the given part, between 0 and 1,
// of all durations at or below it; 0 for an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count == 0 {
		return 0
	}
	rank := uint64(q * float64(h.Count))
	if float64(rank) < q*float64(h.Count) {
		rank++
	}
	rank = max(rank, 1)
	var out time.Duration
	seen := uint64(0)
	h.Buckets(func(i int, n uint64) bool {
		seen += n
		_, out = BucketBounds(i)
		return seen < rank
	})
	return out
}
