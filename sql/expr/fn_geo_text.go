package expr

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// geoTextDefs read and write geometries: text, binary, GeoJSON, geohash.
func geoTextDefs() []entry {
	list := []entry{
		fn("st_astext st_aswkt", "g?s", retGeoText, rowAsText, 0),
		fn("st_aswkb st_asbinary", "g?s", retGeoBlob, rowAsBinary, 0),
		fn("st_asgeojson", "g?ii", retJSON, rowAsGeoJSON, nullable),
		fn("st_geomfromgeojson", "j?ii", retGeometry, rowGeomFromGeoJSON, nullable),
		special("st_geohash", bindGeohash, def{b: Builtin{Row: rowGeohash, impl: impl{strict: true}}}),
		geohashDef("st_latfromgeohash", retDouble, rowGeohashPart(false), 1),
		geohashDef("st_longfromgeohash", retDouble, rowGeohashPart(true), 1),
		geohashDef("st_pointfromgeohash", retGeometryOf(geo.TypePoint), rowPointFromGeohash, 2),
	}
	for _, r := range []struct {
		t           geo.Type
		text, bytes string
	}{
		{geo.TypeGeometry, "st_geomfromtext st_geometryfromtext", "st_geomfromwkb st_geometryfromwkb"},
		{geo.TypePoint, "st_pointfromtext", "st_pointfromwkb"},
		{geo.TypeLineString, "st_linefromtext st_linestringfromtext", "st_linefromwkb st_linestringfromwkb"},
		{geo.TypePolygon, "st_polyfromtext st_polygonfromtext", "st_polyfromwkb st_polygonfromwkb"},
		{geo.TypeMultiPoint, "st_mpointfromtext st_multipointfromtext", "st_mpointfromwkb st_multipointfromwkb"},
		{geo.TypeMultiLineString, "st_mlinefromtext st_multilinestringfromtext", "st_mlinefromwkb st_multilinestringfromwkb"},
		{geo.TypeMultiPolygon, "st_mpolyfromtext st_multipolygonfromtext", "st_mpolyfromwkb st_multipolygonfromwkb"},
		{geo.TypeCollection, "st_geomcollfromtext st_geometrycollectionfromtext st_geomcollfromtxt", "st_geomcollfromwkb st_geometrycollectionfromwkb"},
	} {
		ret := typeFunc(retGeometry)
		if r.t != geo.TypeGeometry {
			ret = retGeometryOf(r.t)
		}
		list = append(list, fn(r.text, "s?is", ret, rowFromText(r.t), 0), fn(r.bytes, "g?is", ret, rowFromBinary(r.t), 0))
	}
	return list
}

func retGeoText(b *binding) (schema.Type, error) {
	return schema.Type{ID: schema.TypeLongText, Len: schema.UnspecifiedLength, Collation: b.env.collation()}, nil
}

func retGeoBlob(*binding) (schema.Type, error) {
	return schema.Type{ID: schema.TypeLongBlob, Len: schema.UnspecifiedLength, Collation: schema.CollationBinary}, nil
}

// axisOrder reads the options argument of the text and binary functions: a
// list of key=value pairs, of which axis-order is the only one.
func axisOrder(f *Func, options string, s *geo.SRS) (geo.Options, error) {
	o := geo.Options{Swap: s.Swap()}
	if options == "" {
		return o, nil
	}
	isWord := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
	if c := options[0]; !isWord(c) && c != ' ' {
		return o, sqlerr.InvalidOptionStart(f.Name, c)
	}
	if c := options[len(options)-1]; !isWord(c) && c != ' ' {
		return o, sqlerr.InvalidOptionEnd(f.Name, c)
	}
	seen := false
	for _, pair := range strings.Split(options, ",") {
		key, val, ok := strings.Cut(pair, "=")
		key, val = strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(val))
		switch {
		case !ok || key == "" || val == "" || strings.Contains(val, "="):
			return o, sqlerr.InvalidOptionPair(strings.TrimSpace(pair), f.Name)
		case key != "axis-order":
			return o, sqlerr.InvalidOptionKey(key, f.Name)
		case seen:
			return o, sqlerr.DuplicateOptionKey(key, f.Name)
		}
		seen = true
		geographic := s.IsGeographic()
		switch val {
		case "lat-long":
			o.Swap = geographic
		case "long-lat":
			o.Swap = false
		case "srid-defined":
		default:
			return o, sqlerr.InvalidOptionValue(val, key, f.Name)
		}
	}
	return o, nil
}

// readArgs are the SRID and the options that follow a text or binary argument.
func readArgs(f *Func, a []value.Datum) (srid uint32, s *geo.SRS, o geo.Options, err error) {
	if len(a) > 1 {
		if srid, s, err = sridArg(f, a[1]); err != nil {
			return
		}
	}
	o.Swap = s.Swap()
	if len(a) > 2 {
		o, err = axisOrder(f, a[2].Str(), s)
	}
	return
}

