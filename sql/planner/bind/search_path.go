package bind

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// searchPathFunc is how a field over a part of a JSON column is written among key
// parts: search_path(doc->'$.a', 'BIGINT').
const searchPathFunc = "search_path"

// arrayField is the field of CAST(… AS type ARRAY): 1235 for types that have no
// place in it.
func (b *binder) arrayField(index string, n *ast.FuncCastExpr) (logical.IndexColumn, error) {
	var none logical.IndexColumn
	t, err := b.arrayElem(n, "")
	if err != nil {
		return none, err
	}
	switch {
	case t.IsCharacter():
		// Columns of JSON_TABLE compare so; equal JSON strings have equal keys anyway.
		t = types.VarcharOf(t.Len, schema.CollationUTF8MB40900AICI)
	case t.IsInteger(), t.ID == schema.TypeDecimal, t.ID == schema.TypeDouble, t.HasDate():
	default:
		return none, sqlerr.NotSupported("arrays of " + strings.ToUpper(t.Name()) + " in a search index")
	}
	return b.pathColumn(index, n.Expr, &schema.SearchField{Kind: schema.SearchPath, Elem: t, Many: true})
}

// searchPath is the field of search_path(expression, 'type').
func (b *binder) searchPath(index string, f *ast.FuncCallExpr) (logical.IndexColumn, error) {
	var none logical.IndexColumn
	if len(f.Args) != 2 {
		return none, sqlerr.WrongParamCount(searchPathFunc)
	}
	v, ok := f.Args[1].(ast.ValueExpr)
	if !ok {
		return none, sqlerr.WrongArguments(searchPathFunc)
	}
	t, err := pathType(v.GetString())
	if err != nil {
		return none, err
	}
	return b.pathColumn(index, f.Args[0], &schema.SearchField{Kind: schema.SearchPath, Elem: t})
}

// pathColumn is a field over a column or a part of a JSON column.
func (b *binder) pathColumn(index string, n ast.ExprNode, f *schema.SearchField) (logical.IndexColumn, error) {
	n = stripParentheses(n)
	if c, ok := n.(*ast.ColumnNameExpr); ok {
		return logical.IndexColumn{Name: c.Name.Name.O, Search: f}, nil
	}
	text, err := b.storedText(rule{kind: ruleIndex, owner: index}, n)
	return logical.IndexColumn{Expr: text, Search: f}, err
}

var pathTypes = regexp.MustCompile(`^(KEYWORD|BIGINT|BIGINT UNSIGNED|DOUBLE|BOOL|BOOLEAN|DATE|DATETIME ?(?:\( ?([0-6]) ?\))?|DECIMAL ?(?:\( ?(\d+) ?(?:, ?(\d+) ?)?\))?)$`)

