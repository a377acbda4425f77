package seg

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"sync"
)

// Points is a Point field of a segment, in units of 1e-7 degrees. It may be
// used concurrently.
type Points struct {
	column
	lat, lon []int32
	x, y     []float64
	perm     perm     // places in the order of their cells
	cells    []uint64 // of every cellStep-th place of perm
	extent   func() [4]float64
}

func openPoints(f *file, id FieldID) (*Points, error) {
	p := &Points{}
	if err := p.open(f, id, KindPoint); err != nil {
		return nil, err
	}
	parts := [6]*section{}
	for i, part := range []uint8{partLat, partLon, partPerm, partCells, partX, partY} {
		s, err := f.section(id, part)
		if err != nil {
			return nil, err
		}
		if s == nil {
			p.missing(f.docs)
			return p, nil
		}
		if s.kind != KindPoint {
			return nil, fmt.Errorf("field %d is a %s, not a %s", id, s.kind, KindPoint)
		}
		parts[i] = s
	}
	p.lat, p.lon, p.perm = view[int32](parts[0].data), view[int32](parts[1].data), asPerm(parts[2])
	p.cells = view[uint64](parts[3].data)
	p.x, p.y = view[float64](parts[4].data), view[float64](parts[5].data)
	p.extent = sync.OnceValue(func() [4]float64 {
		minX, maxX := extent(p.x)
		minY, maxY := extent(p.y)
		return [4]float64{minX, maxX, minY, maxY}
	})
	return p, nil
}

// Coordinates gives the latitudes and longitudes of all places: of a field
// without arrays those of each document, undefined for NULL; of arrays see
// Span.
func (p *Points) Coordinates() (lat, lon []int32) { return p.lat, p.lon }

// Exact gives the coordinates of all places as they were, like Coordinates.
func (p *Points) Exact() (x, y []float64) { return p.x, p.y }

// Extent gives the least and the greatest coordinates, deleted documents included:
// no point is outside. It may be wider, by 0.
func (p *Points) Extent() (minX, maxX, minY, maxY float64) {
	if p.extent == nil {
		return 0, 0, 0, 0
	}
	e := p.extent()
	return e[0], e[1], e[2], e[3]
}

func extent(list []float64) (least, most float64) {
	for _, v := range list {
		if v < least { // not for NaN
			least = v
		} else if v > most {
			most = v
		}
	}
	return least, most
}

// Box is a range of latitudes and longitudes, all included, in units of 1e-7
// degrees. It does not cross the 180th meridian.
type Box struct{ MinLat, MaxLat, MinLon, MaxLon int32 }

func (b Box) has(lat, lon int32) bool {
	return lat >= b.MinLat && lat <= b.MaxLat && lon >= b.MinLon && lon <= b.MaxLon
}

// flip makes an unsigned number of the same order.
func flip(v int32) uint32 { return uint32(v) ^ 1<<31 }

// cell interleaves the bits of latitude and longitude: places near one another
// often have numbers near one another.
func cell(lat, lon int32) uint64 { return spreadBits(flip(lat))<<1 | spreadBits(flip(lon)) }

func spreadBits(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	x = (x | x<<1) & 0x5555555555555555
	return x
}

// BoxPlaces appends the places in the box, in no order: of a field without
// arrays they are documents, of arrays see Doc. Deleted ones are not left out.
func (p *Points) BoxPlaces(b Box, out []uint32) []uint32 {
	c := cover{Points: p, box: b, out: out}
	c.all()
	return c.out
}

// CountBox is how many places are in the box, deleted ones not left out.
func (p *Points) CountBox(b Box) int {
	c := cover{Points: p, box: b, counting: true}
	c.all()
	return c.count
}

// cover is a walk down the quadtree of cells that cover a box.
type cover struct {
	*Points
	box      Box
	counting bool
	count    int
	out      []uint32
	// shape, if it is set, is what has the places; among are the documents that
	// matter, of a field without arrays: nil for all.
	shape Shape
	among []uint64
}

// Shape is a set of places.
type Shape interface {
	// Covers reports whether all places of a box are in the shape, or none is. Both
	// are false where that is not known.
	Covers(b Box) (all, none bool)
	// Has reports whether a place is in it.
	Has(x, y float64) bool
}

// CountShape is how many places are in the shape, which is within the box, deleted
// ones included.
func (p *Points) CountShape(s Shape, b Box) int {
	c := cover{Points: p, box: b, shape: s, counting: true}
	c.all()
	return c.count
}

