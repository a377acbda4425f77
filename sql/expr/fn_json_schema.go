package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// jsonSchemaDefs are JSON_SCHEMA_VALID and its report: draft 4 of JSON Schema
// (MySQL manual 14.17.7).
func jsonSchemaDefs() []entry {
	return []entry{
		fn("json_schema_valid", "jj", retBool, rowSchemaValid, 0),
		fn("json_schema_validation_report", "jj", retJSON, rowSchemaReport, 0),
		fn("json_storage_size", "j", retInt(10), func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			return value.Int(int64(value.JSONStorageSize(a[0].Bytes()))), nil
		}, 0),
		fn("json_storage_free", "j", retInt(10), func(*Ctx, *Func, []value.Datum) (value.Datum, error) {
			return value.Int(0), nil // documents are never changed in place
		}, 0),
	}
}

func rowSchemaValid(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, err := validateSchema(c, f, a)
	return value.Bool(err == nil && v.failure == nil), err
}

func rowSchemaReport(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, err := validateSchema(c, f, a)
	if err != nil {
		return value.Null, err
	}
	str := func(s string) []byte { return value.JSONString([]byte(s)) }
	keys, vals := [][]byte{[]byte("valid")}, [][]byte{value.JSONBool(v.failure == nil)}
	if x := v.failure; x != nil {
		keys = append(keys, []byte("reason"), []byte("schema-location"), []byte("document-location"), []byte("schema-failed-keyword"))
		vals = append(vals, str("The JSON document location '"+x.document+"' failed requirement '"+x.keyword+"' at JSON Schema location '"+x.schema+"'"),
			str(x.schema), str(x.document), str(x.keyword))
	}
	return value.JSONOf(value.JSONObject(keys, vals)), nil
}

func validateSchema(c *Ctx, f *Func, a []value.Datum) (*schemaCheck, error) {
	root := a[0].Bytes()
	if value.JSONType(root) != "OBJECT" {
		return nil, sqlerr.InvalidJSONType(1, f.Name, "object")
	}
	v := &schemaCheck{c: c, root: root, known: map[schemaPair]bool{}, patterns: map[string]*compiledRegexp{}}
	v.check(root, a[1].Bytes(), "#", "#", 0)
	return v, v.err
}

// schemaFailure is the first requirement that a document does not meet.
type schemaFailure struct{ schema, document, keyword string }

// schemaCheck validates one document.
type schemaCheck struct {
	c    *Ctx
	root []byte
	// known are the results of what has been checked, by where it is; true, too, for
	// what is being checked: references may go round in circles.
	known    map[schemaPair]bool
	patterns map[string]*compiledRegexp // nil for those that do not compile
	failure  *schemaFailure
	err      error
}

// schemaPair is a part of a schema and a part of a document.
type schemaPair struct{ schema, document *byte }

// maxSchemaDepth bounds the recursion: a document is 100 levels deep at most, but a chain
// of references may be long at each of them.
const maxSchemaDepth = 20_000

// workOfCheck is the work of a check of one value.
const workOfCheck = 500

func (v *schemaCheck) fail(at, doc, keyword string) bool {
	if v.failure == nil {
		v.failure = &schemaFailure{at, doc, keyword}
	}
	return false
}

// holds checks without recording a failure.
func (v *schemaCheck) holds(s, d []byte, at, doc string, depth int) bool {
	keep := v.failure
	ok := v.check(s, d, at, doc, depth)
	v.failure = keep
	return ok
}

func member(doc []byte, key string) ([]byte, bool) { return value.JSONMember(doc, []byte(key)) }

// elems are the elements of an array or the values of an object.
func elems(doc []byte) [][]byte {
	out := make([][]byte, value.JSONLen(doc))
	for i := range out {
		out[i] = value.JSONElem(doc, i)
	}
	return out
}

