package seg

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"unsafe"
)

// A packed array holds integers in blocks of 1024: each block its smallest
// value, its largest, and the differences from the smallest, divided by what
// all differences of the array have in common, in as few whole bytes as the
// largest needs.
//
//	blocks   16 bytes each: smallest int64, largest int64
//	widths   8 bytes each: offset of the differences << 4 | their bytes (0 to 8)
//	data     differences, little endian; 8 bytes of zeros at the end
//
// params: count, divisor.
const blockLen = 1024

type packed struct {
	n     int
	div   uint64
	minmx []int64  // pairs
	where []uint64 // offset<<4 | width
	data  []byte   // with padding
}

// packInts makes the section of an array.
func packInts(v []int64) ([4]int64, []byte) {
	nb := (len(v) + blockLen - 1) / blockLen
	head := make([]uint64, 0, 3*nb)
	div := divisor(v)
	var data []byte
	where := make([]uint64, 0, nb)
	for i := 0; i < len(v); i += blockLen {
		blk := v[i:min(i+blockLen, len(v))]
		lo, hi := blk[0], blk[0]
		for _, x := range blk {
			lo, hi = min(lo, x), max(hi, x)
		}
		head = append(head, uint64(lo), uint64(hi))
		span := (uint64(hi) - uint64(lo)) / div
		w := (bits.Len64(span) + 7) / 8
		where = append(where, uint64(len(data))<<4|uint64(w))
		data = appendDeltas(data, blk, lo, div, w)
		for len(data)%8 != 0 {
			data = append(data, 0)
		}
	}
	head = append(head, where...)
	out := make([]byte, 0, len(head)*8+len(data)+8)
	out = append(out, bytesOf(head)...)
	out = append(out, data...)
	out = append(out, make([]byte, 8)...)
	return [4]int64{int64(len(v)), int64(div)}, out
}

func appendDeltas(data []byte, blk []int64, lo int64, div uint64, w int) []byte {
	var b [8]byte
	for _, x := range blk {
		d := uint64(x) - uint64(lo)
		if div != 1 {
			d /= div
		}
		binary.LittleEndian.PutUint64(b[:], d)
		data = append(data, b[:w]...)
	}
	return data
}

// divisor is the greatest common divisor of the differences of the values.
func divisor(v []int64) uint64 {
	if len(v) == 0 {
		return 1
	}
	var g uint64
	lo := v[0]
	for _, x := range v {
		d := uint64(x) - uint64(lo)
		if x < lo {
			d = uint64(lo) - uint64(x)
		}
		if g == 0 {
			g = d
			continue
		}
		if g == 1 || d%g == 0 {
			continue
		}
		for d != 0 {
			g, d = d, g%d
		}
	}
	return max(g, 1)
}

// constant is an array of n times the same.
func constant(v int64, n int) packed {
	nb := (n + blockLen - 1) / blockLen
	p := packed{n: n, div: 1, minmx: make([]int64, 2*nb), where: make([]uint64, nb), data: make([]byte, 8)}
	for i := range p.minmx {
		p.minmx[i] = v
	}
	return p
}

// asPacked reads the section of an array.
func asPacked(s *section) packed {
	n := int(s.params[0])
	nb := (n + blockLen - 1) / blockLen
	return packed{
		n: n, div: uint64(s.params[1]),
		minmx: view[int64](s.data[:16*nb]), where: view[uint64](s.data[16*nb : 24*nb]),
		data: s.data[24*nb:],
	}
}

// get is the value at i.
func (p *packed) get(i int) int64 {
	b := i / blockLen
	w := p.where[b]
	width := int(w & 15)
	off := int(w>>4) + (i%blockLen)*width
	d := binary.LittleEndian.Uint64(p.data[off:]) & widthMask[width]
	return int64(uint64(p.minmx[2*b]) + d*p.div)
}

var widthMask = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

