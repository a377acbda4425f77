package access

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// A partial index has the rows for which its condition is true. It serves a
// query whose own conditions imply that one:
//
//	KEY (due) WHERE state = 'open' AND due IS NOT NULL
//	… WHERE state = 'open' AND due < '2024-01-01'     yes
//	… WHERE state IN ('open', 'late') AND due < …     no
//
// A conjunct of the index is implied by the same conjunct, or when all values
// that the query's conditions leave to a column satisfy it. What the index's
// condition implies need not be tested on the rows.

// maxImplied bounds how deep ORs are taken apart.
const maxImplied = 4

// partialPath is the path by a partial index; nil when rows that can match may
// be missing from it.
func (r *Request) partialPath(x *schema.Index, conds []expr.Expr, probes ...expr.Expr) *Path {
	if !r.servesPartial(x) {
		return nil
	}
	return r.byKey(x, conds, probes...)
}

// servesPartial reports whether a partial index has all rows that can match.
func (r *Request) servesPartial(x *schema.Index) bool {
	where, known := r.Scan.Partial[x.ID]
	return known && r.Ctx != nil && !slices.ContainsFunc(where, func(q expr.Expr) bool { return !r.implied(r.Conds, q, maxImplied) })
}

// withoutImplied are the conditions that the rows of a partial index need not
// satisfy by its own.
func (r *Request) withoutImplied(x *schema.Index, conds []expr.Expr) []expr.Expr {
	where := r.Scan.Partial[x.ID]
	placed := make([]expr.Expr, len(where))
	for i, e := range where {
		placed[i] = r.place(e)
	}
	return slices.DeleteFunc(slices.Clone(conds), func(e expr.Expr) bool { return r.implied(placed, e, maxImplied) })
}

// partialSelectivity guesses the fraction of the rows that a partial index has.
func (r *Request) partialSelectivity(x *schema.Index, total float64) float64 {
	share := 1.0
	for _, e := range r.Scan.Partial[x.ID] {
		share *= r.guessOne(r.place(e), total)
	}
	return share
}

// place gives columns of the scan their position in the table.
func (r *Request) place(e expr.Expr) expr.Expr {
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok {
			for i := range r.Scan.Cols {
				if r.Scan.Cols[i].ID == c.ID {
					p := *c
					p.Index = i
					return &p
				}
			}
		}
		return x
	})
}

// implied reports whether all rows that satisfy every one of conds satisfy q.
// It may say no where the answer is yes.
func (r *Request) implied(conds []expr.Expr, q expr.Expr, depth int) bool {
	if slices.ContainsFunc(conds, func(c expr.Expr) bool { return expr.Same(c, q) }) {
		return true
	}
	if depth == 0 {
		return false
	}
	q = r.place(q)
	if r.coveredBy(conds, q) {
		return true
	}
	f, ok := q.(*expr.Func)
	if !ok {
		return false
	}
	switch f.Op {
	case expr.OpAnd:
		return !slices.ContainsFunc(f.Args, func(a expr.Expr) bool { return !r.implied(conds, a, depth-1) })
	case expr.OpOr:
		if slices.ContainsFunc(f.Args, func(a expr.Expr) bool { return r.implied(conds, a, depth-1) }) {
			return true
		}
	case expr.OpNot:
		if g, ok := f.Args[0].(*expr.Func); ok && g.Op == expr.OpIsNull {
			if col, ok := g.Args[0].(*expr.Col); ok && slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejectsNull(c, col.Index) }) {
				return true
			}
		}
	}
	// An OR implies what all its branches imply.
	for _, c := range conds {
		if o, ok := c.(*expr.Func); ok && o.Op == expr.OpOr && len(o.Args) <= 16 &&
			!slices.ContainsFunc(o.Args, func(a expr.Expr) bool { return !r.implied(expr.SplitAnd(nil, a), q, depth-1) }) {
			return true
		}
	}
	return false
}

// coveredBy reports whether q is about one column and true for all of its
// values that conds leave.
func (r *Request) coveredBy(conds []expr.Expr, q expr.Expr) bool {
	cols := columnsOf(q)
	if len(cols) != 1 {
		return false
	}
	c := &r.Scan.Table.Columns[cols[0]]
	key := []ranges.Column{{Table: cols[0], Type: c.Type, Null: c.Nullable}}
	want, rest := ranges.Build(key, []expr.Expr{q})
	if want == nil || len(rest) > 0 {
		return false
	}
	have, _ := ranges.Build(key, conds)
	if have == nil || !expr.KnownBefore(want.Conds) || !expr.KnownBefore(have.Conds) || slices.ContainsFunc(have.Conds, isVolatile) || slices.ContainsFunc(want.Conds, isVolatile) {
		return false
	}
	r.ValuesMatter = r.ValuesMatter || slices.ContainsFunc(have.Conds, hasParam) || slices.ContainsFunc(want.Conds, hasParam)
	in, err := have.Spans(r.Ctx)
	if err != nil {
		return false
	}
	out, err := want.Spans(r.Ctx)
	if err != nil {
		return false
	}
	for _, s := range in {
		if !slices.ContainsFunc(out, func(o ranges.Span) bool { return within(s, o, c.Type) }) {
			return false
		}
	}
	return true
}

// within reports whether span s of a column is inside span o.
func within(s, o ranges.Span, t schema.Type) bool {
	if o.Prefix || s.Prefix {
		return false
	}
	compare := func(a, b []value.Datum) int { return types.CompareNull(a[0], b[0], t) }
	if len(o.Low) > 0 {
		if len(s.Low) == 0 {
			return false
		}
		if n := compare(s.Low, o.Low); n < 0 || n == 0 && o.LowOpen && !s.LowOpen {
			return false
		}
	}
	if len(o.High) > 0 {
		if len(s.High) == 0 {
			return false
		}
		if n := compare(s.High, o.High); n > 0 || n == 0 && o.HighOpen && !s.HighOpen {
			return false
		}
	}
	return true
}

// columnsOf are the positions of the columns of e; nil if one has none.
func columnsOf(e expr.Expr) []int {
	var out []int
	bad := false
	expr.Walk(e, func(x expr.Expr) bool {
		switch c := x.(type) {
		case *expr.Col:
			bad = bad || c.Index < 0
			if !slices.Contains(out, c.Index) {
				out = append(out, c.Index)
			}
		case *expr.Outer, *expr.Subquery:
			bad = true
		}
		return !bad
	})
	if bad {
		return nil
	}
	return out
}

// hasParam reports a parameter, or a literal that stands in for one.
func hasParam(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		_, ok := x.(*expr.Param)
		found = found || ok
		return !found
	})
	return found
}