// ShapeInto adds to the bitset the documents of among that have a place in the
// shape, which is within the box, of a field without arrays. Others may be added.
func (p *Points) ShapeInto(s Shape, b Box, among, set []uint64) {
	c := cover{Points: p, box: b, shape: s, among: among}
	c.all()
	for _, d := range c.out {
		setBit(set, d)
	}
}

func (p *cover) all() {
	b := p.box
	if b.MinLat > b.MaxLat || b.MinLon > b.MaxLon {
		return
	}
	lo, hi := cell(b.MinLat, b.MinLon), cell(b.MaxLat, b.MaxLon)
	level := uint(bits.Len64(lo^hi)+1) / 2 // of the smallest square around the box
	to := p.perm.n
	if hi != 1<<64-1 {
		to = p.find(hi+1, 0, p.perm.n)
	}
	y, x := uint64(flip(b.MinLat))>>level<<level, uint64(flip(b.MinLon))>>level<<level
	p.square(y, x, level, p.find(lo, 0, to), to)
}

const cellStep = 64

// find is the first place from lo to hi whose cell is not below c.
func (p *Points) find(c uint64, lo, hi int) int {
	first, last := (lo+cellStep-1)/cellStep, (hi+cellStep-1)/cellStep
	k := first + sort.Search(last-first, func(i int) bool { return p.cells[first+i] >= c })
	lo, hi = max(lo, (k-1)*cellStep), min(hi, k*cellStep)
	return lo + sort.Search(hi-lo, func(i int) bool {
		at := p.perm.at(lo + i)
		return cell(p.lat[at], p.lon[at]) >= c
	})
}

// Doc is the document of a place.
func (p *Points) Doc(place uint32) uint32 {
	if !p.multi {
		return place
	}
	return p.docOf(int(place))
}

// BoxInto adds the documents with a place in the box to the bitset.
func (p *Points) BoxInto(b Box, set []uint64) {
	for _, i := range p.BoxPlaces(b, nil) {
		setBit(set, p.Doc(i))
	}
}

// square takes what the box has of the square of 2^level units at the corner
// (y, x), whose places are from from to to in the permutation.
func (p *cover) square(y, x uint64, level uint, from, to int) {
	b := p.box
	if from == to {
		return
	}
	side := uint64(1)<<level - 1
	minY, maxY, minX, maxX := uint64(flip(b.MinLat)), uint64(flip(b.MaxLat)), uint64(flip(b.MinLon)), uint64(flip(b.MaxLon))
	if y > maxY || x > maxX || y+side < minY || x+side < minX {
		return
	}
	whole := y >= minY && y+side <= maxY && x >= minX && x+side <= maxX
	if p.shape != nil && side > 0 {
		all, none := p.shape.Covers(square(y, x, side))
		if none {
			return
		}
		whole = whole && all
	} else if p.shape != nil {
		whole = false
	}
	if whole {
		if p.count += to - from; !p.counting {
			p.out = p.perm.list(from, to, p.out)
		}
		return
	}
	if to-from <= 64 || level == 0 {
		for i := from; i < to; i++ {
			if at := p.perm.at(i); b.has(p.lat[at], p.lon[at]) {
				if p.shape != nil && (p.among != nil && !hasBit(p.among, at) || !p.shape.Has(p.x[at], p.y[at])) {
					continue
				}
				if p.count++; !p.counting {
					p.out = append(p.out, at)
				}
			}
		}
		return
	}
	half := level - 1
	start, known := from, true // where the next quarter begins
	for q := range uint64(4) {
		cy, cx := y+q>>1<<half, x+q&1<<half
		if side := uint64(1)<<half - 1; cy > maxY || cx > maxX || cy+side < minY || cx+side < minX {
			known = false
			continue
		}
		if !known {
			start = p.find(spreadBits(uint32(cy))<<1|spreadBits(uint32(cx)), start, to)
		}
		end := to
		if q < 3 {
			// the first place of the next quarter
			next := spreadBits(uint32(y+(q+1)>>1<<half))<<1 | spreadBits(uint32(x+(q+1)&1<<half))
			end = p.find(next, start, to)
		}
		p.square(cy, cx, half, start, end)
		start, known = end, true
	}
}

// square is the box of a square of cells; y and x are flipped.
func square(y, x, side uint64) Box {
	return Box{MinLat: unflip(y), MaxLat: unflip(y + side), MinLon: unflip(x), MaxLon: unflip(x + side)}
}

func unflip(v uint64) int32 { return int32(uint32(v) ^ 1<<31) }

