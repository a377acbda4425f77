package expr

import (
	"math"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// geoRelationDefs compare two geometries.
func geoRelationDefs() []entry {
	var list []entry
	for _, r := range []struct {
		name string
		r    geo.Relation
	}{
		{"st_contains", geo.RelContains}, {"st_within", geo.RelWithin}, {"st_intersects", geo.RelIntersects}, {"st_disjoint", geo.RelDisjoint},
		{"st_touches", geo.RelTouches}, {"st_crosses", geo.RelCrosses}, {"st_overlaps", geo.RelOverlaps}, {"st_equals", geo.RelEquals},
	} {
		list = append(list, fn(r.name, "gg", retBool, rowRelation(r.r), nullable))
	}
	for _, r := range []struct {
		name string
		r    geo.BoxRelation
	}{
		{"mbrcontains", geo.BoxContains}, {"mbrcoveredby", geo.BoxCoveredBy}, {"mbrcovers", geo.BoxCovers}, {"mbrdisjoint", geo.BoxDisjoint},
		{"mbrequals", geo.BoxEquals}, {"mbrintersects", geo.BoxIntersects}, {"mbroverlaps", geo.BoxOverlaps}, {"mbrtouches", geo.BoxTouches},
		{"mbrwithin", geo.BoxWithin},
	} {
		list = append(list, fn(r.name, "gg", retBool, rowBoxRelation(r.r), nullable))
	}
	return append(list,
		fn("st_distance", "gg?s", retDouble, rowDistance, nullable),
		fn("st_distance_sphere", "gg?f", retDouble, rowDistanceSphere, nullable),
		fn("st_frechetdistance", "gg?s", retDouble, rowFrechet, nullable),
		fn("st_hausdorffdistance", "gg?s", retDouble, rowHausdorff, nullable),
	)
}

func rowRelation(r geo.Relation) rowFunc {
	return func(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
		a, b, s, err := geoPair(c, f, d[0], d[1])
		if err != nil {
			return value.Null, err
		}
		if a.IsEmpty() || b.IsEmpty() {
			if r == geo.RelEquals {
				return value.Bool(a.IsEmpty() && b.IsEmpty()), nil
			}
			return value.Null, nil
		}
		da, db := a.Dimension(), b.Dimension()
		switch {
		case r == geo.RelCrosses && (da == 2 || db == 0),
			r == geo.RelOverlaps && da != db,
			r == geo.RelTouches && da == 0 && db == 0:
			return value.Null, nil
		}
		ok, err := geo.Relate(c.geoWork(), s, r, a.Geometry, b.Geometry)
		if err != nil {
			return value.Null, geoError(f, err, pairNames(a.Geometry, b.Geometry))
		}
		return value.Bool(ok), nil
	}
}

func rowBoxRelation(r geo.BoxRelation) rowFunc {
	return func(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
		a, b, s, err := geoPair(c, f, d[0], d[1])
		if err != nil {
			return value.Null, err
		}
		x, ok1 := geo.BoundsOf(s, a.Geometry)
		y, ok2 := geo.BoundsOf(s, b.Geometry)
		if !ok1 || !ok2 {
			return value.Null, nil
		}
		return value.Bool(geo.RelateBoxes(r, s.IsGeographic(), x, y)), nil
	}
}

func rowDistance(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
	a, b, s, err := geoPair(c, f, d[0], d[1])
	if err != nil || a.IsEmpty() || b.IsEmpty() {
		return value.Null, err
	}
	l, err := geo.Distance(c.geoWork(), s, a.Geometry, b.Geometry)
	if err != nil {
		return value.Null, geoError(f, err, pairNames(a.Geometry, b.Geometry))
	}
	return inUnit(f, s, d, 2, "Distance", l)
}

func rowDistanceSphere(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
	a, b, s, err := geoPair(c, f, d[0], d[1])
	if err != nil {
		return value.Null, err
	}
	points := func(g geo.Geometry) bool { return g.Type == geo.TypePoint || g.Type == geo.TypeMultiPoint }
	if ok := points(a.Geometry) && points(b.Geometry); !ok || s != nil && !s.Geographic {
		names := pairNames(a.Geometry, b.Geometry)
		switch {
		case s == nil:
			return value.Null, sqlerr.NotImplementedForCartesianSRS(f.Name, names)
		case s.Geographic:
			return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, names)
		}
		return value.Null, sqlerr.NotImplementedForProjectedSRS(f.Name, names)
	}
	for _, g := range []geo.Geometry{a.Geometry, b.Geometry} {
		if p, lon, bad := geo.OutOfRange(g); bad && lon {
			return value.Null, sqlerr.GeometryLongitudeOutOfRange(f.Name, p.X)
		} else if bad {
			return value.Null, sqlerr.GeometryLatitudeOutOfRange(f.Name, p.Y)
		}
	}
	radius := geo.SphereRadius(s)
	if len(d) > 2 {
		if radius = d[2].Float(); radius <= 0 || math.IsNaN(radius) {
			return value.Null, sqlerr.NonPositiveRadius(f.Name)
		}
	}
	l, err := geo.DistanceSphere(c.geoWork(), a.Geometry, b.Geometry, radius)
	if err != nil {
		return value.Null, err
	}
	return finiteResult(f, "Distance", l)
}