// check validates d against the schema s; at and doc are their locations.
func (v *schemaCheck) check(s, d []byte, at, doc string, depth int) bool {
	if v.err == nil {
		v.err = v.c.Work(workOfCheck)
	}
	if v.err == nil && depth > maxSchemaDepth {
		v.err = sqlerr.JSONDocumentTooDeep()
	}
	if v.err != nil || value.JSONType(s) != "OBJECT" {
		return v.err == nil
	}
	if len(d) == 0 {
		return v.checkObject(s, d, at, doc, depth)
	}
	pair := schemaPair{&s[0], &d[0]}
	if ok, known := v.known[pair]; known && (ok || v.failure != nil) {
		return ok
	}
	v.known[pair] = true
	ok := v.checkObject(s, d, at, doc, depth)
	v.known[pair] = ok
	return ok
}

// checkObject is check for a schema that is an object.
func (v *schemaCheck) checkObject(s, d []byte, at, doc string, depth int) bool {
	if ref, ok := member(s, "$ref"); ok {
		return v.reference(ref, d, doc, depth)
	}
	kind := schemaType(d)
	if t, ok := member(s, "type"); ok && !typeAllowed(t, kind, d) {
		return v.fail(at, doc, "type")
	}
	if e, ok := member(s, "enum"); ok && !anyEqual(e, d) {
		return v.fail(at, doc, "enum")
	}
	ok := true
	switch kind {
	case "number", "integer":
		ok = v.number(s, d, at, doc)
	case "string":
		ok = v.text(s, d, at, doc)
	case "array":
		ok = v.array(s, d, at, doc, depth)
	case "object":
		ok = v.object(s, d, at, doc, depth)
	}
	return ok && v.combined(s, d, at, doc, depth)
}

// reference follows "#/a/b" in the schema itself; others are 1235, as in
// MySQL.
func (v *schemaCheck) reference(ref, d []byte, doc string, depth int) bool {
	text, _ := value.JSONText(ref)
	if !strings.HasPrefix(string(text), "#") {
		v.err = sqlerr.NotSupported("references to external resources in JSON schema")
		return false
	}
	s := v.root
	for _, part := range strings.Split(strings.TrimPrefix(string(text), "#"), "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		next, ok := member(s, part)
		// A place in an array is written in the one usual way: not as +1 or 01.
		if i, err := strconv.Atoi(part); !ok && err == nil && value.JSONType(s) == "ARRAY" && uint(i) < uint(value.JSONLen(s)) && strconv.Itoa(i) == part {
			next, ok = value.JSONElem(s, i), true
		}
		if !ok {
			return true
		}
		s = next
	}
	return v.check(s, d, string(text), doc, depth+1)
}

// schemaType is the name that JSON Schema has for the type of d.
func schemaType(d []byte) string {
	switch t := value.JSONType(d); t {
	case "INTEGER", "UNSIGNED INTEGER":
		return "integer"
	case "DOUBLE", "DECIMAL":
		return "number"
	case "ARRAY", "OBJECT", "BOOLEAN", "NULL":
		return strings.ToLower(t)
	}
	return "string"
}

func typeAllowed(t []byte, kind string, _ []byte) bool {
	for _, e := range elems(t) {
		if name, _ := value.JSONText(e); string(name) == kind || string(name) == "number" && kind == "integer" {
			return true
		}
	}
	return false
}

func anyEqual(list, d []byte) bool {
	for _, e := range elems(list) {
		if value.JSONCompare(e, d) == 0 {
			return true
		}
	}
	return false
}

func isTrue(s []byte, key string) bool {
	b, ok := member(s, key)
	return ok && value.JSONCompare(b, value.JSONBool(true)) == 0
}

func isNumber(d []byte) bool { k := schemaType(d); return k == "integer" || k == "number" }

