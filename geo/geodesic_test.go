package geo

import (
	"math"
	"testing"
)

func TestDistanceOfTheManual(t *testing.T) {
	// POINT(1 1) and POINT(2 2) in SRID 4326, MySQL manual 14.16.9.1.
	if d := wgs84Ellipsoid.Distance(Point{1, 1}, Point{2, 2}); d != 156874.3859490455 {
		t.Errorf("got %v", d)
	}
}

// vincenty is an independent and more exact inverse.
func vincenty(e Ellipsoid, p, q Point) float64 {
	f, b := e.F(), e.B()
	l := radians(q.X - p.X)
	u1, u2 := math.Atan((1-f)*math.Tan(radians(p.Y))), math.Atan((1-f)*math.Tan(radians(q.Y)))
	su1, cu1 := math.Sincos(u1)
	su2, cu2 := math.Sincos(u2)
	lambda := l
	for i := 0; i < 200; i++ {
		sl, cl := math.Sincos(lambda)
		ss := math.Hypot(cu2*sl, cu1*su2-su1*cu2*cl)
		if ss == 0 {
			return 0
		}
		cs := su1*su2 + cu1*cu2*cl
		sigma := math.Atan2(ss, cs)
		sa := cu1 * cu2 * sl / ss
		c2 := 1 - sa*sa
		cm := 0.0
		if c2 != 0 {
			cm = cs - 2*su1*su2/c2
		}
		c := f / 16 * c2 * (4 + f*(4-3*c2))
		next := l + (1-c)*f*sa*(sigma+c*ss*(cm+c*cs*(-1+2*cm*cm)))
		if math.Abs(next-lambda) < 1e-13 {
			uu := c2 * (e.A*e.A - b*b) / (b * b)
			aa := 1 + uu/16384*(4096+uu*(-768+uu*(320-175*uu)))
			bb := uu / 1024 * (256 + uu*(-128+uu*(74-47*uu)))
			ds := bb * ss * (cm + bb/4*(cs*(-1+2*cm*cm)-bb/6*cm*(-3+4*ss*ss)*(-3+4*cm*cm)))
			return b * aa * (sigma - ds)
		}
		lambda = next
	}
	return math.NaN()
}

func TestGeodesicsAgainstVincenty(t *testing.T) {
	e := wgs84Ellipsoid
	for _, p := range []Point{{0, 0}, {10, 45}, {-70, -33}, {170, 60}, {2, 89}} {
		for az := -180.0; az <= 180; az += 17 {
			for _, d := range []float64{1000, 1e5, 3e6} {
				q := e.direct(p, d, radians(az))
				if got := vincenty(e, p, q); math.Abs(got-d) > 3e-6*d+0.2 {
					t.Errorf("direct %v azimuth %v distance %v: %v is %v away", p, az, d, q, got)
				}
				if got := e.Distance(p, q); math.Abs(got-d) > 2e-5*d+0.05 {
					t.Errorf("inverse %v %v: %v, want %v", p, q, got, d)
				}
			}
		}
	}
}

func TestRingArea(t *testing.T) {
	e := wgs84Ellipsoid
	// A quarter of the northern hemisphere is an eighth of the ellipsoid.
	e2 := e.E2()
	whole := 2 * math.Pi * e.A * e.A * (1 + (1-e2)/math.Sqrt(e2)*math.Atanh(math.Sqrt(e2)))
	octant := []Point{{0, 0}, {90, 0}, {0, 90}, {0, 0}}
	if got := e.ringArea(nil, octant); math.Abs(got-whole/8) > 1e-5*whole/8 {
		t.Errorf("octant %v, want %v", got, whole/8)
	}
	// A small square at 45 degrees is nearly flat.
	const d = 0.01
	ring := []Point{{10, 45}, {10 + d, 45}, {10 + d, 45 + d}, {10, 45 + d}, {10, 45}}
	flat := vincenty(e, Point{10, 45 + d/2}, Point{10 + d, 45 + d/2}) * vincenty(e, ring[0], ring[3])
	if got := e.ringArea(nil, ring); math.Abs(got-flat) > 1e-4*flat {
		t.Errorf("square %v, want %v", got, flat)
	}
}
