package query

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

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

// Field is a field whose values are told apart.
type Field struct {
	ID seg.FieldID
	// Zeros: the words -1 and 0 are equal.
	Zeros bool
	// Exact: values of a group are told apart that are equal and not the same.
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

// FloatOf is the double that stands as a word: words order as doubles do.
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

// acc is a Call of all groups.
type acc struct {
	call Call
	col  *column
	n    []int64 // documents with a value
	// Sums of words less base, or, where these might not fit, of words.
	base   int64
	wide   bool
	lo     []uint64
	hi     []int64
	sum    []float64
	best   []int64
	at     []uint32 // the best ordinals in the segment plus one
	keys   [][]byte
	values [][]byte
	codes  *coder
	seen   []uint64 // of a single group: the codes
	pairs  wordTable
	buf    []uint32
}

// GroupBy groups hits by fields, none for one group of all. It uses up to
// workers goroutines, and asks room, from any of them, for the memory that it
// takes; where there is none, it fails with ErrTooMany.
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
	if len(parts) < 2 {
		return g, g.run(ctx, hits)
	}
	list := []*Groups{g}
	for range parts[1:] {
		list = append(list, g.fork())
	}
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { errs[i] = list[i].run(ctx, parts[i]) })
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

// divide cuts hits into parts of about the same size.
func divide(hits []Hits, total, workers int) [][]Hits {
	workers = min(workers, len(hits))
	if workers < 2 || total < parallelHits {
		return nil
	}
	sorted := slices.Clone(hits)
	slices.SortStableFunc(sorted, func(a, b Hits) int { return b.Count - a.Count })
	parts, sizes := make([][]Hits, workers), make([]int, workers)
	for _, h := range sorted {
		least := 0
		for i, n := range sizes {
			if n < sizes[least] {
				least = i
			}
		}
		parts[least] = append(parts[least], h)
		sizes[least] += h.Count
	}
	return parts
}

