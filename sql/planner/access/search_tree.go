package access

import (
	"math"
	"slices"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// searcher makes queries of conditions.
type searcher struct {
	r *Request
	t *schema.Table
	x *schema.SearchIndex
	// have are the columns whose values are fields of the index, by position; gives
	// are those and the ones in the documents' keys.
	have, gives map[int]bool
	// lazy leaves checks of values to the one who reads what is found.
	lazy bool
	// inexact does not rely on the marks of documents that say where values are
	// not those of JSON; marks: this searcher does.
	inexact, marks bool
	nodes          int
	// object are the objects that conditions are about; nil: rows.
	object *object
	// near are the conditions of which the index finds little more than what
	// satisfies them.
	near []expr.Expr
}

func newSearcher(r *Request, x *schema.SearchIndex, lazy, inexact bool) *searcher {
	s := &searcher{r: r, t: r.Scan.Table, x: x, have: map[int]bool{}, gives: map[int]bool{}, lazy: lazy, inexact: inexact}
	for i := range x.Fields {
		pos := s.t.ColumnIndex(x.Fields[i].ValueColumn())
		if pos < 0 && (x.Fields[i].Kind == schema.SearchGeo || x.Fields[i].Kind == schema.SearchBytes) {
			pos = s.t.ColumnIndex(x.Fields[i].Column)
		}
		if pos >= 0 && s.t.Columns[pos].Array == nil {
			s.have[pos], s.gives[pos] = true, true
		}
	}
	for _, p := range s.t.PrimaryKey {
		if pos := s.t.ColumnIndex(p.Column); p.Prefix == 0 && givesBack(s.t.Columns[pos].KeyType()) {
			s.gives[pos] = true
		}
	}
	return s
}

// givesBack reports whether a key has the values of a type themselves, and not
// what they are compared by.
func givesBack(t schema.Type) bool {
	if !t.IsCharacter() || t.Collation == schema.CollationNone {
		return true
	}
	c, ok := collate.Lookup(t.Collation)
	return ok && c.IsBinary()
}

// truth turns a condition, or its negation, into a query of the index that finds
// all rows satisfying it. exact: it finds no others. nil: the index does not
// serve it.
func (s *searcher) truth(c expr.Expr, negated bool) (n *physical.SearchNode, exact bool) {
	f, ok := c.(*expr.Func)
	if !ok {
		if sub, is := c.(*expr.Subquery); is {
			if n, exact = s.nested(sub); n != nil && negated {
				return complement(n, exact)
			} else if n != nil {
				return n, exact
			}
			if n = s.exists(sub); n != nil && !negated {
				return n, false
			}
		}
		return s.check(c, negated)
	}
	switch f.Op {
	case expr.OpNot:
		return s.truth(f.Args[0], !negated)
	case expr.OpIsTrue, expr.OpIsFalse:
		n, exact = s.part(f.Args[0], f.Op == expr.OpIsFalse)
		if negated {
			n, exact = complement(n, exact)
		}
	case expr.OpAnd, expr.OpOr:
		n, exact = s.logic(f, negated)
	case expr.OpXor:
		n, exact = s.xor(f, negated)
	case expr.OpIsNull:
		if n, exact = s.unknown(f.Args[0], negated); n == nil {
			if n, exact = s.path(f); negated {
				n, exact = complement(n, exact)
			}
		}
	default:
		n, exact = s.leaf(f, negated)
	}
	if n == nil || onlyChecks(n) && !(exact && s.byValue(n)) {
		if whole, ok := s.check(c, negated); ok {
			return whole, true
		}
	}
	return n, exact
}

// logic is truth of an AND or OR.
func (s *searcher) logic(f *expr.Func, negated bool) (n *physical.SearchNode, exact bool) {
	all := (f.Op == expr.OpAnd) != negated
	exact = true
	var list, checks []*physical.SearchNode
	for _, a := range f.Args {
		child, ok := s.part(a, negated)
		exact = exact && ok
		switch {
		case child == nil && !all:
			return nil, false
		case child == nil:
		case onlyChecks(child):
			checks = append(checks, child)
		default:
			list = append(list, child)
		}
	}
	op := physical.SearchOr
	if all {
		op = physical.SearchAnd
	}
	return combine(op, append(list, checks...)), exact
}

// part is truth of a part of a condition, whose own parts may be ranges of
// fields.
func (s *searcher) part(c expr.Expr, negated bool) (n *physical.SearchNode, exact bool) {
	if negated {
		return s.truth(c, true)
	}
	lazy := s.lazy
	s.lazy = false
	n, left := s.query(expr.SplitAnd(nil, c))
	s.lazy = lazy
	return n, len(left) == 0
}

// xor is truth of an XOR: one of two is true and the other is false.
func (s *searcher) xor(f *expr.Func, negated bool) (n *physical.SearchNode, exact bool) {
	var parts [4]*physical.SearchNode
	for i := range parts {
		if parts[i], exact = s.part(f.Args[i/2], i%2 == 1); parts[i] == nil || !exact {
			return nil, false
		}
	}
	isA, notA, isB, notB := parts[0], parts[1], parts[2], parts[3]
	if negated {
		isB, notB = notB, isB
	}
	both := func(x, y *physical.SearchNode) *physical.SearchNode {
		return combine(physical.SearchAnd, []*physical.SearchNode{x, y})
	}
	return combine(physical.SearchOr, []*physical.SearchNode{both(isA, notB), both(notA, isB)}), true
}

// unknown is truth of IS NULL of a condition.
func (s *searcher) unknown(c expr.Expr, negated bool) (n *physical.SearchNode, exact bool) {
	f, ok := c.(*expr.Func)
	if !ok || !isLogic(f.Op) {
		return nil, false
	}
	is, exact := s.part(c, false)
	if is == nil || !exact {
		return nil, false
	}
	isNot, exact := s.truth(c, true)
	if isNot == nil || !exact {
		return nil, false
	}
	n = combine(physical.SearchOr, []*physical.SearchNode{is, isNot})
	if !negated {
		return complement(n, true)
	}
	return n, true
}

func isLogic(op expr.Op) bool {
	return op == expr.OpAnd || op == expr.OpOr || op == expr.OpXor || op == expr.OpNot
}

// leaf is truth of a condition that combines no others.
func (s *searcher) leaf(f *expr.Func, negated bool) (n *physical.SearchNode, exact bool) {
	if m, exact := s.match(f); m != nil {
		s.nodes++
		n = &physical.SearchNode{Op: physical.SearchMatch, Match: m}
		if negated {
			return complement(n, exact)
		}
		return n, exact
	}
	if negated {
		return nil, false
	}
	if f.Op == expr.OpLike {
		n = s.like(f)
	} else {
		n = s.geo(f)
	}
	if n == nil {
		n, exact = s.path(f)
	}
	if n == nil || exact {
		return n, exact
	}
	if check, ok := s.check(f, false); ok {
		if g := n.Geo; g != nil && (g.Distance == nil || f.Op != expr.OpEQ) {
			g.Cond = check.Cond
		}
		return combine(physical.SearchAnd, []*physical.SearchNode{n, check}), true
	}
	return n, false
}

// check computes a condition of the values of documents.
func (s *searcher) check(c expr.Expr, negated bool) (*physical.SearchNode, bool) {
	var cols []int
	ok := !expr.IsVolatile(c)
	expr.Walk(c, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Col:
			ok = ok && s.have[e.Index]
			cols = append(cols, e.Index)
		case *expr.Subquery:
			ok = ok && len(e.Left) == 0 && len(e.Outer) == 0
		}
		return ok
	})
	if !ok || len(cols) == 0 {
		return nil, false
	}
	slices.Sort(cols)
	n := &physical.SearchNode{Op: physical.SearchCheck, Cond: c, Columns: slices.Compact(cols), Nested: s.object != nil}
	for _, pos := range n.Columns {
		n.Fields = append(n.Fields, s.x.Values(s.t.Columns[pos].ID))
	}
	if negated {
		n.Cond = expr.Not(c)
	}
	n.Share = s.r.selectivity(nil, []expr.Expr{n.Cond}, math.Max(s.r.Est.TableRows(s.r.Context, s.t), 1))
	return n, true
}

