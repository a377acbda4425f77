package expr

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

const recordedFile = "testdata/recorded.txt"

// recordedCalls of each function; two digits for each are recorded.
const recordedCalls = 80

// TestRecorded compares what each function gives for arguments of all types with
// recorded digests, one line for a function. Whether that is right is for the tests of
// test/diff, which ask MariaDB; this test finds changes, and is fast. Look at the calls
// that it names, then write the digests with -update.
func TestRecorded(t *testing.T) {
	r := newCallRecorder()
	r.t = t
	var got strings.Builder
	var calls [][]string
	for i, f := range r.forms() {
		if i%testflag.InShort(4, 1) != 0 {
			calls = append(calls, nil)
			got.WriteString(testflag.LeftOut + "\n")
			continue
		}
		texts := r.calls(f)
		calls = append(calls, texts)
		got.WriteString(f.name + "  " + testutil.Digests(texts) + "\n")
	}
	testflag.GoldenOf(t, recordedFile, got.String(), func(line int, want string) string {
		if line >= len(calls) {
			return ""
		}
		_, digests, _ := strings.Cut(want, "  ")
		return testutil.Differing(digests, calls[line])
	})
}

// form makes calls of one kind.
type form struct {
	name string
	make func(args []Expr) (Expr, error)
}

// callRecorder draws arguments.
type callRecorder struct {
	t     *testing.T
	r     *rand.Rand
	pools []pool
}

// pool is values of one type. of says which functions take most of their arguments
// from it, by the beginnings of their names: "st_x@1" for the argument 1 of those that
// begin with st_x, @2 also for those after it.
type pool struct {
	t    schema.Type
	of   []string
	vals []value.Datum
}

