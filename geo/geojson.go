package geo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// GeoJSONError is what is wrong with a GeoJSON document.
type GeoJSONError struct {
	Kind GeoJSONFault
	// Member is the missing member or the one of a wrong type, which should
	// be Want.
	Member, Want string
	// Dims is the number of coordinates of a point.
	Dims int
}

// GeoJSONFault is the kind of a GeoJSONError.
type GeoJSONFault uint8

// The faults.
const (
	BadGeoJSON GeoJSONFault = iota
	MissingMember
	WrongMemberType
	TooManyDimensions
	CRSNotTopLevel
)

// Error implements error.
func (e *GeoJSONError) Error() string {
	return fmt.Sprintf("GeoJSON: fault %d, member %q", e.Kind, e.Member)
}

// GeoJSON is a read document.
type GeoJSON struct {
	Geometry
	// Null: the document has no geometry.
	Null bool
	// SRID of the document's crs member, if HasSRID.
	SRID    uint32
	HasSRID bool
}

// ParseGeoJSON reads a geometry, a feature or a collection of features. The
// first coordinate is X. Points of more than two coordinates are refused
// unless strip is set. A call that Count ends goes on by itself: text does not change.
// Errors: *GeoJSONError, those of Count.
func ParseGeoJSON(w *Work, text []byte, strip bool) (out GeoJSON, err error) {
	if w == nil || len(text) < longGeoJSON {
		return parseGeoJSON(text, strip)
	}
	defer ended(&err)
	type result struct {
		out GeoJSON
		err error
	}
	parsed := make(chan result, 1)
	err = w.aside(func() error {
		out, err := parseGeoJSON(text, strip)
		parsed <- result{out, err}
		return nil
	})
	if err != nil {
		return GeoJSON{}, &GeoJSONError{}
	}
	r := <-parsed
	return r.out, r.err
}

// longGeoJSON is the length from which on the parser of JSON, which knows no end, runs in a
// goroutine of its own.
const longGeoJSON = 256 << 10

func parseGeoJSON(text []byte, strip bool) (GeoJSON, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return GeoJSON{}, &GeoJSONError{}
	}
	r := jsonReader{strip: strip}
	g, null := r.object(v, 0)
	if r.err != nil {
		return GeoJSON{}, r.err
	}
	r.out.Geometry, r.out.Null = g, null
	return r.out, nil
}

type jsonReader struct {
	strip bool
	out   GeoJSON
	err   error
}

func (r *jsonReader) fail(e *GeoJSONError) {
	if r.err == nil {
		r.err = e
	}
}

// member finds a member of a type: "string", "array" or "object".
func (r *jsonReader) member(m map[string]any, name, want string) any {
	v, ok := m[name]
	if !ok {
		r.fail(&GeoJSONError{Kind: MissingMember, Member: name})
		return nil
	}
	switch v.(type) {
	case string:
		ok = want == "string"
	case []any:
		ok = want == "array"
	case map[string]any:
		ok = want == "object"
	default:
		ok = false
	}
	if !ok {
		r.fail(&GeoJSONError{Kind: WrongMemberType, Member: name, Want: want})
	}
	return v
}

func (r *jsonReader) object(v any, depth int) (g Geometry, null bool) {
	if v == nil {
		return g, true
	}
	m, ok := v.(map[string]any)
	if !ok || depth > MaxDepth {
		r.fail(&GeoJSONError{})
		return g, false
	}
	if crs, has := m["crs"]; has {
		if depth > 0 {
			r.fail(&GeoJSONError{Kind: CRSNotTopLevel})
		} else {
			r.crs(crs)
		}
	}
	kind, _ := r.member(m, "type", "string").(string)
	if r.err != nil {
		return g, false
	}
	switch strings.ToLower(kind) {
	case "feature":
		f, has := m["geometry"]
		if !has {
			r.fail(&GeoJSONError{Kind: MissingMember, Member: "geometry"})
			return g, false
		}
		if _, isObject := f.(map[string]any); !isObject && f != nil {
			r.fail(&GeoJSONError{Kind: WrongMemberType, Member: "geometry", Want: "object"})
			return g, false
		}
		return r.object(f, depth+1)
	case "featurecollection":
		list, _ := r.member(m, "features", "array").([]any)
		return r.collection(list, depth), false
	case "geometrycollection":
		list, _ := r.member(m, "geometries", "array").([]any)
		return r.collection(list, depth), false
	}
	t, known := TypeByName(kind)
	if !known || t == TypeGeometry || t == TypeCollection {
		r.fail(&GeoJSONError{})
		return g, false
	}
	list, _ := r.member(m, "coordinates", "array").([]any)
	if r.err != nil {
		return g, false
	}
	return r.coordinates(t, list), false
}

func (r *jsonReader) collection(list []any, depth int) Geometry {
	g := Geometry{Type: TypeCollection}
	for _, v := range list {
		if p, null := r.object(v, depth+1); !null {
			g.Parts = append(g.Parts, p)
		}
	}
	return g
}

func (r *jsonReader) coordinates(t Type, list []any) Geometry {
	g := Geometry{Type: t}
	switch t {
	case TypePoint:
		g.Points = []Point{r.point(list)}
	case TypeLineString:
		g.Points = r.points(list, 2)
	case TypePolygon:
		for _, v := range r.nonEmpty(list) {
			ring := r.points(r.array(v), 4)
			if r.err == nil && !isClosed(ring) {
				r.fail(&GeoJSONError{})
			}
			g.Rings = append(g.Rings, ring)
		}
	default:
		for _, v := range r.nonEmpty(list) {
			g.Parts = append(g.Parts, r.coordinates(t.part(), r.array(v)))
		}
	}
	return g
}