// byValue reports checks each of which is of one string: they are computed for
// each of its different values.
func (s *searcher) byValue(n *physical.SearchNode) bool {
	ok := true
	n.Each(func(n *physical.SearchNode) {
		ok = ok && (n.Op != physical.SearchCheck || len(n.Columns) == 1 && n.Fields[0].Kind != schema.SearchBytes && types.KindOf(s.t.Columns[n.Columns[0]].Type) == value.KindBytes)
	})
	return ok
}

// checkCost is the cost of the checks of a query that finds so many of total
// documents.
func (s *searcher) checkCost(q *physical.SearchNode, found, total float64) float64 {
	sum := 0.0
	q.Each(func(n *physical.SearchNode) {
		if n.Op != physical.SearchCheck {
			return
		}
		if n.Nested {
			sum += total * (float64(len(n.Columns))*cost.ScanColumn + filterCost([]expr.Expr{n.Cond}))
			return
		}
		values := total
		if q.Op == physical.SearchAnd && slices.Contains(q.Children, n) {
			values = math.Min(total, found/math.Max(n.Share, 1e-6))
		}
		if len(n.Columns) == 1 {
			if d := s.r.Est.Distinct(s.r.Context, s.t, []schema.ColumnID{s.t.Columns[n.Columns[0]].ID}); d > 0 && s.byValue(n) {
				values = math.Min(values, d*cost.SearchParts)
			}
		}
		sum += s.r.shared(values*(float64(len(n.Columns))*cost.ScanColumn+filterCost([]expr.Expr{n.Cond})), values, sharedChecks)
	})
	return sum
}

