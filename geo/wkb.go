package geo

import (
	"encoding/binary"
	"math"
)

// Options of reading and writing.
type Options struct {
	// Swap exchanges the coordinates: for systems whose first axis is the
	// latitude.
	Swap bool
	// Work counts the points. Functions with an error return that of Count; others are
	// called within Until.
	Work *Work
}

// Decode reads the stored form. Errors: ErrInvalid.
func Decode(b []byte) (Value, error) { return DecodeUntil(nil, b) }

// DecodeUntil is Decode with its work counted. Errors: ErrInvalid, those of Count.
func DecodeUntil(w *Work, b []byte) (Value, error) {
	if len(b) < 4 {
		return Value{}, ErrInvalid
	}
	if len(b) > 4 && b[4] != 1 {
		return Value{}, ErrInvalid
	}
	g, err := ParseWKB(b[4:], Options{Work: w})
	return Value{SRID: binary.LittleEndian.Uint32(b), Geometry: g}, err
}

// SRIDOf is the SRID of a stored value; Decode says whether it is one.
func SRIDOf(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

// TypeOf is the type of a stored value; false if b is too short.
func TypeOf(b []byte) (Type, bool) {
	if len(b) < 9 || b[4] != 1 {
		return 0, false
	}
	t := binary.LittleEndian.Uint32(b[5:])
	return Type(t), t >= 1 && t <= uint32(TypeCollection)
}

// Encode is the stored form.
func (v Value) Encode() []byte {
	return AppendWKB(binary.LittleEndian.AppendUint32(make([]byte, 0, 16+16*v.NumPoints()), v.SRID), v.Geometry, Options{})
}

// AppendWKB appends the well-known binary form, little endian.
func AppendWKB(dst []byte, g Geometry, o Options) []byte {
	dst = binary.LittleEndian.AppendUint32(append(dst, 1), uint32(g.Type))
	points := func(pts []Point) {
		for _, p := range pts {
			o.Work.each(1)
			if o.Swap {
				p.X, p.Y = p.Y, p.X
			}
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.X))
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.Y))
		}
	}
	switch g.Type {
	case TypePoint:
		points(g.Points)
	case TypeLineString:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(g.Points)))
		points(g.Points)
	case TypePolygon:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(g.Rings)))
		for _, r := range g.Rings {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r)))
			points(r)
		}
	default:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(g.Parts)))
		for _, p := range g.Parts {
			dst = AppendWKB(dst, p, o)
		}
	}
	return dst
}

// ParseWKB reads well-known binary of either byte order; nothing may follow.
// Coordinates must be finite, rings closed and of four points or more, lines
// of two. Errors: ErrInvalid, those of Count.
func ParseWKB(b []byte, o Options) (g Geometry, err error) {
	defer ended(&err)
	r := wkbReader{b: b, o: o}
	g = r.geometry(TypeGeometry, 0)
	if r.bad || len(r.b) > 0 {
		return Geometry{}, ErrInvalid
	}
	return g, nil
}

type wkbReader struct {
	b   []byte
	o   Options
	big bool
	bad bool
}

func (r *wkbReader) u32() uint32 {
	if len(r.b) < 4 {
		r.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	if r.big {
		v = binary.BigEndian.Uint32(r.b)
	}
	r.b = r.b[4:]
	return v
}

// count reads a number of things of at least size bytes each, of which there
// must be low.
func (r *wkbReader) count(low, size int) int {
	n := r.u32()
	if r.bad || int64(n)*int64(size) > int64(len(r.b)) || int(n) < low {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *wkbReader) point() Point {
	if len(r.b) < 16 {
		r.bad = true
		return Point{}
	}
	x, y := binary.LittleEndian.Uint64(r.b), binary.LittleEndian.Uint64(r.b[8:])
	if r.big {
		x, y = binary.BigEndian.Uint64(r.b), binary.BigEndian.Uint64(r.b[8:])
	}
	r.b = r.b[16:]
	r.o.Work.each(1)
	p := Point{math.Float64frombits(x), math.Float64frombits(y)}
	if r.o.Swap {
		p.X, p.Y = p.Y, p.X
	}
	r.bad = r.bad || !finite(p)
	return p
}

func (r *wkbReader) points(low int) []Point {
	out := make([]Point, r.count(low, 16))
	for i := range out {
		out[i] = r.point()
	}
	return out
}

func (r *wkbReader) geometry(want Type, depth int) Geometry {
	if len(r.b) < 5 || r.b[0] > 1 || depth > MaxDepth {
		r.bad = true
		return Geometry{}
	}
	r.big = r.b[0] == 0
	r.b = r.b[1:]
	r.o.Work.each(10) // it takes memory
	t := r.u32()
	if t < uint32(TypePoint) || t > uint32(TypeCollection) || want != TypeGeometry && Type(t) != want {
		r.bad = true
		return Geometry{}
	}
	g := Geometry{Type: Type(t)}
	switch g.Type {
	case TypePoint:
		g.Points = []Point{r.point()}
	case TypeLineString:
		g.Points = r.points(2)
	case TypePolygon:
		for n := r.count(1, 4); n > 0 && !r.bad; n-- {
			ring := r.points(4)
			if r.bad = r.bad || !isClosed(ring); !r.bad {
				g.Rings = append(g.Rings, ring)
			}
		}
	default:
		low := 1
		if g.Type == TypeCollection {
			low = 0
		}
		for n := r.count(low, 9); n > 0 && !r.bad; n-- {
			g.Parts = append(g.Parts, r.geometry(g.Type.part(), depth+1))
		}
	}
	return g
}
