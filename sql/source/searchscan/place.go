package searchscan

import (
	"math"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// unitBox is a box of units around coordinates, one unit wider.
func unitBox(minX, maxX, minY, maxY float64) seg.Box {
	return seg.Box{MinLon: searchdoc.ToUnit(minX) - 1, MaxLon: searchdoc.ToUnit(maxX) + 1, MinLat: searchdoc.ToUnit(minY) - 1, MaxLat: searchdoc.ToUnit(maxY) + 1}
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
	const lo, hi = seg.NoPlace, math.MaxInt32
	return []seg.Box{
		{MinLat: lo, MaxLat: hi, MinLon: lo, MaxLon: searchdoc.ToUnit(-180)}, {MinLat: lo, MaxLat: hi, MinLon: searchdoc.ToUnit(180), MaxLon: hi},
		{MinLat: lo, MaxLat: searchdoc.ToUnit(-90) - 1, MinLon: lo, MaxLon: hi}, {MinLat: searchdoc.ToUnit(90), MaxLat: hi, MinLon: lo, MaxLon: hi},
	}
}

// places are the boxes of a condition. They are all documents where its constants
// are such that it cannot be computed: reading the rows then reports the error.
// exact: the node is what n.Geo.Cond is.
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
// measured; ok is false where it has no such distances, or errors.
func (q *searchQuery) sphere(field *schema.SearchField, from, radius expr.Expr) (out query.Sphere, ok bool, err error) {
	col := q.table.Column(field.Column)
	place, err := expr.EvalConst(q.ec, from)
	if err != nil || place.IsNull() {
		return out, false, nil //nolint:nilerr // the rows report the error
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

// circle is a condition on a distance; nil where only the rows can decide it.
func (q *searchQuery) circle(n *physical.SearchNode) (query.Node, error) {
	g := n.Geo
	s, ok, err := q.sphere(n.Field, g.Shape, g.Radius)
	if err != nil || !ok {
		return nil, err
	}
	d, err := expr.EvalConst(q.ec, g.Distance)
	if err != nil || d.IsNull() {
		return nil, nil //nolint:nilerr // the rows report the error
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
	out := &query.Boxes{Field: seg.FieldID(n.Field.ID), Boxes: []seg.Box{{MinLat: seg.NoPlace, MaxLat: seg.NoPlace, MinLon: seg.NoPlace, MaxLon: seg.NoPlace}}}
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
