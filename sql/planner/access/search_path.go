package access

import (
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// A field over a part of a JSON column serves conditions that compare it with
// constants:
//
//	'x' MEMBER OF (doc->'$.a'), JSON_CONTAINS, JSON_OVERLAPS
//	doc->'$.a' = 5, <, <=, >, >=, IN   of numbers; = and IN of texts
//	doc->'$.a' IS NULL
//
// What is equal in the field need not be equal JSON. The index still decides the
// condition if documents are marked whose values are not exactly those of the
// JSON, and if the constant is like nothing else in the field.

// path is the query of fields over parts of JSON columns for a condition; nil if
// none serves it.
func (s *searcher) path(f *expr.Func) (n *physical.SearchNode, exact bool) {
	if len(s.r.Scan.Paths) == 0 {
		return nil, false
	}
	for i := range s.x.Fields {
		field := &s.x.Fields[i]
		e := s.r.Scan.Paths[field.Column]
		if field.Kind != schema.SearchPath || e == nil || field.Elem.HasDate() && !field.Many {
			continue
		}
		ask := pathAsk(f, field, e)
		if ask == nil {
			continue
		}
		if anyParam(ask.Args) {
			s.r.ValuesMatter = true
		}
		ask.Exact = s.isExact(ask, field)
		s.nodes++
		s.marks = s.marks || ask.Exact
		return &physical.SearchNode{Op: physical.SearchPath, Field: field, Column: s.t.ColumnIndex(field.Column), Match: f, Ask: ask}, ask.Exact
	}
	return nil, false
}

// isExact reports a question to which the field has the whole answer, next to the
// documents that are marked.
func (s *searcher) isExact(ask *physical.SearchAsk, field *schema.SearchField) bool {
	switch {
	case s.inexact || !field.Marked || field.Attribute || ask.Op == physical.AskPrefix:
		return false
	case ask.Op == physical.AskNull:
		return !field.Many
	case s.r.Ctx == nil || !expr.KnownBefore(ask.Args):
		return false
	}
	ec := s.r.Ctx.Fork()
	ec.Warn = nil // the query itself warns
	for _, a := range ask.Args {
		d, err := expr.EvalConst(ec, a)
		switch {
		case err != nil:
			return false
		case d.IsNull() && ask.Op == physical.AskAny:
			continue
		case d.Kind() != value.KindJSON:
			return false
		}
		doc := d.Bytes()
		if value.JSONType(doc) != "ARRAY" || ask.Op != physical.AskAll && !ask.Spread {
			if !decidesExactly(ask.Op, field, doc) {
				return false
			}
			continue
		}
		if ask.Op == physical.AskAll && (!field.Many || value.JSONLen(doc) == 0) {
			return false
		}
		for i := range value.JSONLen(doc) {
			if !decidesExactly(ask.Op, field, value.JSONElem(doc, i)) {
				return false
			}
		}
	}
	return true
}

// decidesExactly reports whether a field decides a comparison with one constant exactly.
func decidesExactly(op physical.AskOp, field *schema.SearchField, doc []byte) bool {
	equal := op == physical.AskAny || op == physical.AskAll
	switch kind := value.JSONType(doc); {
	case kind == "NULL":
		return false
	case field.Elem.HasDate():
		return equal && searchfield.TellsTime(&field.Elem, doc)
	case !field.Elem.IsString():
		return equal || field.Elem.ID != schema.TypeTinyInt && value.JSONIsNumber(doc)
	case kind == "ARRAY", kind == "OBJECT":
		return equal
	case kind != "STRING":
		return false // its text may be a string's
	default:
		return equal && isOnlyString(string(value.AppendJSONUnquoted(nil, doc)))
	}
}

// isOnlyString reports a text that no scalar but a string has.
func isOnlyString(s string) bool {
	switch s {
	case "":
		return true
	case "true", "false", "null":
		return false
	}
	return s[0] != '-' && (s[0] < '0' || s[0] > '9') && !strings.HasPrefix(s, "base64:")
}

func anyParam(list []expr.Expr) bool {
	for _, e := range list {
		if hasParam(e) {
			return true
		}
	}
	return false
}

// pathAsk is the question about the JSON value e that all rows pass for which a
// condition is true; nil for none.
func pathAsk(f *expr.Func, field *schema.SearchField, e expr.Expr) *physical.SearchAsk {
	one := func(op physical.AskOp, spread bool, args ...expr.Expr) *physical.SearchAsk {
		for _, a := range args {
			if !expr.IsConst(a) || expr.IsVolatile(a) {
				return nil
			}
		}
		return &physical.SearchAsk{Op: op, Spread: spread, Args: args}
	}
	switch f.Op {
	case expr.OpMemberOf:
		if expr.Same(f.Args[1], e) {
			return one(physical.AskAny, false, f.Args[0])
		}
		return nil
	case expr.OpJSONContains:
		if len(f.Args) == 2 && expr.Same(f.Args[0], e) {
			return one(physical.AskAll, false, f.Args[1])
		}
		return nil
	case expr.OpJSONOverlaps:
		for i := range 2 {
			if expr.Same(f.Args[i], e) {
				return one(physical.AskAny, true, f.Args[1-i])
			}
		}
		return nil
	case expr.OpIsNull:
		if expr.Same(f.Args[0], e) {
			return &physical.SearchAsk{Op: physical.AskNull}
		}
		return nil
	}
	if field.Many {
		return nil
	}
	op, args := f.Op, f.Args
	if len(args) == 0 {
		return nil
	}
	if len(args) == 2 && expr.IsConst(args[0]) && !expr.IsConst(args[1]) {
		swapped, ok := op.Swapped()
		if !ok {
			return nil
		}
		op, args = swapped, []expr.Expr{args[1], args[0]}
	}
	if field.Attribute {
		return attributeAsk(op, args, f, field, e)
	}
	if t, ok := expr.CmpTypeOf(f); !ok || t.ID != schema.TypeJSON || !expr.Same(args[0], e) {
		return nil
	}
	ask, ok := comparisons[op]
	if !ok || ask != physical.AskAny && field.Elem.IsString() {
		return nil
	}
	out := one(ask, false, args[1:]...)
	if out != nil {
		out.Strict = op == expr.OpLT || op == expr.OpGT
	}
	return out
}

// comparisons are the questions of comparisons with constants.
var comparisons = map[expr.Op]physical.AskOp{
	expr.OpEQ: physical.AskAny, expr.OpIn: physical.AskAny, expr.OpLT: physical.AskBelow, expr.OpLE: physical.AskBelow,
	expr.OpGT: physical.AskAbove, expr.OpGE: physical.AskAbove,
}

// attributeAsk is pathAsk for a comparison of an attribute, which knows whether it
// is one with numbers or with a text. Values of another type than the field's are
// not in it: they have their own ways to compare with a constant.
func attributeAsk(op expr.Op, args []expr.Expr, f *expr.Func, field *schema.SearchField, e expr.Expr) *physical.SearchAsk {
	if op == expr.OpLike {
		return prefixAsk(f, field, args[0], e)
	}
	text := field.Elem.IsString()
	list := args[1:]
	if text {
		a, b, ok := expr.AttributeOrder(args[0])
		if !ok || !expr.Same(a, e) || op == expr.OpIn {
			return nil
		}
		list = []expr.Expr{b}
	} else if a, ok := expr.AttributeNumber(args[0]); !ok || !expr.Same(a, e) || field.Elem.ID == schema.TypeTinyInt {
		return nil
	}
	for _, a := range list {
		if !expr.IsConst(a) || expr.IsVolatile(a) {
			return nil
		}
	}
	ask, ok := comparisons[op]
	if !ok {
		return nil
	}
	return &physical.SearchAsk{Op: ask, Args: list, SQL: text}
}

// prefixAsk is LIKE of an attribute with a constant pattern that does not begin
// with a wildcard.
func prefixAsk(f *expr.Func, field *schema.SearchField, arg, e expr.Expr) *physical.SearchAsk {
	c, ok := f.Args[1].(*expr.Const)
	if !ok || !expr.Same(expr.AttributeText(arg), e) || !field.Elem.IsString() || !expr.LikeIsBinary(f) || c.D.IsNull() || len(f.Args) > 2 {
		return nil
	}
	prefix := c.D.Str()
	if i := strings.IndexAny(prefix, `%_\`); i >= 0 {
		prefix = prefix[:i]
	}
	if prefix == "" {
		return nil
	}
	return &physical.SearchAsk{Op: physical.AskPrefix, Args: []expr.Expr{expr.NewConst(value.String(prefix), c.T)}}
}
