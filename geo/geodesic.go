package geo

import "math"

// The formulas of this file are those that MySQL takes from Boost.Geometry:
// inverse after Andoyer and Lambert, direct after Thomas, both to the first
// order of the flattening, area after Danielsen and Karney. See C. Karney, Algorithms for
// geodesics, 2011; P. Thomas, Mathematical models for navigation systems, 1965.

// inverse is the distance from p to q and the azimuths at p and at q, in
// radians.
func (e Ellipsoid) inverse(p, q Point) (dist, azimuth, reverse float64) {
	if p == q {
		return 0, 0, 0
	}
	f := e.F()
	sinLon, cosLon := math.Sincos(radians(q.X) - radians(p.X))
	sin1, cos1 := math.Sincos(radians(p.Y))
	sin2, cos2 := math.Sincos(radians(q.Y))
	cosD := math.Min(math.Max(sin1*sin2+cos1*cos2*cosLon, -1), 1)
	d := acos(cosD)
	sinD := math.Sin(d)

	k, l := (sin1-sin2)*(sin1-sin2), (sin1+sin2)*(sin1+sin2)
	var h, g float64
	if !nearly(1-cosD, 0) {
		h = (d + 3*sinD) / (1 - cosD)
	}
	if !nearly(1+cosD, 0) {
		g = (d - 3*sinD) / (1 + cosD)
	}
	dist = e.A * (d - f/4*(h*k+g*l))

	if nearly(sinD, 0) {
		if p.Y > q.Y {
			return dist, math.Pi, math.Pi
		}
		return dist, 0, 0
	}
	// Azimuths on the sphere, corrected.
	t := d / sinD
	var a, u, b, v float64
	if nearly(cos2, 0) {
		if sin2 < 0 {
			a = math.Pi
		}
	} else {
		a = math.Atan2(sinLon, cos1*sin2/cos2-sin1*cosLon)
		u = f / 2 * cos1 * cos1 * math.Sin(2*a)
	}
	if nearly(cos1, 0) {
		if sin1 < 0 {
			b = math.Pi
		}
	} else {
		b = math.Atan2(sinLon, cos2*sin1/cos1-sin2*cosLon)
		v = f / 2 * cos2 * cos2 * math.Sin(2*b)
	}
	azimuth = a - (v*t - u)
	if b >= 0 {
		reverse = math.Pi - b - (v - u*t)
	} else {
		reverse = -math.Pi - b - (v - u*t)
	}
	return dist, azimuth, reverse
}