func newCallRecorder() *callRecorder {
	r := &callRecorder{}
	ts, vals := twinColumns()
	for i, t := range ts {
		r.pools = append(r.pools, pool{t: t, vals: vals[i]})
	}
	coll := schema.CollationUTF8MB40900AICI
	text := func(of string, list ...string) {
		p := pool{t: textType(60, coll), of: strings.Fields(of)}
		for _, s := range list {
			p.vals = append(p.vals, value.String(s))
		}
		r.pools = append(r.pools, p)
	}
	docs := []string{`{"a": 1, "b": [1, {"c": "x"}, null], "d": {"e": 1.5}}`, `[1, 2.50, "3", true, null, {"a": "b"}]`, `"text"`, `17`, `null`, `[]`, `{}`, `[[1, 2], [3, 4]]`, `{"type": "object", "required": ["a"], "properties": {"a": {"type": "number", "maximum": 3}}}`}
	text("json@0 -> json_mer", docs...)
	text("json_@1 json_@2 ->@1", "$", "$.a", "$.b[1].c", "$[0]", "$**.c", "$.b[last]", "$[1]", "$[5]", "$.x", "$.d.e", "$[last-1]", "$[0][1]")
	text("json_extract@1 json_ex@2 json_length@1", "$[1 to 2]", "$.*", "$[*].a", "$.d.*")
	text("json_search@1 json_contains_p@1", "one", "all", "x")
	text("json_search@2 json_array json_object json_set json_insert json_re json_quote", "a", "x", "text", "%", "_")
	shapes := []string{"POINT(1 2)", "POINT(0.5 0.5)", "LINESTRING(0 0, 1 1, 2 0)", "LINESTRING(0 1, 1 0)", "POLYGON((0 0, 0 2, 2 2, 2 0, 0 0))", "POLYGON((0 0, 0 4, 4 4, 4 0, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))", "MULTIPOINT((0 0), (1 1))", "MULTILINESTRING((0 0, 1 1), (5 5, 6 6, 7 5))",
		"MULTIPOLYGON(((0 0, 0 1, 1 1, 1 0, 0 0)), ((2 2, 2 3, 3 3, 3 2, 2 2)))", "GEOMETRYCOLLECTION EMPTY", "GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 2 2))"}
	text("st_geomfromtext@0 st_geomc@0 st_geometry@0", append([]string{"POINT(1)", "POINT(91 181)"}, shapes...)...)
	for _, of := range []struct {
		names  string
		shapes []string
	}{{"st_line@0 st_linestring@0", shapes[2:4]}, {"st_poly@0", shapes[4:6]}, {"st_pointfromt@0", shapes[:2]}, {"st_mp@0 st_multip@0", shapes[6:7]}, {"st_ml@0 st_multil@0", shapes[7:8]}, {"st_mpol@0 st_multipol@0", shapes[8:9]}} {
		text(of.names, of.shapes...)
	}
	text("st_pointfromg@0 st_lat st_long", "u4pruydq", "s000", "zzzzzzzzzzzz", "a")
	text("st_geomfromgeojson@0", `{"type": "Point", "coordinates": [1, 2]}`, `{"type": "LineString", "coordinates": [[1, 2], [3, 4, 5]]}`, `{"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}, "properties": null}`, `{"type": "Nothing"}`)
	text("date time to_ unix day hour sec min month year week add sub extract convert_tz@0 last_day period micro quarter", "2024-02-29", "2023-12-31 23:59:59.999999", "0000-00-00", "10:11:12.5", "-838:59:59", "20240229101112", "2024-13-01", "1:2", "99", "2024-1-5T3:4:5")
	text("date_format@1 time_format@1 from_unix@1 str_to@1", "%Y-%m-%d %H:%i:%s.%f", "%W %M %e %y %j", "%d.%m.%Y", "%x-%v %a %b %D %h %p", "%U %u %V %X %c %k %l %r %T %S %w %%", "%Y%m%d", "%H:%i")
	text("str_to@0", "2024-02-29 10:11:12.5", "29.02.2024", "20240229", "Thursday February 29 24 60", "10:11", "Feb 3", "x")
	text("convert_tz@1", "+01:00", "-11:30", "SYSTEM", "+00:00", "nowhere")
	text("get_format@0", "date", "time", "datetime", "EUR")
	text("get_format@1", "EUR", "ISO", "USA", "JIS", "INTERNAL", "x")
	text("inet is_ip", "::1", "10.0.0.1", "fe80::1:2", "::ffff:1.2.3.4", "1.2", "256.1.1.1")
	text("uuid is_uuid", "6ccd780c-baba-1026-9564-5b8c656024db", "{6CCD780C-BABA-1026-9564-5B8C656024DB}", "6ccd780cbaba102695645b8c656024db", "x")
	text("regexp@0 rlike@0 like@0", "", "abc", "aXbXc", "foo bar", "äß", "a\nb")
	text("regexp@1 rlike@1 like@1", "b", "^a.*c$", "[[:alpha:]]+", "(a|b)c?", "x|", "o.b", "_b%", "(")
	text("statement", "SELECT 1", "SELECT a FROM t WHERE b IN (1, 2)", "SELECT")
	text("extractv@0 updatexml@0", "<a><b x='1'>t</b><b>u</b></a>", "<a>", "text")
	text("extractv@1 updatexml@1", "/a/b", "//b/@x", "count(//b)", "/a/b[2]", "/a[", "/a/c")
	text("", "", "a", "Ab", "äß", "日本語", "a%b_c", "  x  ", "1e2", "-7.5", "0x1F", "Hello, World", "aaa", "b,a,c", "YWJj", "616263", "utf8mb4", "i", "m", "$.a", "$.", `{"a": `, "POINT(1 1)")
	add := func(t schema.Type, of string, vals ...value.Datum) {
		r.pools = append(r.pools, pool{t: t, of: strings.Fields(of), vals: vals})
	}
	add(intType(), "left right sub lp rp rep space round truncate conv mid insert elt period make week maket format st_x@1 st_y@1 json_set@2 json_array st_geom@1 st_pointn@1 st_int@1 st_geometryn@1 st_poi@1 st_geoh@2 st_sr st_geohash", value.Int(0), value.Int(1), value.Int(2), value.Int(3), value.Int(-1), value.Int(-2), value.Int(10), value.Int(16), value.Int(36), value.Int(4326), value.Int(202402))
	add(schema.Type{ID: schema.TypeYear, Len: 4, Unsigned: true, Collation: schema.CollationBinary}, "", value.Uint(0), value.Uint(1999), value.Uint(2024))
	add(schema.Type{ID: schema.TypeSet, Elems: []string{"p", "q"}, Collation: coll}, "", value.Uint(0), value.Uint(2), value.Uint(3))
	add(schema.Type{ID: schema.TypeBit, Len: 9, Unsigned: true, Collation: schema.CollationBinary}, "", value.Uint(0), value.Uint(5), value.Uint(511))
	add(schema.Type{ID: schema.TypeFloat, Len: 12, Scale: -1, Collation: schema.CollationBinary}, "", value.Float(0.5), value.Float(float64(float32(0.1))), value.Float(-3))
	add(schema.Type{ID: schema.TypeChar, Len: 5, Collation: schema.CollationUTF8MB4Bin}, "", value.String("a"), value.String("A"), value.String("b c"), value.String(""))
	add(textType(20, schema.CollationBinary), "aes un inet6 uuid bin_to st_geomfromwkb st_asw hex crc md5 sha", value.String("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"), value.String("\x0a\x00\x00\x01"), value.String("0123456789abcdef"), value.String("\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40"))
	var jsons, plain []value.Datum
	var all [2][]value.Datum
	of := make([][]value.Datum, len(shapes))
	for _, s := range docs {
		if doc, err := value.ParseJSON([]byte(s)); err == nil {
			jsons = append(jsons, value.JSONOf(doc))
		}
	}
	add(types.JSON, "json@0 ->@0 member json_con@1 json_ov json_mer json_set@2 json_re@2 json_in@2 json_array@2", jsons...)
	for i, s := range shapes {
		for _, srid := range []int{0, 4326} {
			if d, err := EvalRow(testCtx(nil), call("st_geomfromtext", s, srid), nil); err == nil {
				all[i%2], of[i] = append(all[i%2], d.Clone()), append(of[i], d.Clone())
			}
		}
	}
	shape := func(names string, list []value.Datum) {
		add(types.GeometryOf("geometry"), names, list...)
	}
	// Pairs of geometries are mostly of the same reference system.
	for i := range of {
		plain = append(plain, of[i][0])
	}
	shape("st_ mbr", plain)
	shape("st_ mbr", plain)
	shape("st_ mbr", plain[4:6])
	shape("st_ mbr geom multi", slices.Concat(all[0], all[1]))
	shape("st_x@0 st_y@0 st_la@0 st_lo@0 st_distance_s line poly st_geoh@0", slices.Concat(of[0], of[1]))
	shape("st_linei@0 st_pointa@0 st_pointn@0 st_start st_end st_isc st_len st_num st_fre st_hau poly", slices.Concat(of[2], of[3]))
	shape("st_area st_cen st_ext st_int@0 st_buf st_numint", slices.Concat(of[4], of[5], of[8]))
	shape("st_make", slices.Concat(of[0][:1], of[1][:1]))
	return r
}

