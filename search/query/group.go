package query

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/search/seg"
)

// ErrTooMany: there are more groups, or different values, than are kept here.
var ErrTooMany = errors.New("too many groups")

// The most groups, and the most different values that are counted. Beyond that
// they cost what rows do.
const (
	maxGroups = 1 << 16
	maxValues = 1 << 20
)

// Field is a field whose distinct values make the groups.
type Field struct {
	ID seg.FieldID
	// Zeros: the words -1 and 0 are equal.
	Zeros bool
	// Exact: values of a group that are equal but not identical are distinguished.
	Exact bool
}

// Op is what a Call computes.
type Op uint8

// Operations of a Call.
const (
	CountAll Op = iota // the documents
	Count              // those with a value
	Sum                // of words
	SumFloat           // of words that FloatOf makes doubles
	Min
	Max
	Distinct // the different values
)

// Call is what is computed of the documents of a group.
type Call struct {
	Op    Op
	Field Field
}

// FloatOf is the double that a word encodes: words order as doubles do.
func FloatOf(w int64) float64 {
	u := uint64(w)
	if w < 0 {
		u = ^(u ^ 1<<63)
	}
	return math.Float64frombits(u)
}

// Groups are documents grouped by the values of fields, and what was computed
// of each group. Groups have numbers, not all of which are used.
type Groups struct {
	by []*coder
	// pairs number (group by the fields before, code in this field); nil for the
	// first.
	pairs []*wordTable
	n     int
	count []int64
	accs  []*acc

	ids  []uint32
	more []uint32
	room func(bytes int64) error
	held int64
}