// nearly compares within a few units in the last place of 1.
func nearly(a, b float64) bool {
	return math.Abs(a-b) <= 0x1p-52*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// Distance is the length of the geodesic from p to q in metres.
func (e Ellipsoid) Distance(p, q Point) float64 {
	d, _, _ := e.inverse(p, q)
	return d
}

// direct is the point at a distance from p in the direction of an azimuth
// (radians).
func (e Ellipsoid) direct(p Point, dist, azimuth float64) Point {
	if dist <= 0 {
		return p
	}
	f := e.F()
	lat1, az, flipped := radians(p.Y), azimuth, false
	switch { // keep the azimuth northern: the series is better there
	case az > math.Pi/2:
		az, lat1, flipped = math.Pi-az, -lat1, true
	case az < -math.Pi/2:
		az, lat1, flipped = -math.Pi-az, -lat1, true
	}
	theta1 := lat1
	if !nearly(math.Abs(lat1), math.Pi/2) {
		theta1 = math.Atan((1 - f) * math.Tan(lat1))
	}
	sin1, cos1 := math.Sincos(theta1)
	sinA, cosA := math.Sincos(az)
	m := cos1 * sinA
	sin0 := math.Sin(acos(m))
	n := cos1 * cosA
	c1, c2 := f*m, f*(1-m*m)/4
	dd := 1 - 2*c2 - c1*m
	pp := c2 / dd
	cosSigma1 := 1.0
	if !nearly(sin0, 0) {
		cosSigma1 = math.Min(math.Max(sin1/sin0, -1), 1)
	}
	sigma1 := acos(cosSigma1)
	d := dist / (e.A * dd)
	sinU, cosU := math.Sincos(2 * (sigma1 - d))
	sinD, cosD := math.Sincos(d)
	w := 1 - 2*pp*cosU
	v := cosU*cosD - sinU*sinD
	dSigma := d - 2*pp*v*w*sinD
	sinS, cosS := math.Sincos(dSigma)
	reverse := math.Atan2(m, n*cosS-sin1*sinS)
	if flipped {
		switch {
		case reverse == 0 && azimuth >= 0:
			reverse = math.Pi
		case reverse == 0:
			reverse = -math.Pi
		case reverse > 0:
			reverse = math.Pi - reverse
		default:
			reverse = -math.Pi - reverse
		}
	}
	sSigma := 2*sigma1 - dSigma
	lon := math.Atan2(sinS*sinA, cos1*cosS-sin1*sinS*cosA) - c1*dSigma
	var lat float64
	if math.Abs(m) > 1e-12 {
		lat = math.Atan((sin1*cosS + n*sinS) * math.Sin(reverse) / m / (1 - f))
	} else {
		sinS2, cosS2 := math.Sincos(sSigma - sigma1)
		lat = math.Atan(cosS2 / math.Abs(sinS2) / (1 - f))
	}
	if flipped {
		lat = -lat
	}
	return Point{normalLon(degrees(radians(p.X) + lon)), degrees(lat)}
}

// normalLon brings a longitude into (-180, 180].
func normalLon(lon float64) float64 {
	for lon > 180 {
		lon -= 360
	}
	for lon <= -180 {
		lon += 360
	}
	return lon
}

// between is the point at a fraction of the geodesic from p to q.
func (e Ellipsoid) between(p, q Point, fraction float64) Point {
	d, az, _ := e.inverse(p, q)
	return e.direct(p, d*fraction, az)
}

// ringArea is the area on the ellipsoid inside of a closed ring, positive when
// it runs counter-clockwise.
func (e Ellipsoid) ringArea(w *Work, ring []Point) float64 {
	e2, a2, b := e.E2(), e.A*e.A, e.B()
	c2 := a2/2 + b*b*math.Atanh(math.Sqrt(e2))/(2*math.Sqrt(e2))
	var excess, correction float64
	crossings := 0
	for i := 1; i < len(ring); i++ {
		p, q := ring[i-1], ring[i]
		if p.X == q.X {
			continue
		}
		s, c := e.trapezoid(p, q)
		excess += s
		correction += c
		lo, hi := positiveLon(math.Min(p.X, q.X)), positiveLon(math.Max(p.X, q.X))
		if lo > hi {
			lo, hi = hi, lo
		}
		if hi > 180 && lo < 180 && hi-lo > 180 {
			crossings++
		}
	}
	sum := c2*excess + e2*a2*correction
	if crossings%2 == 0 {
		return -sum
	}
	area := 2*math.Pi*c2*float64(1+crossings/2) - math.Abs(sum)
	if sum > 0 {
		area = -area
	}
	return area
}

func positiveLon(lon float64) float64 { return lon - math.Floor(lon/360)*360 }

// trapezoid is the spherical excess and the ellipsoidal correction of the area
// between a segment and the equator, to the first order of the series.
func (e Ellipsoid) trapezoid(p, q Point) (excess, correction float64) {
	_, alp1, alp2 := e.inverse(p, q)
	f := e.F()
	tan1, tan2 := math.Tan(radians(p.Y))*(1-f), math.Tan(radians(q.Y))*(1-f)
	cosB1, cosB2 := math.Cos(math.Atan(tan1)), math.Cos(math.Atan(tan2))
	sinB1, sinB2 := tan1*cosB1, tan2*cosB2
	sinA1, cosA1 := math.Sincos(alp1)
	cosA2 := math.Cos(alp2)
	sinA0 := sinA1 * cosB1

	sinO1, cosO1 := sinA0*sinB1, cosA1*cosB1
	sinO2, cosO2 := sinA0*sinB2, cosA2*cosB2
	cosO12 := cosO1*cosO2 + sinO1*sinO2
	pole := math.Abs(p.Y) == 90 || math.Abs(q.Y) == 90
	if !pole && cosO12 > -0.7 && sinB2-sinB1 < 1.75 {
		sinO12 := cosO1*sinO2 - sinO1*cosO2
		h := math.Hypot(sinO12, cosO12)
		if h == 0 {
			return 0, 0
		}
		sinO12, cosO12 = sinO12/h, cosO12/h
		excess = 2 * math.Atan2(sinO12*(sinB1*(1+cosB2)+sinB2*(1+cosB1)), (1+cosO12)*(sinB1*sinB2+(1+cosB1)*(1+cosB2)))
	} else {
		excess = alp2 - alp1
	}

	cosA0 := math.Sqrt(math.Max(0, 1-sinA0*sinA0))
	k2 := e.E2() / (1 - e.E2()) * cosA0 * cosA0
	root := math.Sqrt(k2 + 1)
	eps, n := (root-1)/(root+1), f/(2-f)
	// C4 of Karney's series, expanded in eps and n.
	k0, k1 := (10-4*n)/15-eps/5, eps/45
	cosSum := func(sin, cos float64) float64 {
		if h := math.Hypot(sin, cos); h > 0 {
			cos /= h
		}
		return k0*cos + k1*(4*cos*cos*cos-3*cos)
	}
	return excess, cosA0 * sinA0 * (cosSum(sinB2, cosO2) - cosSum(sinB1, cosO1))
}

// acos is the arc cosine to less than a unit in the last place, which math.Acos
// is not for small angles. It is the method of FreeBSD's e_acos.c: Copyright
// (C) 1993 by Sun Microsystems, Inc. All rights reserved. Permission to use,
// copy, modify, and distribute this software is freely granted, provided that
// this notice is preserved.
func acos(x float64) float64 {
	r := func(z float64) float64 {
		p := z * (1.66666666666666657415e-01 + z*(-3.25565818622400915405e-01+z*(2.01212532134862925881e-01+z*(-4.00555345006794114027e-02+z*(7.91534994289814532176e-04+z*3.47933107596021167570e-05)))))
		q := 1 + z*(-2.40339491173441421878e+00+z*(2.02094576023350569471e+00+z*(-6.88283971605453293030e-01+z*7.70381505559019352791e-02)))
		return p / q
	}
	switch {
	case x < -0.5:
		z := (1 + x) / 2
		s := math.Sqrt(z)
		return math.Pi - 2*(s+(r(z)*s-6.12323399573676603587e-17))
	case x < 0.5:
		return math.Pi/2 - (x - (6.12323399573676603587e-17 - x*r(x*x)))
	}
	z := (1 - x) / 2
	s := math.Sqrt(z)
	high := math.Float64frombits(math.Float64bits(s) &^ 0xffffffff)
	c := 0.0
	if s+high > 0 {
		c = (z - high*high) / (s + high)
	}
	return 2 * (high + (r(z)*s + c))
}