// forms are all functions, and the calls that are not made by name.
func (r *callRecorder) forms() (out []form) {
	for _, name := range FuncNames() {
		// What COMPRESS gives is up to the library.
		if !slices.Contains(twinSkipped, name) && name != "compress" && name != "load_file" {
			out = append(out, form{name, func(args []Expr) (Expr, error) { return NewFunc(testEnv, name, args...) }})
		}
	}
	one := func(name string, fn func(a Expr) (Expr, error)) {
		out = append(out, form{name, func(args []Expr) (Expr, error) {
			if len(args) != 1 {
				return nil, errArgs
			}
			return fn(args[0])
		}})
	}
	two := func(name string, fn func(a, b Expr) (Expr, error)) {
		out = append(out, form{name, func(args []Expr) (Expr, error) {
			if len(args) != 2 {
				return nil, errArgs
			}
			return fn(args[0], args[1])
		}})
	}
	for i, p := range r.pools {
		for _, explicit := range []bool{false, true} {
			one(fmt.Sprintf("cast:%d:%v:%t", i, p.t.ID, explicit), func(a Expr) (Expr, error) { return NewCast(testEnv, a, p.t, explicit) })
		}
		one(fmt.Sprintf("stored:%d:%v", i, p.t.ID), func(a Expr) (Expr, error) { return NewStored(testEnv, a, p.t, "c") })
	}
	for _, unit := range unitNames {
		two("date_add:"+unit, func(a, b Expr) (Expr, error) { return NewDateArith(testEnv, false, a, b, unit) })
		two("date_sub:"+unit, func(a, b Expr) (Expr, error) { return NewDateArith(testEnv, true, a, b, unit) })
		two("timestampadd:"+unit, func(a, b Expr) (Expr, error) { return NewTimestampAdd(testEnv, unit, b, a) })
		two("timestampdiff:"+unit, func(a, b Expr) (Expr, error) { return NewTimestampDiff(testEnv, unit, a, b) })
		one("extract:"+unit, func(a Expr) (Expr, error) { return NewExtract(testEnv, unit, a) })
	}
	for _, c := range []schema.CollationID{schema.CollationUTF8MB4Bin, schema.CollationUTF8MB40900AICI, schema.CollationBinary, schema.CollationLatin1SwedishCI} {
		one(fmt.Sprintf("collate:%d", c), func(a Expr) (Expr, error) { return NewCollate(testEnv, a, c) })
		one(fmt.Sprintf("convert_using:%d", c), func(a Expr) (Expr, error) { return NewConvertUsing(testEnv, a, c) })
		one(fmt.Sprintf("char_using:%d", c), func(a Expr) (Expr, error) { return NewCharUsing(testEnv, a, c) })
	}
	for _, dir := range []string{"both", "leading", "trailing"} {
		two("trim:"+dir, func(a, b Expr) (Expr, error) { return NewTrim(testEnv, dir, a, b) })
	}
	out = append(out, form{"between", func(args []Expr) (Expr, error) {
		if len(args) != 3 {
			return nil, errArgs
		}
		return NewBetween(testEnv, args[0], args[1], args[2])
	}})
	slices.SortFunc(out, func(a, b form) int { return strings.Compare(a.name, b.name) })
	return out
}

