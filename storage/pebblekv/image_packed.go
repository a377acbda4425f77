package pebblekv

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// packed is a chunk of an image in a third of the memory, for groups that would not fit
// otherwise. Pairs of the same lengths, of key and value, share a template: of each of
// them only the bytes are kept in which such pairs of the chunk differ. Sorted keys have
// most bytes in common, and so have rows, which begin with the ids of their columns and
// the ends of their values.
type packed struct {
	n      int
	shapes []packedShape
	of     []uint8  // the shape of each pair; nil when there is one
	starts []uint32 // where the bytes of each packedStride-th pair begin; nil when there is one shape
	bytes  []byte
	heads  heads // of the key of each packedStride-th pair
}

// packedShape is what pairs of the same lengths have in common.
type packedShape struct {
	template []byte // one of the pairs, value after key
	keyLen   int
	runs     []packedRun // where they differ, in ascending order; none is in both key and value
	keyRuns  int         // how many of the runs are in the key
	width    int         // bytes of all runs
}

// packedRun is a place in a pair.
type packedRun struct{ at, n uint16 }

const (
	// A packed chunk has up to so many pairs, made of so many bytes.
	packedPairs = 4096
	packedFrom  = 512 << 10
	// packedShapes is how many shapes there are in a chunk at most.
	packedShapes = 256
	// packedPairLen is the longest pair that is packed.
	packedPairLen = 8 << 10
	// packedStride is how many pairs share a head, and a start.
	packedStride = 16
)

// pack packs a chunk; nil when that would save less than a quarter of it.
func pack(c *imageChunk) *packed {
	p := &packed{n: c.rows()}
	of := make([]uint8, p.n)
	known := map[uint64]int{} // shapes by lengths
	var differ [][]byte
	start := uint32(0)
	for i := range p.n {
		k, v := c.ends[2*i], c.ends[2*i+1]
		pair := c.data[start:v]
		lengths := uint64(k-start)<<32 | uint64(v-k)
		start = v
		if len(pair) > packedPairLen {
			return nil
		}
		s, ok := known[lengths]
		if !ok {
			if s = len(p.shapes); s == packedShapes {
				return nil
			}
			known[lengths] = s
			p.shapes = append(p.shapes, packedShape{template: bytes.Clone(pair), keyLen: int(lengths >> 32)})
			differ = append(differ, make([]byte, len(pair)))
		}
		of[i] = uint8(s)
		addDifference(differ[s], p.shapes[s].template, pair)
	}
	size := 0
	for s := range p.shapes {
		p.shapes[s].note(differ[s])
	}
	for _, s := range of {
		size += p.shapes[s].width
	}
	if len(p.shapes) > 1 {
		p.of, p.starts = of, make([]uint32, 0, (p.n+packedStride-1)/packedStride)
	}
	p.bytes = make([]byte, 0, size)
	start = 0
	for i := range p.n {
		if p.of != nil && i%packedStride == 0 {
			p.starts = append(p.starts, uint32(len(p.bytes)))
		}
		pair := c.data[start:c.ends[2*i+1]]
		start = c.ends[2*i+1]
		for _, r := range p.shapes[of[i]].runs {
			p.bytes = append(p.bytes, pair[r.at:r.at+r.n]...)
		}
	}
	if p.size() > int64(len(c.data)+16*p.n)*3/4 {
		return nil
	}
	p.heads = newHeads((p.n+packedStride-1)/packedStride, func(i int) []byte { return c.key(i * packedStride) })
	p.heads.same = bytes.Clone(p.heads.same)
	return p
}

// addDifference notes in what bytes a pair differs from another one of its length.
func addDifference(differ, a, b []byte) {
	for len(a) >= 8 && len(b) >= 8 {
		x := binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b)
		binary.LittleEndian.PutUint64(differ, binary.LittleEndian.Uint64(differ)|x)
		differ, a, b = differ[8:], a[8:], b[8:]
	}
	for i := range b {
		differ[i] |= a[i] ^ b[i]
	}
}

// note sets the runs from the bytes that differ.
func (s *packedShape) note(differ []byte) {
	for at := 0; at < len(differ); at++ {
		if differ[at] == 0 {
			continue
		}
		s.width++
		if last := len(s.runs) - 1; last >= 0 && at != s.keyLen && int(s.runs[last].at+s.runs[last].n) == at {
			s.runs[last].n++
			continue
		}
		s.runs = append(s.runs, packedRun{uint16(at), 1})
		if at < s.keyLen {
			s.keyRuns++
		}
	}
	s.runs = slices.Clip(s.runs)
}

// size is the memory of the chunk, about.
func (p *packed) size() int64 {
	n := cap(p.bytes) + cap(p.of) + 4*cap(p.starts) + 8*(p.n/packedStride+1) + 256
	for _, s := range p.shapes {
		n += cap(s.template) + 4*cap(s.runs) + 64
	}
	return int64(n)
}

// find is the shape of a pair and its bytes.
func (p *packed) find(i int) (*packedShape, []byte) {
	if p.of == nil {
		s := &p.shapes[0]
		return s, p.bytes[i*s.width:]
	}
	first := i / packedStride * packedStride
	start := int(p.starts[i/packedStride])
	for _, s := range p.of[first:i] {
		start += p.shapes[s].width
	}
	return &p.shapes[p.of[i]], p.bytes[start:]
}

// pair puts a pair into buf, which grows.
func (p *packed) pair(i int, buf []byte) (key, value, _ []byte) {
	s, from := p.find(i)
	buf = append(buf[:0], s.template...)
	restore(buf, s.runs, from)
	return buf[:s.keyLen:s.keyLen], buf[s.keyLen:len(buf):len(buf)], buf
}

// key puts a key into buf, which grows.
func (p *packed) key(i int, buf []byte) []byte {
	s, from := p.find(i)
	buf = append(buf[:0], s.template[:s.keyLen]...)
	restore(buf, s.runs[:s.keyRuns], from)
	return buf
}

func restore(dst []byte, runs []packedRun, from []byte) {
	for _, r := range runs {
		at := int(r.at)
		switch r.n {
		case 1:
			dst[at] = from[0]
		case 2:
			binary.LittleEndian.PutUint16(dst[at:], binary.LittleEndian.Uint16(from))
		case 4:
			binary.LittleEndian.PutUint32(dst[at:], binary.LittleEndian.Uint32(from))
		default:
			copy(dst[at:at+int(r.n)], from)
		}
		from = from[r.n:]
	}
}

// compare compares the key of a pair.
func (p *packed) compare(i int, key []byte) int {
	var mem [64]byte
	return bytes.Compare(p.key(i, mem[:0]), key)
}

// seek is the number of keys < key.
func (p *packed) seek(key []byte) int {
	lo, _ := p.heads.seek(key, func(i int) []byte { return p.key(i*packedStride, nil) })
	if lo == 0 {
		return 0
	}
	hi := min(lo*packedStride, p.n)
	for lo = (lo-1)*packedStride + 1; lo < hi; {
		if mid := (lo + hi) / 2; p.compare(mid, key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
