package query

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/search/seg"
)

// Boxes is true of documents with a place in one of the boxes.
type Boxes struct {
	Field seg.FieldID
	Boxes []seg.Box
}

func (n *Boxes) eval(s *seg.Segment, _ []uint64) ([]uint64, error) {
	p, err := s.Points(n.Field)
	if err != nil {
		return nil, err
	}
	set := newSet(s)
	for _, b := range n.Boxes {
		p.BoxInto(b, set)
	}
	return set, nil
}

// Circle is true of documents with a place whose distance from another is below a
// number, or not above it.
type Circle struct {
	Sphere
	// Boxes are those around the circle.
	Boxes []seg.Box
	Below float64
	// Equal: the distance may also be Below.
	Equal bool
	// lo and hi are haversines: what is below lo is in the circle, what is above hi
	// is not.
	lo, hi float64
}

// Sphere measures the distances of places in a field from a center.
type Sphere struct {
	Field  seg.FieldID
	From   geo.Center
	Radius float64
	// Off are boxes around all that is not on the globe. Where a document has such a
	// place, there are no distances: Err says so.
	Off []seg.Box
	Err error
}

// NewCircle makes a circle on s, which has the boxes.
func NewCircle(s Sphere, boxes []seg.Box, below float64, equal bool) *Circle {
	c := &Circle{Sphere: s, Boxes: boxes, Below: below, Equal: equal, lo: -1, hi: 2}
	// The rounding of distances is less than 1e-9 of the haversine.
	if angle := below / s.Radius / 2; angle < 0 {
		c.hi = -1
	} else if angle < math.Pi/2-1e-3 {
		h := math.Pow(math.Sin(angle), 2)
		c.lo, c.hi = h*(1-1e-9), h*(1+1e-9)
	}
	return c
}

// points opens the field; Err where a document of among is not on the globe.
func (c *Sphere) points(s *seg.Segment, among []uint64) (*seg.Points, error) {
	p, err := s.Points(c.Field)
	if err != nil {
		return nil, err
	}
	if onGlobe(p) {
		return p, nil
	}
	x, y := p.Exact()
	var docs []uint32
	for _, b := range c.Off {
		docs = p.BoxPlaces(b, docs[:0])
		for _, d := range docs {
			if among[d>>6]>>(d&63)&1 == 0 {
				continue
			}
			if _, _, off := geo.OutOfRange(geo.NewPoint(geo.Point{X: x[d], Y: y[d]})); off {
				return nil, c.Err
			}
		}
	}
	return p, nil
}

// onGlobe reports that all places of a field are on the globe for sure.
func onGlobe(p *seg.Points) bool {
	minX, maxX, minY, maxY := p.Extent()
	return minX > -180 && maxX <= 180 && minY >= -90 && maxY <= 90
}

// Covers implements seg.Shape.
func (c *Circle) Covers(b seg.Box) (all, none bool) {
	least, most := c.bounds(b)
	return most < c.lo, least > c.hi
}

// bounds are bounds of the haversines of a box.
func (c *Sphere) bounds(b seg.Box) (least, most float64) {
	const unit = 1e-7
	minX, maxX := math.Max((float64(b.MinLon)-1)*unit, -180), math.Min((float64(b.MaxLon)+2)*unit, 180)
	minY, maxY := math.Max((float64(b.MinLat)-1)*unit, -90), math.Min((float64(b.MaxLat)+2)*unit, 90)
	if minX > maxX || minY > maxY {
		return 0, 1
	}
	return c.From.Bounds(minX, maxX, minY, maxY)
}

// Has implements seg.Shape.
func (c *Circle) Has(x, y float64) bool {
	q := geo.Point{X: x, Y: y}
	h, ok := c.From.Near(q)
	if !ok {
		h = c.From.Haversine(q)
	}
	if h < c.lo || h > c.hi {
		return h < c.lo
	}
	d := geo.SphereDistance(c.From.Haversine(q), c.Radius)
	return d < c.Below || c.Equal && d == c.Below
}

func (c *Circle) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	p, err := c.points(s, among)
	if err != nil {
		return nil, err
	}
	set := newSet(s)
	if p.AllNull() {
		return set, nil
	}
	few := isSparse(among, s.Docs())
	if few {
		work := 0
		for _, b := range c.Boxes {
			work += p.CountBox(b)
		}
		few = isSparse(among, work)
	}
	if few {
		x, y := p.Exact()
		eachDoc(among, func(d uint32) {
			if !p.IsNull(d) && c.Has(x[d], y[d]) {
				set[d>>6] |= 1 << (d & 63)
			}
		})
		return set, nil
	}
	for _, b := range c.Boxes {
		p.ShapeInto(c, b, among, set)
	}
	return set, nil
}

func eachDoc(set []uint64, fn func(d uint32)) {
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			fn(uint32(i<<6 + bits.TrailingZeros64(w)))
		}
	}
}

// Distance ranks documents by the distance of their places.
type Distance struct{ Sphere }

// Least implements seg.Ranks.
func (c *Distance) Least(b seg.Box) float64 {
	least, _ := c.bounds(b)
	return least
}

// Of implements seg.Ranks.
func (c *Distance) Of(x, y float64) float64 { return c.From.Haversine(geo.Point{X: x, Y: y}) }

// values implements Ranking.
func (c *Distance) values(h *Hits) ([]float64, []uint64, error) {
	p, err := c.points(h.Seg, h.Set)
	if err != nil {
		return nil, nil, err
	}
	vals := make([]float64, h.Count)
	nulls := make([]uint64, seg.BitWords(h.Count))
	x, y := p.Exact()
	n := 0
	eachDoc(h.Set, func(d uint32) {
		if p.AllNull() || p.IsNull(d) {
			nulls[n>>6] |= 1 << (n & 63)
		} else {
			vals[n] = geo.SphereDistance(c.Of(x[d], y[d]), c.Radius)
		}
		n++
	})
	return vals, nulls, nil
}

// nearest implements nearer.
func (c *Distance) nearest(h *Hits, n int) (docs []uint32, vals []float64, nulls []uint64, err error) {
	p, err := c.points(h.Seg, h.Set)
	if err != nil {
		return nil, nil, nil, err
	}
	if p.AllNull() {
		return nil, nil, slices.Clone(h.Set), nil
	}
	if set := p.Nulls(); set != nil {
		nulls = make([]uint64, len(h.Set))
		for i, w := range set {
			nulls[i] = w & h.Set[i]
		}
	}
	docs = p.Nearest(c, n, 1e-9, h.Set, nil)
	x, y := p.Exact()
	vals = make([]float64, len(docs))
	for i, d := range docs {
		vals[i] = geo.SphereDistance(c.Of(x[d], y[d]), c.Radius)
	}
	return docs, vals, nulls, nil
}