var errArgs = fmt.Errorf("%w: wrong number of arguments", os.ErrInvalid)

// calls are texts of calls of a form with what they give.
func (r *callRecorder) calls(f form) (out []string) {
	h := fnv.New64a()
	h.Write([]byte(f.name))
	r.r = rand.New(rand.NewSource(int64(h.Sum64())))
	var arities []int
	for n := range 6 {
		args := make([]Expr, n)
		for i := range args {
			args[i] = lit(nil)
		}
		if _, err := f.make(args); err == nil || !slices.Contains([]string{"1582", "1305", errArgs.Error()}, errNumber(err)) {
			arities = append(arities, n)
		}
	}
	if len(arities) == 0 {
		return nil
	}
	seen := map[string]int{}
	for range 6 * recordedCalls {
		n := arities[r.r.Intn(len(arities))]
		text := r.call(f, n, seen)
		if text == "" {
			continue
		}
		if out = append(out, text); len(out) == recordedCalls || n == 0 && len(arities) == 1 {
			break
		}
	}
	return out
}

// poolFor draws the pool of argument i.
func (r *callRecorder) poolFor(name string, i int) pool {
	var fit []pool
	for _, p := range r.pools {
		if slices.ContainsFunc(p.of, func(of string) bool {
			prefix, at, ok := strings.Cut(of, "@")
			return strings.HasPrefix(name, prefix) && (!ok || at == strconv.Itoa(min(i, 2)))
		}) {
			fit = append(fit, p)
		}
	}
	if len(fit) > 0 && r.r.Intn(6) > 0 {
		return fit[r.r.Intn(len(fit))]
	}
	return r.pools[r.r.Intn(len(r.pools))]
}

