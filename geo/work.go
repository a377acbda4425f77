package geo

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/peterstace/simplefeatures/geom"

	"github.com/sqlots/sqlots/internal/guard"
)

// Work counts what an algorithm does, which may grow with the square of the points, so
// that a caller can end it. A nil Work counts nothing.
type Work struct {
	// Count gets units of about a nanosecond. The algorithm returns its errors.
	Count func(n int) error

	steps int // that Count did not get yet
}

// stopped carries an error of Count out of an algorithm.
type stopped struct{ err error }

// did counts n steps.
func (w *Work) did(n int) {
	if w == nil || w.Count == nil {
		return
	}
	if err := w.Count(n * workOfStep); err != nil {
		panic(stopped{err})
	}
}

// each counts n of many small steps.
func (w *Work) each(n int) {
	if w == nil {
		return
	}
	if w.steps += n; w.steps >= manySteps {
		w.did(w.steps)
		w.steps = 0
	}
}

// Until calls task, and returns the error of Count that has ended it: for functions that
// count work and have no error of their own.
func (w *Work) Until(task func()) (err error) {
	defer ended(&err)
	task()
	return nil
}

// steps is the work of comparing a point with a point, line or polygon.
func (g Geometry) steps() int {
	n := 1 + len(g.Points)
	for _, r := range g.Rings {
		n += len(r)
	}
	return n
}

// ended makes *err of what Count returned. It is deferred by what calls did.
func ended(err *error) {
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r.err
	default:
		panic(r)
	}
}

const (
	// workOfStep is the work of comparing two points or segments.
	workOfStep = 20
	// manySteps are between two calls of Count.
	manySteps = 1000
	// stepsOfText are those of a point that is read from a text, or written.
	stepsOfText = 10
	// fewSegments of both operands are given to the library at once, more in a
	// goroutine, for it knows no end.
	fewSegments = 100
	// maxMeetings is how many pairs of segments may meet within their boxes where the
	// library relates or unites them, and maxChecked where it only looks for one that
	// crosses. It takes some seconds for so many.
	maxMeetings = 1_000_000
	maxChecked  = 1_000_000_000
)

// running bounds the calls of the library for large geometries, abandoned ones
// included.
var running = make(chan struct{}, max(runtime.GOMAXPROCS(0), 2))

// library calls an algorithm of simplefeatures for geometries, which may panic on
// numbers that overflow: ErrOverlay. If more than most pairs of segments meet, it is
// ErrTooComplex. A call that Count ends goes on by itself.
func (w *Work) library(most int, call func() error, of ...geom.Geometry) error {
	if segments := w.boxesOf(of); len(segments) > fewSegments {
		if err := w.meetings(segments, most); err != nil {
			return err
		}
		if w != nil && w.Count != nil {
			return w.aside(call)
		}
	} else {
		w.did(500 + 50*len(segments)) // in advance
	}
	return guarded(call)
}

// aside waits for a call in a goroutine.
func (w *Work) aside(call func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	wait := func() { w.did(int(5*time.Millisecond) / workOfStep) }
	for admitted := false; !admitted; {
		select {
		case running <- struct{}{}:
			admitted = true
		case <-tick.C:
			wait()
		}
	}
	done := make(chan error, 1)
	go func() {
		done <- guard.Run(func() error {
			defer func() { <-running }()
			return guarded(call)
		})
	}()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			wait()
		}
	}
}

// boxesOf are the boxes of all segments.
func (w *Work) boxesOf(gs []geom.Geometry) []Box {
	var list []Box
	for _, g := range gs {
		for _, d := range g.Dump() {
			var lines []geom.LineString
			switch d.Type() {
			case geom.TypeLineString:
				lines = []geom.LineString{d.MustAsLineString()}
			case geom.TypePolygon:
				lines = d.MustAsPolygon().DumpRings()
			}
			for _, l := range lines {
				s := l.Coordinates()
				for i := 1; i < s.Length(); i++ {
					w.each(2)
					a, b := s.GetXY(i-1), s.GetXY(i)
					list = append(list, Box{Min: Point{min(a.X, b.X), min(a.Y, b.Y)}, Max: Point{max(a.X, b.X), max(a.Y, b.Y)}})
				}
			}
		}
	}
	return list
}

// meetings is ErrTooComplex if the boxes of more than most pairs of segments meet,
// besides those that follow one another.
func (w *Work) meetings(boxes []Box, most int) error {
	n := len(boxes)
	if n < most/n {
		return nil
	}
	most += 4 * n
	turned := make([]Box, n) // X and Y exchanged
	for i, b := range boxes {
		w.each(1)
		turned[i] = Box{Min: Point{b.Min.Y, b.Min.X}, Max: Point{b.Max.Y, b.Max.X}}
	}
	across, along := w.sweep(boxes), w.sweep(turned)
	if min(across, along) <= most {
		return nil
	}
	if along < across {
		boxes = turned
	}
	for i, b := range boxes {
		for k := i + 1; k < n && boxes[k].Min.X <= b.Max.X; k++ {
			w.did(1)
			if !b.disjoint(boxes[k]) {
				if most--; most < 0 {
					return ErrTooComplex
				}
			}
		}
	}
	return nil
}

// sweep sorts boxes by where they begin, and counts the pairs that have an X in common.
func (w *Work) sweep(boxes []Box) int {
	slices.SortFunc(boxes, func(a, b Box) int { w.did(1); return cmp.Compare(a.Min.X, b.Min.X) })
	pairs := 0
	for i, b := range boxes {
		w.each(5)
		end, _ := slices.BinarySearchFunc(boxes, b.Max.X, func(o Box, x float64) int {
			if o.Min.X <= x {
				return -1
			}
			return 1
		})
		pairs += end - i - 1
	}
	return pairs
}
