package access

import (
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// A field over a part of a JSON column serves conditions that compare it with
// constants:
//
//	'x' MEMBER OF (doc->'$.a'), JSON_CONTAINS, JSON_OVERLAPS
//	doc->'$.a' = 5, <, <=, >, >=, IN, BETWEEN   of numbers; = and IN of texts
//	doc->>'$.a' = 'x', …, LIKE 'x%'             of KEYWORD
//	doc->'$.a' IS NULL
//
// The condition always stays: what is equal in the field need not be equal JSON.

// path is what fields over parts of JSON columns can tell of a condition; nil:
// nothing.
func (s *searcher) path(f *expr.Func) *physical.SearchNode {
	if len(s.r.Scan.Paths) == 0 {
		return nil
	}
	for i := range s.x.Fields {
		field := &s.x.Fields[i]
		e := s.r.Scan.Paths[field.Column]
		if field.Kind != schema.SearchPath || e == nil {
			continue
		}
		asks := pathAsks(f, field, e)
		if len(asks) == 0 {
			continue
		}
		list := make([]*physical.SearchNode, len(asks))
		for j := range asks {
			list[j] = &physical.SearchNode{Op: physical.SearchPath, Field: field, Column: s.t.ColumnIndex(field.Column), Match: f, Ask: &asks[j]}
			if anyParam(asks[j].Args) {
				s.r.ValuesMatter = true
			}
		}
		s.nodes += len(list)
		return combine(physical.SearchAnd, list)
	}
	return nil
}

func anyParam(list []expr.Expr) bool {
	for _, e := range list {
		if hasParam(e) {
			return true
		}
	}
	return false
}

// pathAsks are the questions about the JSON value e that all rows pass for which
// a condition is true.
func pathAsks(f *expr.Func, field *schema.SearchField, e expr.Expr) []physical.SearchAsk {
	one := func(op physical.AskOp, spread bool, args ...expr.Expr) []physical.SearchAsk {
		for _, a := range args {
			if !expr.IsConst(a) || expr.IsVolatile(a) {
				return nil
			}
		}
		return []physical.SearchAsk{{Op: op, Spread: spread, Args: args}}
	}
	switch f.Name {
	case "member of":
		if expr.Same(f.Args[1], e) {
			return one(physical.AskAny, false, f.Args[0])
		}
		return nil
	case "json_contains":
		if len(f.Args) == 2 && expr.Same(f.Args[0], e) {
			return one(physical.AskAll, false, f.Args[1])
		}
		return nil
	case "json_overlaps":
		for i := range 2 {
			if expr.Same(f.Args[i], e) {
				return one(physical.AskAny, true, f.Args[1-i])
			}
		}
		return nil
	case "is_null":
		if expr.Same(f.Args[0], e) || expr.Same(unquoted(f.Args[0]), e) {
			return []physical.SearchAsk{{Op: physical.AskNull}}
		}
		return nil
	}
	if field.Many {
		return nil
	}
	name, args, text := f.Name, f.Args, false
	if len(args) == 0 {
		return nil
	}
	if len(args) == 2 && expr.IsConst(args[0]) && !expr.IsConst(args[1]) {
		swapped, ok := mirrored[name]
		if !ok {
			return nil
		}
		name, args = swapped, []expr.Expr{args[1], args[0]}
	}
	if field.Attribute {
		return attributeAsks(name, args, f, field, e)
	}
	if u := unquoted(args[0]); u != nil && expr.Same(u, e) {
		text = true
	} else if !expr.Same(args[0], e) {
		return nil
	}
	if name == "like" {
		return pathPrefix(f, field, text)
	}
	t, ok := expr.CmpTypeOf(f)
	if name == "between" {
		ok = true
		t = f.Args[0].Type()
	}
	switch {
	case !ok:
		return nil
	case text && (!field.Elem.IsString() || !t.IsString() || t.Collation != schema.CollationUTF8MB4Bin):
		return nil
	case !text && t.ID != schema.TypeJSON:
		return nil
	}
	ordered := text || !field.Elem.IsString()
	var asks []physical.SearchAsk
	switch {
	case name == "=", name == "in":
		asks = one(physical.AskAny, false, args[1:]...)
	case !ordered:
		return nil
	case name == "<", name == "<=":
		asks = one(physical.AskBelow, false, args[1])
	case name == ">", name == ">=":
		asks = one(physical.AskAbove, false, args[1])
	}
	for i := range asks {
		asks[i].SQL = text
	}
	return asks
}

var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// unquoted is the JSON value whose text an expression is; nil for others.
func unquoted(e expr.Expr) expr.Expr {
	if f, ok := e.(*expr.Func); ok && f.Name == "json_unquote" {
		return f.Args[0]
	}
	return nil
}

// pathPrefix is LIKE with a constant pattern that does not begin with a wildcard.
func pathPrefix(f *expr.Func, field *schema.SearchField, text bool) []physical.SearchAsk {
	c, ok := f.Args[1].(*expr.Const)
	if !text || !ok || !field.Elem.IsString() || !expr.LikeIsBinary(f) || c.D.IsNull() || len(f.Args) > 2 {
		return nil
	}
	prefix := c.D.Str()
	if i := strings.IndexAny(prefix, `%_\`); i >= 0 {
		prefix = prefix[:i]
	}
	if prefix == "" {
		return nil
	}
	return []physical.SearchAsk{{Op: physical.AskPrefix, Args: []expr.Expr{expr.NewConst(value.String(prefix), c.T)}}}
}

// attributeAsks is pathAsks for a comparison of an attribute, which knows whether
// it is one with numbers or with a text. Values of another type than the field's
// are not in it: they have their own ways to compare with a constant.
func attributeAsks(name string, args []expr.Expr, f *expr.Func, field *schema.SearchField, e expr.Expr) []physical.SearchAsk {
	if name == "like" {
		return pathPrefix(f, field, expr.Same(expr.AttributeText(args[0]), e))
	}
	text := field.Elem.IsString()
	list := args[1:]
	if text {
		a, b, ok := expr.AttributeOrder(args[0])
		if !ok || !expr.Same(a, e) || name == "in" {
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
	op, ok := map[string]physical.AskOp{"=": physical.AskAny, "in": physical.AskAny, "<": physical.AskBelow, "<=": physical.AskBelow, ">": physical.AskAbove, ">=": physical.AskAbove}[name]
	if !ok {
		return nil
	}
	return []physical.SearchAsk{{Op: op, Args: list, SQL: text}}
}
