package sorter

import (
	"bytes"
	"encoding/binary"
)

// chunk holds pairs in blocks of memory that do not move.
type chunk struct {
	blocks    [][]byte
	blockSize int
	groups    []group
	size      int64
}

// group is the pairs of one group in a chunk.
type group struct {
	pairs  []pair
	common int // bytes that all keys begin with
}

// pair says where in the chunk's blocks a key is, followed by its value. prefix is for
// the orderer.
type pair struct {
	prefix     uint64
	block, off uint32
	klen, vlen uint32
}

const (
	pairBytes = 24
	blockSize = 1 << 20
)

func newChunk(groups int, size int64) *chunk {
	return &chunk{groups: make([]group, groups), blockSize: int(min(size, blockSize))}
}

func (c *chunk) add(gi int, key, val []byte) {
	n := len(key) + len(val)
	last := len(c.blocks) - 1
	if last < 0 || cap(c.blocks[last])-len(c.blocks[last]) < n {
		c.blocks = append(c.blocks, make([]byte, 0, max(n, c.blockSize)))
		last++
	}
	b := c.blocks[last]
	g := &c.groups[gi]
	g.pairs = append(g.pairs, pair{block: uint32(last), off: uint32(len(b)), klen: uint32(len(key)), vlen: uint32(len(val))})
	c.blocks[last] = append(append(b, key...), val...)
	if len(g.pairs) == 1 {
		g.common = len(key)
	} else if first := c.key(g.pairs[0])[:g.common]; !bytes.HasPrefix(key, first) {
		g.common = commonPrefix(first, key)
	}
	c.size += int64(n) + pairBytes
}

func (c *chunk) key(p pair) []byte { return c.blocks[p.block][p.off : p.off+p.klen] }
func (c *chunk) val(p pair) []byte { return c.blocks[p.block][p.off+p.klen:][:p.vlen] }

// sort orders all groups, and lays their pairs out in that order, so that the
// merge reads memory forward.
func (c *chunk) sort() error {
	o := orderer{c: c}
	for i := range c.groups {
		g := &c.groups[i]
		if err := o.order(g.pairs, g.common); err != nil {
			return err
		}
	}
	sorted := make([][]byte, 0, len(c.blocks)+1)
	for i := range c.groups {
		g := c.groups[i].pairs
		for j := range g {
			p := &g[j]
			n := int(p.klen) + int(p.vlen)
			last := len(sorted) - 1
			if last < 0 || cap(sorted[last])-len(sorted[last]) < n {
				sorted = append(sorted, make([]byte, 0, max(n, c.blockSize)))
				last++
			}
			from := c.blocks[p.block][p.off:][:n]
			p.block, p.off = uint32(last), uint32(len(sorted[last]))
			sorted[last] = append(sorted[last], from...)
		}
	}
	c.blocks = sorted
	return nil
}

func commonPrefix(x, y []byte) int {
	n := min(len(x), len(y))
	for i := range n {
		if x[i] != y[i] {
			return i
		}
	}
	return n
}

// prefixAt are the eight bytes of a key from skip on. A key that ends before
// has zeros, so that the order of prefixes never contradicts that of keys.
func prefixAt(key []byte, skip int) uint64 {
	if rest := key[skip:]; len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest)
	}
	var buf [8]byte
	copy(buf[:], key[skip:])
	return binary.BigEndian.Uint64(buf[:])
}
