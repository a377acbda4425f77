package expr

import (
	"errors"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func jsonDefs() []entry {
	pairs := func(name string, step func(doc []byte, p *value.JSONPath, v []byte) []byte) entry {
		e := fn(name, "jpv*", retJSON, rowJSONPairs(step), loose|nullable)
		e.d.custom = bindJSONPairs
		return e
	}
	merge := func(names string, step func(a, b []byte, work func(int) error) ([]byte, error)) entry {
		return fn(names, "jj+", retJSON, func(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			doc := a[0].Bytes()
			for _, d := range a[1:] {
				var err error
				if doc, err = step(doc, d.Bytes(), c.Work); err != nil {
					return value.Null, err
				}
			}
			return value.JSONOf(doc), nil
		}, nullable)
	}
	return []entry{
		fn("json_extract ->", "jp+", retJSON, rowJSONExtract, nullable),
		special("->>", bindInlinePath, def{}),
		fn("json_unquote", "x", retUTF8Bin, rowJSONUnquote, 0),
		fn("json_quote", "s", retUTF8Bin, rowJSONQuote, 0),
		fn("json_array", "v*", retJSON, rowJSONArray, loose|notNull),
		special("json_object", bindJSONObject, def{b: Builtin{Row: rowJSONObject}}),
		fn("json_valid", "x", retBool, rowJSONValid, 0),
		fn("json_type", "j", retUTF8(51), func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			return value.String(value.JSONType(a[0].Bytes())), nil
		}, 0),
		fn("json_depth", "j", retInt(10), func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			return value.Int(int64(value.JSONDepth(a[0].Bytes()))), nil
		}, 0),
		fn("json_length", "j?p", retInt(10), rowJSONLength, nullable),
		fn("json_keys", "j?p", retJSON, rowJSONKeys, nullable),
		fn("json_contains", "jj?p", retBool, rowJSONContains, nullable),
		fn("json_contains_path", "jsp+", retBool, rowJSONContainsPath, nullable),
		fn("json_overlaps", "jj", retBool, func(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			ok, err := value.JSONOverlaps(a[0].Bytes(), a[1].Bytes(), c.Work)
			return value.Bool(ok), err
		}, 0),
		fn("member_of", "vj", retBool, rowMemberOf, 0),
		fn("json_search", "jss?sp+", retJSON, rowJSONSearch, loose|nullable),
		pairs("json_set", value.JSONSet), pairs("json_insert", value.JSONInsert), pairs("json_replace", value.JSONReplace),
		pairs("json_array_append json_append", value.JSONArrayAppend), pairs("json_array_insert", value.JSONArrayInsert),
		fn("json_remove", "jp+", retJSON, rowJSONRemove, nullable),
		merge("json_merge_patch", value.JSONMergePatch), merge("json_merge_preserve json_merge", value.JSONMergePreserve),
		fn("json_pretty", "j", retUTF8Bin, func(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			text, err := c.appendPretty(nil, a[0].Bytes(), 0)
			return value.Bytes(text), err
		}, 0),
		special("json_doc", unboundUnit, def{b: Builtin{Row: rowJSONDoc, impl: impl{strict: true}}}),
		special("json_scalar", unboundUnit, def{b: Builtin{Row: rowJSONOf, impl: impl{strict: true}}}),
		special("json_of", unboundUnit, def{b: Builtin{Row: rowJSONOf}}),
	}
}

func retUTF8Bin(b *binding) (schema.Type, error) {
	return textType(longText, schema.CollationUTF8MB4Bin), nil
}

// convertJSONArg converts arguments of JSON functions: documents (j) are
// parsed, values (v) become JSON scalars, paths (p) are text.
func convertJSONArg(env *BindEnv, class byte, e Expr) (Expr, error) {
	t := e.Type()
	switch {
	case class == 'p':
		return convertArg(env, 's', e)
	case t.ID == schema.TypeJSON:
		return e, nil
	case class == 'v':
		return mustLookup("json_of").call("json_of", []Expr{e}, jsonType(), false, jsonBool(e)), nil
	case t.ID == schema.TypeNull:
		return &Const{T: jsonType(), Text: "NULL"}, nil
	case t.IsBinary():
		return nil, sqlerr.InvalidJSONCharset("binary")
	case !t.IsString():
		return nil, sqlerr.InvalidJSONDocument(1, "json function")
	}
	return mustLookup("json_doc").call("json_doc", []Expr{e}, jsonType(), e.Nullable(), nil), nil
}