// onGlobe is 3616 or 3617 for a new geometry with points that are not.
func onGlobe(f *Func, s *geo.SRS, g geo.Geometry) error {
	if !s.IsGeographic() {
		return nil
	}
	if p, lon, bad := geo.OutOfRange(g); bad && lon {
		return sqlerr.LongitudeOutOfRange(p.X, f.Name)
	} else if bad {
		return sqlerr.LatitudeOutOfRange(p.Y, f.Name)
	}
	return nil
}

// fits reports that a function for geometries of type want takes got; those for
// collections take multi-geometries too.
func fits(want, got geo.Type) bool {
	return want == geo.TypeGeometry || want == got || want == geo.TypeCollection && got >= geo.TypeMultiPoint
}

func rowFromText(want geo.Type) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		srid, s, o, err := readArgs(f, a)
		if err != nil {
			return value.Null, err
		}
		o.Work = c.geoWork()
		g, err := geo.ParseWKT(a[0].Bytes(), o)
		if err != nil {
			return value.Null, invalidGeometry(f, err)
		}
		if !fits(want, g.Type) {
			return value.Null, sqlerr.UnexpectedGeometryType("WKT", g.Type.Name(), f.Name)
		}
		if err := onGlobe(f, s, g); err != nil {
			return value.Null, err
		}
		return geoDatum(srid, g), nil
	}
}

func rowFromBinary(want geo.Type) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		srid, s, o, err := readArgs(f, a)
		if err != nil {
			return value.Null, err
		}
		o.Work = c.geoWork()
		g, err := geo.ParseWKB(a[0].Bytes(), o)
		if err != nil {
			return value.Null, invalidGeometry(f, err)
		}
		if !fits(want, g.Type) {
			return value.Null, sqlerr.UnexpectedGeometryType("WKB", g.Type.Name(), f.Name)
		}
		if err := onGlobe(f, s, g); err != nil {
			return value.Null, err
		}
		return geoDatum(srid, g), nil
	}
}

// writeArgs are a geometry and the options that follow it.
func writeArgs(c *Ctx, f *Func, a []value.Datum) (geo.Value, geo.Options, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return v, geo.Options{}, err
	}
	if len(a) > 1 {
		o, err := axisOrder(f, a[1].Str(), s)
		o.Work = c.geoWork()
		return v, o, err
	}
	return v, geo.Options{Swap: s.Swap(), Work: c.geoWork()}, nil
}

func rowAsText(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, o, err := writeArgs(c, f, a)
	if err != nil {
		return value.Null, err
	}
	var text []byte
	err = o.Work.Until(func() { text = geo.AppendWKT(nil, v.Geometry, o) })
	return value.Bytes(text), err
}

func rowAsBinary(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, o, err := writeArgs(c, f, a)
	if err != nil {
		return value.Null, err
	}
	var b []byte
	err = o.Work.Until(func() { b = geo.AppendWKB(nil, v.Geometry, o) })
	return value.Bytes(b), err
}

func rowAsGeoJSON(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, _, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	o := geo.GeoJSONOptions{Digits: math.MaxInt32, Work: c.geoWork()}
	if len(a) > 1 {
		n := asInt(a[1])
		if n < 0 || n > math.MaxInt32 {
			return value.Null, sqlerr.WrongValueForType("max decimal digits", strconv.FormatInt(n, 10), f.Name)
		}
		o.Digits = int(n)
	}
	if len(a) > 2 {
		n := asInt(a[2])
		if n < 0 || n > 7 {
			return value.Null, sqlerr.WrongValueForType("options", strconv.FormatInt(n, 10), f.Name)
		}
		o.Bounds, o.ShortCRS, o.LongCRS = n&1 != 0, n&2 != 0, n&4 != 0
	}
	var text []byte
	if err := o.Work.Until(func() { text = geo.AppendGeoJSON(nil, v, o) }); err != nil {
		return value.Null, err
	}
	doc, err := value.ParseJSONWith(text, c.Work)
	var syntax *value.JSONSyntaxError
	if errors.As(err, &syntax) || errors.Is(err, value.ErrJSONDepth) || errors.Is(err, value.ErrJSONSize) {
		err = sqlerr.InvalidGISData(f.Name)
	}
	return value.JSONOf(doc), err
}

func rowGeomFromGeoJSON(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	strip := false
	if len(a) > 1 {
		n := asInt(a[1])
		if n < 1 || n > 4 {
			return value.Null, sqlerr.WrongValueForType("options", strconv.FormatInt(n, 10), f.Name)
		}
		strip = n > 1
	}
	text, err := value.AppendJSONTextUntil(nil, a[0].Bytes(), c.Work)
	if err != nil {
		return value.Null, err
	}
	doc, err := geo.ParseGeoJSON(c.geoWork(), text, strip)
	var fault *geo.GeoJSONError
	if errors.As(err, &fault) {
		return value.Null, geoJSONError(f, fault)
	}
	if doc.Null {
		return value.Null, nil
	}
	srid := uint32(4326)
	if doc.HasSRID {
		srid = doc.SRID
	}
	if len(a) > 2 {
		if srid, _, err = sridArg(f, a[2]); err != nil {
			return value.Null, err
		}
	}
	s, ok := geo.Lookup(srid)
	if !ok {
		return value.Null, sqlerr.SRSNotFound(srid)
	}
	if err := onGlobe(f, s, doc.Geometry); err != nil {
		return value.Null, err
	}
	return geoDatum(srid, doc.Geometry), nil
}