// complement is where a condition that is never NULL is not true; it needs to
// know that exactly.
func complement(n *physical.SearchNode, exact bool) (*physical.SearchNode, bool) {
	if n == nil || !exact {
		return nil, false
	}
	return &physical.SearchNode{Op: physical.SearchNot, Children: []*physical.SearchNode{n}}, true
}

// combine is nil for nothing.
func combine(op physical.SearchOp, list []*physical.SearchNode) *physical.SearchNode {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &physical.SearchNode{Op: op, Children: list}
}

// onlyChecks reports a query that only reads the values of documents, and uses no
// postings or ranges.
func onlyChecks(n *physical.SearchNode) bool {
	found := true
	n.Each(func(n *physical.SearchNode) {
		switch n.Op {
		case physical.SearchCheck, physical.SearchAnd, physical.SearchOr, physical.SearchNot:
		default:
			found = false
		}
	})
	return found
}

// match is the MATCH of this index in a condition: alone, or as a score above a
// number, which is exact for 0.
func (s *searcher) match(f *expr.Func) (m *expr.Func, exact bool) {
	switch x := f.Match(); {
	case x != nil:
		if x.Table == s.t.ID && x.Index == s.x.ID && slices.ContainsFunc(s.x.Fields, func(f schema.SearchField) bool { return f.ID == x.Fields[0] }) {
			return f, true
		}
	case f.Op == expr.OpGT, f.Op == expr.OpGE, f.Op == expr.OpLT, f.Op == expr.OpLE:
		score, than := f.Args[0], f.Args[1]
		if f.Op == expr.OpLT || f.Op == expr.OpLE {
			score, than = than, score
		}
		g, isFunc := score.(*expr.Func)
		if !isFunc {
			return nil, false
		}
		if g.Match() == nil {
			return nil, false
		}
		var d value.Datum
		switch c := than.(type) {
		case *expr.Const:
			d = c.D
		case *expr.Param:
			if s.r.Ctx == nil || c.Index >= len(s.r.Ctx.Params) {
				return nil, false
			}
			d, s.r.ValuesMatter = s.r.Ctx.Params[c.Index], true
		}
		if d.IsNull() {
			return nil, false
		}
		least, err := types.ToFloat(&types.Env{}, d, than.Type())
		if err != nil || least < 0 || least == 0 && f.Op == f.Op.OrEqual() {
			return nil, false
		}
		m, _ = s.match(g)
		return m, least == 0
	}
	return nil, false
}

// like is a query for the texts that may be LIKE a constant pattern; nil where
// the words of the column do not narrow it.
func (s *searcher) like(f *expr.Func) *physical.SearchNode {
	c, ok := f.Args[0].(*expr.Col)
	if !ok || c.Index < 0 || !expr.IsConst(f.Args[1]) {
		return nil
	}
	pos := c.Index
	field := s.x.Field(s.t.Columns[pos].ID, schema.SearchText)
	if field == nil {
		return nil
	}
	a, err := searchfield.Analyzer(s.x, field, &s.t.Columns[pos])
	if err != nil {
		return nil
	}
	args := f.Args[1:]
	if s.r.Ctx != nil && expr.KnownBefore(args) {
		if slices.ContainsFunc(args, hasParam) {
			s.r.ValuesMatter = true
		}
		if _, ok, err := expr.LikeCandidates(s.r.Ctx, f, a); err != nil || !ok {
			return nil
		}
	}
	s.nodes++
	return &physical.SearchNode{Op: physical.SearchLike, Field: field, Column: pos, Match: f, Analyzer: a}
}
