package collate

import "time"

// Where characters have other weights next to others, the weights of a part are those of
// its tokens: characters and contractions, which follow each other from the start of the
// part on. Parts that start at different characters may have different tokens all along:
// of aaaa in Danish, where aa is a letter, there are two chains. Most chains soon meet.
//
// findByChains has a rolling hash for each chain. One that meets another has only its
// tokens up to there, and goes on with those of the other.

// chain is the tokens of a part, from a character on.
type chain struct {
	at, end int // of the tokens
	sums    sums
	// link, unless nil, is the chain that this one meets at its end: the hash goes on with
	// what link has after before, its tokens up to there.
	link   *chain
	before sums
}

// sums are the hashes of weights, one for each level.
type sums [4]sum

// sum is that of the bytes of weights times powers of hashBase, the first of which is 1.
type sum struct {
	all       uint64
	n         int    // bytes
	power     uint64 // hashBase to the n, and its inverse
	inverse   uint64
	kept      uint64 // all without the weights of spaces at the end, where they do not count
	keptBytes int
}

func newSums() (s sums) {
	for i := range s {
		s[i].power, s[i].inverse = 1, 1
	}
	return s
}

// inverseBase times hashBase is 1.
var inverseBase = func() uint64 {
	x, square := uint64(1), uint64(hashBase)
	for e := uint64(hashPrime - 2); e > 0; e >>= 1 {
		if e&1 == 1 {
			x = mulMod(x, square)
		}
		square = mulMod(square, square)
	}
	return x
}()

// add appends weights, which end in pad where spaces do not count.
func (s *sum) add(weights, pad []byte) {
	size := max(len(pad), 1)
	for len(weights) > 0 {
		unit := weights[:min(size, len(weights))]
		weights = weights[len(unit):]
		for _, b := range unit {
			s.all = addMod(s.all, mulMod(uint64(b)+1, s.power))
			s.power, s.inverse = mulMod(s.power, hashBase), mulMod(s.inverse, inverseBase)
		}
		s.n += len(unit)
		if string(unit) != string(pad) {
			s.kept, s.keptBytes = s.all, s.n
		}
	}
}

// drop takes weights away from the start.
func (s *sum) drop(weights []byte) {
	for _, b := range weights {
		minus := hashPrime - uint64(b) - 1
		s.all = mulMod(addMod(s.all, minus), inverseBase)
		if s.keptBytes > 0 {
			s.kept = mulMod(addMod(s.kept, minus), inverseBase)
			s.keptBytes--
		}
		s.power, s.inverse = mulMod(s.power, inverseBase), mulMod(s.inverse, hashBase)
	}
	s.n -= len(weights)
}

// after is s without what it begins with.
func (s *sum) after(begin *sum) sum {
	minus := func(x uint64) uint64 { return mulMod(addMod(x, hashPrime-begin.all), begin.inverse) }
	out := sum{all: minus(s.all), n: s.n - begin.n, power: mulMod(s.power, begin.inverse)}
	if s.keptBytes > begin.n {
		out.kept, out.keptBytes = minus(s.kept), s.keptBytes-begin.n
	}
	return out
}

// then is s followed by o.
func (s *sum) then(o *sum) sum {
	out := sum{all: addMod(s.all, mulMod(s.power, o.all)), n: s.n + o.n, power: mulMod(s.power, o.power), kept: s.kept, keptBytes: s.keptBytes}
	if o.keptBytes > 0 {
		out.kept, out.keptBytes = addMod(s.all, mulMod(s.power, o.kept)), s.n+o.keptBytes
	}
	return out
}

// equals compares what counts.
func (s *sum) equals(o *sum) bool { return s.kept == o.kept && s.keptBytes == o.keptBytes }

// chains finds a needle.
type chains struct {
	c      *Collation
	s      []byte
	end    int // of the part that is looked at
	live   []*chain
	buf    []byte
	work   func(n int) error
	cached map[string]int
}

// sumsOf are the hashes of a text's weights.
func (c *Collation) sumsOf(s []byte, work func(n int) error) (sums, error) {
	out := newSums()
	for level := range c.levels {
		if err := c.reader(s, level, partBytes, work).each(func(w []byte) { out[level].add(w, c.pad) }); err != nil {
			return out, err
		}
	}
	return out, nil
}

// findByChains is Find from a character on, for texts that are valid, and in which no
// character looks back.
func (c *Collation) findByChains(s, needle []byte, from int, work func(n int) error) (int, error) {
	want, err := c.sumsOf(needle, work)
	if err != nil {
		return 0, err
	}
	f := &chains{c: c, s: s, end: from, work: work, cached: map[string]int{}}
	for at := from; at+len(needle) <= len(s); at += c.charSize(s[at:]) {
		for f.end < at+len(needle) {
			f.end += c.charSize(s[f.end:])
		}
		part, err := f.startAt(at)
		if err != nil {
			return 0, err
		}
		if f.end > at+len(needle) || !f.equals(part, &want) {
			continue
		}
		if err := work(len(needle)); err != nil {
			return 0, err
		}
		if ok, err := c.equal(s[at:f.end], needle, true, work); ok || err != nil {
			return at, err
		}
	}
	return -1, nil
}