// jsonBool reports expressions that JSON takes as true or false: predicates
// and the literals TRUE and FALSE.
func jsonBool(e Expr) bool {
	if isColumn(e) {
		return false
	}
	t := e.Type()
	return t.ID == types.Bool.ID && t.Len == 1
}

// jsonArg is the Extra of a parsed document: what messages call it.
type jsonArg struct {
	arg      int
	function string
}

// namedJSON notes in the parser of a document, which convertArg made, the
// argument for which it works; err is the error of convertArg.
func namedJSON(e Expr, err error, arg int, function string) (Expr, error) {
	if sqlerr.IsInvalidJSONDocument(err) {
		return nil, sqlerr.InvalidJSONDocument(arg, function)
	}
	if f, ok := e.(*Func); ok && f.Op == OpJSONDoc && f.Extra == nil {
		f.Extra = jsonArg{arg, function}
	}
	return e, err
}

func rowJSONDoc(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	at, _ := f.Extra.(jsonArg)
	return c.parseJSONArg(a[0].Bytes(), max(at.arg, 1), at.function)
}

func (c *Ctx) parseJSONArg(text []byte, arg int, function string) (value.Datum, error) {
	env, err := c.readEnv(value.Bytes(text), jsonType())
	if err != nil {
		return value.Null, err
	}
	doc, err := value.ParseJSONWith(text, env.Work)
	var syntax *value.JSONSyntaxError
	switch {
	case errors.As(err, &syntax):
		return value.Null, sqlerr.InvalidJSONArgument(arg, function, syntax.Msg, syntax.Pos)
	case errors.Is(err, value.ErrJSONDepth):
		return value.Null, sqlerr.InvalidJSONArgument(arg, function, err.Error(), 0)
	case errors.Is(err, value.ErrJSONSize):
		return value.Null, sqlerr.PacketOverflow(function, value.MaxJSONSize)
	case err != nil:
		return value.Null, err
	}
	return value.JSONOf(doc), nil
}

// rowJSONOf is a value as a JSON scalar; NULL is the JSON null.
func rowJSONOf(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	d, t := a[0], f.Args[0].Type()
	switch d.Kind() {
	case value.KindNull:
		return value.JSONOf(value.JSONNull()), nil
	case value.KindInt:
		if isBool, _ := f.Extra.(bool); isBool {
			return value.JSONOf(value.JSONBool(d.Int() != 0)), nil
		}
		return value.JSONOf(value.JSONInt(d.Int())), nil
	case value.KindFloat:
		return value.JSONOf(value.JSONDouble(d.Float())), nil
	case value.KindDecimal:
		return value.JSONOf(value.JSONDecimal(d.Decimal())), nil
	case value.KindBytes:
		if t.IsBinary() || t.ID == schema.TypeGeometry {
			break
		}
		if isUTF8(charsetName(t.Collation)) {
			return value.JSONOf(value.JSONString(d.Bytes())), nil
		}
		s, err := types.Cast(&c.Env, d, t, types.Text(schema.CollationUTF8MB4Bin))
		if err != nil || s.IsNull() {
			return value.JSONOf(value.JSONNull()), err
		}
		return value.JSONOf(value.JSONString(s.Bytes())), nil
	case value.KindUint:
		if t.ID == schema.TypeEnum || t.ID == schema.TypeSet {
			s, err := types.Cast(&c.Env, d, t, types.Text(schema.CollationUTF8MB4Bin))
			return value.JSONOf(value.JSONString(s.Bytes())), err
		}
		if t.ID != schema.TypeBit {
			return value.JSONOf(value.JSONUint(d.Uint())), nil
		}
	}
	doc, err := types.ToJSON(&c.Env, d, t)
	return value.JSONOf(doc), err
}

type pathCache map[string]*value.JSONPath

// path compiles a JSON path, remembering those of this call.
func (c *Ctx) path(f *Func, d value.Datum) (*value.JSONPath, error) {
	paths, _ := c.cache[f].(pathCache)
	if p, ok := paths[string(d.Bytes())]; ok {
		return p, nil
	}
	p, err := value.CompileJSONPath(d.Str())
	if err != nil {
		var bad *value.JSONPathError
		if errors.As(err, &bad) {
			return nil, sqlerr.InvalidJSONPath(bad.Pos)
		}
		return nil, err
	}
	if paths == nil || len(paths) > 256 {
		paths = pathCache{}
		if c.cache == nil {
			c.cache = map[*Func]any{}
		}
		c.cache[f] = paths
	}
	paths[d.Str()] = p
	return p, nil
}

