package geo

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// ParseWKT reads well-known text. Collections may be empty, other geometries
// may not; the points of a MULTIPOINT may be in parentheses. Errors: ErrInvalid, those of
// Count.
func ParseWKT(text []byte, o Options) (g Geometry, err error) {
	defer ended(&err)
	r := wktReader{s: text, o: o}
	g = r.geometry(0)
	r.space()
	if r.bad || r.pos < len(r.s) {
		return Geometry{}, ErrInvalid
	}
	return g, nil
}

type wktReader struct {
	s   []byte
	pos int
	o   Options
	bad bool
}

func (r *wktReader) space() {
	for r.pos < len(r.s) && bytes.IndexByte([]byte(" \t\r\n\v\f"), r.s[r.pos]) >= 0 {
		r.pos++
	}
}

// is takes c if it is next.
func (r *wktReader) is(c byte) bool {
	r.space()
	if r.pos < len(r.s) && r.s[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *wktReader) want(c byte) {
	if !r.is(c) {
		r.bad = true
	}
}

func (r *wktReader) word() string {
	r.space()
	start := r.pos
	for r.pos < len(r.s) && (r.s[r.pos]|0x20 >= 'a' && r.s[r.pos]|0x20 <= 'z' || r.s[r.pos] == '_') {
		r.pos++
	}
	return string(r.s[start:r.pos])
}

func (r *wktReader) number() float64 {
	r.space()
	start := r.pos
	for r.pos < len(r.s) && (r.s[r.pos] >= '0' && r.s[r.pos] <= '9' || bytes.IndexByte([]byte("+-.eE"), r.s[r.pos]) >= 0) {
		r.pos++
	}
	f, err := strconv.ParseFloat(string(r.s[start:r.pos]), 64)
	if err != nil && f == 0 || math.IsInf(f, 0) {
		r.bad = true
	}
	return f
}

func (r *wktReader) point() Point {
	r.o.Work.each(stepsOfText)
	x := r.number()
	// A blank parts the numbers.
	if r.pos >= len(r.s) || bytes.IndexByte([]byte(" \t\r\n\v\f"), r.s[r.pos]) < 0 {
		r.bad = true
	}
	y := r.number()
	if r.o.Swap {
		x, y = y, x
	}
	return Point{x, y}
}

// list reads (item, item, …).
func (r *wktReader) list(item func()) {
	r.want('(')
	r.items(item)
}

// items reads the rest of a list.
func (r *wktReader) items(item func()) {
	for !r.bad {
		if item(); r.bad || !r.is(',') {
			break
		}
	}
	r.want(')')
}

func (r *wktReader) points(low int) (out []Point) {
	r.list(func() { out = append(out, r.point()) })
	r.bad = r.bad || len(out) < low
	return out
}

func (r *wktReader) rings() (out [][]Point) {
	r.list(func() {
		ring := r.points(4)
		r.bad = r.bad || !isClosed(ring)
		out = append(out, ring)
	})
	return out
}

func (r *wktReader) geometry(depth int) Geometry {
	name := r.word()
	t, ok := TypeByName(name)
	if !ok || t == TypeGeometry || depth > MaxDepth {
		r.bad = true
		return Geometry{}
	}
	g := Geometry{Type: t}
	part := func(p Geometry) { g.Parts = append(g.Parts, p) }
	switch t {
	case TypePoint:
		r.want('(')
		g.Points = []Point{r.point()}
		r.want(')')
	case TypeLineString:
		g.Points = r.points(2)
	case TypePolygon:
		g.Rings = r.rings()
	case TypeMultiPoint:
		// Parentheses around all points or around none.
		first, wrapped := true, false
		r.list(func() {
			paren := r.is('(')
			if first {
				wrapped, first = paren, false
			}
			r.bad = r.bad || paren != wrapped
			part(NewPoint(r.point()))
			if paren {
				r.want(')')
			}
		})
	case TypeMultiLineString:
		r.list(func() { part(NewLine(r.points(2))) })
	case TypeMultiPolygon:
		r.list(func() { part(Geometry{Type: TypePolygon, Rings: r.rings()}) })
	case TypeCollection:
		at := r.pos
		if w := r.word(); strings.EqualFold(w, "empty") {
			return g
		}
		r.pos = at
		if r.want('('); !r.bad && !r.is(')') {
			r.items(func() { part(r.geometry(depth + 1)) })
		}
	}
	return g
}

// AppendWKT appends the text form as MySQL writes it.
func AppendWKT(dst []byte, g Geometry, o Options) []byte {
	name := g.Type.Name()
	if g.Type == TypeCollection {
		name = "GEOMETRYCOLLECTION"
	}
	dst = append(dst, name...)
	if g.Type == TypeCollection && len(g.Parts) == 0 {
		return append(dst, " EMPTY"...)
	}
	return appendBody(dst, g, o)
}

func appendBody(dst []byte, g Geometry, o Options) []byte {
	dst = append(dst, '(')
	switch g.Type {
	case TypePoint, TypeLineString:
		dst = appendPoints(dst, g.Points, o)
	case TypePolygon:
		for i, r := range g.Rings {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendPoints(append(dst, '('), r, o), ')')
		}
	default:
		for i, p := range g.Parts {
			if i > 0 {
				dst = append(dst, ',')
			}
			if g.Type == TypeCollection {
				dst = AppendWKT(dst, p, o)
			} else {
				dst = appendBody(dst, p, o)
			}
		}
	}
	return append(dst, ')')
}

func appendPoints(dst []byte, pts []Point, o Options) []byte {
	for i, p := range pts {
		if i > 0 {
			dst = append(dst, ',')
		}
		o.Work.each(stepsOfText)
		if o.Swap {
			p.X, p.Y = p.Y, p.X
		}
		dst = appendNumber(append(appendNumber(dst, p.X), ' '), p.Y)
	}
	return dst
}

// appendNumber is the shortest text of a coordinate: with an exponent where
// MySQL's my_gcvt takes one.
func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		if math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return append(dst, '0')
	}
	if abs := math.Abs(f); abs >= 1e-15 && abs < 1e15 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exp, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exp)
	return strconv.AppendInt(append(append(dst, mantissa...), 'e'), int64(n), 10)
}