func newAcc(call Call, hits []Hits, total int, single bool) (*acc, error) {
	a := &acc{call: call}
	switch call.Op {
	case Sum:
		lo, hi, ok, err := bounds(hits, call.Field.ID)
		if err != nil {
			return nil, err
		}
		if a.base = lo; ok {
			span := uint64(hi) - uint64(lo)
			a.wide = span > math.MaxUint64/uint64(max(total, 1))
		}
		if a.wide || !ok {
			a.base = 0
		}
	case Distinct:
		var err error
		if a.codes, err = newCoder(call.Field, hits); err != nil {
			return nil, err
		}
		if single {
			a.seen = []uint64{}
		}
	}
	return a, nil
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
		b := &acc{call: a.call, base: a.base, wide: a.wide}
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

func (g *Groups) run(ctx context.Context, hits []Hits) error {
	g.grow(1)
	var b block
	for i := range hits {
		if hits[i].Count == 0 {
			continue
		}
		if err := g.open(hits[i].Seg); err != nil {
			return err
		}
		blocks := 0
		err := hits[i].each(&b, func() error {
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

func (a *acc) grow(n int) {
	switch a.call.Op {
	case CountAll:
		return
	case Sum:
		a.lo = extend(a.lo, n)
		if a.wide {
			a.hi = extend(a.hi, n)
		}
	case SumFloat:
		a.sum = extend(a.sum, n)
	case Min, Max:
		a.best, a.at = extend(a.best, n), extend(a.at, n)
		a.keys, a.values = extend(a.keys, n), extend(a.values, n)
	}
	a.n = extend(a.n, n)
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

// roomStep is how much memory is taken without asking.
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
		n += int64(len(a.n)+len(a.lo)+len(a.hi)+len(a.sum)+len(a.best)+len(a.seen))*8 + int64(len(a.keys))*52 + a.pairs.bytes()
		if a.codes != nil {
			n += a.codes.bytes()
		}
	}
	return n
}

// addAll is add for the only group.
func (a *acc) addAll(b *block) {
	c := a.col
	if a.codes != nil {
		a.buf = extend(a.buf, blockDocs)
		codes := a.buf[:b.n]
		a.codes.codes(b, codes)
		a.seen = extend(a.seen, a.codes.size()>>6+1)
		for _, code := range codes {
			a.seen[code>>6] |= 1 << (code & 63)
		}
		return
	}
	if a.call.Op == CountAll || c.all {
		return
	}
	if c.nulls != nil || c.words == nil || a.wide {
		a.buf = extend(a.buf, blockDocs)
		ids := a.buf[:b.n]
		clear(ids)
		a.add(b, ids)
		return
	}
	a.n[0] += int64(b.n)
	switch a.call.Op {
	case Sum:
		var s, t uint64
		v := b.words(c)
		for len(v) >= 4 {
			s += uint64(v[0]) + uint64(v[1])
			t += uint64(v[2]) + uint64(v[3])
			v = v[4:]
		}
		for _, w := range v {
			s += uint64(w)
		}
		a.lo[0] += s + t - uint64(b.n)*uint64(a.base)
	case SumFloat:
		s := a.sum[0]
		for _, w := range b.words(c) {
			s += FloatOf(w)
		}
		a.sum[0] = s
	case Min, Max:
		v := b.words(c)
		best := v[0]
		if a.call.Op == Min {
			for _, w := range v {
				best = min(best, w)
			}
		} else {
			for _, w := range v {
				best = max(best, w)
			}
		}
		if a.at[0] == 0 || (best < a.best[0]) == (a.call.Op == Min) {
			a.best[0], a.at[0] = best, 1
		}
	}
}

// add adds the documents of a block to their groups.
func (a *acc) add(b *block, ids []uint32) {
	c := a.col
	switch {
	case a.codes != nil:
		a.buf = extend(a.buf, blockDocs)
		codes := a.buf[:b.n]
		a.codes.codes(b, codes)
		for i, code := range codes {
			if code != 0 {
				a.pairs.number(int64(ids[i])<<32 | int64(code))
			}
		}
		return
	case a.call.Op == CountAll, c.all:
		return
	}
	if c.nulls != nil {
		a.addSome(b, ids)
		return
	}
	n := a.n
	switch {
	case a.call.Op == Sum && !a.wide:
		lo, base := a.lo, uint64(a.base)
		for i, w := range b.words(c) {
			id := ids[i]
			n[id]++
			lo[id] += uint64(w) - base
		}
	case a.call.Op == Count:
		for _, id := range ids {
			n[id]++
		}
	default:
		a.addSome(b, ids)
	}
}

// addSome leaves out documents without a value.
func (a *acc) addSome(b *block, ids []uint32) {
	c := a.col
	var v []int64
	switch {
	case a.call.Op == Count:
	case c.words != nil:
		v = b.words(c)
	default:
		v = b.ordinals(c)
	}
	for i, id := range ids {
		if c.nulls != nil {
			if d := b.doc(i); c.nulls[d>>6]>>(d&63)&1 != 0 {
				continue
			}
		}
		a.n[id]++
		switch a.call.Op {
		case Sum:
			if !a.wide {
				a.lo[id] += uint64(v[i]) - uint64(a.base)
				continue
			}
			a.addWide(id, v[i]>>63, uint64(v[i]))
		case SumFloat:
			a.sum[id] += FloatOf(v[i])
		case Min, Max:
			if c.words != nil {
				if a.at[id] == 0 || v[i] != a.best[id] && (v[i] < a.best[id]) == (a.call.Op == Min) {
					a.best[id], a.at[id] = v[i], 1
				}
			} else if o := uint32(v[i]) + 1; a.at[id] == 0 || (o < a.at[id]) == (a.call.Op == Min) {
				a.at[id] = o
			}
		}
	}
}

func (a *acc) addWide(id uint32, hi int64, lo uint64) {
	var carry uint64
	a.lo[id], carry = bits.Add64(a.lo[id], lo, 0)
	a.hi[id] += hi + int64(carry)
}

// settle compares what is best in the segment that was read with that of the
// segments before: ordinals are of one segment.
func (a *acc) settle() {
	if a.call.Op != Min && a.call.Op != Max || a.col == nil || a.col.keys == nil || a.col.all {
		return
	}
	k := a.col.keys
	for id, at := range a.at {
		if at != 0 {
			a.better(uint32(id), k.Key(k.ClassOf(at-1)), k.Value(at-1))
		}
	}
	clear(a.at)
}

func (a *acc) better(id uint32, key, value []byte) {
	if a.keys[id] == nil || (bytes.Compare(key, a.keys[id]) < 0) == (a.call.Op == Min) {
		a.keys[id], a.values[id] = key, value
	}
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

func (a *acc) merge(o *acc, to []uint32) {
	if a.codes != nil {
		codes := a.codes.translation(o.codes)
		for i, w := range o.seen {
			for ; w != 0; w &= w - 1 {
				code := codes[i<<6+bits.TrailingZeros64(w)]
				a.seen = extend(a.seen, int(code>>6)+1)
				a.seen[code>>6] |= 1 << (code & 63)
			}
		}
		for _, p := range o.pairs.words {
			a.pairs.number(int64(to[p>>32])<<32 | int64(codes[uint32(p)]))
		}
		return
	}
	for i, n := range o.n {
		if n == 0 {
			continue
		}
		id := to[i]
		a.n[id] += n
		switch a.call.Op {
		case Sum:
			if a.wide {
				a.addWide(id, o.hi[i], o.lo[i])
			} else {
				a.lo[id] += o.lo[i]
			}
		case SumFloat:
			a.sum[id] += o.sum[i]
		case Min, Max:
			switch {
			case o.keys[i] != nil:
				a.better(id, o.keys[i], o.values[i])
			case a.at[id] == 0 || (o.best[i] < a.best[id]) == (a.call.Op == Min):
				a.best[id], a.at[id] = o.best[i], 1
			}
		}
	}
}

// IDs appends the numbers of the groups that have documents: without fields
// always that of the one.
func (g *Groups) IDs(out []uint32) []uint32 {
	for id, n := range g.count {
		if n > 0 || len(g.by) == 0 {
			out = append(out, uint32(id))
		}
	}
	return out
}

// codes are those of the group's values.
func (g *Groups) code(field int, id uint32) uint32 {
	for i := len(g.by) - 1; i > 0; i-- {
		p := g.pairs[i].words[id]
		if i == field {
			return uint32(p)
		}
		id = uint32(p >> 32)
	}
	return id
}

// Word is the group's value of a field of words; false for NULL.
func (g *Groups) Word(field int, id uint32) (int64, bool) {
	c := g.code(field, id)
	if c == 0 {
		return 0, false
	}
	return g.by[field].wordOf(c), true
}

// Value is a value of a field of keys that the group has; false for NULL. It is
// valid until the snapshot is closed.
func (g *Groups) Value(field int, id uint32) ([]byte, bool) {
	c := g.code(field, id)
	if c == 0 {
		return nil, false
	}
	return g.by[field].values[c-1], true
}

// Count is the number of the group's documents.
func (g *Groups) Count(id uint32) int64 { return g.count[id] }

// N is the number of the group's documents that have a value.
func (g *Groups) N(call int, id uint32) int64 { return g.accs[call].n[id] }

// Sum is that of the words, in 128 bits.
func (g *Groups) Sum(call int, id uint32) (hi int64, lo uint64) {
	a := g.accs[call]
	if a.wide {
		return a.hi[id], a.lo[id]
	}
	// n times the base has 128 bits
	h, l := bits.Mul64(uint64(a.n[id]), uint64(a.base))
	if a.base < 0 {
		h -= uint64(a.n[id])
	}
	l, carry := bits.Add64(l, a.lo[id], 0)
	return int64(h + carry), l
}

// Float is the sum of doubles.
func (g *Groups) Float(call int, id uint32) float64 { return g.accs[call].sum[id] }

// BestWord is the least or greatest word, where N is not 0.
func (g *Groups) BestWord(call int, id uint32) int64 { return g.accs[call].best[id] }

// BestValue is the value with the least or greatest key, where N is not 0.
func (g *Groups) BestValue(call int, id uint32) []byte { return g.accs[call].values[id] }

// Different gives the different values of a call, each with its group: words, or
// values.
func (g *Groups) Different(call int, word func(id uint32, w int64), value func(id uint32, v []byte)) {
	a := g.accs[call]
	one := func(id, code uint32) {
		switch {
		case code == 0:
		case a.codes.word:
			word(id, a.codes.wordOf(code))
		default:
			value(id, a.codes.values[code-1])
		}
	}
	for i, w := range a.seen {
		for ; w != 0; w &= w - 1 {
			one(0, uint32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	for _, p := range a.pairs.words {
		one(uint32(p>>32), uint32(p))
	}
}

// CountDifferent appends how many different values each group has, by number.
func (g *Groups) CountDifferent(call int) []int64 {
	a := g.accs[call]
	out := make([]int64, g.n)
	for i, w := range a.seen {
		if i == 0 {
			w &^= 1
		}
		out[0] += int64(bits.OnesCount64(w))
	}
	for _, p := range a.pairs.words {
		out[p>>32]++
	}
	return out
}
