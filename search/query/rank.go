package query

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/internal/procs"
	"github.com/sqlots/sqlots/search/seg"
)

// Ranking orders documents by a number that is computed of them.
type Ranking interface {
	// values are the numbers of the hits of a segment, in their order, and the set
	// of those without one, numbered likewise; nil for none. It may be called from
	// several goroutines at once.
	values(h *Hits) (vals []float64, nulls []uint64, err error)
}

// nearer is implemented by rankings that find the documents of the smallest numbers
// without looking at all.
type nearer interface {
	// nearest gives hits of a segment, and their numbers: at least those of the n
	// smallest, with all that are equal to the last; and the set of those without.
	nearest(h *Hits, n int) (docs []uint32, vals []float64, nulls []uint64, err error)
}

// ranked are hits of a segment with numbers that order as their values do.
type ranked struct {
	docs  []uint32
	keys  []int64
	nulls int
	// set has the documents without a number.
	null []uint64
}

// orderKey is a number that orders as v does.
func orderKey(v float64, desc bool) int64 {
	if v == 0 {
		v = 0 // -0
	}
	u := math.Float64bits(v)
	if u>>63 != 0 {
		u = ^u ^ 1<<63
	}
	return int64(u) ^ flipOf(desc)
}

// rank finds the last of the first n documents in the order of a ranking: the
// documents before it, and those that are equal.
func rank(hits []Hits, o Order, n int) (before, equal []Hits, err error) {
	parts := make([]ranked, len(hits))
	err = inParallel(len(hits), o.Workers, func(i int) error {
		return parts[i].read(&hits[i], o, n)
	})
	if err != nil {
		return nil, nil, err
	}
	before, equal = make([]Hits, len(hits)), make([]Hits, len(hits))
	var keys []int64
	nulls, total := 0, 0
	for i := range hits {
		before[i] = Hits{Seg: hits[i].Seg, Set: make([]uint64, len(hits[i].Set))}
		equal[i] = Hits{Seg: hits[i].Seg, Set: make([]uint64, len(hits[i].Set))}
		keys = append(keys, parts[i].keys...)
		nulls += parts[i].nulls
		total += hits[i].Count
	}
	some := total - nulls
	atNull := !o.Desc && nulls >= n || o.Desc && some < n
	last := int64(0)
	if !atNull {
		want := n
		if !o.Desc {
			want -= nulls
		}
		selectNth(keys, want-1)
		last = keys[want-1]
	}
	for i, p := range parts {
		for j, w := range p.null {
			switch {
			case atNull:
				equal[i].Set[j] |= w
			case !o.Desc:
				before[i].Set[j] |= w
			}
		}
		for j, d := range p.docs {
			bit := uint64(1) << (d & 63)
			switch {
			case atNull && !o.Desc:
			case atNull, p.keys[j] < last:
				before[i].Set[d>>6] |= bit
			case p.keys[j] == last:
				equal[i].Set[d>>6] |= bit
			}
		}
		before[i].Count, equal[i].Count = countBits(before[i].Set), countBits(equal[i].Set)
	}
	return before, equal, nil
}

// read finds the hits of a segment that can be among the first n.
func (r *ranked) read(h *Hits, o Order, n int) error {
	if near, ok := o.By.(nearer); ok && !o.Desc && h.Count > 2*n {
		docs, vals, nulls, err := near.nearest(h, n)
		if err != nil {
			return err
		}
		r.docs, r.null = docs, nulls
		r.nulls = countBits(r.null)
		r.keys = make([]int64, len(vals))
		for i, v := range vals {
			r.keys[i] = orderKey(v, false)
		}
		return nil
	}
	for next, end := uint32(0), uint32(len(h.Set)<<6); next < end; {
		var part Hits
		if part, next = h.Part(next, rankedDocs); part.Count == 0 {
			break
		}
		if err := o.Stop.check(); err != nil {
			return err
		}
		if err := r.readPart(&part, o, n); err != nil {
			return err
		}
	}
	r.prune(n)
	return nil
}