// block decodes the values from i to the end of its block, at most as many as
// out takes.
func (p *packed) block(i int, out []int64) int {
	b := i / blockLen
	n := min(p.n-i, blockLen-i%blockLen, len(out))
	out = out[:n]
	w := p.where[b]
	width := int(w & 15)
	d := p.data[int(w>>4)+(i%blockLen)*width:]
	lo, div := uint64(p.minmx[2*b]), p.div
	switch width {
	case 0:
		for j := range out {
			out[j] = int64(lo)
		}
	case 1:
		d = d[:n]
		for j, x := range d {
			out[j] = int64(lo + uint64(x)*div)
		}
	case 2:
		for j, x := range view[uint16](d[:2*n]) {
			out[j] = int64(lo + uint64(x)*div)
		}
	case 4:
		for j, x := range view[uint32](d[:4*n]) {
			out[j] = int64(lo + uint64(x)*div)
		}
	case 8:
		for j, x := range view[uint64](d[:8*n]) {
			out[j] = int64(lo + x*div)
		}
	default:
		_ = d[(n-1)*width+7]
		mask, at, step := widthMask[width], unsafe.Pointer(unsafe.SliceData(d)), uintptr(width)
		for len(out) >= 4 {
			out[0] = int64(lo + (*(*uint64)(at)&mask)*div)
			out[1] = int64(lo + (*(*uint64)(unsafe.Add(at, step))&mask)*div)
			out[2] = int64(lo + (*(*uint64)(unsafe.Add(at, 2*step))&mask)*div)
			out[3] = int64(lo + (*(*uint64)(unsafe.Add(at, 3*step))&mask)*div)
			out, at = out[4:], unsafe.Add(at, 4*step)
		}
		for j := range out {
			out[j] = int64(lo + (*(*uint64)(at)&mask)*div)
			at = unsafe.Add(at, step)
		}
	}
	return n
}

// all decodes the whole array.
func (p *packed) all(out []int64) []int64 {
	if cap(out) < p.n {
		out = make([]int64, p.n)
	}
	out = out[:p.n]
	for i := 0; i < p.n; {
		i += p.block(i, out[i:])
	}
	return out
}

// gather decodes the values at the places. Places that ascend are faster.
func (p *packed) gather(at []uint32, out []int64) {
	div := p.div
	out = out[:len(at)]
	for j := 0; j < len(at); {
		b := int(at[j] / blockLen)
		first, n := uint32(b*blockLen), uint32(min(blockLen, p.n-b*blockLen))
		width, d := p.differences(b, int(n))
		lo, mask := uint64(p.minmx[2*b]), widthMask[width]
		for ; j < len(at); j++ {
			i := at[j] - first
			if i >= n {
				if i < blockLen {
					panic("seg: a place behind the last value")
				}
				break
			}
			out[j] = int64(lo + (*(*uint64)(unsafe.Add(d, uintptr(i)*width))&mask)*div)
		}
	}
}

// differences are those of the n values of a block, of which 8 bytes may be read at
// each, and their width.
func (p *packed) differences(b, n int) (width uintptr, d unsafe.Pointer) {
	w := p.where[b]
	width = uintptr(w & 15)
	data := p.data[w>>4:]
	_ = data[(n-1)*int(width)+7]
	return width, unsafe.Pointer(unsafe.SliceData(data))
}

// histogram adds one for each place of a set, which begins with place start, a multiple of
// blockLen, to the number of its value less base.
func (p *packed) histogram(set []uint64, start int, base int64, counts []int64) {
	div := p.div
	for b := start / blockLen; b*blockLen < min(p.n, start+len(set)*64); b++ {
		n := min(blockLen, p.n-b*blockLen)
		width, d := p.differences(b, n)
		least, mask := uint64(p.minmx[2*b])-uint64(base), widthMask[width]
		words := set[(b*blockLen-start)/64:][:BitWords(n)]
		if width == 0 {
			if n := countBits(words); n > 0 {
				counts[least] += int64(n)
			}
			continue
		}
		for i, w := range words {
			at := unsafe.Add(d, uintptr(i<<6)*width)
			for ; w != 0; w &= w - 1 {
				x := *(*uint64)(unsafe.Add(at, uintptr(bits.TrailingZeros64(w))*width)) & mask
				counts[least+x*div]++
			}
		}
	}
}

