package planner

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// computed is the id of order keys that are no columns.
const computed = expr.ColID(-1)

// isRanking reports what a search index may rank rows by.
func (p *planner) isRanking(e expr.Expr) bool {
	return len(expr.Scores(p.scored(e))) > 0 || access.IsDistance(e)
}

// useScores takes the scores of the scans of a plan, which is built until the
// function is called that it gives.
func (p *planner) useScores(n logical.Node) func() {
	if p.scores == nil {
		return func() {}
	}
	before := p.scores
	p.scores = map[expr.ColID]expr.Expr{}
	p.addScores(n)
	return func() { p.scores = before }
}

func (p *planner) addScores(n logical.Node) {
	if s, ok := n.(*logical.Scan); ok {
		for i, f := range s.Scores {
			p.scores[s.Cols[len(s.Table.Columns)+i].ID] = f
		}
		return
	}
	for _, in := range n.Inputs() {
		p.addScores(in)
	}
}

// scored has in the place of scores what they are the values of.
func (p *planner) scored(e expr.Expr) expr.Expr {
	if len(p.scores) == 0 {
		return e
	}
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok && p.scores[c.ID] != nil {
			return p.scores[c.ID]
		}
		return x
	})
}

// scoresRead are the scores of a scan that the request wants, and the columns, by
// position, that are needed for them alone.
func scoresRead(s *logical.Scan, req request) (list []logical.Column, calls []*expr.Func, only map[int]bool) {
	for i, f := range s.Scores {
		c := s.Cols[len(s.Table.Columns)+i]
		if !req.cols[c.ID] {
			continue
		}
		list, calls = append(list, c), append(calls, f)
		for _, a := range f.Args[:len(f.Match().Fields)] {
			id := a.(*expr.Col).ID
			at := slices.IndexFunc(s.Cols, func(c logical.Column) bool { return c.ID == id })
			if only == nil {
				only = map[int]bool{}
			}
			only[at] = !req.cols[id]
		}
	}
	return list, calls, only
}

// through is an expression over a project's columns as one over those of its input.
func through(e expr.Expr, n *logical.Project) (expr.Expr, bool) {
	ok := true
	out := expr.Map(e, func(x expr.Expr) expr.Expr {
		c, isCol := x.(*expr.Col)
		if !isCol {
			return x
		}
		for i, have := range n.Cols {
			if have.ID == c.ID {
				_, plain := n.Exprs[i].(*expr.Col)
				ok = ok && plain
				return n.Exprs[i]
			}
		}
		ok = false
		return x
	})
	return out, ok
}
