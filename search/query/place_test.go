package query

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/search/seg"
)

// TestPlaces compares circles and the nearest places with what the distances of all
// places say.
func TestPlaces(t *testing.T) {
	testflag.Normal(t)
	r := rand.New(rand.NewPCG(3, 4))
	const docs, field = 4000, 1
	s, at := placeDocs(t, r, docs, field)
	g := s.Segments()[0]
	live, _ := g.Roots()
	for i := range testflag.Rounds(0, 250, 600) {
		center := geo.NewCenter(at[r.IntN(docs/2)])
		if i%5 == 0 {
			center = geo.NewCenter(geo.Point{X: 180 - r.Float64(), Y: 89})
		}
		sphere := Sphere{Field: field, From: center, Radius: 6370986, Err: errors.New("off")}
		dist := func(d uint32) float64 { return geo.SphereDistance(center.Haversine(at[d]), sphere.Radius) }
		among := slices.Clone(live)
		for j := range among {
			if i%3 == 0 || j%7 == 0 {
				among[j] &= r.Uint64()
			}
		}
		below := math.Pow(10, r.Float64()*9-1.5)
		if i%4 == 0 {
			below = dist(uint32(r.IntN(docs / 2)))
		}
		world := []seg.Box{{MinLat: -900000000, MaxLat: 900000000, MinLon: -1800000000, MaxLon: 1800000000}}
		c := NewCircle(sphere, world, below, i%2 == 0)
		set, err := c.eval(g, among)
		if err != nil {
			t.Fatal(err)
		}
		for d := range uint32(docs) {
			want := !math.IsNaN(at[d].X) && (dist(d) < below || c.Equal && dist(d) == below)
			if got := set[d>>6]>>(d&63)&1 != 0; got != want && among[d>>6]>>(d&63)&1 != 0 {
				t.Fatalf("%v is %v from %v, below %v: %v", at[d], dist(d), center.Point, below, got)
			}
		}
		h := Hits{Seg: g, Set: among, Count: countBits(among)}
		compareNearest(t, h, &Distance{sphere}, 1+r.IntN(30), i%2 == 0, dist, at)
	}
}

func compareNearest(t *testing.T, h Hits, by Ranking, n int, desc bool, dist func(uint32) float64, at []geo.Point) {
	t.Helper()
	var order []uint32
	eachDoc(h.Set, func(d uint32) { order = append(order, d) })
	key := func(d uint32) float64 {
		v := -1.0
		if !math.IsNaN(at[d].X) {
			v = dist(d)
		}
		if desc {
			v = -v
		}
		return v
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		switch x, y := key(a), key(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	want := slices.Clone(order[:min(n, len(order))])
	slices.Sort(want)
	hits := []Hits{{Seg: h.Seg, Set: slices.Clone(h.Set), Count: h.Count}}
	if err := First(hits, []Order{{By: by, Desc: desc}, {ByID: true}}, n); err != nil {
		t.Fatal(err)
	}
	if got, _ := hits[0].Docs(0, len(order), nil); !slices.Equal(got, want) {
		t.Fatalf("first %d, desc %v: %v, want %v", n, desc, got, want)
	}
}

// placeDocs makes an index of places in clusters, of which some are the same; NaN is
// NULL.
func placeDocs(t *testing.T, r *rand.Rand, docs int, field seg.FieldID) (*seg.Snapshot, []geo.Point) {
	t.Helper()
	ix, err := seg.Open(t.TempDir(), seg.Schema{Fields: []seg.Field{{ID: field, Kind: seg.KindPoint}}}, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	b := ix.NewBatch()
	at := make([]geo.Point, docs)
	for i := range at {
		b.Upsert(fmt.Appendf(nil, "%09d", i))
		p := geo.Point{X: r.Float64()*360 - 180, Y: r.Float64()*180 - 90}
		switch {
		case i > docs/2 && i%9 == 0: // without a place
			at[i] = geo.Point{X: math.NaN(), Y: math.NaN()}
			continue
		case i%5 == 1:
			p = at[i-1]
		case i%5 > 1 && i > 100:
			p = geo.Point{X: math.Min(at[i%100].X+r.Float64()/10, 180), Y: math.Min(at[i%100].Y+r.Float64()/10, 90)}
		}
		if math.IsNaN(p.X) {
			p = geo.Point{X: 180, Y: 90}
		}
		at[i] = p
		b.Point(field, seg.Place{Lat: int32(math.Floor(p.Y * 1e7)), Lon: int32(math.Floor(p.X * 1e7)), X: p.X, Y: p.Y})
	}
	if err := ix.Apply(b); err != nil {
		t.Fatal(err)
	}
	s, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, at
}
