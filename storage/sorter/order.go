package sorter

import (
	"bytes"
	"cmp"
	"slices"
)

// orderer sorts pairs of a chunk by eight bytes of their keys at a time, most
// significant first: a radix sort by the next eight bytes after the common beginning,
// and then each range of pairs that are equal in them again. Few keys differ only after
// their first different eight bytes, and few bytes of these differ at all.
type orderer struct {
	c       *chunk
	scratch []pair
}

// fewPairs are sorted by comparisons.
const fewPairs = 64

// order sorts pairs whose keys have their first common bytes in common.
// A DuplicateError when two are equal.
func (o *orderer) order(pairs []pair, common int) error {
	if len(pairs) < 2 {
		return nil
	}
	c := o.c
	first := prefixAt(c.key(pairs[0]), common)
	sorted, last, differ := true, uint64(0), uint64(0)
	for i := range pairs {
		p := &pairs[i]
		p.prefix = prefixAt(c.key(*p), common)
		sorted = sorted && last <= p.prefix
		last = p.prefix
		differ |= p.prefix ^ first
	}
	switch {
	case sorted:
	case len(pairs) <= fewPairs:
		slices.SortFunc(pairs, func(x, y pair) int { return cmp.Compare(x.prefix, y.prefix) })
	default:
		o.radix(pairs, differ)
	}
	for i := 0; i < len(pairs); {
		j := i + 1
		for j < len(pairs) && pairs[j].prefix == pairs[i].prefix {
			j++
		}
		if j > i+1 {
			if err := o.equal(pairs[i:j], common+8); err != nil {
				return err
			}
		}
		i = j
	}
	return nil
}

// equal sorts pairs that have the same prefix, the bytes before skip. As
// prefixes are filled up with zeros, their keys may be shorter than that.
func (o *orderer) equal(pairs []pair, skip int) error {
	c := o.c
	if len(pairs) > fewPairs {
		first := c.key(pairs[0])
		common := len(first)
		for _, p := range pairs[1:] {
			if key := c.key(p); !bytes.HasPrefix(key, first[:common]) {
				common = commonPrefix(first[:common], key)
			}
		}
		if common >= skip {
			return o.order(pairs, common)
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return bytes.Compare(c.key(x), c.key(y)) })
	for i := 1; i < len(pairs); i++ {
		if bytes.Equal(c.key(pairs[i-1]), c.key(pairs[i])) {
			return duplicate(c.key(pairs[i]), c.val(pairs[i]))
		}
	}
	return nil
}

// radix sorts pairs by the bytes of their prefixes that differ.
func (o *orderer) radix(pairs []pair, differ uint64) {
	if len(o.scratch) < len(pairs) {
		o.scratch = make([]pair, len(pairs))
	}
	from, to := pairs, o.scratch[:len(pairs)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var at [256]int
		for i := range from {
			at[byte(from[i].prefix>>shift)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for i := range from {
			b := byte(from[i].prefix >> shift)
			to[at[b]] = from[i]
			at[b]++
		}
		from, to = to, from
	}
	if &from[0] != &pairs[0] {
		copy(pairs, from)
	}
}