// notImplemented names argument types that a function does not take.
func notImplemented(f *Func, s *geo.SRS, names string) error {
	if s.IsGeographic() {
		return sqlerr.NotImplementedForGeographicSRS(f.Name, names)
	}
	return sqlerr.NotImplementedForCartesianSRS(f.Name, names)
}

func rowFrechet(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
	a, b, s, err := geoPair(c, f, d[0], d[1])
	if err != nil {
		return value.Null, err
	}
	if a.Type != geo.TypeLineString || b.Type != geo.TypeLineString {
		return value.Null, notImplemented(f, s, pairNames(a.Geometry, b.Geometry))
	}
	l, err := geo.FrechetDistance(c.geoWork(), s, a.Points, b.Points)
	if err != nil {
		return value.Null, err
	}
	return inUnit(f, s, d, 2, "Frechet_distance", l)
}

// hausdorffTypes are the pairs that ST_HausdorffDistance takes, in either
// order.
var hausdorffTypes = map[[2]geo.Type]bool{
	{geo.TypeLineString, geo.TypeLineString}:           true,
	{geo.TypePoint, geo.TypeMultiPoint}:                true,
	{geo.TypeLineString, geo.TypeMultiLineString}:      true,
	{geo.TypeMultiPoint, geo.TypeMultiPoint}:           true,
	{geo.TypeMultiLineString, geo.TypeMultiLineString}: true,
}

func rowHausdorff(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
	a, b, s, err := geoPair(c, f, d[0], d[1])
	if err != nil {
		return value.Null, err
	}
	if !hausdorffTypes[[2]geo.Type{a.Type, b.Type}] && !hausdorffTypes[[2]geo.Type{b.Type, a.Type}] {
		return value.Null, notImplemented(f, s, pairNames(a.Geometry, b.Geometry))
	}
	worst := 0.0
	for _, p := range pointLists(a.Geometry) {
		for _, q := range pointLists(b.Geometry) {
			l, err := geo.HausdorffDistance(c.geoWork(), s, p, q)
			if err != nil {
				return value.Null, err
			}
			worst = math.Max(worst, l)
		}
	}
	return inUnit(f, s, d, 2, "Hausdorff_distance", worst)
}

// pointLists are the points of points, or of each line.
func pointLists(g geo.Geometry) [][]geo.Point {
	var list [][]geo.Point
	var points []geo.Point
	for _, s := range g.Simples() {
		if s.Type == geo.TypePoint {
			points = append(points, s.Points[0])
		} else {
			list = append(list, s.Points)
		}
	}
	if points != nil {
		list = append(list, points)
	}
	return list
}