func geoJSONError(f *Func, e *geo.GeoJSONError) error {
	switch e.Kind {
	case geo.MissingMember:
		return sqlerr.GeoJSONMissingMember(f.Name, e.Member)
	case geo.WrongMemberType:
		return sqlerr.GeoJSONWrongType(f.Name, e.Member, e.Want)
	case geo.TooManyDimensions:
		return sqlerr.UnsupportedDimensions(f.Name, e.Dims, 2)
	case geo.CRSNotTopLevel:
		return sqlerr.GeoJSONCRSNotTopLevel(f.Name)
	}
	return sqlerr.InvalidGeoJSON(f.Name)
}

// geohashDef is a function of a geohash, which must be text: 3064.
func geohashDef(name string, ret typeFunc, row rowFunc, args int) entry {
	sig := "s"
	if args == 2 {
		sig = "si"
	}
	e := fn(name, sig, ret, row, 0)
	plain := *e.d
	e.d.custom = func(d *def, env *BindEnv, name string, list []Expr) (Expr, error) {
		if len(list) == args {
			if t := list[0].Type(); t.ID != schema.TypeNull && !t.IsCharacter() {
				return nil, sqlerr.IncorrectType("geohash", strings.ToUpper(name))
			}
		}
		common := plain
		common.b = d.b
		return common.bind(env, name, list)
	}
	return e
}

// bindGeohash takes (longitude, latitude, length) or (point, length).
func bindGeohash(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 && len(args) != 3 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	sig := "gi"
	if len(args) == 3 {
		sig = "ffi"
	}
	list := make([]Expr, len(args))
	null := false
	for i, a := range args {
		x, err := convertArg(env, sig[i], a)
		if err != nil {
			return nil, err
		}
		list[i] = x
		null = null || x.Nullable()
	}
	return d.call(name, list, textType(100, env.collation()), null, nil), nil
}

func rowGeohash(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	var lon, lat float64
	if len(a) == 3 {
		lon, lat = a[0].Float(), a[1].Float()
		if !(lon >= -180 && lon <= 180) {
			return value.Null, sqlerr.WrongValueForType("longitude", formatCoordinate(lon), strings.ToUpper(f.Name))
		}
		if !(lat >= -90 && lat <= 90) {
			return value.Null, sqlerr.WrongValueForType("latitude", formatCoordinate(lat), strings.ToUpper(f.Name))
		}
	} else {
		v, _, err := geoArg(c, f, a[0])
		if err != nil {
			return value.Null, err
		}
		if v.Type != geo.TypePoint {
			return value.Null, sqlerr.UnexpectedGeometryType("POINT", v.Type.Name(), f.Name)
		}
		if v.SRID != 0 && v.SRID != 4326 {
			return value.Null, sqlerr.OnlySRID0And4326(f.Name)
		}
		lon, lat = v.Points[0].X, v.Points[0].Y
		if lon < -180 || lon > 180 {
			return value.Null, sqlerr.GeometryLongitudeOutOfRange(f.Name, lon)
		}
		if lat < -90 || lat > 90 {
			return value.Null, sqlerr.GeometryLatitudeOutOfRange(f.Name, lat)
		}
	}
	n := asInt(a[len(a)-1])
	if n < 1 || n > 100 {
		return value.Null, sqlerr.WrongValueForType("max geohash length", strconv.FormatInt(n, 10), strings.ToUpper(f.Name))
	}
	return value.String(geo.Geohash(lon, lat, int(n))), nil
}

func formatCoordinate(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

func parseGeohash(f *Func, d value.Datum) (lon, lat float64, err error) {
	lon, lat, ok := geo.ParseGeohash(d.Str())
	if !ok {
		return 0, 0, sqlerr.WrongValueForType("geohash", d.Str(), strings.ToUpper(f.Name))
	}
	return lon + 0, lat + 0, nil
}

func rowGeohashPart(lon bool) rowFunc {
	return func(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		x, y, err := parseGeohash(f, a[0])
		if !lon {
			x = y
		}
		if x == 0 {
			x = 0 // no negative zero
		}
		return value.Float(x), err
	}
}

func rowPointFromGeohash(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x, y, err := parseGeohash(f, a[0])
	if err != nil {
		return value.Null, err
	}
	srid, _, err := sridArg(f, a[1])
	if err != nil {
		return value.Null, err
	}
	if srid != 0 && srid != 4326 {
		return value.Null, sqlerr.OnlySRID0And4326(f.Name)
	}
	return geoDatum(srid, geo.NewPoint(geo.Point{X: x, Y: y})), nil
}
