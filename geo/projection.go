package geo

import (
	"fmt"
	"math"
)

type projectionKind uint8

const (
	pseudoMercator     projectionKind = iota // EPSG method 1024
	mercator                                 // 9804
	transverseMercator                       // 9807
	lambertConic2                            // 9802
)

// projection maps longitude and latitude (degrees) to metres.
type projection struct {
	kind        projectionKind
	ellipsoid   Ellipsoid
	lat0, lon0  float64 // origin, degrees
	lat1, lat2  float64 // standard parallels of the conic
	scale       float64
	east, north float64 // false easting and northing
}

func (p *projection) definition(id uint32, name string, d datum) string {
	method, code := "Popular Visualisation Pseudo Mercator", uint32(1024)
	param := func(name string, v float64, code uint32) string {
		return fmt.Sprintf(`PARAMETER["%s",%s,%s],`, name, number(v), authority(code))
	}
	params := param("Latitude of natural origin", p.lat0, 8801) + param("Longitude of natural origin", p.lon0, 8802)
	falseOrigin := param("False easting", p.east, 8806) + param("False northing", p.north, 8807)
	switch p.kind {
	case mercator:
		method, code = "Mercator (variant A)", 9804
		params += param("Scale factor at natural origin", p.scale, 8805)
	case transverseMercator:
		method, code = "Transverse Mercator", 9807
		params += param("Scale factor at natural origin", p.scale, 8805)
	case lambertConic2:
		method, code = "Lambert Conic Conformal (2SP)", 9802
		params = param("Latitude of false origin", p.lat0, 8821) + param("Longitude of false origin", p.lon0, 8822) +
			param("Latitude of 1st standard parallel", p.lat1, 8823) + param("Latitude of 2nd standard parallel", p.lat2, 8824)
		falseOrigin = param("Easting at false origin", p.east, 8826) + param("Northing at false origin", p.north, 8827)
	}
	axes := `AXIS["E",EAST],AXIS["N",NORTH]`
	if p.kind == pseudoMercator || p.kind == lambertConic2 {
		axes = `AXIS["X",EAST],AXIS["Y",NORTH]`
	}
	return fmt.Sprintf(`PROJCS["%s",%s,PROJECTION["%s",%s],%s%sUNIT["metre",1,AUTHORITY["EPSG","9001"]],%s,%s]`,
		name, d.definition(), method, authority(code), params, falseOrigin, axes, authority(id))
}

func (p *projection) forward(q Point) Point {
	lon, lat := radians(q.X-p.lon0), radians(q.Y)
	lon = math.Remainder(lon, 2*math.Pi)
	switch p.kind {
	case pseudoMercator:
		q = Point{p.ellipsoid.A * lon, p.ellipsoid.A * math.Asinh(math.Tan(lat))}
	case mercator:
		q = Point{p.scale * p.ellipsoid.A * lon, p.scale * p.ellipsoid.A * p.ellipsoid.isometric(lat)}
	case transverseMercator:
		x, y := p.ellipsoid.kruger(lon, lat)
		_, y0 := p.ellipsoid.kruger(0, radians(p.lat0))
		q = Point{p.scale * x, p.scale * (y - y0)}
	case lambertConic2:
		n, f := p.cone()
		r0 := p.ellipsoid.A * f * math.Exp(-n*p.ellipsoid.isometric(radians(p.lat0)))
		r := p.ellipsoid.A * f * math.Exp(-n*p.ellipsoid.isometric(lat))
		sin, cos := math.Sincos(n * lon)
		q = Point{r * sin, r0 - r*cos}
	}
	return Point{q.X + p.east, q.Y + p.north}
}

func (p *projection) inverse(q Point) Point {
	x, y := q.X-p.east, q.Y-p.north
	var lon, lat float64
	switch p.kind {
	case pseudoMercator:
		lon, lat = x/p.ellipsoid.A, math.Atan(math.Sinh(y/p.ellipsoid.A))
	case mercator:
		lon, lat = x/p.scale/p.ellipsoid.A, p.ellipsoid.fromIsometric(y/p.scale/p.ellipsoid.A)
	case transverseMercator:
		_, y0 := p.ellipsoid.kruger(0, radians(p.lat0))
		lon, lat = p.ellipsoid.unkruger(x/p.scale, y/p.scale+y0)
	case lambertConic2:
		n, f := p.cone()
		r0 := p.ellipsoid.A * f * math.Exp(-n*p.ellipsoid.isometric(radians(p.lat0)))
		r := math.Copysign(math.Hypot(x, r0-y), n)
		lon = math.Atan2(x, r0-y) / n
		lat = p.ellipsoid.fromIsometric(-math.Log(r/p.ellipsoid.A/f) / n)
	}
	deg := degrees(lon) + p.lon0
	if deg <= -180 {
		deg += 360
	} else if deg > 180 {
		deg -= 360
	}
	return Point{deg, degrees(lat)}
}