// pathType reads the type of a field over a part of a JSON column: 1210, 1426,
// 1425.
func pathType(text string) (schema.Type, error) {
	name := strings.ToUpper(strings.Join(strings.Fields(text), " "))
	m := pathTypes.FindStringSubmatch(name)
	if m == nil {
		return schema.Type{}, sqlerr.New(1210, "HY000", "Incorrect arguments to search index field: type '%s' is none of KEYWORD, BIGINT, BIGINT UNSIGNED, DOUBLE, DECIMAL(p,s), BOOL, DATE, DATETIME(n)", text)
	}
	switch {
	case name == "KEYWORD":
		return types.Text(schema.CollationUTF8MB4Bin), nil
	case name == "BIGINT":
		return types.BigInt, nil
	case name == "BIGINT UNSIGNED":
		return types.UBigInt, nil
	case name == "DOUBLE":
		return types.Double, nil
	case strings.HasPrefix(name, "BOOL"):
		return schema.Type{ID: schema.TypeTinyInt, Len: 1, Collation: schema.CollationBinary}, nil
	case name == "DATE":
		return types.Date, nil
	case strings.HasPrefix(name, "DATETIME"):
		n, _ := strconv.Atoi("0" + m[2])
		return types.DatetimeOf(n), nil
	}
	precision, scale := 10, 0
	if m[3] != "" {
		precision, _ = strconv.Atoi(m[3])
		scale, _ = strconv.Atoi("0" + m[4])
	}
	switch {
	case precision < 1 || precision > 65:
		return schema.Type{}, sqlerr.New(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is 65.", precision, name)
	case scale > 30:
		return schema.Type{}, sqlerr.New(1425, "42000", "Too big scale %d specified for column '%s'. Maximum is 30.", scale, name)
	case scale > precision:
		return schema.Type{}, sqlerr.New(1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').", name)
	}
	return types.DecimalOf(precision, scale), nil
}

// addPathColumn adds the hidden column of a part of a JSON column: 3143, 1235 for
// other expressions, of which some could be errors.
func addPathColumn(pool *parser.Pool, t *schema.Table, index, text string) (string, error) {
	b, err := rule{kind: ruleIndex, owner: index}.bind(pool, t, text)
	if err != nil {
		return "", err
	}
	f, ok := b.e.(*expr.Func)
	if ok = ok && f.Name == "json_extract"; ok {
		c, isCol := f.Args[0].(*expr.Col)
		ok = isCol && c.T.ID == schema.TypeJSON
		for _, a := range f.Args[1:] {
			k, isConst := a.(*expr.Const)
			if ok = ok && isConst && k.D.Kind() == value.KindBytes; !ok {
				break
			}
			_, err := value.CompileJSONPath(k.D.Str())
			if bad, isPath := errors.AsType[*value.JSONPathError](err); isPath {
				return "", sqlerr.InvalidJSONPath(bad.Pos)
			}
		}
	}
	if !ok {
		return "", sqlerr.NotSupported("a search index field over anything but a path of a JSON column")
	}
	return addHidden(t, index, schema.Column{Type: types.JSON}, b).Name, nil
}

// pathField completes a field over column c, a part of a JSON column: it has the
// values of a hidden column where its type is that of an expression. 1060 for the
// same part, of this name, with the same type.
func pathField(pool *parser.Pool, t *schema.Table, x *schema.SearchIndex, c schema.Column, f *schema.SearchField, name string) error {
	text := quoteIdent(c.Name)
	if c.Hidden {
		text = c.Generated.Expr
	}
	for i := range x.Fields {
		o := &x.Fields[i]
		oc := t.Column(o.Column)
		if oc == nil || o.Kind != f.Kind || o.Many != f.Many || o.ElemName() != f.ElemName() {
			continue
		}
		if oc.ID == c.ID || c.Hidden && oc.Hidden && (oc.Generated.Expr == text || f.Attribute && strings.EqualFold(oc.Generated.Expr, text)) {
			return sqlerr.DuplicateColumn(name)
		}
	}
	f.Marked = true
	inner, ok := strings.CutPrefix(strings.TrimSuffix(text, ")"), "json_extract(")
	if !ok || f.Many || f.Attribute {
		return notDated(f)
	}
	of, typ := "json_value("+inner+" returning ", f.Elem
	switch {
	case typ.IsString():
		of = "json_unquote(" + text + ")"
	case typ.ID == schema.TypeTinyInt:
		return nil
	case typ.IsInteger() && typ.Unsigned:
		of += "unsigned)"
	case typ.IsInteger():
		of += "signed)"
	default:
		of += typ.String() + ")"
	}
	r := rule{kind: ruleIndex, owner: x.Name}
	if b, err := r.bind(pool, t, text); err != nil || len(b.e.(*expr.Func).Args) != 2 {
		return cmp.Or(err, notDated(f))
	}
	b, err := r.bind(pool, t, of)
	if err != nil {
		return err
	}
	f.Value = addHidden(t, x.Name, schema.Column{Type: typ}, b).ID
	return nil
}

// notDated refuses times that are not the values of one expression, nor elements.
func notDated(f *schema.SearchField) error {
	if f.Elem.HasDate() && !f.Many {
		return sqlerr.NotSupported("times of anything but one path of a JSON column in a search index")
	}
	return nil
}

// searchAttribute gives t the hidden column of a field that is an attribute of
// rows with dynamic columns, and tells its place: -1 where name can be none. 1235
// for what is no typed value.
func searchAttribute(pool *parser.Pool, t *schema.Table, x *schema.SearchIndex, name string, f *schema.SearchField) (int, error) {
	if t.AttributesColumn() < 0 || checkColumnName(name) != nil || x.Form != schema.FormSearch {
		return -1, nil
	}
	switch {
	case f.Kind == schema.SearchPath:
	case f.Kind == schema.SearchValue && f.As == "":
		f.Kind, f.Elem = schema.SearchPath, types.Text(schema.CollationUTF8MB4Bin)
	default:
		return -1, sqlerr.NotSupported("words, places and forms of an attribute in a search index")
	}
	if f.Many {
		return -1, sqlerr.NotSupported("arrays of an attribute in a search index")
	}
	f.Attribute = true
	b, err := rule{kind: ruleIndex, owner: x.Name}.bind(pool, t, quoteIdent(name))
	if err != nil {
		return -1, err
	}
	return t.ColumnIndex(addHidden(t, x.Name, schema.Column{Type: types.JSON}, b).ID), nil
}

// matchPart is the text of a part of a JSON column, doc->>'$.a', that a search
// index has the words of, which m gets: 1210 for other expressions, 1191 without
// such an index.
func (b *binder) matchPart(sc *scope, name string, n ast.ExprNode, m *expr.Match) (expr.Expr, error) {
	e, err := b.value(sc, n)
	if err != nil {
		return nil, err
	}
	var col *expr.Col
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok && col == nil {
			col = c
		}
		return col == nil
	})
	if f, ok := e.(*expr.Func); !ok || f.Name != "json_unquote" || col == nil {
		return nil, sqlerr.WrongArguments(name)
	}
	t, pos := sc.tableOf(col.ID)
	if t == nil {
		return nil, sqlerr.WrongArguments(name)
	}
	own := *sc
	own.column = func(_, _, name string) (expr.Expr, error) {
		if !strings.EqualFold(name, t.Columns[pos].Name) {
			return nil, sqlerr.WrongArguments(name)
		}
		return col, nil
	}
	for i := range t.Search {
		x := &t.Search[i]
		for j := range x.Fields {
			f, c := &x.Fields[j], t.Column(x.Fields[j].Column)
			if f.Kind != schema.SearchText || !c.Hidden {
				continue
			}
			rule, err := parseRule(b.parser(), c.Generated.Expr)
			if err != nil {
				return nil, err
			}
			if of, err := b.value(&own, rule); err != nil || !expr.Same(e, of) {
				continue
			}
			m.Table, m.Index, m.Fields = t.ID, x.ID, []uint16{f.ID}
			m.Analyzer, err = Analyzer(x, f, c)
			return e, err
		}
	}
	return nil, noText()
}