func (r *jsonReader) array(v any) []any {
	list, ok := v.([]any)
	if !ok {
		r.fail(&GeoJSONError{})
	}
	return list
}

func (r *jsonReader) nonEmpty(list []any) []any {
	if len(list) == 0 {
		r.fail(&GeoJSONError{})
	}
	return list
}

func (r *jsonReader) points(list []any, low int) []Point {
	if len(list) < low {
		r.fail(&GeoJSONError{})
	}
	var out []Point
	for _, v := range list {
		out = append(out, r.point(r.array(v)))
	}
	return out
}

func (r *jsonReader) point(list []any) Point {
	var c [2]float64
	switch {
	case len(list) < 2:
		r.fail(&GeoJSONError{})
		return Point{}
	case len(list) > 2 && !r.strip:
		r.fail(&GeoJSONError{Kind: TooManyDimensions, Dims: len(list)})
	}
	for i, v := range list {
		n, ok := v.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil || math.IsInf(f, 0) {
			r.fail(&GeoJSONError{Kind: WrongMemberType, Member: "coordinates", Want: "array of numbers"})
			return Point{}
		}
		if i < 2 {
			c[i] = f
		}
	}
	return Point{c[0], c[1]}
}

// crs reads a named reference system.
func (r *jsonReader) crs(v any) {
	if v == nil {
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		r.fail(&GeoJSONError{Kind: WrongMemberType, Member: "crs", Want: "object"})
		return
	}
	kind, _ := r.member(m, "type", "string").(string)
	props, _ := r.member(m, "properties", "object").(map[string]any)
	if r.err != nil {
		return
	}
	if !strings.EqualFold(kind, "name") {
		r.fail(&GeoJSONError{})
		return
	}
	name, _ := r.member(props, "name", "string").(string)
	if r.err != nil {
		return
	}
	if strings.EqualFold(name, "urn:ogc:def:crs:OGC:1.3:CRS84") {
		r.out.SRID, r.out.HasSRID = 4326, true
		return
	}
	for _, prefix := range []string{"urn:ogc:def:crs:EPSG::", "EPSG:"} {
		if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			if id, err := strconv.ParseUint(name[len(prefix):], 10, 32); err == nil && id > 0 {
				r.out.SRID, r.out.HasSRID = uint32(id), true
				return
			}
		}
	}
	r.fail(&GeoJSONError{})
}

// GeoJSONOptions are the options of AppendGeoJSON.
type GeoJSONOptions struct {
	// Digits is how many digits after the point coordinates have at most.
	Digits int
	// Bounds adds a bounding box, ShortCRS and LongCRS the system's name.
	Bounds, ShortCRS, LongCRS bool
	// Work counts the points, as in Options.
	Work *Work
}

// AppendGeoJSON appends v as a GeoJSON geometry, X first.
func AppendGeoJSON(dst []byte, v Value, o GeoJSONOptions) []byte {
	crs := ""
	switch {
	case v.SRID == 0:
	case o.LongCRS:
		crs = "urn:ogc:def:crs:EPSG::"
	case o.ShortCRS:
		crs = "EPSG:"
	}
	if crs == "" {
		return o.object(dst, v.Geometry, "")
	}
	return o.object(dst, v.Geometry, fmt.Sprintf(`"crs":{"type":"name","properties":{"name":"%s%d"}},`, crs, v.SRID))
}

var geoJSONNames = map[Type]string{TypePoint: "Point", TypeLineString: "LineString", TypePolygon: "Polygon", TypeMultiPoint: "MultiPoint",
	TypeMultiLineString: "MultiLineString", TypeMultiPolygon: "MultiPolygon", TypeCollection: "GeometryCollection"}

func (o GeoJSONOptions) object(dst []byte, g Geometry, head string) []byte {
	dst = append(append(dst, '{'), head...)
	if b, ok := g.Bounds(); ok && o.Bounds {
		dst = append(dst, `"bbox":[`...)
		dst = append(o.pair(append(o.pair(dst, b.Min), ','), b.Max), `],`...)
	}
	dst = append(append(append(dst, `"type":"`...), geoJSONNames[g.Type]...), '"')
	if g.Type != TypeCollection {
		return append(o.coordinates(append(dst, `,"coordinates":`...), g), '}')
	}
	dst = append(dst, `,"geometries":[`...)
	for i, p := range g.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = o.object(dst, p, "")
	}
	return append(dst, `]}`...)
}

func (o GeoJSONOptions) coordinates(dst []byte, g Geometry) []byte {
	if g.Type == TypePoint {
		return append(o.pair(append(dst, '['), g.Points[0]), ']')
	}
	dst = append(dst, '[')
	comma := func(i int) {
		if i > 0 {
			dst = append(dst, ',')
		}
	}
	for i, p := range g.Points {
		comma(i)
		dst = append(o.pair(append(dst, '['), p), ']')
	}
	for i, r := range g.Rings {
		comma(i)
		dst = o.coordinates(dst, NewLine(r))
	}
	for i, p := range g.Parts {
		comma(i)
		dst = o.coordinates(dst, p)
	}
	return append(dst, ']')
}

func (o GeoJSONOptions) pair(dst []byte, p Point) []byte {
	o.Work.each(stepsOfText)
	return o.number(append(o.number(dst, p.X), ','), p.Y)
}

// number is a double, also where it has no fraction.
func (o GeoJSONOptions) number(dst []byte, f float64) []byte {
	if o.Digits < 308 && math.Abs(f) < 1e15 {
		if t := strconv.FormatFloat(f, 'f', min(o.Digits, 40), 64); o.Digits < 17 || f == 0 || math.Abs(f) < 1e-15 {
			f, _ = strconv.ParseFloat(t, 64)
		}
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return append(strconv.AppendInt(dst, int64(f), 10), ".0"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