// cone is the constant and the factor of the conic with two parallels.
func (p *projection) cone() (n, f float64) {
	m := func(lat float64) float64 {
		sin, cos := math.Sincos(radians(lat))
		return cos / math.Sqrt(1-p.ellipsoid.E2()*sin*sin)
	}
	q1, q2 := p.ellipsoid.isometric(radians(p.lat1)), p.ellipsoid.isometric(radians(p.lat2))
	n = (math.Log(m(p.lat1)) - math.Log(m(p.lat2))) / (q2 - q1)
	return n, m(p.lat1) * math.Exp(n*q1) / n
}

// isometric is the isometric latitude.
func (e Ellipsoid) isometric(lat float64) float64 {
	ecc := math.Sqrt(e.E2())
	sin := math.Sin(lat)
	return math.Atanh(sin) - ecc*math.Atanh(ecc*sin)
}

func (e Ellipsoid) fromIsometric(q float64) float64 {
	ecc := math.Sqrt(e.E2())
	lat := math.Atan(math.Sinh(q))
	for i := 0; i < 20; i++ {
		next := math.Asin(math.Tanh(q + ecc*math.Atanh(ecc*math.Sin(lat))))
		if math.Abs(next-lat) < 1e-15 {
			return next
		}
		lat = next
	}
	return lat
}

// krugerSeries are the coefficients of the transverse Mercator projection, to
// the sixth order of the third flattening, and the rectifying radius. Source:
// C. Karney, Transverse Mercator with an accuracy of a few nanometers, 2011.
func (e Ellipsoid) krugerSeries() (radius float64, alpha, beta [6]float64) {
	n := e.F() / (2 - e.F())
	n2 := n * n
	n3, n4, n5, n6 := n2*n, n2*n2, n2*n2*n, n2*n2*n2
	radius = e.A / (1 + n) * (1 + n2/4 + n4/64 + n6/256)
	alpha = [6]float64{
		n/2 - 2*n2/3 + 5*n3/16 + 41*n4/180 - 127*n5/288 + 7891*n6/37800,
		13*n2/48 - 3*n3/5 + 557*n4/1440 + 281*n5/630 - 1983433*n6/1935360,
		61*n3/240 - 103*n4/140 + 15061*n5/26880 + 167603*n6/181440,
		49561*n4/161280 - 179*n5/168 + 6601661*n6/7257600,
		34729*n5/80640 - 3418889*n6/1995840,
		212378941 * n6 / 319334400,
	}
	beta = [6]float64{
		n/2 - 2*n2/3 + 37*n3/96 - n4/360 - 81*n5/512 + 96199*n6/604800,
		n2/48 + n3/15 - 437*n4/1440 + 46*n5/105 - 1118711*n6/3870720,
		17*n3/480 - 37*n4/840 - 209*n5/4480 + 5569*n6/90720,
		4397*n4/161280 - 11*n5/504 - 830251*n6/7257600,
		4583*n5/161280 - 108847*n6/3991680,
		20648693 * n6 / 638668800,
	}
	return radius, alpha, beta
}

func (e Ellipsoid) kruger(lon, lat float64) (x, y float64) {
	radius, alpha, _ := e.krugerSeries()
	tau := math.Sinh(e.isometric(lat))
	sin, cos := math.Sincos(lon)
	xi, eta := math.Atan2(tau, cos), math.Asinh(sin/math.Hypot(tau, cos))
	sx, sy := eta, xi
	for i, a := range alpha {
		k := float64(2 * (i + 1))
		sx += a * math.Cos(k*xi) * math.Sinh(k*eta)
		sy += a * math.Sin(k*xi) * math.Cosh(k*eta)
	}
	return radius * sx, radius * sy
}

func (e Ellipsoid) unkruger(x, y float64) (lon, lat float64) {
	radius, _, beta := e.krugerSeries()
	xi, eta := y/radius, x/radius
	sx, sy := eta, xi
	for i, b := range beta {
		k := float64(2 * (i + 1))
		sx -= b * math.Cos(k*xi) * math.Sinh(k*eta)
		sy -= b * math.Sin(k*xi) * math.Cosh(k*eta)
	}
	sin, cos := math.Sincos(sy)
	return math.Atan2(math.Sinh(sx), cos), e.fromIsometric(math.Asinh(sin / math.Hypot(math.Sinh(sx), cos)))
}