// extract appends the values that a path selects.
func (c *Ctx) extract(p *value.JSONPath, dst [][]byte, doc []byte) ([][]byte, error) {
	var err error
	dst = p.ExtractUntil(dst, doc, func(visited int) bool {
		err = c.Work(visited * workOfValue)
		return err != nil
	})
	return dst, err
}

// workOfValue is the work of looking at a value of a document.
const workOfValue = 20

// place is path, which must name one place.
func (c *Ctx) place(f *Func, d value.Datum) (*value.JSONPath, error) {
	p, err := c.path(f, d)
	if err == nil && p.HasWildcard() {
		return nil, sqlerr.JSONWildcard()
	}
	return p, err
}

func rowJSONExtract(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	doc := a[0].Bytes()
	many := len(a) > 2
	var found [][]byte
	for _, d := range a[1:] {
		p, err := c.path(f, d)
		if err != nil {
			return value.Null, err
		}
		if !many && !p.HasWildcard() {
			v, ok := p.Lookup(doc)
			if !ok {
				return value.Null, nil
			}
			return value.JSONOf(v), nil
		}
		if found, err = c.extract(p, found, doc); err != nil {
			return value.Null, err
		}
	}
	if len(found) == 0 {
		return value.Null, nil
	}
	return value.JSONOf(value.JSONArray(found...)), nil
}

// bindInlinePath is column->>path: the unquoted extract.
func bindInlinePath(_ *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	x, err := NewFunc(env, "json_extract", args...)
	if err != nil {
		return nil, err
	}
	return NewFunc(env, "json_unquote", x)
}

func rowJSONUnquote(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	d := a[0]
	switch d.Kind() {
	case value.KindJSON:
		if s, ok := value.JSONText(d.Bytes()); ok {
			return value.Bytes(s), nil
		}
		text, err := value.AppendJSONUnquotedUntil(nil, d.Bytes(), c.Work)
		return value.Bytes(text), err
	case value.KindBytes:
		s := d.Bytes()
		if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
			return d, nil
		}
		doc, err := c.parseJSONArg(s, 1, "json_unquote")
		if err != nil {
			return value.Null, err
		}
		text, _ := value.JSONText(doc.Bytes())
		return value.Bytes(text), nil
	}
	return value.Null, sqlerr.InvalidJSONDocument(1, "json_unquote")
}

func rowJSONQuote(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	text, err := value.AppendJSONTextUntil(nil, value.JSONString(a[0].Bytes()), c.Work)
	return value.Bytes(text), err
}

func rowJSONArray(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	elems := make([][]byte, len(a))
	for i, d := range a {
		elems[i] = jsonOrNull(d)
	}
	return value.JSONOf(value.JSONArray(elems...)), nil
}

// jsonOrNull is a JSON value; SQL NULL is the JSON null.
func jsonOrNull(d value.Datum) []byte {
	if d.IsNull() {
		return value.JSONNull()
	}
	return d.Bytes()
}

func bindJSONObject(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args)%2 != 0 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		class := byte('v')
		if i%2 == 0 {
			class = 's'
		}
		x, err := convertArg(env, class, a)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return d.call(name, out, jsonType(), false, nil), nil
}

func rowJSONObject(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	var keys, vals [][]byte
	for i := 0; i < len(a); i += 2 {
		if a[i].IsNull() {
			return value.Null, sqlerr.JSONNullKey()
		}
		keys, vals = append(keys, a[i].Bytes()), append(vals, jsonOrNull(a[i+1]))
	}
	return value.JSONOf(value.JSONObject(keys, vals)), nil
}

func rowJSONValid(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindJSON:
		return value.Int(1), nil
	case value.KindBytes:
		err := value.ValidateJSON(a[0].Bytes(), c.Work)
		if err != nil && c.context().Err() != nil {
			return value.Null, err
		}
		return value.Bool(err == nil), nil
	}
	return value.Int(0), nil
}

// at is the part of the document that the optional path argument i names.
func (c *Ctx) at(f *Func, a []value.Datum, i int) ([]byte, bool, error) {
	if len(a) <= i {
		return a[0].Bytes(), true, nil
	}
	p, err := c.place(f, a[i])
	if err != nil {
		return nil, false, err
	}
	v, ok := p.Lookup(a[0].Bytes())
	return v, ok, nil
}

