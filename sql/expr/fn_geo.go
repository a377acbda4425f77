package expr

import (
	"bytes"
	"errors"
	"math"
	"strings"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// geoDefs are the spatial functions (MySQL manual 14.16).
func geoDefs() []entry {
	var list []entry
	for _, more := range [][]entry{geoMakeDefs(), geoTextDefs(), geoPropertyDefs(), geoRelationDefs(), geoOperatorDefs()} {
		list = append(list, more...)
	}
	for _, e := range list { // as in MySQL, where each of them may be NULL
		e.d.flags |= nullable
	}
	return list
}

// rejectGeometry is 1210 for a geometry where a number is needed.
func rejectGeometry(name string, args []Expr) error {
	for _, a := range args {
		if a == nil || a.Type().ID != schema.TypeGeometry {
			continue
		}
		switch name {
		case "+", "-", "*", "/", "div", "%", "mod", "neg", "abs", "round", "truncate", "ceil", "ceiling", "floor", "&", "|", "^", "~", "<<", ">>",
			"sum", "avg", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "bit_and", "bit_or", "bit_xor":
			return sqlerr.WrongArguments(name)
		}
	}
	return nil
}

func retGeometry(*binding) (schema.Type, error) { return types.Geometry, nil }

func retGeometryOf(t geo.Type) typeFunc {
	return func(*binding) (schema.Type, error) { return types.GeometryOf(t.String()), nil }
}

// geoArg reads a geometry argument: 3037 for other data, 3548 for a system
// that is not known, 3731 and 3732 for points that are not on the globe. The
// system is nil for SRID 0.
func geoArg(c *Ctx, f *Func, d value.Datum) (geo.Value, *geo.SRS, error) {
	v, err := c.decodeGeometry(f, d.Bytes())
	if err != nil {
		return v, nil, err
	}
	s, err := checkSystem(f, v)
	return v, s, err
}

// decodeGeometry is geo.Decode with its work counted: 3037.
func (c *Ctx) decodeGeometry(f *Func, b []byte) (geo.Value, error) {
	v, err := geo.DecodeUntil(c.geoWork(), b)
	return v, invalidGeometry(f, err)
}

// invalidGeometry is 3037 for data that is no geometry; other errors stay.
func invalidGeometry(f *Func, err error) error {
	if errors.Is(err, geo.ErrInvalid) {
		return sqlerr.InvalidGISData(f.Name)
	}
	return err
}

// checkSystem finds the system of v, see geoArg.
func checkSystem(f *Func, v geo.Value) (*geo.SRS, error) {
	s, ok := geo.Lookup(v.SRID)
	if !ok {
		return nil, sqlerr.SRSNotFound(v.SRID)
	}
	if s.IsGeographic() {
		if p, lon, bad := geo.OutOfRange(v.Geometry); bad && lon {
			return nil, sqlerr.GeometryLongitudeOutOfRange(f.Name, p.X)
		} else if bad {
			return nil, sqlerr.GeometryLatitudeOutOfRange(f.Name, p.Y)
		}
	}
	return s, nil
}

// decoded is the last value of an argument: areas that many points are compared
// with are read once.
type decoded struct {
	raw []byte
	v   geo.Value
}

func (d *decoded) read(c *Ctx, f *Func, b []byte) error {
	if d.raw != nil && bytes.Equal(d.raw, b) {
		return nil
	}
	v, err := c.decodeGeometry(f, b)
	if err != nil {
		return err
	}
	d.raw, d.v = append(d.raw[:0], b...), v
	return nil
}

// geoPair reads two geometries of one system: 3033.
func geoPair(c *Ctx, f *Func, x, y value.Datum) (a, b geo.Value, s *geo.SRS, err error) {
	last, err := cached(c, f, func() (*[2]decoded, error) { return &[2]decoded{}, nil })
	if err != nil {
		return a, b, nil, err
	}
	if err = last[0].read(c, f, x.Bytes()); err != nil {
		return a, b, nil, err
	}
	if err = last[1].read(c, f, y.Bytes()); err != nil {
		return a, b, nil, err
	}
	a, b = last[0].v, last[1].v
	if a.SRID != b.SRID {
		return a, b, nil, sqlerr.DifferentSRIDs(f.Name, a.SRID, b.SRID)
	}
	if s, err = checkSystem(f, a); err != nil {
		return a, b, nil, err
	}
	_, err = checkSystem(f, b)
	return a, b, s, err
}

// geoError makes an error of package geo one of MySQL.
func geoError(f *Func, err error, types string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, geo.ErrInvalid):
		return sqlerr.InvalidGISData(f.Name)
	case errors.Is(err, geo.ErrTooLarge):
		return sqlerr.NotImplementedForGeographicSRS(f.Name, types)
	case errors.Is(err, geo.ErrTooManyPoints):
		return sqlerr.TooManyPoints("points_per_circle", geo.DefaultMaxPoints, f.Name)
	case errors.Is(err, geo.ErrTooComplex):
		return sqlerr.NotSupported(strings.ToUpper(f.Name) + " of geometries whose lines meet so often")
	case errors.Is(err, geo.ErrOverlay), errors.Is(err, geo.ErrRange):
		return sqlerr.GISUnknown(f.Name)
	}
	return err // of Work
}

// geoWork counts the work of algorithms for c.
func (c *Ctx) geoWork() *geo.Work { return &geo.Work{Count: c.Work} }

func pairNames(a, b geo.Geometry) string { return a.Type.Name() + ", " + b.Type.Name() }