// sum is the sum of the values of a block, each less base, modulo 2^64.
func (p *packed) sum(b int, base int64) uint64 {
	n, w := min(blockLen, p.n-b*blockLen), p.where[b]
	width := int(w & 15)
	d, s := p.data[w>>4:][:n*width+8], uint64(0)
	switch width {
	case 0:
	case 1:
		// A lane of 16 bits takes two bytes of each word, of which a block has 128.
		const odd = 0x00ff00ff00ff00ff
		words := view[uint64](d[:n&^7])
		for _, x := range words {
			s += x&odd + x>>8&odd
		}
		s = s&0xffff + s>>16&0xffff + s>>32&0xffff + s>>48
		for _, x := range d[n&^7 : n] {
			s += uint64(x)
		}
	case 2:
		const odd = 0x0000ffff0000ffff
		for _, x := range view[uint64](d[:2*n&^7]) {
			s += x&odd + x>>16&odd
		}
		s = s&0xffffffff + s>>32
		for _, x := range view[uint16](d[2*n&^7 : 2*n]) {
			s += uint64(x)
		}
	case 4:
		for _, x := range view[uint32](d[:4*n]) {
			s += uint64(x)
		}
	default:
		_ = d[(n-1)*width+7]
		mask, at := widthMask[width], unsafe.Pointer(unsafe.SliceData(d))
		for range n {
			s += *(*uint64)(at) & mask
			at = unsafe.Add(at, width)
		}
	}
	return uint64(n)*(uint64(p.minmx[2*b])-uint64(base)) + s*p.div
}

// between sets the bits of the values from lo to hi, both included, but for
// those of nulls. Blocks that lie outside are skipped.
func (p *packed) between(lo, hi int64, set, nulls []uint64) {
	p.betweenSome(lo, hi, 0, p.n, set, nulls)
}

// betweenSome is between for the values from start, which begins a block, up to end.
func (p *packed) betweenSome(lo, hi int64, start, end int, set, nulls []uint64) {
	if lo > hi {
		return
	}
	if nulls == nil {
		p.betweenBlocks(lo, hi, start, end, set[start/64:])
		return
	}
	for i := start; i < end; i += blockLen {
		var found [blockLen / 64]uint64
		n := min(blockLen, end-i)
		p.betweenBlocks(lo, hi, i, i+n, found[:])
		for j := range found[:BitWords(n)] {
			set[i/64+j] |= found[j] &^ nulls[i/64+j]
		}
	}
}

// betweenBlocks tests the blocks of the places from to to; set begins with the
// first of them.
func (p *packed) betweenBlocks(lo, hi int64, start, end int, set []uint64) {
	for b := start / blockLen; b*blockLen < end; b++ {
		n := min(blockLen, end-b*blockLen)
		bmin, bmax := p.minmx[2*b], p.minmx[2*b+1]
		words := set[(b*blockLen-start)/64:]
		if bmin > hi || bmax < lo {
			continue
		}
		if bmin >= lo && bmax <= hi {
			onesInto(words[:BitWords(n)], n)
			continue
		}
		// first and last difference that are inside
		var from, to uint64
		if lo > bmin {
			d := uint64(lo) - uint64(bmin)
			if from = d / p.div; d%p.div != 0 {
				from++
			}
		}
		to = (uint64(min(hi, bmax)) - uint64(bmin)) / p.div
		if from > to {
			continue
		}
		w := p.where[b]
		width := int(w & 15)
		d := p.data[w>>4:]
		if most := (uint64(bmax) - uint64(bmin)) / p.div; width == 1 && most < 1<<7 || width == 2 && most < 1<<15 {
			done := compareLanes(d, width, n, from, to, words)
			d, n, words = d[done*width:], n-done, words[done/64:]
		}
		compare(d, width, n, from, to-from, words)
	}
}

// compare sets the bits of the n differences that are from to from+span.
func compare(d []byte, width, n int, from, span uint64, words []uint64) {
	switch width {
	case 1:
		compareSmall(d[:n], from, span, words)
	case 2:
		compareSmall(view[uint16](d[:2*n]), from, span, words)
	case 4:
		compareSmall(view[uint32](d[:4*n]), from, span, words)
	case 8:
		compareWide(view[uint64](d[:8*n]), from, span, words)
	case 3:
		compareThree(d, n, from, from+span, words)
	default:
		compareOdd(d, width, n, from, from+span, words)
	}
}

