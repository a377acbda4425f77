package source

import (
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Places stand in a search index in units that keep the order of coordinates: up
// to 200 degrees they are 1e-7 degrees, beyond that they grow with the number, so
// that planes of any size can be asked as well. Boxes of units are supersets of
// boxes of coordinates. What is no point of the column's system, for which
// functions give errors, stands in a place of its own that every query finds.

const (
	unitsPerDegree = 1e7
	fineLimit      = 200
	coarseBits     = 35
	noPlace        = seg.NoPlace
)

// toUnit is monotonic; it never is noPlace.
func toUnit(x float64) int32 {
	if math.Abs(x) <= fineLimit {
		return int32(math.Floor(x * unitsPerDegree))
	}
	u := int32(fineLimit*unitsPerDegree) + int32((math.Float64bits(math.Max(math.Abs(x), 256))-math.Float64bits(256))>>coarseBits)
	if x < 0 {
		return -u
	}
	return u
}

// placeOf is the place of a stored geometry.
func placeOf(b []byte, srid uint32) seg.Place {
	none := seg.Place{Lat: noPlace, Lon: noPlace, X: math.NaN(), Y: math.NaN()}
	t, ok := geo.TypeOf(b)
	if !ok || t != geo.TypePoint || len(b) != 25 || geo.SRIDOf(b) != srid {
		return none
	}
	x, y := math.Float64frombits(binary.LittleEndian.Uint64(b[9:])), math.Float64frombits(binary.LittleEndian.Uint64(b[17:]))
	if math.IsNaN(x) || math.IsNaN(y) {
		return none
	}
	return seg.Place{Lat: toUnit(y), Lon: toUnit(x), X: x, Y: y}
}

// pointBytes appends the stored form of a point.
func pointBytes(dst []byte, srid uint32, x, y float64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, srid)
	dst = binary.LittleEndian.AppendUint32(append(dst, 1), uint32(geo.TypePoint))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(y))
}

// readPlaces makes points of the places of documents.
func (c *searchColumn) readPlaces(s *seg.Segment, docs []uint32, out *vec.Vec) error {
	p, err := s.Points(c.id)
	if err != nil {
		return err
	}
	if p.AllNull() {
		out.Nulls.SetAll(len(docs))
		return nil
	}
	x, y := p.Exact()
	room := make([]byte, 0, 25*len(docs)) // batches may keep it
	for i, d := range docs {
		if p.IsNull(d) {
			out.Nulls.Set(i)
			continue
		}
		from := len(room)
		room = pointBytes(room, c.srid, x[d], y[d])
		out.Bytes[i] = room[from:len(room):len(room)]
	}
	return nil
}

// unitBox is a box of units around coordinates, one unit wider.
func unitBox(minX, maxX, minY, maxY float64) seg.Box {
	return seg.Box{MinLon: toUnit(minX) - 1, MaxLon: toUnit(maxX) + 1, MinLat: toUnit(minY) - 1, MaxLat: toUnit(maxY) + 1}
}

// around is a box on the globe, which may go beyond the antimeridian.
func around(minX, maxX, minY, maxY float64) []seg.Box {
	if maxX-minX >= 360 {
		minX, maxX = -180, 180
	}
	list := []seg.Box{unitBox(math.Max(minX, -180), math.Min(maxX, 180), minY, maxY)}
	if minX <= -180 {
		list = append(list, unitBox(minX+360, 180, minY, maxY))
	}
	if maxX > 180 {
		list = append(list, unitBox(-180, maxX-360, minY, maxY))
	}
	return list
}

// offGlobe are the places that are not on the globe.
func offGlobe() []seg.Box {
	const lo, hi = noPlace, math.MaxInt32
	return []seg.Box{
		{MinLat: lo, MaxLat: hi, MinLon: lo, MaxLon: toUnit(-180)}, {MinLat: lo, MaxLat: hi, MinLon: toUnit(180), MaxLon: hi},
		{MinLat: lo, MaxLat: toUnit(-90) - 1, MinLon: lo, MaxLon: hi}, {MinLat: toUnit(90), MaxLat: hi, MinLon: lo, MaxLon: hi},
	}
}

// places are the boxes of a condition: all documents where its constants are such
// that it cannot be computed, for which the rows then tell the error. exact: the
// node is what n.Geo.Cond is.
func (q *searchQuery) places(n *physical.SearchNode) (node query.Node, exact bool, err error) {
	g := n.Geo
	if g.Cond != nil && g.Distance != nil {
		c, err := q.circle(n)
		if err != nil || c != nil {
			return c, true, err
		}
	}
	node, err = q.boxes(n)
	return node, false, err
}

