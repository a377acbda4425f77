package bench

import (
	"fmt"
	"math"
	"time"
)

// Sizes are the parameters of a data set.
type Sizes struct {
	Rows     int64  `json:"rows"`
	Cells    int64  `json:"cells"`
	Stations int64  `json:"stations"`
	Seed     uint64 `json:"seed"`
}

// Validate checks that the sizes make a data set.
func (s Sizes) Validate() error {
	if s.Rows < 1 || s.Cells < 1 || s.Stations < 1 || s.Rows > 1<<40 || s.Cells > 1<<31 || s.Stations > 1<<20 {
		return fmt.Errorf("rows, cells and stations must be positive (at most 2^40, 2^31 and 2^20)")
	}
	return nil
}

const (
	firstCell  = 13_000_000_000 // cell numbers look like phone numbers
	firstStart = 1_532_574_644  // Unix seconds, one call a second
	regions    = 20
)

// call is one row of the table.
type call struct {
	cell, start, called, duration, station int64
}

// dataset computes rows. Both cells and stations are drawn from power laws:
// with 1,000 stations the busiest has 6.3 % of the calls; with a million cells
// the busiest has 0.1 %, and half of the calls come from a quarter of them.
// Immutable, safe for concurrent use.
type dataset struct {
	Sizes
	cellStep, stationStep int64 // coprime to the counts: rank → number
}

func newDataset(s Sizes) *dataset {
	return &dataset{Sizes: s, cellStep: coprime(s.Cells, 618_033), stationStep: coprime(s.Stations, 617)}
}

// coprime returns the first number from start on that shares no factor with n.
func coprime(n, start int64) int64 {
	for ; ; start++ {
		a, b := n, start
		for b != 0 {
			a, b = b, a%b
		}
		if a == 1 {
			return start
		}
	}
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// square and fivehalves are plain products, rounded one by one, so that every
// machine computes the same rows.
func square(u float64) float64     { return float64(u * u) }
func fivehalves(u float64) float64 { return float64(float64(u*u) * math.Sqrt(u)) }

// row computes row i; i may go beyond Rows for rows inserted later.
func (d *dataset) row(i int64) call {
	h := mix(d.Seed ^ uint64(i)*0xd1342543de82ef95)
	h2, h3, h4 := mix(h+1), mix(h+2), mix(h+3)
	return call{
		cell:     d.cellAt(int64(square(unit(h)) * float64(d.Cells))),
		start:    firstStart + i,
		called:   d.cellAt(int64(square(unit(h2)) * float64(d.Cells))),
		duration: 1 + min(int64(h3%3600), int64((h3>>32)%3600)),
		station:  d.stationAt(int64(fivehalves(unit(h4)) * float64(d.Stations))),
	}
}

// cellAt gives the number of the cell with this rank of business, from 0.
func (d *dataset) cellAt(rank int64) int64 {
	return firstCell + (min(rank, d.Cells-1)*d.cellStep+d.Cells/3)%d.Cells
}

func (d *dataset) stationAt(rank int64) int64 {
	return 1 + (min(rank, d.Stations-1)*d.stationStep)%d.Stations
}

// stationRows estimates the number of calls of the station with this rank.
func (d *dataset) stationRows(rank int64) float64 {
	s := float64(d.Stations)
	share := math.Pow(float64(rank+1)/s, 0.4) - math.Pow(float64(rank)/s, 0.4)
	return share * float64(d.Rows)
}

func regionOf(station int64) int64 { return station % regions }

func stationName(station int64) string { return fmt.Sprintf("station %04d", station) }

// createdAt is the row's created_at, as a DATETIME in UTC.
func (c call) createdAt(dst []byte) []byte {
	return time.Unix(c.start, 0).UTC().AppendFormat(dst, time.DateTime)
}

// random is a small generator with the state of one connection.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

// below returns a number in [0, n).
func (r *random) below(n int64) int64 { return int64(r.next() % uint64(n)) }
