package query

import (
	"math/bits"
)

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

// code is that of the value of a field.
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

// Differences is the number of different values that Different gives.
func (g *Groups) Differences(call int) (n int) {
	a := g.accs[call]
	for i, w := range a.seen {
		if i == 0 {
			w &^= 1
		}
		n += bits.OnesCount64(w)
	}
	return n + len(a.pairs.words)
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
