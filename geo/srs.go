package geo

import (
	"fmt"
	"math"
	"strconv"
	"sync"
)

// SRS is a spatial reference system.
type SRS struct {
	ID   uint32
	Name string
	// Geographic: coordinates are degrees on an ellipsoid, latitude first in
	// text. Otherwise they are metres in a plane.
	Geographic bool
	Ellipsoid  Ellipsoid
	// Definition is the system in well-known text.
	Definition string

	datum      datum
	projection *projection
}

// Ellipsoid is an ellipsoid of revolution.
type Ellipsoid struct {
	A    float64 // semi-major axis, metres
	InvF float64 // inverse flattening
}

// F is the flattening.
func (e Ellipsoid) F() float64 { return 1 / e.InvF }

// B is the semi-minor axis.
func (e Ellipsoid) B() float64 { return e.A * (1 - e.F()) }

// E2 is the eccentricity squared.
func (e Ellipsoid) E2() float64 { return e.F() * (2 - e.F()) }

// datum is a geographic system with the way to WGS 84.
type datum struct {
	id                  uint32
	name, full          string
	code                uint32 // of the datum
	spheroid            string
	spheroidCode        uint32
	ellipsoid           Ellipsoid
	towgs84             [7]float64
	noTransformRequired bool
}

var (
	wgs84Ellipsoid = Ellipsoid{6378137, 298.257223563}
	grs80Ellipsoid = Ellipsoid{6378137, 298.257222101}
	airyEllipsoid  = Ellipsoid{6377563.396, 299.3249646}
)