func rowJSONLength(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, ok, err := c.at(f, a, 1)
	if err != nil || !ok {
		return value.Null, err
	}
	switch value.JSONType(v) {
	case "ARRAY", "OBJECT":
		return value.Int(int64(value.JSONLen(v))), nil
	}
	return value.Int(1), nil
}

func rowJSONKeys(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, ok, err := c.at(f, a, 1)
	if err != nil || !ok || value.JSONType(v) != "OBJECT" {
		return value.Null, err
	}
	keys := make([][]byte, value.JSONLen(v))
	for i := range keys {
		keys[i] = value.JSONString(value.JSONKey(v, i))
	}
	return value.JSONOf(value.JSONArray(keys...)), nil
}

func rowJSONContains(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, ok, err := c.at(f, a, 2)
	if err != nil || !ok {
		return value.Null, err
	}
	found, err := value.JSONContains(v, a[1].Bytes(), c.Work)
	return value.Bool(found), err
}

func oneOrAll(d value.Datum, function string) (all bool, err error) {
	switch strings.ToLower(d.Str()) {
	case "one":
		return false, nil
	case "all":
		return true, nil
	}
	return false, sqlerr.JSONOneOrAll(function)
}

func rowJSONContainsPath(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	all, err := oneOrAll(a[1], "json_contains_path")
	if err != nil {
		return value.Null, err
	}
	for _, d := range a[2:] {
		p, err := c.path(f, d)
		if err != nil {
			return value.Null, err
		}
		list, err := c.extract(p, nil, a[0].Bytes())
		if err != nil {
			return value.Null, err
		}
		if found := len(list) > 0; found != all {
			return value.Bool(found), nil
		}
	}
	return value.Bool(all), nil
}

func rowMemberOf(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	doc := a[1].Bytes()
	if value.JSONType(a[0].Bytes()) == "NULL" {
		return value.Null, nil
	}
	if value.JSONType(doc) != "ARRAY" {
		return value.Bool(value.JSONCompare(a[0].Bytes(), doc) == 0), nil
	}
	for i, n := 0, value.JSONLen(doc); i < n; i++ {
		e := value.JSONElem(doc, i)
		if err := c.Work(workOfCall + len(e)/4); err != nil {
			return value.Null, err
		}
		if value.JSONCompare(a[0].Bytes(), e) == 0 {
			return value.Int(1), nil
		}
	}
	return value.Int(0), nil
}

// bindJSONPairs types JSON_SET and its kin: a document, then paths with values.
func bindJSONPairs(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 3 || len(args)%2 == 0 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		class := byte('j')
		if i > 0 {
			class = "vp"[i%2]
		}
		x, err := convertArg(env, class, a)
		if x, err = namedJSON(x, err, i+1, name); err != nil {
			return nil, err
		}
		out[i] = x
	}
	return d.call(name, out, jsonType(), true, nil), nil
}

func rowJSONPairs(step func(doc []byte, p *value.JSONPath, v []byte) []byte) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		if a[0].IsNull() {
			return value.Null, nil
		}
		doc := a[0].Bytes()
		for i := 1; i+1 < len(a); i += 2 {
			if a[i].IsNull() {
				return value.Null, nil
			}
			p, err := c.place(f, a[i])
			if err != nil {
				return value.Null, err
			}
			if f.Op == OpJSONArrayInsert && !strings.HasSuffix(strings.TrimSpace(a[i].Str()), "]") {
				return value.Null, sqlerr.JSONBadArrayCell()
			}
			if err := c.Work(workOfEdit(doc)); err != nil {
				return value.Null, err
			}
			doc = step(doc, p, jsonOrNull(a[i+1]))
		}
		return value.JSONOf(doc), nil
	}
}

// workOfEdit is the work of an edit of doc, which copies it.
func workOfEdit(doc []byte) int { return workOfCall + len(doc) }

func rowJSONRemove(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	doc := a[0].Bytes()
	for _, d := range a[1:] {
		p, err := c.place(f, d)
		if err != nil {
			return value.Null, err
		}
		if strings.TrimSpace(d.Str()) == "$" {
			return value.Null, sqlerr.JSONVacuousPath()
		}
		if err := c.Work(workOfEdit(doc)); err != nil {
			return value.Null, err
		}
		doc = value.JSONRemove(doc, p)
	}
	return value.JSONOf(doc), nil
}