// startAt is the chain that starts at a character; those before it are given up.
func (f *chains) startAt(at int) (*chain, error) {
	// Chains that are linked end first: the others must still have what they are linked to.
	for _, linked := range []bool{true, false} {
		for i := 0; i < len(f.live); i++ {
			x := f.live[i]
			if (x.link != nil) != linked {
				continue
			}
			for x.at < at && x.at < x.end {
				if err := f.shrink(x); err != nil {
					return nil, err
				}
			}
			if linked && x.at == x.end || x.at < at || f.isKnown(x, i) {
				f.live = append(f.live[:i], f.live[i+1:]...)
				i--
			}
		}
	}
	for _, x := range f.live {
		if x.link == nil {
			if err := f.grow(x); err != nil {
				return nil, err
			}
		}
	}
	for _, x := range f.live {
		if x.at == at {
			return x, nil
		}
	}
	return f.begin(at)
}

// isKnown reports that a chain before the i-th starts where it does; what was linked to it
// is linked to that one then.
func (f *chains) isKnown(x *chain, i int) bool {
	for n, o := range f.live {
		if n == i || o.at != x.at || o.link != nil || x.link == nil && n > i {
			continue
		}
		for _, y := range f.live {
			if y.link == x {
				y.link = o
			}
		}
		return true
	}
	return false
}

// shrink drops the first token of x.
func (f *chains) shrink(x *chain) error {
	next := f.next(x.at)
	w := f.weights(x.at, next)
	for level := range f.c.levels {
		part := levelOf(w, level, f.c.levels)
		x.sums[level].drop(part)
		for _, y := range f.live {
			if y.link == x {
				y.before[level].drop(part)
			}
		}
	}
	err := f.work(next - x.at)
	x.at = next
	return err
}

// take adds the token from p on to s, and is its end.
func (f *chains) take(s *sums, p int) (int, error) {
	next := f.next(p)
	w := f.weights(p, next)
	for level := range f.c.levels {
		s[level].add(levelOf(w, level, f.c.levels), f.c.pad)
	}
	return next, f.work(next - p)
}

// settled reports that the token from p on is the same whatever follows the part.
func (f *chains) settled(p int) bool {
	return p < f.end && f.c.skip(f.s, f.next(p), cutContext) <= f.end && f.next(p) <= f.end
}

// grow takes the tokens up to the end of the part.
func (f *chains) grow(x *chain) (err error) {
	for err == nil && f.settled(x.end) {
		x.end, err = f.take(&x.sums, x.end)
	}
	return err
}

// begin makes the chain that starts at a character, up to where it meets another one.
func (f *chains) begin(at int) (*chain, error) {
	type walk struct {
		x      *chain
		at     int
		before sums
	}
	var others []walk
	for _, x := range f.live {
		if x.link == nil {
			others = append(others, walk{x, x.at, newSums()})
		}
	}
	y := &chain{at: at, end: at, sums: newSums()}
	f.live = append(f.live, y)
	for {
		for i := range others {
			o := &others[i]
			for o.at < y.end && o.at < o.x.end {
				var err error
				if o.at, err = f.take(&o.before, o.at); err != nil {
					return nil, err
				}
			}
			if o.at == y.end && y.end > y.at {
				y.link, y.before = o.x, o.before
				return y, nil
			}
		}
		if !f.settled(y.end) {
			return y, nil
		}
		var err error
		if y.end, err = f.take(&y.sums, y.end); err != nil {
			return nil, err
		}
	}
}

// equals compares the hashes of the part that a chain starts.
func (f *chains) equals(x *chain, want *sums) bool {
	last := x
	if x.link != nil {
		last = x.link
	}
	w := f.weights(last.end, f.end)
	for level := range f.c.levels {
		tail := newSums()[0]
		tail.add(levelOf(w, level, f.c.levels), f.c.pad)
		all := x.sums[level]
		if x.link != nil {
			rest := x.link.sums[level].after(&x.before[level])
			all = all.then(&rest)
		}
		if all = all.then(&tail); !all.equals(&want[level]) {
			return false
		}
	}
	return true
}

// weights are those of a piece of the text, valid until the next call.
func (f *chains) weights(from, to int) []byte {
	f.buf = f.c.appendPartWeights(f.buf[:0], f.s[from:to])
	return f.buf
}

// cachedTokens is how many tokens are kept in mind.
const cachedTokens = 4096

// next is the end of the token that starts at p.
func (f *chains) next(p int) int {
	key := f.s[p:f.c.skip(f.s, p, 2*cutContext+1)]
	if n, ok := f.cached[string(key)]; ok {
		return p + n
	}
	end := p
	for end < len(f.s) {
		if end += f.c.charSize(f.s[end:]); f.endsToken(p, end) {
			break
		}
	}
	if len(f.cached) == cachedTokens {
		clear(f.cached)
	}
	if end-p <= len(key) {
		f.cached[string(key)] = end - p
	}
	return end
}

// endsToken reports that the weights from start on are those up to end, and then those from
// end on.
func (f *chains) endsToken(start, end int) bool {
	for n, after := 0, end; n < cutContext && after < len(f.s); n++ {
		after += f.c.charSize(f.s[after:])
		if !f.c.concatenate(f.s[start:end], f.s[end:after]) {
			return false
		}
	}
	return true
}

// A search in turn ends when its comparisons have taken so much time, and so much each: then
// most parts begin as the needle does, and it would grow with the product of the lengths.
const (
	longComparisons = 20 * time.Millisecond
	longComparison  = 5 * time.Microsecond
)