// timeText is how a text looks that is one time in each SQL mode and time zone.
var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)?$`)

// ElementTime is the time of type elem that a string in a document tells, or that a
// scalar is; false for one that it tells in some SQL mode or time zone alone, or with
// more digits than the type has.
func ElementTime(elem *schema.Type, doc []byte) (value.Time, bool) {
	var t value.Time
	ok := false
	switch text, isText := value.JSONText(doc); {
	case isText && timeText.Match(text):
		var err error
		t, ok, err = types.ParseTime(&types.Env{}, text, types.DatetimeOf(6))
		ok = ok && err == nil
	case !isText:
		var d value.Datum
		if d, ok = value.JSONScalar(doc); ok && d.Kind() == value.KindTime {
			t = d.Time()
		}
	}
	switch {
	case !ok || t.Year() == 0 || t.HasZeroPart():
		return 0, false
	case elem.ID == schema.TypeDate:
		return t.Date(), true
	}
	return t, t == t.TruncateFSP(elem.Scale)
}

// TellsTime reports a string that no other string is equal in time to of those that
// are written so: as a value of type elem is shown.
func TellsTime(elem *schema.Type, doc []byte) bool {
	text, isText := value.JSONText(doc)
	t, ok := ElementTime(elem, doc)
	return isText && ok && string(types.AppendText(nil, *elem, value.TimeOf(t))) == string(text)
}