// compareLanes is compare for differences of one or two bytes in which the top bit is
// free: those in a word are compared at once. It returns how many of them it has done.
func compareLanes(d []byte, width, n int, from, to uint64, words []uint64) (done int) {
	done = n &^ 63
	if width == 1 {
		const top, one = 0x8080808080808080, 0x0101010101010101
		least, most := from*one, to*one|top
		v := view[uint64](d[:done])
		for i := range done / 64 {
			var m uint64
			for _, x := range v[8*i : 8*i+8] {
				// The product has the lanes' bits in its first byte.
				in := ((x | top) - least) & (most - x) & top >> 7
				m = m>>8 | in*0x0102040810204080&(0xff<<56)
			}
			words[i] |= m
		}
		return done
	}
	const top, one = 0x8000800080008000, 0x0001000100010001
	least, most := from*one, to*one|top
	v := view[uint64](d[:2*done])
	for i := range done / 64 {
		var m uint64
		for _, x := range v[16*i : 16*i+16] {
			in := ((x | top) - least) & (most - x) & top >> 15
			m = m>>4 | in*(1<<60|1<<45|1<<30|1<<15)&(0xf<<60)
		}
		words[i] |= m
	}
	return done
}

// compareSmall is compare for differences of up to 32 bits: the sign of a 64-bit
// difference gives the result without a branch. Four words grow at a time, since each
// step of one waits for the step before.
func compareSmall[T uint8 | uint16 | uint32](v []T, from, span uint64, words []uint64) {
	f, s := T(from), span+1
	const top = 1 << 63
	for len(v) >= 64 {
		a, b, c, d := v[0:16:16], v[16:32:32], v[32:48:48], v[48:64:64]
		var ma, mb, mc, md uint64
		for i := range 16 {
			ma = ma>>1 | (uint64(a[i]-f)-s)&top
			mb = mb>>1 | (uint64(b[i]-f)-s)&top
			mc = mc>>1 | (uint64(c[i]-f)-s)&top
			md = md>>1 | (uint64(d[i]-f)-s)&top
		}
		words[0] |= ma>>48 | mb>>32 | mc>>16 | md
		words, v = words[1:], v[64:]
	}
	for i, x := range v {
		if uint64(x-f) < s {
			words[0] |= 1 << i
		}
	}
}

// compareWide is compare for differences of 64 bits.
func compareWide(v []uint64, from, span uint64, words []uint64) {
	for len(v) >= 64 {
		a, b := v[0:32:32], v[32:64:64]
		var ma, mb uint64
		for i := range 32 {
			_, outA := bits.Sub64(span, a[i]-from, 0)
			_, outB := bits.Sub64(span, b[i]-from, 0)
			ma = ma>>1 | (outA^1)<<63
			mb = mb>>1 | (outB^1)<<63
		}
		words[0] |= ma>>32 | mb
		words, v = words[1:], v[64:]
	}
	for i, x := range v {
		if x-from <= span {
			words[0] |= 1 << i
		}
	}
}

// compareThree is compare for 3 bytes, two at a time: each is a half of a word, of
// which the highest bit stays where a difference is not below 0.
func compareThree(d []byte, n int, from, to uint64, words []uint64) {
	const mask, tops = 1<<24 - 1, 1<<31 | 1<<63
	p := unsafe.Pointer(unsafe.SliceData(d))
	_ = d[(n-1)*3+7]
	least, most := from|from<<32, to|to<<32|tops
	for ; n >= 64; n -= 64 {
		var m uint64
		q := unsafe.Add(p, 32*3)
		for range 32 {
			v := uint64(*(*uint32)(p)&mask) | uint64(*(*uint32)(q)&mask)<<32
			m = m>>1 | ((v|tops)-least)&(most-v)&tops
			p, q = unsafe.Add(p, 3), unsafe.Add(q, 3)
		}
		words[0] |= m
		words, p = words[1:], q
	}
	for i := range n {
		if x := uint64(*(*uint32)(p) & mask); x >= from && x <= to {
			words[0] |= 1 << i
		}
		p = unsafe.Add(p, 3)
	}
}

