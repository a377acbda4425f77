package rewrite

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
)

// inferEqualities adds comparisons with constants that follow from equalities
// of columns, so that both sides of a join can use an index:
//
//	a.x = b.x AND a.x = 5   gives also   b.x = 5
//
// In the ON of an outer, semi or anti join what holds for all left rows may be
// said of right columns.
func (r *Rewriter) inferEqualities(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			var conds []expr.Expr
			collectInnerConds(x, &conds)
			added := r.inferred(conds)
			if len(added) == 0 {
				return n
			}
			c := *x
			c.Conds = append(append([]expr.Expr(nil), x.Conds...), added...)
			return &c
		case *logical.Join:
			return r.inferJoin(x)
		}
		return n
	})
}

func (r *Rewriter) inferJoin(j *logical.Join) logical.Node {
	var conds []expr.Expr
	if j.Kind == logical.JoinInner {
		collectInnerConds(j, &conds)
	} else {
		conds = append(conds, j.On...)
		collectInnerConds(j.Left, &conds)
	}
	added := r.inferred(conds)
	if j.Kind != logical.JoinInner {
		right := columnsOf(j.Right)
		kept := added[:0]
		for _, e := range added {
			if right.within(e) {
				kept = append(kept, e)
			}
		}
		added = kept
	}
	if len(added) == 0 {
		return j
	}
	c := *j
	c.On = append(append([]expr.Expr(nil), j.On...), added...)
	return &c
}

// collectInnerConds adds the conditions that hold for every row of n: of
// filters and inner joins.
func collectInnerConds(n logical.Node, conds *[]expr.Expr) {
	switch x := n.(type) {
	case *logical.Join:
		switch x.Kind {
		case logical.JoinInner:
			*conds = append(*conds, x.On...)
			collectInnerConds(x.Left, conds)
			collectInnerConds(x.Right, conds)
		default:
			collectInnerConds(x.Left, conds)
		}
	case *logical.Filter:
		*conds = append(*conds, x.Conds...)
		collectInnerConds(x.Input, conds)
	}
}

// maxInferred bounds the comparisons that are added to one list, and
// maxTransferred the operands of one that is: a long IN list is not repeated
// for each of many tables.
const (
	maxInferred    = 64
	maxTransferred = 1000
)

// inferred are the new comparisons that follow from conds, through chains of
// equalities of any length.
func (r *Rewriter) inferred(conds []expr.Expr) []expr.Expr {
	var list []expr.Expr
	for _, c := range conds {
		list = expr.SplitAnd(list, c)
	}
	classes := equalColumns(list)
	if len(classes) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, c := range list {
		if f, ok := c.(*expr.Func); ok && comparedColumn(f) != nil {
			known[c.String()] = true
		}
	}
	var out []expr.Expr
	for _, c := range list {
		f, ok := c.(*expr.Func)
		if !ok {
			continue
		}
		from := comparedColumn(f)
		if from == nil || !comparesAs(f, from.T) {
			continue
		}
		for _, to := range classes[from.ID] {
			if to.ID == from.ID || len(out) == maxInferred {
				continue
			}
			e := said(f, to)
			if s := e.String(); !known[s] {
				known[s] = true
				out = append(out, e)
			}
		}
	}
	return out
}

// equalColumns are the classes of columns that the list makes equal, by
// column.
func equalColumns(list []expr.Expr) map[expr.ColID][]*expr.Col {
	var classes map[expr.ColID][]*expr.Col
	for _, c := range list {
		eq, ok := c.(*expr.Func)
		if !ok || eq.Op != expr.OpEQ {
			continue
		}
		a, okA := eq.Args[0].(*expr.Col)
		b, okB := eq.Args[1].(*expr.Col)
		if !okA || !okB || a.ID == b.ID || !sameValues(a.T, b.T) || !comparesAs(eq, a.T) {
			continue
		}
		if classes == nil {
			classes = map[expr.ColID][]*expr.Col{}
		}
		ofA := classOf(classes, a)
		if slices.ContainsFunc(ofA, func(m *expr.Col) bool { return m.ID == b.ID }) {
			continue // joined with itself, a class would double
		}
		members := append(ofA, classOf(classes, b)...)
		for _, m := range members {
			classes[m.ID] = members
		}
	}
	return classes
}

func classOf(classes map[expr.ColID][]*expr.Col, c *expr.Col) []*expr.Col {
	if m := classes[c.ID]; m != nil {
		return m[:len(m):len(m)]
	}
	return []*expr.Col{c}
}

// comparesAs reports whether f compares in the values of type t themselves:
// x = 'a' COLLATE utf8mb4_bin says nothing of what equals x in x's collation.
func comparesAs(f *expr.Func, t schema.Type) bool {
	if !t.IsString() {
		return true
	}
	c, ok := expr.CompareCollation(f)
	return ok && c == t.Collation
}

// sameValues reports whether equality of columns of these types means that
// one may stand for the other in any comparison.
func sameValues(a, b schema.Type) bool {
	return types.KindOf(a) == types.KindOf(b) && a.ID == b.ID && a.Collation == b.Collation &&
		a.Unsigned == b.Unsigned && a.Scale == b.Scale && a.ID != schema.TypeJSON && a.ID != schema.TypeEnum && a.ID != schema.TypeSet
}

// comparedColumn is the one column that f compares with constants; nil when f
// is nothing of the kind.
func comparedColumn(f *expr.Func) *expr.Col {
	switch f.Op {
	case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpIn:
	default:
		return nil
	}
	if len(f.Args) > maxTransferred {
		return nil
	}
	var found *expr.Col
	for _, a := range f.Args {
		if col, isCol := a.(*expr.Col); isCol && found == nil {
			found = col
		} else if !expr.IsConst(a) {
			return nil
		}
	}
	return found
}

// said is the comparison f of a column with constants, said of column to.
func said(f *expr.Func, to *expr.Col) expr.Expr {
	args := slices.Clone(f.Args)
	for i, a := range args {
		if _, isCol := a.(*expr.Col); isCol {
			args[i] = to
		}
	}
	c := f.With(args)
	c.Null = true
	return c
}