func (v *schemaCheck) number(s, d []byte, at, doc string) bool {
	if m, ok := member(s, "minimum"); ok && isNumber(m) {
		if c := value.JSONCompare(d, m); c < 0 {
			return v.fail(at, doc, "minimum")
		} else if c == 0 && isTrue(s, "exclusiveMinimum") {
			return v.fail(at, doc, "exclusiveMinimum")
		}
	}
	if m, ok := member(s, "maximum"); ok && isNumber(m) {
		if c := value.JSONCompare(d, m); c > 0 {
			return v.fail(at, doc, "maximum")
		} else if c == 0 && isTrue(s, "exclusiveMaximum") {
			return v.fail(at, doc, "exclusiveMaximum")
		}
	}
	if m, ok := member(s, "multipleOf"); ok && isNumber(m) && !multipleOf(d, m) {
		return v.fail(at, doc, "multipleOf")
	}
	return true
}

func multipleOf(d, m []byte) bool {
	x, err1 := value.ParseDecimal(string(value.AppendJSONText(nil, d)))
	y, err2 := value.ParseDecimal(string(value.AppendJSONText(nil, m)))
	if err1 != nil || err2 != nil {
		return true
	}
	r, ok := x.Mod(y)
	return !ok || r.IsZero()
}

// atMost and atLeast compare a size with the number under key, if there is
// one.
func atMost(s []byte, key string, n int) bool {
	m, ok := member(s, key)
	return !ok || !isNumber(m) || value.JSONCompare(value.JSONInt(int64(n)), m) <= 0
}

func atLeast(s []byte, key string, n int) bool {
	m, ok := member(s, key)
	return !ok || !isNumber(m) || value.JSONCompare(value.JSONInt(int64(n)), m) >= 0
}

func (v *schemaCheck) size(s []byte, less, more string, n int, at, doc string) bool {
	if !atLeast(s, less, n) {
		return v.fail(at, doc, less)
	}
	if !atMost(s, more, n) {
		return v.fail(at, doc, more)
	}
	return true
}

func (v *schemaCheck) text(s, d []byte, at, doc string) bool {
	text, _ := value.JSONText(d)
	if !v.size(s, "minLength", "maxLength", utf8.RuneCount(text), at, doc) {
		return false
	}
	if p, ok := member(s, "pattern"); ok {
		if pattern, isText := value.JSONText(p); isText && !v.matches(string(pattern), string(text)) {
			return v.fail(at, doc, "pattern")
		}
	}
	return true
}

// matches searches an ECMA 262 expression; MySQL ignores those that do not compile.
func (v *schemaCheck) matches(pattern, s string) bool {
	re, known := v.patterns[pattern]
	if !known {
		re, _ = v.c.newRegexp(pattern, regexp2.ECMAScript, pattern)
		v.patterns[pattern] = re
	}
	if re == nil || v.err != nil {
		return true
	}
	found, err := v.c.matcher(re).first([]rune(s), 1)
	if err != nil && !sqlerr.IsRegexpTimeout(err) {
		v.err = err
	}
	return found != nil || err != nil
}

func (v *schemaCheck) array(s, d []byte, at, doc string, depth int) bool {
	list := elems(d)
	if !v.size(s, "minItems", "maxItems", len(list), at, doc) {
		return false
	}
	if isTrue(s, "uniqueItems") {
		if v.hasEqual(list) {
			return v.fail(at, doc, "uniqueItems")
		}
	}
	items, ok := member(s, "items")
	if !ok {
		return true
	}
	for i, e := range list {
		place, where := doc+"/"+strconv.Itoa(i), at+"/items"
		schema := items
		if value.JSONType(items) == "ARRAY" {
			if i >= value.JSONLen(items) {
				if !v.additional(s, e, "additionalItems", at, doc, place, depth) {
					return false
				}
				continue
			}
			schema, where = value.JSONElem(items, i), where+"/"+strconv.Itoa(i)
		}
		if !v.check(schema, e, where, place, depth+1) {
			return false
		}
	}
	return true
}