// rowJSONSearch finds strings LIKE a pattern and gives their paths.
func rowJSONSearch(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() || a[2].IsNull() {
		return value.Null, nil
	}
	all, err := oneOrAll(a[1], "json_search")
	if err != nil {
		return value.Null, err
	}
	escape := '\\'
	if len(a) > 3 && !a[3].IsNull() && len(a[3].Bytes()) > 0 {
		r := []rune(a[3].Str())
		if len(r) > 1 {
			return value.Null, sqlerr.WrongArguments("ESCAPE")
		}
		escape = r[0]
	}
	s := jsonSearch{c: c, match: collate.Must(schema.CollationUTF8MB4Bin).NewLike(a[2].Bytes(), escape), all: all, found: map[string]bool{}}
	if len(a) <= 4 {
		s.walk(a[0].Bytes(), "$")
	}
	for _, d := range a[min(4, len(a)):] {
		if d.IsNull() {
			return value.Null, nil
		}
		p, err := c.path(f, d)
		if err != nil {
			return value.Null, err
		}
		s.under(a[0].Bytes(), p)
	}
	if s.err != nil {
		return value.Null, s.err
	}
	switch {
	case len(s.paths) == 0:
		return value.Null, nil
	case len(s.paths) == 1:
		return value.JSONOf(s.paths[0]), nil
	}
	return value.JSONOf(value.JSONArray(s.paths...)), nil
}

type jsonSearch struct {
	c     *Ctx
	err   error
	match collate.Like
	all   bool
	paths [][]byte
	found map[string]bool // the paths
	// roots, unless nil, are the values under which to look, by where they are
	// in the document.
	roots map[*byte]bool
}

// under walks doc, but takes only what is at or under p.
func (s *jsonSearch) under(doc []byte, p *value.JSONPath) {
	s.roots = map[*byte]bool{}
	list, err := s.c.extract(p, nil, doc)
	if err != nil {
		s.err = err
		return
	}
	for _, v := range list {
		s.roots[&v[0]] = true
	}
	s.walk(doc, "$")
}

func (s *jsonSearch) walk(doc []byte, path string) {
	if s.err != nil || len(s.paths) > 0 && !s.all {
		return
	}
	if s.err = s.c.Work(workOfValue); s.err != nil {
		return
	}
	if s.roots[&doc[0]] {
		roots := s.roots
		s.roots = nil
		defer func() { s.roots = roots }()
	}
	switch value.JSONType(doc) {
	case "STRING":
		if text, _ := value.JSONText(doc); s.roots == nil && !s.found[path] && s.c.like(s.match, text, &s.err) {
			s.found[path] = true
			s.paths = append(s.paths, value.JSONString([]byte(path)))
		}
	case "ARRAY":
		for i, n := 0, value.JSONLen(doc); i < n; i++ {
			s.walk(value.JSONElem(doc, i), path+"["+strconv.Itoa(i)+"]")
		}
	case "OBJECT":
		for i, n := 0, value.JSONLen(doc); i < n; i++ {
			s.walk(value.JSONElem(doc, i), path+"."+pathKey(value.JSONKey(doc, i)))
		}
	}
}

// pathKey is a member name in a path, quoted unless it is an identifier.
func pathKey(key []byte) string {
	for i, b := range key {
		if !(b == '_' || b == '$' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || i > 0 && b >= '0' && b <= '9') {
			return string(value.AppendJSONText(nil, value.JSONString(key)))
		}
	}
	if len(key) == 0 {
		return `""`
	}
	return string(key)
}

// appendPretty appends the text of JSON_PRETTY.
func (c *Ctx) appendPretty(dst, doc []byte, depth int) ([]byte, error) {
	kind := value.JSONType(doc)
	n := 0
	if kind == "ARRAY" || kind == "OBJECT" {
		n = value.JSONLen(doc)
	}
	if n == 0 {
		return value.AppendJSONTextUntil(dst, doc, c.Work)
	}
	open, shut := byte('['), byte(']')
	if kind == "OBJECT" {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendIndent(dst, depth+1)
		err := c.Work(workOfCall)
		if err == nil && kind == "OBJECT" {
			dst, err = value.AppendJSONTextUntil(dst, value.JSONString(value.JSONKey(doc, i)), c.Work)
			dst = append(dst, ": "...)
		}
		if err == nil {
			dst, err = c.appendPretty(dst, value.JSONElem(doc, i), depth+1)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(appendIndent(dst, depth), shut), nil
}

func appendIndent(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}
