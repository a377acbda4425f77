package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestMain(m *testing.M) { testflag.Main(m) }

func mustJSON(t testing.TB, s string) []byte {
	t.Helper()
	doc, err := ParseJSON([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return doc
}

func jsonString1(doc []byte) string { return string(AppendJSONText(nil, doc)) }

func TestJSONText(t *testing.T) {
	for _, c := range [][2]string{
		{`null`, `null`}, {` true `, `true`}, {`1`, `1`}, {`-9223372036854775808`, `-9223372036854775808`},
		{`18446744073709551615`, `18446744073709551615`}, {`18446744073709551616`, `1.8446744073709552e19`},
		{`1.0`, `1.0`}, {`1e2`, `100.0`}, {`1e20`, `1e20`}, {`1.5e-20`, `1.5e-20`}, {`-0.0`, `-0.0`}, {`3.14`, `3.14`},
		{`"a\u00e9\n\"\\\/"`, `"aé\n\"\\/"`}, {`"\ud83d\ude00\u0001"`, `"😀\u0001"`},
		{`[1,"a",[],{}]`, `[1, "a", [], {}]`},
		{`{"bb":1,"a":2,"c":{"x":null}}`, `{"a": 2, "c": {"x": null}, "bb": 1}`},
		{`{"a":1,"a":2}`, `{"a": 2}`}, {`{"":1}`, `{"": 1}`},
	} {
		doc := mustJSON(t, c[0])
		if got := jsonString1(doc); got != c[1] {
			t.Errorf("%s = %s, want %s", c[0], got, c[1])
		}
		if err := CheckJSON(doc); err != nil {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct {
		in, msg string
		pos     int
	}{
		{``, "The document is empty.", 0}, {`abc`, "Invalid value.", 0}, {`nope`, "Invalid value.", 1},
		{`1 2`, "The document root must not be followed by other values.", 2}, {`01`, "The document root must not be followed by other values.", 1},
		{`{1:2}`, "Missing a name for object member.", 1}, {`{"a" 1}`, "Missing a colon after a name of object member.", 5},
		{`{"a":1`, "Missing a comma or '}' after an object member.", 6}, {`[1 2]`, "Missing a comma or ']' after an array element.", 3},
		{`"abc`, "Missing a closing quotation mark in string.", 0}, {`"\x"`, "Invalid escape character in string.", 1},
		{`1.`, "Miss fraction part in number.", 2}, {`1e`, "Miss exponent in number.", 2}, {`1e999`, "Number too big to be stored in double.", 0},
		{`[1,]`, "Invalid value.", 3}, {"\"\xff\"", "Invalid encoding in string.", 1}, {`"\ud800"`, "The surrogate pair in string is invalid.", 1},
	} {
		_, err := ParseJSON([]byte(c.in))
		var e *JSONSyntaxError
		if !errors.As(err, &e) || e.Msg != c.msg || e.Pos != c.pos {
			t.Errorf("%s: %v", c.in, err)
		}
	}
	if _, err := ParseJSON([]byte(strings.Repeat("[", 101) + strings.Repeat("]", 101))); err != ErrJSONDepth {
		t.Error("depth 101:", err)
	}
	mustJSON(t, strings.Repeat("[", 100)+strings.Repeat("]", 100))
}

func TestJSONPaths(t *testing.T) {
	doc := mustJSON(t, `{"a":[1,{"b":2,"c d":[3,4]},5],"b":6,"x":{"b":{"b":7}}}`)
	for _, c := range [][2]string{
		{`$`, jsonString1(doc)}, {`$.a[0]`, `1`}, {`$.a[last]`, `5`}, {`$.a[last-1].b`, `2`}, {`$.a[1]."c d"[1]`, `4`},
		{`$.a[0 to 1]`, `1|{"b": 2, "c d": [3, 4]}`}, {`$.a[last-1 to last]`, `{"b": 2, "c d": [3, 4]}|5`}, {`$.*`, `[1, {"b": 2, "c d": [3, 4]}, 5]|6|{"b": {"b": 7}}`},
		{`$.a[*]`, `1|{"b": 2, "c d": [3, 4]}|5`}, {`$**.b`, `6|2|{"b": 7}|7`}, {` $ . b `, `6`}, {`$.b[0]`, `6`}, {`$.b[last]`, `6`}, {`$.b[1]`, ``}, {`$.b[*]`, ``},
		{`$.zz`, ``}, {`$.a[7]`, ``}, {`$**[0]`, ``},
	} {
		p, err := CompileJSONPath(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		var got []string
		for _, d := range p.Extract(nil, doc) {
			got = append(got, jsonString1(d))
		}
		if c[0] != `$**[0]` && strings.Join(got, "|") != c[1] {
			t.Errorf("%s = %s, want %s", c[0], strings.Join(got, "|"), c[1])
		}
	}
	for _, bad := range []string{``, `a`, `$.`, `$[`, `$[a]`, `$**`, `$a`, `$.1a`, `$[1 to]`, `$["a"]`, `$[3 to 1]`, `$.a.`, `$***.a`} {
		if _, err := CompileJSONPath(bad); err == nil {
			t.Errorf("%s parsed", bad)
		}
	}
}

func TestJSONModify(t *testing.T) {
	type fn = func(doc []byte, p *JSONPath, v []byte) []byte
	remove := func(doc []byte, p *JSONPath, _ []byte) []byte { return JSONRemove(doc, p) }
	for i, c := range []struct {
		fn                     fn
		doc, path, val, wanted string
	}{
		{JSONSet, `{"a":1,"b":[2,3]}`, `$.a`, `10`, `{"a": 10, "b": [2, 3]}`},
		{JSONSet, `{"a":1,"b":[2,3]}`, `$.c`, `"[true, false]"`, `{"a": 1, "b": [2, 3], "c": "[true, false]"}`},
		{JSONInsert, `{"a":1,"b":[2,3]}`, `$.a`, `10`, `{"a": 1, "b": [2, 3]}`},
		{JSONInsert, `[1,2]`, `$[5]`, `3`, `[1, 2, 3]`}, {JSONInsert, `1`, `$[1]`, `3`, `[1, 3]`}, {JSONInsert, `[1]`, `$[last-5]`, `0`, `[0, 1]`},
		{JSONReplace, `{"a":1}`, `$.c`, `2`, `{"a": 1}`}, {JSONSet, `{"a":1}`, `$`, `[1]`, `[1]`}, {JSONSet, `{"a":{"b":[1]}}`, `$.a.b[0]`, `2`, `{"a": {"b": [2]}}`},
		{JSONSet, `{"a":1}`, `$.x.y`, `2`, `{"a": 1}`}, {JSONSet, `5`, `$[0]`, `6`, `6`},
		{remove, `["a",["b","c"],"d"]`, `$[1]`, `0`, `["a", "d"]`}, {remove, `{"a":1,"bb":2}`, `$.bb`, `0`, `{"a": 1}`}, {remove, `{"a":1}`, `$.z`, `0`, `{"a": 1}`},
		{JSONArrayAppend, `["a",["b","c"],"d"]`, `$[1]`, `1`, `["a", ["b", "c", 1], "d"]`}, {JSONArrayAppend, `["a",["b","c"],"d"]`, `$[0]`, `2`, `[["a", 2], ["b", "c"], "d"]`},
		{JSONArrayAppend, `{"a":1}`, `$`, `"z"`, `[{"a": 1}, "z"]`},
		{JSONArrayInsert, `["a",{"b":[1,2]},[3,4]]`, `$[1]`, `"x"`, `["a", "x", {"b": [1, 2]}, [3, 4]]`}, {JSONArrayInsert, `["a"]`, `$[100]`, `"x"`, `["a", "x"]`},
	} {
		p, err := CompileJSONPath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		doc := mustJSON(t, c.doc)
		before := append([]byte(nil), doc...)
		out := c.fn(doc, p, mustJSON(t, c.val))
		if got := jsonString1(out); got != c.wanted {
			t.Errorf("%d: %s at %s: %s, want %s", i, c.doc, c.path, got, c.wanted)
		}
		if err := CheckJSON(out); err != nil || !bytes.Equal(doc, before) {
			t.Errorf("%d: %v, source changed: %v", i, err, !bytes.Equal(doc, before))
		}
	}
	merge := func(f func(a, b []byte, work func(int) error) ([]byte, error), a, b string) string {
		doc, err := f(mustJSON(t, a), mustJSON(t, b), nil)
		if err != nil {
			t.Error(err)
		}
		return jsonString1(doc)
	}
	for _, c := range [][2]string{
		{merge(JSONMergePatch, `{"a":1,"b":2}`, `{"b":null,"c":{"d":null,"e":1}}`), `{"a": 1, "c": {"e": 1}}`},
		{merge(JSONMergePatch, `[1,2]`, `[true]`), `[true]`}, {merge(JSONMergePatch, `[1]`, `{"a":1}`), `{"a": 1}`},
		{merge(JSONMergePreserve, `[1,2]`, `{"id":47}`), `[1, 2, {"id": 47}]`}, {merge(JSONMergePreserve, `{"a":1,"b":2}`, `{"a":3,"c":4}`), `{"a": [1, 3], "b": 2, "c": 4}`},
		{merge(JSONMergePreserve, `1`, `true`), `[1, true]`},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}

func TestJSONContains(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2,"c":{"d":4}}`, `{"a":1}`, true}, {`{"a":1}`, `1`, false}, {`{"a":1,"c":{"d":4}}`, `{"c":{"d":4}}`, true},
		{`[1,2,[3,4]]`, `[2,1]`, true}, {`[1,2,[3]]`, `3`, true}, {`[1,2]`, `3`, false}, {`1`, `1.0`, true}, {`[1]`, `[]`, true},
	} {
		if got, err := JSONContains(mustJSON(t, c.a), mustJSON(t, c.b), nil); got != c.want || err != nil {
			t.Errorf("%s contains %s: %v", c.a, c.b, got)
		}
	}
}

// randJSON is a random document, with numbers that are equal across types.
func randJSON(r *rand.Rand, depth int) []byte {
	n := r.IntN(14)
	if depth <= 0 {
		n = r.IntN(11)
	}
	small := int64(r.IntN(6) - 3)
	switch n {
	case 0:
		return JSONNull()
	case 1:
		return JSONBool(r.IntN(2) == 0)
	case 2:
		return JSONInt(small)
	case 3:
		return JSONUint(uint64(r.IntN(4)))
	case 4:
		return JSONDouble(float64(small) / 2)
	case 5:
		return JSONDecimal(narrow(small < 0, u128{0, uint64(max(small, -small) * 5)}, 1))
	case 6:
		return JSONString([]byte(strings.Repeat("é", r.IntN(3))))
	case 7:
		return JSONDate(MakeTime(2020, 1, 1+r.IntN(3), 0, 0, 0, 0))
	case 8:
		return JSONTime(Duration(small) * 1000000)
	case 9:
		return JSONOpaque([]byte{16, 252, 13}[r.IntN(3)], []byte{byte(r.IntN(3))})
	case 10:
		return JSONDouble([]float64{1e300, -1e300, 1e-300, 9007199254740993, 0.1}[r.IntN(5)])
	case 11:
		var elems [][]byte
		for range r.IntN(3) {
			elems = append(elems, randJSON(r, depth-1))
		}
		return JSONArray(elems...)
	}
	var keys, vals [][]byte
	for range r.IntN(3) {
		keys, vals = append(keys, []byte("abcde"[:r.IntN(4)])), append(vals, randJSON(r, depth-1))
	}
	return JSONObject(keys, vals)
}

func TestJSONCompareProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100000 {
		a, b, c := randJSON(r, 2), randJSON(r, 2), randJSON(r, 2)
		ab, ba, bc, ac := JSONCompare(a, b), JSONCompare(b, a), JSONCompare(b, c), JSONCompare(a, c)
		if ab != -ba || ab <= 0 && bc <= 0 && ac > 0 {
			t.Fatalf("order of %s, %s, %s: %d %d %d %d", jsonString1(a), jsonString1(b), jsonString1(c), ab, ba, bc, ac)
		}
		if same := bytes.Equal(AppendJSONHash(nil, a), AppendJSONHash(nil, b)); same != (ab == 0) {
			t.Fatalf("hash of %s and %s: %v", jsonString1(a), jsonString1(b), same)
		}
		if err := CheckJSON(a); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		doc := randJSON(r, 4)
		text := AppendJSONText(nil, doc)
		if !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
		back, err := ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if again := AppendJSONText(nil, back); !bytes.Equal(again, text) {
			t.Fatalf("%s read back as %s", text, again)
		}
	}
}

// useJSON runs the readers over doc.
func useJSON(doc []byte) {
	CheckJSON(doc)
	JSONType(doc)
	JSONDepth(doc)
	JSONScalar(doc)
	JSONMember(doc, []byte("a"))
	AppendJSONHash(nil, doc)
	JSONCompare(doc, doc)
	for i := range min(JSONLen(doc), 100) {
		JSONKey(doc, i)
		JSONElem(doc, i)
	}
	p, _ := CompileJSONPath("$**.a")
	p.Extract(nil, doc)
	q, _ := CompileJSONPath("$.a[0]")
	JSONSet(doc, q, JSONInt(1))
	AppendJSONText(nil, doc)
}

func TestJSONCorrupt(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 20000 {
		doc := append([]byte(nil), randJSON(r, 3)...)
		for range 1 + r.IntN(3) {
			doc[r.IntN(len(doc))] = byte(r.IntN(256))
		}
		useJSON(doc[:r.IntN(len(doc)+1)])
		useJSON(doc)
	}
}

func FuzzJSONDocument(f *testing.F) {
	f.Add(mustJSON(f, `{"a":[1,{"b":2.5}],"c":"x"}`))
	f.Add([]byte{jsonArray, 1, 0, 0, 0, 9, 0, 0, 0, jsonArray})
	f.Fuzz(func(t *testing.T, doc []byte) {
		useJSON(doc)
		if CheckJSON(doc) == nil {
			if _, err := ParseJSON(AppendJSONText(nil, doc)); err != nil && err != ErrJSONDepth && bytes.IndexByte(doc, jsonString) < 0 && bytes.IndexByte(doc, jsonObject) < 0 {
				t.Errorf("text of %x: %v", doc, err)
			}
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e3,"x\u0041"],"b":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := ParseJSON(text)
		if err == nil && CheckJSON(doc) != nil {
			t.Errorf("%s makes a bad document", text)
		}
	})
}