// GroupBy groups hits by fields; without fields all hits are one group. It uses up
// to workers goroutines, and requests its memory from room, from any of them; when
// room refuses, it fails with ErrTooMany.
func GroupBy(ctx context.Context, hits []Hits, by []Field, calls []Call, workers int, room func(bytes int64) error) (*Groups, error) {
	g := &Groups{room: room}
	total := 0
	for i := range hits {
		total += hits[i].Count
	}
	for i, f := range by {
		c, err := newCoder(f, hits)
		if err != nil {
			return nil, err
		}
		g.by = append(g.by, c)
		g.pairs = append(g.pairs, nil)
		if i > 0 {
			g.pairs[i] = &wordTable{}
		}
	}
	for _, call := range calls {
		a, err := newAcc(call, hits, total, len(by) == 0)
		if err != nil {
			return nil, err
		}
		g.accs = append(g.accs, a)
	}
	parts := divide(hits, total, workers)
	for _, a := range g.accs {
		if n := a.seenBytes(); n > 0 && room(n*int64(max(len(parts), 1))) != nil {
			return nil, ErrTooMany
		}
	}
	if len(parts) < 2 {
		return g, g.run(ctx, wholes(hits))
	}
	list := []*Groups{g}
	for range parts[1:] {
		list = append(list, g.fork())
	}
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			errs[i] = guard.Run(func() error { return seg.Guard(func() error { return list[i].run(ctx, parts[i]) }) })
		})
	}
	wg.Wait()
	for i := range parts {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if i > 0 {
			if err := g.merge(list[i]); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// parallelHits is the number of hits from which goroutines pay.
const parallelHits = 200_000

// piece is hits of a segment, or those of some of its blocks: Set begins with document
// from.
type piece struct {
	Hits
	from int
}

// wholes are hits as pieces.
func wholes(hits []Hits) []piece {
	out := make([]piece, len(hits))
	for i := range hits {
		out[i].Hits = hits[i]
	}
	return out
}

// divide cuts hits into parts of about the same size, between blocks; nil where one
// goroutine does it as well.
func divide(hits []Hits, total, workers int) [][]piece {
	if workers < 2 || total < parallelHits {
		return nil
	}
	const words = blockDocs / 64
	each, parts, n := (total+workers-1)/workers, make([][]piece, 1, workers), 0
	for i := range hits {
		h := &hits[i]
		if n+h.Count <= each || h.Set == nil {
			last := len(parts) - 1
			parts[last], n = append(parts[last], piece{Hits: *h}), n+h.Count
			continue
		}
		start, count := 0, 0
		add := func(end int) {
			last := len(parts) - 1
			if count > 0 {
				parts[last] = append(parts[last], piece{Hits{Seg: h.Seg, Set: h.Set[start:end], Count: count}, start << 6})
			}
			start, n, count = end, n+count, 0
		}
		for at := 0; at < len(h.Set); at += words {
			if n+count >= each && len(parts) < workers {
				add(at)
				parts, n = append(parts, nil), 0
			}
			count += countBits(h.Set[at:min(at+words, len(h.Set))])
		}
		add(len(h.Set))
	}
	return parts
}

// fork makes empty groups for other documents.
func (g *Groups) fork() *Groups {
	o := &Groups{room: g.room}
	for i, c := range g.by {
		o.by = append(o.by, c.fork())
		o.pairs = append(o.pairs, nil)
		if i > 0 {
			o.pairs[i] = &wordTable{}
		}
	}
	for _, a := range g.accs {
		b := &acc{call: a.call, base: a.base, wide: a.wide, span: a.span}
		if a.codes != nil {
			b.codes = a.codes.fork()
		}
		if a.seen != nil {
			b.seen = []uint64{}
		}
		o.accs = append(o.accs, b)
	}
	return o
}

func (g *Groups) run(ctx context.Context, hits []piece) error {
	g.grow(1)
	if len(g.by) == 0 && !slices.ContainsFunc(g.accs, func(a *acc) bool { return a.call.Op != CountAll }) {
		for i := range hits {
			g.count[0] += int64(hits[i].Count)
		}
		return nil
	}
	var b block
	for i := range hits {
		if hits[i].Count == 0 {
			continue
		}
		if err := g.open(hits[i].Seg); err != nil {
			return err
		}
		if g.countAll(&hits[i]) {
			if err := g.full(); err != nil {
				return err
			}
			continue
		}
		blocks := 0
		err := eachBlock(hits[i].Set, hits[i].from, &b, func() error {
			if blocks++; blocks&63 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return g.add(&b)
		})
		if err != nil {
			return err
		}
		for _, a := range g.accs {
			a.settle()
		}
	}
	return nil
}

// countAll counts the documents of groups by one field at once; false where that does
// not pay, or more is to be computed.
func (g *Groups) countAll(h *piece) bool {
	if len(g.by) != 1 || slices.ContainsFunc(g.accs, func(a *acc) bool { return a.call.Op != CountAll }) {
		return false
	}
	c := g.by[0]
	switch {
	case c.col.all:
		g.count[0] += int64(h.Count)
		return true
	case c.word && c.dense > 0 && c.dense <= h.Count*denseFactor && !c.col.words.Multi():
		g.grow(c.size())
		set, left := h.Set, h.Count
		if nulls := c.col.nulls; nulls != nil {
			set = slices.Clone(set)
			for i := range set {
				set[i] &^= nulls[h.from>>6+i]
			}
			left = countBits(set)
		}
		g.count[0] += int64(h.Count - left)
		c.col.words.Histogram(set, h.from, c.lo, g.count[1:])
		return true
	case !c.word && c.col.keys.Ordinals() <= min(h.Count, maxGroups) && !c.col.keys.Multi():
		counts := make([]int64, c.col.keys.Ordinals())
		c.col.keys.Histogram(h.Set, h.from, h.Count, counts)
		left := int64(h.Count)
		for o, n := range counts {
			if n > 0 {
				code := c.codeOfOrdinal(uint32(o))
				g.grow(c.size())
				g.count[code] += n
				left -= n
			}
		}
		g.count[0] += left
		return true
	}
	return false
}

// denseFactor is how many groups of words may be there for each document that is
// counted: more would be looked at in vain.
const denseFactor = 4

func (g *Groups) open(s *seg.Segment) (err error) {
	for _, c := range g.by {
		if err = c.open(s); err != nil {
			return err
		}
	}
	for _, a := range g.accs {
		if a.call.Op == CountAll {
			continue
		}
		if a.codes != nil {
			err = a.codes.open(s)
		} else {
			a.col, err = open(s, a.call.Field.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// grow makes room for n groups.
func (g *Groups) grow(n int) {
	if n <= g.n {
		return
	}
	g.n = n
	g.count = extend(g.count, n)
	for _, a := range g.accs {
		a.grow(n)
	}
}

func extend[T any](s []T, n int) []T {
	if n > len(s) {
		s = slices.Grow(s, n-len(s))[:n]
	}
	return s
}

// add adds the documents of a block.
func (g *Groups) add(b *block) error {
	if len(g.by) == 0 {
		g.count[0] += int64(b.n)
		for _, a := range g.accs {
			a.addAll(b)
		}
		return g.full()
	}
	g.ids, g.more = extend(g.ids, blockDocs), extend(g.more, blockDocs)
	ids := g.ids[:b.n]
	g.by[0].codes(b, ids)
	size := g.by[0].size()
	for i := 1; i < len(g.by); i++ {
		codes := g.more[:b.n]
		g.by[i].codes(b, codes)
		t := g.pairs[i]
		for j, c := range codes {
			ids[j] = t.number(int64(ids[j])<<32 | int64(c))
		}
		size = len(t.words)
	}
	g.grow(size)
	count := g.count
	for _, id := range ids {
		count[id]++
	}
	for _, a := range g.accs {
		a.add(b, ids)
	}
	return g.full()
}

// full is ErrTooMany when there are too many groups or values.
func (g *Groups) full() error {
	if g.n > maxGroups+1 {
		return ErrTooMany
	}
	for _, c := range g.by {
		if c.size() > maxValues {
			return ErrTooMany
		}
	}
	for _, a := range g.accs {
		if a.span > 0 {
			continue
		}
		if a.codes != nil && (a.codes.size() > maxValues || len(a.pairs.words) > maxValues) {
			return ErrTooMany
		}
	}
	more := g.bytes() - g.held
	if more < roomStep {
		return nil
	}
	g.held += more
	if g.room(more) != nil {
		return ErrTooMany
	}
	return nil
}

// roomStep is how much memory is taken between two checks of room.
const roomStep = 1 << 18

func (g *Groups) bytes() int64 {
	n := int64(g.n) * 8
	for i, c := range g.by {
		n += c.bytes()
		if i > 0 {
			n += g.pairs[i].bytes()
		}
	}
	for _, a := range g.accs {
		n += int64(len(a.n)+len(a.lo)+len(a.hi)+len(a.sum)+len(a.best))*8 + int64(len(a.keys))*52 + a.pairs.bytes()
		if a.span == 0 {
			n += int64(len(a.seen)) * 8
		}
		if a.codes != nil {
			n += a.codes.bytes()
		}
	}
	return n
}

// merge takes over the groups of o, of other documents.
func (g *Groups) merge(o *Groups) error {
	o.grow(1)
	to := []uint32{0}
	for i, c := range g.by {
		codes := c.translation(o.by[i])
		if i == 0 {
			to = codes
			continue
		}
		next := make([]uint32, len(o.pairs[i].words))
		for j, p := range o.pairs[i].words {
			next[j] = g.pairs[i].number(int64(to[p>>32])<<32 | int64(codes[uint32(p)]))
		}
		to = next
	}
	size := 1
	if n := len(g.by); n == 1 {
		size = g.by[0].size()
	} else if n > 1 {
		size = len(g.pairs[n-1].words)
	}
	g.grow(size)
	for id, n := range o.count {
		g.count[to[id]] += n
	}
	for i, a := range g.accs {
		a.merge(o.accs[i], to)
	}
	return g.full()
}
