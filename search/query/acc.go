package query

import (
	"bytes"
	"math"
	"math/bits"
)

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
	// span is the number of codes, where seen has a bit for each word between the
	// least and the greatest; 0 where it has not.
	span  int
	pairs wordTable
	buf   []uint32
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
			return a, a.spread(hits, total)
		}
	}
	return a, nil
}

// spreadFactor is how many bits there may be for each document.
const spreadFactor = 64

// spread gives codes to all words between the least and the greatest, where these are
// not too many.
func (a *acc) spread(hits []Hits, total int) error {
	if !a.codes.word || a.codes.field.Zeros {
		return nil
	}
	lo, hi, ok, err := bounds(hits, a.codes.field.ID)
	if err != nil || !ok {
		return err
	}
	if span := uint64(hi) - uint64(lo); span < min(uint64(total)*spreadFactor, math.MaxUint32-64) {
		a.codes.lo, a.codes.dense, a.span = lo, int(span)+1, int(span)+2
	}
	return nil
}

// seenBytes are those of the bits of a span.
func (a *acc) seenBytes() int64 {
	if a.span == 0 {
		return 0
	}
	return int64(a.span>>6+1) * 8
}

// addSeen is addAll where there is a bit for each word.
func (a *acc) addSeen(b *block) {
	c := a.codes.col
	if c.all {
		return
	}
	if a.seen = extend(a.seen, a.span>>6+1); c.nulls == nil {
		seen, base := a.seen, uint64(a.codes.lo)-1
		for _, w := range b.words(c) {
			d := uint64(w) - base
			seen[d>>6] |= 1 << (d & 63)
		}
		return
	}
	for i, w := range b.words(c) {
		if d := b.doc(i); c.nulls[d>>6]>>(d&63)&1 == 0 {
			code := a.codes.codeOfWord(w)
			a.seen[code>>6] |= 1 << (code & 63)
		}
	}
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

// addAll is add for the only group.
func (a *acc) addAll(b *block) {
	c := a.col
	if a.span > 0 {
		a.addSeen(b)
		return
	}
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
		if b.docs == nil && b.read != c {
			a.lo[0] += c.words.BlockSum(b.from, a.base)
			return
		}
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
		if b.docs == nil {
			lo, hi := c.words.BlockBounds(b.from)
			if a.call.Op == Max {
				lo = hi
			}
			if a.at[0] == 0 || (lo < a.best[0]) == (a.call.Op == Min) {
				a.best[0], a.at[0] = lo, 1
			}
			return
		}
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

func (a *acc) merge(o *acc, to []uint32) {
	if a.span > 0 {
		a.seen = extend(a.seen, len(o.seen))
		for i, w := range o.seen {
			a.seen[i] |= w
		}
		return
	}
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