// Ranks computes how far places are from one.
type Ranks interface {
	// Least is not more than the number of any place in a box.
	Least(b Box) float64
	// Of is the number of a place.
	Of(x, y float64) float64
}

// Nearest appends the documents of among that have the n smallest numbers, and some
// more: at least all with numbers up to the last of these times 1 + slack. The field
// has no arrays.
func (p *Points) Nearest(r Ranks, n int, slack float64, among []uint64, out []uint32) []uint32 {
	s := nearest{Points: p, ranks: r, n: n, slack: 1 + slack, among: among, most: math.Inf(1), out: out}
	s.square(0, 0, 32, 0, p.perm.n)
	return s.out
}

// nearest is a walk down the quadtree, nearer squares first.
type nearest struct {
	*Points
	ranks Ranks
	n     int
	slack float64
	among []uint64
	// first are the n smallest numbers so far, a heap whose top is the largest; most
	// is what that lets in.
	first []float64
	most  float64
	out   []uint32
}

func (s *nearest) square(y, x uint64, level uint, from, to int) {
	if to-from <= 64 || level == 0 {
		for i := from; i < to; i++ {
			at := s.perm.at(i)
			if !hasBit(s.among, at) {
				continue
			}
			if v := s.ranks.Of(s.x[at], s.y[at]); v <= s.most {
				s.add(v)
				s.out = append(s.out, at)
			}
		}
		return
	}
	type part struct {
		y, x     uint64
		from, to int
		least    float64
	}
	half := level - 1
	var parts [4]part
	for q := range uint64(4) {
		c := part{y: y + q>>1<<half, x: x + q&1<<half, from: from, to: to}
		if q < 3 {
			next := spreadBits(uint32(y+(q+1)>>1<<half))<<1 | spreadBits(uint32(x+(q+1)&1<<half))
			c.to = s.find(next, from, to)
		}
		if from = c.to; c.from < c.to {
			c.least = s.ranks.Least(square(c.y, c.x, 1<<half-1))
		}
		i := q
		for ; i > 0 && parts[i-1].least > c.least; i-- {
			parts[i] = parts[i-1]
		}
		parts[i] = c
	}
	for _, c := range parts {
		if c.from < c.to && c.least <= s.most {
			s.square(c.y, c.x, half, c.from, c.to)
		}
	}
}

// add takes a number among the first.
func (s *nearest) add(v float64) {
	h := s.first
	if len(h) < s.n {
		h = append(h, v)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] < h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		s.first = h
	} else if v < h[0] {
		h[0] = v
		for i := 0; 2*i+1 < len(h); {
			c := 2*i + 1
			if c+1 < len(h) && h[c+1] > h[c] {
				c++
			}
			if h[i] >= h[c] {
				break
			}
			h[i], h[c] = h[c], h[i]
			i = c
		}
	}
	if len(h) == s.n {
		s.most = h[0] * s.slack
	}
}

// pointData is a Point field before it is written.
type pointData struct {
	lat, lon []int32
	x, y     []float64
	nulls    []uint64
	ends     []uint32
}

func (d *pointData) write(w *fileWriter, f Field, docs int) {
	nulls, all := writeNulls(w, f, d.nulls, docs)
	if all {
		return
	}
	if f.Multi {
		writeOffsets(w, f, d.ends)
	}
	w.section(f.ID, f.Kind, partLat, [4]int64{}, bytesOf(d.lat))
	w.section(f.ID, f.Kind, partLon, [4]int64{}, bytesOf(d.lon))
	w.section(f.ID, f.Kind, partX, [4]int64{}, bytesOf(d.x))
	w.section(f.ID, f.Kind, partY, [4]int64{}, bytesOf(d.y))
	cells := make([]int64, len(d.lat))
	places := make([]uint32, 0, len(d.lat))
	for i := range d.lat {
		// the order of unsigned numbers
		cells[i] = int64(cell(d.lat[i], d.lon[i]) ^ 1<<63)
		if f.Multi || nulls == nil || !hasBit(nulls, uint32(i)) {
			places = append(places, uint32(i))
		}
	}
	places = sortDocs(cells, places)
	params, data := packPerm(places, len(cells))
	w.section(f.ID, f.Kind, partPerm, params, data)
	samples := make([]uint64, 0, len(places)/cellStep+1)
	for i := 0; i < len(places); i += cellStep {
		samples = append(samples, uint64(cells[places[i]])^1<<63)
	}
	w.section(f.ID, f.Kind, partCells, [4]int64{}, bytesOf(samples))
}
