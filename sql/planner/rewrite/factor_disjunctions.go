package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// factorDisjunctions takes out of OR what all its operands demand, so that it
// can be pushed down, read from an index or joined on:
//
//	(a.x = b.x AND p) OR (a.x = b.x AND q)   becomes   a.x = b.x AND (p OR q)
//
// What the operands demand of one input of a join is said of that input too,
// though the OR still tests it:
//
//	(a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4)   gives also   a.x = 1 OR a.x = 3
//
// Both hold in three-valued logic: AND distributes over OR, and an OR of
// weaker conditions is weaker.
func (r *Rewriter) factorDisjunctions(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			conds, changed := r.factorList(x.Conds, joinSides(x.Input))
			if !changed {
				return n
			}
			return &logical.Filter{Input: x.Input, Conds: conds}
		case *logical.Join:
			var sides []colSet
			if x.Kind == logical.JoinInner {
				sides = joinSides(x)
			}
			conds, changed := r.factorList(x.On, sides)
			if !changed {
				return n
			}
			c := *x
			c.On = conds
			return &c
		}
		return n
	})
}

// joinSides are the columns of each input of the inner joins at the top of n.
func joinSides(n logical.Node) []colSet {
	switch x := n.(type) {
	case *logical.Filter:
		return joinSides(x.Input)
	case *logical.Join:
		if x.Kind != logical.JoinInner {
			return nil
		}
		var sides []colSet
		for _, in := range []logical.Node{x.Left, x.Right} {
			if below := joinSides(in); below != nil {
				sides = append(sides, below...)
			} else {
				sides = append(sides, columnsOf(in))
			}
		}
		return sides
	}
	return nil
}

// maxFactored bounds the operands of an OR that are compared with one another.
const maxFactored = 64

// factorList treats the disjunctions in a list of conjuncts.
func (r *Rewriter) factorList(list []expr.Expr, sides []colSet) (out []expr.Expr, changed bool) {
	var conds []expr.Expr
	for _, c := range list {
		conds = expr.SplitAnd(conds, c)
	}
	for i, c := range conds {
		or, ok := c.(*expr.Func)
		if !ok || or.Op != expr.OpOr || len(or.Args) > maxFactored || isVolatile(or) {
			if changed {
				out = append(out, c)
			}
			continue
		}
		common, rest := factor(or)
		implied := r.implied(rest, sides, conds)
		if len(common) == 0 && len(implied) == 0 {
			if changed {
				out = append(out, c)
			}
			continue
		}
		if !changed {
			out, changed = append(out, conds[:i]...), true
		}
		out = append(append(out, common...), implied...)
		if e := r.disjunction(rest); e != nil {
			out = append(out, e)
		}
	}
	if !changed {
		return list, false
	}
	return out, true
}

// factor splits the operands of OR into what all have in common and the rest
// of each.
func factor(or *expr.Func) (common []expr.Expr, rest [][]expr.Expr) {
	for _, a := range or.Args {
		rest = append(rest, expr.SplitAnd(nil, a))
	}
	for _, e := range rest[0] {
		everywhere := true
		for _, conds := range rest[1:] {
			everywhere = everywhere && indexOf(conds, e) >= 0
		}
		if everywhere && indexOf(common, e) < 0 {
			common = append(common, e)
		}
	}
	if len(common) == 0 {
		return nil, rest
	}
	for i, conds := range rest {
		kept := conds[:0]
		for _, e := range conds {
			if indexOf(common, e) < 0 {
				kept = append(kept, e)
			}
		}
		rest[i] = kept
	}
	return common, rest
}

func indexOf(list []expr.Expr, e expr.Expr) int {
	for i, x := range list {
		if expr.Equal(x, e) {
			return i
		}
	}
	return -1
}

// implied are the conditions on single inputs of a join that follow from an OR,
// except for those that are known already.
func (r *Rewriter) implied(rest [][]expr.Expr, sides []colSet, known []expr.Expr) (out []expr.Expr) {
	if len(sides) < 2 {
		return nil
	}
	for _, side := range sides {
		parts := make([][]expr.Expr, 0, len(rest))
		whole := true // the OR reads this input alone: it says it itself
		for _, conds := range rest {
			var own []expr.Expr
			for _, c := range conds {
				if side.reads(c) && side.within(c) && onlyColumns(c) {
					own = append(own, c)
				}
			}
			if len(own) == 0 {
				break
			}
			whole = whole && len(own) == len(conds)
			parts = append(parts, own)
		}
		if len(parts) < len(rest) || whole {
			continue
		}
		if e := r.disjunction(parts); e != nil && indexOf(known, e) < 0 {
			out = append(out, e)
		}
	}
	return out
}

// onlyColumns reports whether e is cheap and sure to test twice: it has no
// subquery.
func onlyColumns(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		if _, is := x.(*expr.Subquery); is {
			ok = false
		}
		return ok
	})
	return ok
}

// disjunction is the OR of conjunctions; nil when one of them is empty, and so
// the whole true.
func (r *Rewriter) disjunction(parts [][]expr.Expr) expr.Expr {
	args := make([]expr.Expr, 0, len(parts))
	for _, conds := range parts {
		if len(conds) == 0 {
			return nil
		}
		if e := r.logic("and", conds); indexOf(args, e) < 0 {
			args = append(args, e)
		}
	}
	return r.logic("or", args)
}

// logic is AND or OR of conditions, of which there is at least one.
func (r *Rewriter) logic(name string, conds []expr.Expr) expr.Expr {
	if len(conds) == 1 {
		return conds[0]
	}
	e, err := expr.NewFunc(r.Bind, name, conds...)
	if err != nil {
		panic(err) // what was an operand of one is one of the other
	}
	return e
}
