package rewrite

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// takeScores makes the values of MATCH … AGAINST, and of what is like it, columns of
// the scan of their table: a search index gives them with the documents that it
// finds, where the rows would have to be fetched and their texts analysed.
//
// Conditions of the scan stay: the index evaluates them.
func (r *Rewriter) takeScores(n logical.Node) logical.Node {
	if !r.Scores {
		return n
	}
	taken := map[*logical.Scan]*logical.Scan{}
	out := bottomUp(n, func(x logical.Node) logical.Node {
		if in := x.Inputs(); len(in) == 1 {
			if s := scanBelow(in[0]); s != nil {
				return r.takeFrom(n, x, s, taken)
			}
		}
		return x
	})
	if len(taken) == 0 {
		return n
	}
	return withoutScores(bottomUp(out, func(x logical.Node) logical.Node {
		switch x := x.(type) {
		case *logical.Scan:
			if s := taken[x]; s != nil {
				return s
			}
			return x
		case *logical.Filter, *logical.Window, *logical.Sort, *logical.Limit, *logical.Project, *logical.Aggregate, *logical.Rollup:
			return x
		}
		in := slices.Clone(x.Inputs())
		for i := range in {
			in[i] = withoutScores(in[i])
		}
		return withInputs(x, in)
	}))
}

// withoutScores is n without the scores of a scan that it passes on unchanged.
func withoutScores(n logical.Node) logical.Node {
	if s := scanBelow(n); s != nil && len(s.Scores) > 0 {
		return restored(n, slices.DeleteFunc(slices.Clone(n.Columns()), func(c logical.Column) bool {
			return slices.ContainsFunc(s.Cols[len(s.Table.Columns):], func(d logical.Column) bool { return c.ID == d.ID })
		}))
	}
	return n
}

// scanBelow is the scan whose columns n passes on unchanged; nil if none exists
// with a search index.
func scanBelow(n logical.Node) *logical.Scan {
	for {
		switch x := n.(type) {
		case *logical.Filter:
			n = x.Input
		case *logical.Window:
			n = x.Input
		case *logical.Sort:
			n = x.Input
		case *logical.Limit:
			n = x.Input
		case *logical.Scan:
			if len(x.Table.Search) == 0 || x.Table.Derived != nil || x.Lock.Strength != logical.LockNone {
				return nil
			}
			return x
		default:
			return nil
		}
	}
}

// takeFrom replaces what n, over the columns of s, has of scores; root is the plan.
func (r *Rewriter) takeFrom(root, n logical.Node, s *logical.Scan, taken map[*logical.Scan]*logical.Scan) logical.Node {
	have := columnsOf(s)
	one := func(e expr.Expr) expr.Expr {
		return expr.Map(e, func(x expr.Expr) expr.Expr {
			f, ok := x.(*expr.Func)
			if !ok {
				return x
			}
			m := f.Match()
			if m == nil || m.Table != s.Table.ID || !areColumns(f.Args[:len(m.Fields)], have) {
				return x
			}
			if taken[s] == nil {
				c := *s
				c.Cols = slices.Clone(s.Cols)
				taken[s] = &c
			}
			return r.scoreColumn(root, taken[s], f)
		})
	}
	list := func(in []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(in))
		for i, e := range in {
			out[i] = one(e)
		}
		return out
	}
	keys := func(in []logical.SortKey) []logical.SortKey {
		out := slices.Clone(in)
		for i := range out {
			out[i].Expr = one(out[i].Expr)
		}
		return out
	}
	may := func(e expr.Expr) (expr.Expr, error) { return one(e), nil }
	switch x := n.(type) {
	case *logical.Project:
		return &logical.Project{Input: x.Input, Exprs: list(x.Exprs), Cols: x.Cols}
	case *logical.Sort:
		c := *x
		c.Keys = keys(x.Keys)
		return &c
	case *logical.Aggregate:
		c := *x
		c.GroupBy, c.Aggs = list(x.GroupBy), slices.Clone(x.Aggs)
		for i, a := range c.Aggs {
			c.Aggs[i], _ = expr.MapAgg(a, may)
		}
		return &c
	case *logical.Window:
		c := *x
		c.PartitionBy, c.OrderBy, c.Funcs = list(x.PartitionBy), keys(x.OrderBy), slices.Clone(x.Funcs)
		for i, f := range c.Funcs {
			c.Funcs[i], _ = expr.MapWindow(f, may)
		}
		return &c
	}
	return n
}

func areColumns(list []expr.Expr, have colSet) bool {
	for _, e := range list {
		if c, ok := e.(*expr.Col); !ok || !have[c.ID] {
			return false
		}
	}
	return true
}

// scoreColumn is the column of s for a score.
func (r *Rewriter) scoreColumn(root logical.Node, s *logical.Scan, f *expr.Func) expr.Expr {
	at := slices.IndexFunc(s.Scores, func(g *expr.Func) bool { return expr.Equal(f, g) })
	if at < 0 {
		r.lastID = max(r.lastID, greatestID(root))
		at = len(s.Scores)
		s.Scores = append(s.Scores, f)
		s.Cols = append(s.Cols, logical.Column{ID: r.newID(), Name: f.String(), T: f.Type(), Hidden: true})
	}
	c := s.Cols[len(s.Table.Columns)+at]
	return &expr.Col{ID: c.ID, Index: -1, T: c.T, Name: c.Name}
}

func greatestID(n logical.Node) (id expr.ColID) {
	for _, c := range n.Columns() {
		id = max(id, c.ID)
	}
	for _, in := range n.Inputs() {
		id = max(id, greatestID(in))
	}
	return id
}
