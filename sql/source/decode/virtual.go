package decode

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// virtual is an output that is computed from others.
type virtual struct {
	out int
	e   expr.Expr // over the outputs
	col *schema.Column
}

// addVirtual plans the virtual columns among those that are read from rows, and
// extends the outputs by what they need.
func (p *Plan) addVirtual(exprs *derive.Exprs, read []int, want []bool) ([]int, []bool) {
	t := p.codec.Table
	outOf := map[int]int{} // of the columns that are wanted
	for out, pos := range read {
		if want == nil || want[out] {
			outOf[pos] = out
		}
	}
	read = slices.Clone(read)
	if want != nil {
		want = slices.Clone(want)
	}
	attrs := t.AttributesColumn()
	_, shared := outOf[attrs]
	// Each step reads only what precedes it, so all that a column needs is known
	// when the steps are visited backwards.
	for i := len(exprs.Steps) - 1; i >= 0; i-- {
		s := &exprs.Steps[i]
		out, ok := outOf[s.Pos]
		if !ok || !t.Columns[s.Pos].IsVirtual() {
			continue
		}
		for _, pos := range s.Reads {
			if _, ok := outOf[pos]; !ok {
				outOf[pos] = len(read)
				read = append(read, pos)
				if want != nil {
					want = append(want, true)
				}
			}
		}
		if slices.Contains(s.Reads, attrs) && (!shared || p.attributes != nil) {
			p.attributes, shared = addAttributes(p.attributes, s.Expr), true
		}
		e := expr.Map(s.Expr, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Col); ok {
				placed := *c
				placed.Index = outOf[c.Index]
				return &placed
			}
			return e
		})
		p.Virtual = append(p.Virtual, virtual{out: out, e: e, col: &t.Columns[s.Pos]})
	}
	slices.Reverse(p.Virtual)
	return read, want
}

// addAttributes adds the names of the attributes that e reads; nil, all of
// them, when it reads the object itself.
func addAttributes(names []string, e expr.Expr) []string {
	names = slices.Clone(names)
	if names == nil {
		names = []string{}
	}
	whole := false
	expr.Walk(e, func(x expr.Expr) bool {
		if _, name, ok := expr.AsAttribute(x); ok {
			names = append(names, name)
			return false
		}
		if c, ok := x.(*expr.Col); ok && c.T.ID == schema.TypeJSON {
			whole = true
		}
		return true
	})
	if whole {
		return nil
	}
	return names
}

// compute computes the virtual outputs of the live rows.
func (s *Sieve) compute() error {
	if s.virtual == nil {
		s.virtual = derive.ReadCtx(s.Zone.Env.Loc, s.Expr.Now)
		s.virtual.Context = s.Expr.Context
	}
	for i := range s.Dec.Plan.Virtual {
		v := &s.Dec.Plan.Virtual[i]
		if s.Unread != nil && v.out < len(s.Unread) && s.Unread[v.out] {
			out := s.Batch.Cols[v.out]
			for k := range s.Batch.Live() {
				out.SetDatum(s.Batch.Row(k), value.Null)
			}
			continue
		}
		if err := derive.Column(s.virtual, v.e, v.col, &s.Batch, s.Batch.Cols[v.out]); err != nil {
			return err
		}
	}
	return nil
}

// result is the batch without the outputs that only virtual ones needed.
func (s *Sieve) result() *vec.Batch {
	b := &s.Batch
	if s.Dec.Plan.outs == len(b.Cols) {
		return b
	}
	s.narrow.N, s.narrow.HasSel, s.narrow.Sel, s.narrow.Cols = b.N, b.HasSel, b.Sel, b.Cols[:s.Dec.Plan.outs]
	return &s.narrow
}