// sphere is where distances in the field of a column from a constant place are
// measured; ok is false where there are none, or errors.
func (q *searchQuery) sphere(field *schema.SearchField, from, radius expr.Expr) (out query.Sphere, ok bool, err error) {
	col := q.table.Column(field.Column)
	place, err := expr.EvalConst(q.ec, from)
	if err != nil || place.IsNull() {
		return out, false, nil //nolint:nilerr // the rows tell the error
	}
	v, err := geo.Decode(place.Bytes())
	s, known := geo.Lookup(col.Type.SRID)
	if err != nil || !known || v.SRID != col.Type.SRID || v.Type != geo.TypePoint || s != nil && !s.Geographic {
		return out, false, nil //nolint:nilerr // see above
	}
	if _, _, bad := geo.OutOfRange(v.Geometry); bad {
		return out, false, nil
	}
	out = query.Sphere{Field: seg.FieldID(field.ID), From: geo.NewCenter(v.Points[0]), Radius: geo.SphereRadius(s), Off: offGlobe(), Err: errRescan}
	if radius != nil {
		d, err := expr.EvalConst(q.ec, radius)
		if err != nil || d.Kind() != value.KindFloat {
			return out, false, nil //nolint:nilerr // see above
		}
		out.Radius = d.Float()
	}
	return out, out.Radius > 0 && !math.IsInf(out.Radius*4, 0), nil
}

// circle is a condition on a distance; nil where only the rows can tell.
func (q *searchQuery) circle(n *physical.SearchNode) (query.Node, error) {
	g := n.Geo
	s, ok, err := q.sphere(n.Field, g.Shape, g.Radius)
	if err != nil || !ok {
		return nil, err
	}
	d, err := expr.EvalConst(q.ec, g.Distance)
	if err != nil || d.IsNull() {
		return nil, nil //nolint:nilerr // the rows tell the error
	}
	switch d.Kind() {
	case value.KindInt, value.KindUint, value.KindFloat, value.KindDecimal:
	default:
		return nil, nil
	}
	most, err := types.ToFloat(&types.Env{}, d, g.Distance.Type())
	if err != nil || math.IsNaN(most) {
		return nil, nil //nolint:nilerr // see above
	}
	boxes := near(s.From.Point, math.Max(most, 0)/s.Radius)
	return query.NewCircle(s, boxes, most, g.Equal), nil
}

// boxes are those of places.
func (q *searchQuery) boxes(n *physical.SearchNode) (query.Node, error) {
	g := n.Geo
	var d [3]value.Datum
	for i, e := range []expr.Expr{g.Shape, g.Distance, g.Radius} {
		if e == nil {
			continue
		}
		var err error
		if d[i], err = expr.EvalConst(q.consts, e); err != nil {
			return query.And{}, nil //nolint:nilerr // see above
		}
		if d[i].IsNull() {
			return query.Or{}, nil
		}
	}
	srid := q.table.Columns[n.Column].Type.SRID
	v, err := geo.Decode(d[0].Bytes())
	s, ok := geo.Lookup(srid)
	if err != nil || !ok || v.SRID != srid || v.IsEmpty() {
		return query.And{}, nil
	}
	if s.IsGeographic() || g.Distance != nil {
		if _, _, bad := geo.OutOfRange(v.Geometry); bad {
			return query.And{}, nil
		}
	}
	out := &query.Boxes{Field: seg.FieldID(n.Field.ID), Boxes: []seg.Box{{MinLat: noPlace, MaxLat: noPlace, MinLon: noPlace, MaxLon: noPlace}}}
	if g.Distance == nil {
		b, ok := geo.BoundsOf(s, v.Geometry)
		switch {
		case !ok:
			return query.And{}, nil
		case s.IsGeographic():
			out.Boxes = append(append(out.Boxes, offGlobe()...), around(b.Min.X, b.Max.X, b.Min.Y, b.Max.Y)...)
		default:
			out.Boxes = append(out.Boxes, unitBox(b.Min.X, b.Max.X, b.Min.Y, b.Max.Y))
		}
		return out, nil
	}
	if s != nil && !s.Geographic || v.Type != geo.TypePoint && v.Type != geo.TypeMultiPoint {
		return query.And{}, nil
	}
	radius := geo.SphereRadius(s)
	if g.Radius != nil {
		radius = d[2].Float()
	}
	most, err := types.ToFloat(&types.Env{}, d[1], g.Distance.Type())
	if err != nil || !(radius > 0) || math.IsInf(radius*4, 0) || math.IsNaN(most) {
		return query.And{}, nil //nolint:nilerr // see above
	}
	out.Boxes = append(out.Boxes, offGlobe()...)
	if most < 0 {
		return out, nil
	}
	for _, p := range v.Simples() {
		out.Boxes = append(out.Boxes, near(p.Points[0], most/radius)...)
	}
	return out, nil
}

// near are the boxes around the places that are no farther than an angle from p.
// The rounding of distances grows to 1.5e-8 where places are opposite.
func near(p geo.Point, angle float64) []seg.Box {
	const degree = math.Pi / 180
	angle += 1e-7
	lo, hi := p.Y-angle/degree, p.Y+angle/degree
	if lo <= -90 || hi >= 90 {
		return around(-180, 180, math.Max(lo, -90), math.Min(hi, 90))
	}
	width := math.Asin(math.Min(1, math.Sin(angle)/math.Cos(p.Y*degree))) / degree
	return around(p.X-width, p.X+width, lo, hi)
}