// compareOdd is compare for 5, 6 or 7 bytes, of which 8 may be read at the
// last: differences from both ends have signs.
func compareOdd(d []byte, width, n int, from, to uint64, words []uint64) {
	mask := widthMask[width]
	p := unsafe.Pointer(unsafe.SliceData(d))
	_ = d[(n-1)*width+7]
	const top = 1 << 63
	for ; n >= 64; n -= 64 {
		var ma, mb uint64
		q := unsafe.Add(p, 32*width)
		for range 32 {
			x, y := *(*uint64)(p)&mask, *(*uint64)(q)&mask
			ma = ma>>1 | ^((x-from)|(to-x))&top
			mb = mb>>1 | ^((y-from)|(to-y))&top
			p, q = unsafe.Add(p, width), unsafe.Add(q, width)
		}
		words[0] |= ma>>32 | mb
		words, p = words[1:], q
	}
	for i := range n {
		if x := *(*uint64)(p) & mask; x >= from && x <= to {
			words[0] |= 1 << i
		}
		p = unsafe.Add(p, width)
	}
}

// A permutation lists documents in some order, each in two, three or four
// bytes, with 8 bytes of zeros at the end. params: count, width.
type perm struct {
	n     int
	width int
	data  []byte
}

func permWidth(docs int) int {
	switch {
	case docs <= 1<<16:
		return 2
	case docs <= 1<<24:
		return 3
	}
	return 4
}

func packPerm(list []uint32, docs int) ([4]int64, []byte) {
	w := permWidth(docs)
	out := make([]byte, len(list)*w+8)
	for i, d := range list {
		binary.LittleEndian.PutUint32(out[i*w:], d)
	}
	// the last store may have run into the padding
	for i := len(list) * w; i < len(out); i++ {
		out[i] = 0
	}
	return [4]int64{int64(len(list)), int64(w)}, out
}

func asPerm(s *section) perm {
	return perm{n: int(s.params[0]), width: int(s.params[1]), data: s.data}
}

func (p *perm) at(i int) uint32 {
	return binary.LittleEndian.Uint32(p.data[i*p.width:]) & uint32(widthMask[p.width])
}

// into sets the bits of the documents at places from to to.
func (p *perm) into(from, to int, set []uint64) {
	mask := uint32(widthMask[p.width])
	d := p.data[from*p.width:]
	for i := from; i < to; i++ {
		setBit(set, binary.LittleEndian.Uint32(d)&mask)
		d = d[p.width:]
	}
}

// list appends the documents at places from to to.
func (p *perm) list(from, to int, out []uint32) []uint32 {
	mask := uint32(widthMask[p.width])
	d := p.data[from*p.width:]
	for i := from; i < to; i++ {
		out = append(out, binary.LittleEndian.Uint32(d)&mask)
		d = d[p.width:]
	}
	return out
}

// sortDocs orders places by their values in v, equal ones as they were.
func sortDocs(v []int64, places []uint32) []uint32 {
	if len(places) < 256 {
		sort.SliceStable(places, func(i, j int) bool { return v[places[i]] < v[places[j]] })
		return places
	}
	// radix sort over the bytes in which the values differ
	lo, hi := v[places[0]], v[places[0]]
	for _, p := range places {
		lo, hi = min(lo, v[p]), max(hi, v[p])
	}
	type pair struct {
		k uint64
		p uint32
	}
	a, b := make([]pair, len(places)), make([]pair, len(places))
	for i, p := range places {
		a[i] = pair{uint64(v[p]) - uint64(lo), p}
	}
	span := uint64(hi) - uint64(lo)
	for shift := 0; shift < bits.Len64(span); shift += 11 {
		var count [2049]int
		for _, x := range a {
			count[x.k>>shift&2047+1]++
		}
		for i := 1; i < 2048; i++ {
			count[i] += count[i-1]
		}
		for _, x := range a {
			c := &count[x.k>>shift&2047]
			b[*c] = x
			*c++
		}
		a, b = b, a
	}
	for i, x := range a {
		places[i] = x.p
	}
	return places
}
