package geo

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCenter compares bounds of boxes with places in them, and the quick haversine
// with the exact one.
func TestCenter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near := 0
	for range 20_000 {
		c := NewCenter(Point{r.Float64()*360 - 180, r.Float64()*180 - 90})
		if r.IntN(10) == 0 {
			c = NewCenter(Point{180, []float64{-90, 0, 90}[r.IntN(3)]})
		}
		size := math.Pow(10, r.Float64()*8-6)
		at := Point{r.Float64()*360 - 180, r.Float64()*180 - 90}
		if r.IntN(2) == 0 {
			at = Point{c.X + (r.Float64()-0.5)*size, c.Y + (r.Float64()-0.5)*size}
		}
		minX, maxX := math.Max(at.X, -180), math.Min(at.X+size*r.Float64(), 180)
		minY, maxY := math.Max(at.Y, -90), math.Min(at.Y+size*r.Float64(), 90)
		if minX > maxX || minY > maxY {
			continue
		}
		least, most := c.Bounds(minX, maxX, minY, maxY)
		for i := range 8 {
			q := Point{minX + r.Float64()*(maxX-minX), minY + r.Float64()*(maxY-minY)}
			if i < 4 {
				q = Point{[]float64{minX, maxX}[i/2], []float64{minY, maxY}[i%2]}
			}
			h := c.Haversine(q)
			if h < least || h > most {
				t.Fatalf("%v to %v: %v is not from %v to %v, box %v %v %v %v", c.Point, q, h, least, most, minX, maxX, minY, maxY)
			}
			if about, ok := c.Near(q); ok {
				near++
				if math.Abs(about-h) > 1e-12*h {
					t.Fatalf("%v to %v: about %v, is %v", c.Point, q, about, h)
				}
			}
		}
	}
	if near < 1000 {
		t.Fatalf("%d near places", near)
	}
}
