package rewrite

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// addElements notes in scans the rows of JSON_TABLE that they are joined with,
// and the conditions on these: a search index finds documents that have such
// rows. The conditions stay.
func (r *Rewriter) addElements(n logical.Node) logical.Node { return elementsBelow(n, nil) }

// elementsBelow is addElements under a filter.
func elementsBelow(n logical.Node, above []expr.Expr) logical.Node {
	if a, ok := n.(*logical.Apply); ok && a.Kind == logical.JoinInner {
		conds := slices.Concat(above, a.On)
		right := a.Right
		if f, ok := right.(*logical.Filter); ok {
			conds, right = append(conds, f.Conds...), f.Input
		}
		left := a.Left
		if t, ok := right.(*logical.JSONTable); ok && len(conds) > 0 {
			left = withElements(left, logical.Elements{Table: t, Params: a.Params, Conds: conds})
		}
		return withInputs(n, []logical.Node{elementsBelow(left, above), elementsBelow(a.Right, nil)})
	}
	if f, ok := n.(*logical.Filter); ok {
		return withInputs(n, []logical.Node{elementsBelow(f.Input, f.Conds)})
	}
	in := slices.Clone(n.Inputs())
	for i := range in {
		in[i] = elementsBelow(in[i], nil)
	}
	return withInputs(n, in)
}

// withElements adds the elements to the scans below n whose rows are joined with
// them: no row of n without any is needed.
func withElements(n logical.Node, e logical.Elements) logical.Node {
	switch x := n.(type) {
	case *logical.Scan:
		if len(x.Paths) == 0 {
			return n
		}
		c := *x
		c.Elements = append(slices.Clone(x.Elements), e)
		return &c
	case *logical.Filter:
		return withInputs(n, []logical.Node{withElements(x.Input, e)})
	case *logical.Join:
		c := *x
		switch x.Kind {
		case logical.JoinInner:
			c.Left, c.Right = withElements(x.Left, e), withElements(x.Right, e)
		case logical.JoinLeft:
			c.Left = withElements(x.Left, e)
		}
		return &c
	case *logical.Apply:
		c := *x
		if x.Kind == logical.JoinInner || x.Kind == logical.JoinLeft {
			c.Left = withElements(x.Left, e)
		}
		return &c
	}
	return n
}