var datums = []datum{
	{id: 4326, name: "WGS 84", full: "World Geodetic System 1984", code: 6326, spheroid: "WGS 84", spheroidCode: 7030, ellipsoid: wgs84Ellipsoid, noTransformRequired: true},
	{id: 4148, name: "Hartebeesthoek94", full: "Hartebeesthoek94", code: 6148, spheroid: "WGS 84", spheroidCode: 7030, ellipsoid: wgs84Ellipsoid},
	{id: 4167, name: "NZGD2000", full: "New Zealand Geodetic Datum 2000", code: 6167, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
	{id: 4171, name: "RGF93", full: "Reseau Geodesique Francais 1993", code: 6171, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
	{id: 4258, name: "ETRS89", full: "European Terrestrial Reference System 1989", code: 6258, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
	{id: 4269, name: "NAD83", full: "North American Datum 1983", code: 6269, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
	{id: 4277, name: "OSGB 1936", full: "OSGB 1936", code: 6277, spheroid: "Airy 1830", spheroidCode: 7001, ellipsoid: airyEllipsoid,
		towgs84: [7]float64{446.448, -125.157, 542.06, 0.15, 0.247, 0.842, -20.489}},
	{id: 4283, name: "GDA94", full: "Geocentric Datum of Australia 1994", code: 6283, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
	{id: 4612, name: "JGD2000", full: "Japanese Geodetic Datum 2000", code: 6612, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
	{id: 4674, name: "SIRGAS 2000", full: "Sistema de Referencia Geocentrico para las AmericaS 2000", code: 6674, spheroid: "GRS 1980", spheroidCode: 7019, ellipsoid: grs80Ellipsoid},
}

// systems is the table of reference systems, made at first use.
var systems = sync.OnceValue(func() map[uint32]*SRS {
	m := map[uint32]*SRS{}
	byID := map[uint32]datum{}
	for _, d := range datums {
		byID[d.id] = d
		m[d.id] = &SRS{ID: d.id, Name: d.name, Geographic: true, Ellipsoid: d.ellipsoid, datum: d, Definition: d.definition()}
	}
	add := func(id uint32, name string, base uint32, p projection) {
		d := byID[base]
		p.ellipsoid = d.ellipsoid
		m[id] = &SRS{ID: id, Name: name, Ellipsoid: d.ellipsoid, datum: d, projection: &p, Definition: p.definition(id, name, d)}
	}
	add(3857, "WGS 84 / Pseudo-Mercator", 4326, projection{kind: pseudoMercator})
	add(3395, "WGS 84 / World Mercator", 4326, projection{kind: mercator, scale: 1})
	add(27700, "OSGB 1936 / British National Grid", 4277, projection{kind: transverseMercator, lat0: 49, lon0: -2, scale: 0.9996012717, east: 400000, north: -100000})
	add(2154, "RGF93 / Lambert-93", 4171, projection{kind: lambertConic2, lat0: 46.5, lon0: 3, lat1: 49, lat2: 44, east: 700000, north: 6600000})
	utm := func(first uint32, base uint32, name string, from, to int, south bool) {
		for zone := from; zone <= to; zone++ {
			p := projection{kind: transverseMercator, lon0: float64(zone*6 - 183), scale: 0.9996, east: 500000}
			if south {
				p.north = 10000000
			}
			add(first+uint32(zone-from), fmt.Sprintf(name, zone), base, p)
		}
	}
	utm(32601, 4326, "WGS 84 / UTM zone %dN", 1, 60, false)
	utm(32701, 4326, "WGS 84 / UTM zone %dS", 1, 60, true)
	utm(25828, 4258, "ETRS89 / UTM zone %dN", 28, 38, false)
	utm(26901, 4269, "NAD83 / UTM zone %dN", 1, 23, false)
	utm(28348, 4283, "GDA94 / MGA zone %d", 48, 58, true)
	return m
})

// Lookup finds a system; nil for SRID 0, which is a plane without unit, and
// false for systems that are not known.
func Lookup(srid uint32) (*SRS, bool) {
	if srid == 0 {
		return nil, true
	}
	s, ok := systems()[srid]
	return s, ok
}

// All are the known systems, unordered, without SRID 0.
func All() map[uint32]*SRS { return systems() }

// Swap reports that text has the latitude, our Y, first.
func (s *SRS) Swap() bool { return s != nil && s.Geographic }

// IsGeographic is Geographic, false for nil.
func (s *SRS) IsGeographic() bool { return s != nil && s.Geographic }

// MeanRadius is (2a+b)/3.
func (s *SRS) MeanRadius() float64 { return (2*s.Ellipsoid.A + s.Ellipsoid.B()) / 3 }

// OutOfRange finds a point whose longitude is not in (-180, 180] or whose
// latitude is not in [-90, 90].
func OutOfRange(g Geometry) (p Point, lon, found bool) {
	g.eachPoint(func(q Point) bool {
		badLon, badLat := q.X <= -180 || q.X > 180, q.Y < -90 || q.Y > 90
		if badLon || badLat {
			p, lon, found = q, badLon, true
		}
		return !found
	})
	return p, lon, found
}

func authority(code uint32) string { return fmt.Sprintf(`AUTHORITY["EPSG","%d"]`, code) }

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (d datum) definition() string {
	shift := ""
	if !d.noTransformRequired {
		shift = ",TOWGS84["
		for i, v := range d.towgs84 {
			if i > 0 {
				shift += ","
			}
			shift += number(v)
		}
		shift += "]"
	}
	return fmt.Sprintf(`GEOGCS["%s",DATUM["%s",SPHEROID["%s",%s,%s,%s]%s,%s],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.017453292519943278,AUTHORITY["EPSG","9122"]],AXIS["Lat",NORTH],AXIS["Lon",EAST],%s]`,
		d.name, d.full, d.spheroid, number(d.ellipsoid.A), number(d.ellipsoid.InvF), authority(d.spheroidCode), shift, authority(d.code), authority(d.id))
}

// Transform brings g from one system to another. ok is false for coordinates
// that have no image.
func Transform(w *Work, g Geometry, from, to *SRS) (out Geometry, ok bool, err error) {
	defer ended(&err)
	if from.ID == to.ID {
		return g, true, nil
	}
	ok = true
	out = g.Map(func(p Point) Point {
		w.each(stepsOfTransform)
		if from.projection != nil {
			p = from.projection.inverse(p)
		}
		if from.datum.id != to.datum.id {
			p = shift(p, from.datum, to.datum)
		}
		if to.projection != nil {
			p = to.projection.forward(p)
		}
		ok = ok && finite(p)
		return p
	})
	return out, ok, nil
}

// stepsOfTransform are those of a point.
const stepsOfTransform = 10

// shift changes the datum of a longitude and latitude by way of WGS 84, with
// the position vector transformation of TOWGS84.
func shift(p Point, from, to datum) Point {
	if from.ellipsoid == to.ellipsoid && from.towgs84 == to.towgs84 {
		return p
	}
	v, h := from.ellipsoid.ecef(p, 0), 0.0
	v = helmert(v, from.towgs84, 1)
	v = helmert(v, to.towgs84, -1)
	p, h = to.ellipsoid.geodetic(v)
	_ = h
	return p
}

type vector struct{ x, y, z float64 }

func helmert(v vector, t [7]float64, sign float64) vector {
	if t == [7]float64{} {
		return v
	}
	const sec = math.Pi / 180 / 3600
	rx, ry, rz, s := t[3]*sec, t[4]*sec, t[5]*sec, 1+t[6]*1e-6
	if sign > 0 {
		return vector{
			t[0] + s*(v.x-rz*v.y+ry*v.z),
			t[1] + s*(rz*v.x+v.y-rx*v.z),
			t[2] + s*(-ry*v.x+rx*v.y+v.z),
		}
	}
	x, y, z := (v.x-t[0])/s, (v.y-t[1])/s, (v.z-t[2])/s
	return vector{x + rz*y - ry*z, -rz*x + y + rx*z, ry*x - rx*y + z}
}

// ecef is a point at height h in earth-centred coordinates.
func (e Ellipsoid) ecef(p Point, h float64) vector {
	sinLat, cosLat := math.Sincos(radians(p.Y))
	sinLon, cosLon := math.Sincos(radians(p.X))
	n := e.A / math.Sqrt(1-e.E2()*sinLat*sinLat)
	return vector{(n + h) * cosLat * cosLon, (n + h) * cosLat * sinLon, (n*(1-e.E2()) + h) * sinLat}
}

// geodetic is the way back from ecef.
func (e Ellipsoid) geodetic(v vector) (Point, float64) {
	p := math.Hypot(v.x, v.y)
	lat := math.Atan2(v.z, p*(1-e.E2()))
	h := 0.0
	for i := 0; i < 10; i++ {
		sin, cos := math.Sincos(lat)
		n := e.A / math.Sqrt(1-e.E2()*sin*sin)
		if cos > 1e-9 {
			h = p/cos - n
		}
		next := math.Atan2(v.z+e.E2()*n*sin, p)
		if math.Abs(next-lat) < 1e-14 {
			lat = next
			break
		}
		lat = next
	}
	return Point{degrees(math.Atan2(v.y, v.x)), degrees(lat)}, h
}

// degree is the angular unit in the definitions of the systems, which is not
// the nearest float64 to pi/180: results have the digits that MySQL shows.
const degree = 0.017453292519943278

func radians(d float64) float64 { return d * degree }
func degrees(r float64) float64 { return r / degree }