// geoDatum is the stored form of g.
func geoDatum(srid uint32, g geo.Geometry) value.Datum {
	return value.Bytes(geo.Value{SRID: srid, Geometry: g}.Encode())
}

// sridArg reads an SRID: 1690 beyond 32 bits, 3548 if it is not known.
func sridArg(f *Func, d value.Datum) (uint32, *geo.SRS, error) {
	if d.Kind() == value.KindInt && d.Int() < 0 || asInt(d) > math.MaxUint32 {
		return 0, nil, sqlerr.ValueOutOfRange("SRID", f.Name)
	}
	srid := uint32(asInt(d))
	s, ok := geo.Lookup(srid)
	if !ok {
		return 0, nil, sqlerr.SRSNotFound(srid)
	}
	return srid, s, nil
}

// finiteResult is 1690 for a number that is none.
func finiteResult(f *Func, what string, x float64) (value.Datum, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return value.Null, sqlerr.ValueOutOfRange(what, f.Name)
	}
	return value.Float(x), nil
}

// unitFactor reads the name of a unit, in metres.
func unitFactor(f *Func, s *geo.SRS, name string) (float64, error) {
	u, ok := geo.UnitByName(name)
	if !ok {
		return 0, sqlerr.UnitNotFound(name)
	}
	if s == nil {
		return 0, sqlerr.UnknownLengthUnit(f.Name, u.Name)
	}
	return u.Metres, nil
}

// inUnit divides a length by the unit that the argument at i names.
func inUnit(f *Func, s *geo.SRS, a []value.Datum, i int, what string, length float64) (value.Datum, error) {
	if len(a) > i {
		m, err := unitFactor(f, s, a[i].Str())
		if err != nil {
			return value.Null, err
		}
		length *= 1 / m
	}
	return finiteResult(f, what, length)
}

// geoMakeDefs make geometries of numbers and of other geometries.
func geoMakeDefs() []entry {
	return []entry{
		fn("point", "ff", retGeometryOf(geo.TypePoint), rowPoint, nullable),
		fn("linestring", "g+", retGeometryOf(geo.TypeLineString), rowAssemble(geo.TypeLineString), nullable),
		fn("polygon", "g+", retGeometryOf(geo.TypePolygon), rowAssemble(geo.TypePolygon), nullable),
		fn("multipoint", "g+", retGeometryOf(geo.TypeMultiPoint), rowAssemble(geo.TypeMultiPoint), nullable),
		fn("multilinestring", "g+", retGeometryOf(geo.TypeMultiLineString), rowAssemble(geo.TypeMultiLineString), nullable),
		fn("multipolygon", "g+", retGeometryOf(geo.TypeMultiPolygon), rowAssemble(geo.TypeMultiPolygon), nullable),
		fn("geometrycollection geomcollection", "g*", retGeometryOf(geo.TypeCollection), rowAssemble(geo.TypeCollection), nullable),
		fn("st_makeenvelope", "gg", retGeometry, rowMakeEnvelope, 0),
	}
}

func rowPoint(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	p := geo.Point{X: a[0].Float(), Y: a[1].Float()}
	return geoDatum(0, geo.NewPoint(p)), nil
}

// rowAssemble makes a geometry of its parts, which are geometries or
// well-known binary; NULL if one is of another type.
func rowAssemble(t geo.Type) rowFunc {
	want := map[geo.Type]geo.Type{geo.TypeLineString: geo.TypePoint, geo.TypePolygon: geo.TypeLineString, geo.TypeMultiPoint: geo.TypePoint,
		geo.TypeMultiLineString: geo.TypeLineString, geo.TypeMultiPolygon: geo.TypePolygon}[t]
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		out := geo.Geometry{Type: t}
		var srid uint32
		for i, d := range a {
			v, err := geo.DecodeUntil(c.geoWork(), d.Bytes())
			if errors.Is(err, geo.ErrInvalid) {
				v = geo.Value{}
				v.Geometry, err = geo.ParseWKB(d.Bytes(), geo.Options{Work: c.geoWork()})
			}
			if err != nil {
				return value.Null, invalidGeometry(f, err)
			}
			if i == 0 {
				srid = v.SRID
			} else if v.SRID != srid {
				return value.Null, sqlerr.DifferentSRIDs(f.Name, srid, v.SRID)
			}
			if want != geo.TypeGeometry && v.Type != want {
				return value.Null, nil
			}
			switch t {
			case geo.TypeLineString:
				out.Points = append(out.Points, v.Points[0])
			case geo.TypePolygon:
				if n := len(v.Points); n < 4 || v.Points[0] != v.Points[n-1] {
					return value.Null, nil
				}
				out.Rings = append(out.Rings, v.Points)
			default:
				out.Parts = append(out.Parts, v.Geometry)
			}
		}
		if t == geo.TypeLineString && len(out.Points) < 2 {
			return value.Null, nil
		}
		if _, ok := geo.Lookup(srid); !ok {
			return value.Null, sqlerr.SRSNotFound(srid)
		}
		return geoDatum(srid, out), nil
	}
}

func rowMakeEnvelope(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	p, q, s, err := geoPair(c, f, a[0], a[1])
	switch {
	case err != nil:
		return value.Null, err
	case p.Type != geo.TypePoint || q.Type != geo.TypePoint:
		return value.Null, sqlerr.WrongArguments(f.Name)
	case s.IsGeographic():
		return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, pairNames(p.Geometry, q.Geometry))
	}
	b, _ := geo.NewLine([]geo.Point{p.Points[0], q.Points[0]}).Bounds()
	return geoDatum(p.SRID, b.Geometry()), nil
}