// call is one call of constants, and the same with columns over a few rows; "" when the
// constants give an error, or NULL, that was seen often enough.
func (r *callRecorder) call(f form, n int, seen map[string]int) string {
	const rows = 4
	consts, cols, kinds := make([]Expr, n), make([]Expr, n), make([]value.Kind, n)
	vals := make([][rows]value.Datum, n)
	for i := range n {
		p := r.poolFor(f.name, i)
		for j := range rows {
			if vals[i][j] = p.vals[r.r.Intn(len(p.vals))]; j == 2 && r.r.Intn(2) == 0 {
				vals[i][j] = value.Null
			}
		}
		kinds[i] = types.KindOf(p.t)
		consts[i] = NewConst(vals[i][0], p.t)
		col := &Col{ID: ColID(i), Index: i, T: p.t, Null: true, Name: fmt.Sprintf("c%d", i)}
		if cols[i] = col; r.r.Intn(4) == 0 {
			cols[i] = consts[i]
		} else if p.t.ID == schema.TypeJSON && strings.Contains("+-*/<=>in", f.name) {
			cols[i] = NewAttribute(col, "v")
		}
	}
	first, kind := r.constant(f, consts)
	if seen[kind]++; kind != "" && seen[kind] > recordedCalls/8 {
		return ""
	}
	b := &vec.Batch{N: rows}
	for i := range n {
		b.Cols = append(b.Cols, vec.NewSized(kinds[i], rows))
		for j := range rows {
			b.Cols[i].SetDatum(j, vals[i][j])
		}
	}
	return first + "\n" + r.columns(f, cols, b)
}

func (r *callRecorder) constant(f form, args []Expr) (text, kind string) {
	text = callText(f.name, args)
	e, err := f.make(args)
	if err != nil {
		return text + " does not bind: " + err.Error(), errNumber(err)
	}
	var warns warnings
	c := testCtx(&warns)
	d, err := EvalRow(c, e, nil)
	if err != nil {
		return text + " = " + err.Error(), errNumber(err)
	}
	if d.IsNull() {
		kind = "NULL"
		r.null(e, text)
	}
	return fmt.Sprintf("%s = %s %+v nullable %t warnings %v", text, recordedText(d), e.Type(), e.Nullable(), warns), kind
}

func (r *callRecorder) columns(f form, args []Expr, b *vec.Batch) string {
	e, err := f.make(args)
	if err != nil {
		return err.Error()
	}
	var warns warnings
	c := testCtx(&warns)
	v, err := Eval(c, e, b)
	if err != nil {
		return err.Error()
	}
	var out []string
	for i := range b.N {
		if v.Datum(i).IsNull() {
			r.null(e, callText(f.name, args))
		}
		out = append(out, recordedText(v.Datum(i)))
	}
	text := fmt.Sprintf("%s: %s, warnings %s", callText(f.name, args), strings.Join(out, "; "), distinct(warns))
	if cond, err := NewFilter(testEnv, e); err == nil {
		if err := EvalFilter(c, cond, b); err != nil {
			return text + " filter " + err.Error()
		}
		text += fmt.Sprint(" filter ", b.Live())
	}
	return text
}

// null reports a call that is NULL and is not to be. MEMBER OF is NULL for a JSON null.
func (r *callRecorder) null(e Expr, text string) {
	if !e.Nullable() && !r.t.Failed() && !strings.HasPrefix(text, "member") {
		r.t.Errorf("%s is NULL but not nullable", text)
	}
}

func callText(name string, args []Expr) string {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = a.String()
	}
	return name + "(" + strings.Join(list, ", ") + ")"
}

// recordedText is a value; the last digits of a floating-point number depend on the
// processor.
func recordedText(d value.Datum) string {
	if d.Kind() == value.KindFloat && math.Abs(d.Float()) < 1e15 {
		return fmt.Sprintf("%.10g", d.Float())
	}
	if d.Kind() == value.KindJSON {
		return fmt.Sprintf("%q", d.Bytes())
	}
	return datumText(d)
}