// rankedDocs is how many documents are ranked at once, by each goroutine.
const rankedDocs = 1 << 17

// ScoreBytes is about what scoring a document takes while those of its part are
// scored: its score, those of parts of the query, frequencies and lengths.
const ScoreBytes = 48

// RankBytes is about the memory that First takes by an order; 0 where that is but
// sets of documents.
func RankBytes(hits []Hits, order []Order) int64 {
	most, workers := 0, 0
	for _, o := range order {
		if o.By != nil {
			workers = max(workers, min(o.Workers, len(hits)), 1)
		}
	}
	for i := range hits {
		most = max(most, min(hits[i].Count, rankedDocs))
	}
	return int64(most) * int64(workers) * ScoreBytes
}

// readPart is read for a part of the hits.
func (r *ranked) readPart(h *Hits, o Order, n int) error {
	vals, nulls, err := o.By.values(h)
	if err != nil {
		return err
	}
	r.nulls += countBits(nulls)
	if nulls != nil && r.null == nil {
		r.null = make([]uint64, len(h.Set))
	}
	// Of all, those are kept that come before the worst of n.
	room := max(2*n, 256)
	worst := int64(math.MaxInt64)
	at := 0
	var docs [64]uint32
	for i, w := range h.Set {
		for j, d := range appendDocs(docs[:0], i, w) {
			if nulls != nil && nulls[(at+j)>>6]>>((at+j)&63)&1 != 0 {
				r.null[d>>6] |= 1 << (d & 63)
				continue
			}
			k := orderKey(vals[at+j], o.Desc)
			if k > worst {
				continue
			}
			r.docs, r.keys = append(r.docs, d), append(r.keys, k)
			if len(r.keys) >= room {
				worst = r.prune(n)
				room = max(2*len(r.keys), 256)
			}
		}
		at += bits.OnesCount64(w)
	}
	return nil
}

// prune leaves the first n, and all that are equal to the last of them, which it
// gives.
func (r *ranked) prune(n int) int64 {
	if len(r.keys) <= n {
		return math.MaxInt64
	}
	keys := slices.Clone(r.keys)
	selectNth(keys, n-1)
	worst := keys[n-1]
	kept := 0
	for i, k := range r.keys {
		if k <= worst {
			r.docs[kept], r.keys[kept] = r.docs[i], k
			kept++
		}
	}
	r.docs, r.keys = r.docs[:kept], r.keys[:kept]
	return worst
}

// firstByID gives those n of the hits whose ids are the smallest or, with desc, the
// largest.
func firstByID(hits, out []Hits, n int, desc bool) {
	type one struct {
		id  []byte
		at  int
		doc uint32
	}
	sign := 1
	if desc {
		sign = -1
	}
	var first []one
	var last []byte // of the first n that were seen
	cut := func() {
		slices.SortFunc(first, func(a, b one) int { return sign * bytes.Compare(a.id, b.id) })
		if len(first) >= n {
			first = first[:n]
			last = first[n-1].id
		}
	}
	var docs []uint32
	var ids [][]byte
	for i := range hits {
		for from, end := uint32(0), uint32(len(hits[i].Set)<<6); from < end; {
			docs, from = hits[i].Docs(from, blockDocs, docs[:0])
			ids = hits[i].Seg.IDs(docs, ids[:0])
			for j, id := range ids {
				if last == nil || sign*bytes.Compare(id, last) < 0 {
					first = append(first, one{id, i, docs[j]})
				}
			}
			if len(first) > 2*n+blockDocs {
				cut()
			}
		}
	}
	cut()
	for _, f := range first {
		out[f.at].Set[f.doc>>6] |= 1 << (f.doc & 63)
		out[f.at].Count++
	}
}

// inParallel calls fn with the numbers below n, on so many goroutines.
func inParallel(n, workers int, fn func(i int) error) error {
	workers = min(workers, n, procs.Number())
	if workers < 2 {
		for i := range n {
			if err := fn(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
				errs[w] = guard.Run(func() error { return seg.Guard(func() error { return fn(i) }) })
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