// hasEqual reports whether two of the values are equal.
func (v *schemaCheck) hasEqual(list [][]byte) bool {
	seen := value.NewJSONDocSet(0)
	for _, e := range list {
		if v.err = v.c.Work(workOfCheck + len(e)); v.err != nil {
			return false
		}
		if !seen.Add(e) {
			return true
		}
	}
	return false
}

// additional checks what is left over: false forbids it, a schema describes it.
func (v *schemaCheck) additional(s, d []byte, key, at, doc, place string, depth int) bool {
	extra, ok := member(s, key)
	if !ok {
		return true
	}
	if value.JSONType(extra) == "BOOLEAN" {
		return isTrue(s, key) || v.fail(at, doc, key)
	}
	return v.check(extra, d, at+"/"+key, place, depth+1)
}

func (v *schemaCheck) object(s, d []byte, at, doc string, depth int) bool {
	if !v.size(s, "minProperties", "maxProperties", value.JSONLen(d), at, doc) {
		return false
	}
	if req, ok := member(s, "required"); ok && value.JSONType(req) == "ARRAY" {
		for _, name := range elems(req) {
			if key, isText := value.JSONText(name); isText {
				if _, has := value.JSONMember(d, key); !has {
					return v.fail(at, doc, "required")
				}
			}
		}
	}
	for i := range value.JSONLen(d) {
		if !v.property(s, string(value.JSONKey(d, i)), value.JSONElem(d, i), at, doc, depth) {
			return false
		}
	}
	return v.dependencies(s, d, at, doc, depth)
}

func (v *schemaCheck) property(s []byte, key string, d []byte, at, doc string, depth int) bool {
	known, place := false, doc+"/"+key
	if props, ok := member(s, "properties"); ok {
		if p, ok := member(props, key); ok {
			known = true
			if !v.check(p, d, at+"/properties/"+key, place, depth+1) {
				return false
			}
		}
	}
	if patterns, ok := member(s, "patternProperties"); ok && value.JSONType(patterns) == "OBJECT" {
		for i := range value.JSONLen(patterns) {
			if p := string(value.JSONKey(patterns, i)); v.matches(p, key) {
				known = true
				if !v.check(value.JSONElem(patterns, i), d, at+"/patternProperties/"+p, place, depth+1) {
					return false
				}
			}
		}
	}
	return known || v.additional(s, d, "additionalProperties", at, doc, place, depth)
}

func (v *schemaCheck) dependencies(s, d []byte, at, doc string, depth int) bool {
	deps, ok := member(s, "dependencies")
	if !ok || value.JSONType(deps) != "OBJECT" {
		return true
	}
	for i := range value.JSONLen(deps) {
		key, need := value.JSONKey(deps, i), value.JSONElem(deps, i)
		if _, has := value.JSONMember(d, key); !has {
			continue
		}
		if value.JSONType(need) == "OBJECT" {
			if !v.check(need, d, at+"/dependencies/"+string(key), doc, depth+1) {
				return false
			}
			continue
		}
		for _, name := range elems(need) {
			if other, isText := value.JSONText(name); isText {
				if _, has := value.JSONMember(d, other); !has {
					return v.fail(at, doc, "dependencies")
				}
			}
		}
	}
	return true
}

// combined checks allOf, anyOf, oneOf and not.
func (v *schemaCheck) combined(s, d []byte, at, doc string, depth int) bool {
	if list, ok := member(s, "allOf"); ok {
		for i, x := range elems(list) {
			if !v.check(x, d, at+"/allOf/"+strconv.Itoa(i), doc, depth+1) {
				return false
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, ok := member(s, key)
		if !ok {
			continue
		}
		n := 0
		for _, x := range elems(list) {
			n += b2i(v.holds(x, d, at+"/"+key, doc, depth+1))
		}
		if n == 0 || key == "oneOf" && n > 1 {
			return v.fail(at, doc, key)
		}
	}
	if x, ok := member(s, "not"); ok && v.holds(x, d, at+"/not", doc, depth+1) {
		return v.fail(at, doc, "not")
	}
	return true
}
