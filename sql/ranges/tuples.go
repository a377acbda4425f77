package ranges

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/value"
)

// tuples is a list of values of the first columns of a key: (a, b) IN ((1, 2),
// …). It is an OR of ANDs of equalities that needs no expansion.
type tuples struct {
	cols mask
	// rows are the constants of each tuple, in the order of the key.
	rows [][]expr.Expr
}

func (t *tuples) columns() mask { return t.cols }

// minTuples is the length from which a list is worth a form of its own.
const minTuples = 8

// buildTuples makes the Set of a list of tuples if one of the conditions is such
// a list over the whole beginning of the key, and no other restricts the key;
// nil otherwise. bind has made an OR of ANDs of the list.
func (b *builder) buildTuples(conds []expr.Expr) (set *Set, residual []expr.Expr) {
	var list *tuples
	at := 0
	for i, c := range conds {
		if f, ok := c.(*expr.Func); ok && f.Op == expr.OpOr && len(f.Args) >= minTuples {
			if list = b.tuples(f); list == nil {
				return nil, nil
			}
			at = i
			break
		}
	}
	if list == nil {
		return nil, nil
	}
	for i, c := range conds {
		if i != at && b.node(c) != nil {
			return nil, nil
		}
	}
	residual = append(append(residual, conds[:at]...), conds[at+1:]...)
	set = &Set{Columns: b.columns, Conds: conds[at : at+1], conj: []node{list}}
	set.Point = len(list.rows[0]) == len(b.columns)
	return set, residual
}

// tuples translates an OR; nil where it is no list of whole values of the first
// columns.
func (b *builder) tuples(f *expr.Func) *tuples {
	if len(f.Args) > MaxSpans {
		return nil
	}
	var parts, all []expr.Expr
	rows := make([][]expr.Expr, len(f.Args))
	width := 0
	for r, branch := range f.Args {
		parts = expr.SplitAnd(parts[:0], branch)
		if r == 0 {
			width = len(parts)
			all = make([]expr.Expr, len(f.Args)*width)
		}
		if len(parts) != width {
			return nil
		}
		rows[r] = all[r*width : (r+1)*width]
		for _, p := range parts {
			col, x := b.equality(p)
			if col < 0 || col >= width || rows[r][col] != nil {
				return nil
			}
			rows[r][col] = x
		}
	}
	if width < 2 || width > len(b.columns) {
		return nil
	}
	return &tuples{cols: 1<<width - 1, rows: rows}
}

// equality is the column and the constant of an equality that is a point of the
// key; -1 for other conditions.
func (b *builder) equality(e expr.Expr) (int, expr.Expr) {
	f, ok := e.(*expr.Func)
	if !ok || f.Op != expr.OpEQ {
		return -1, nil
	}
	left, right := f.Args[0], f.Args[1]
	if expr.IsConst(left) {
		left, right = right, left
	}
	if !expr.IsConst(right) {
		return -1, nil
	}
	col, rounds := b.operand(left)
	if col < 0 || rounds || b.columns[col].Prefix > 0 || !b.comparable(col, left, right, f) {
		return -1, nil
	}
	return col, right
}

// tuples makes the points of a list, in no order.
func (e *evaluator) tuples(t *tuples) ([]Span, error) {
	width := len(t.rows[0])
	spans := make([]Span, 0, len(t.rows))
	keys := make([]value.Datum, 0, len(t.rows)*width)
next:
	for _, row := range t.rows {
		start := len(keys)
		for col, x := range row {
			d, err := expr.EvalConst(e.ctx, x)
			if err != nil {
				return nil, err
			}
			cmp := 0
			if !d.IsNull() {
				if d, cmp, err = toColumn(e.ctx, d, x.Type(), e.set.Columns[col].Type); err != nil {
					return nil, err
				}
			}
			if d.IsNull() || cmp != 0 {
				keys = keys[:start] // equal to nothing
				continue next
			}
			keys = append(keys, d)
		}
		key := keys[start:len(keys):len(keys)]
		spans = append(spans, Span{Low: key, High: key})
	}
	return spans, nil
}

// sortSpans sorts in key order. Lists are often in order already.
func (e *evaluator) sortSpans(spans []Span) {
	less := e.compareLow
	if len(spans) > 64 && e.integers(spans) {
		less = compareIntegers
	}
	if !slices.IsSortedFunc(spans, less) {
		slices.SortFunc(spans, less)
	}
}

// integers reports points of signed numbers in ascending key columns, which
// compare as such.
func (e *evaluator) integers(spans []Span) bool {
	for i := range spans {
		s := &spans[i]
		if s.LowOpen || len(s.Low) != len(spans[0].Low) {
			return false
		}
		for col, d := range s.Low {
			if d.Kind() != value.KindInt || e.set.Columns[col].Desc {
				return false
			}
		}
	}
	return true
}

func compareIntegers(a, b Span) int {
	for i := range a.Low {
		x, y := a.Low[i].Int(), b.Low[i].Int()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
	}
	return 0
}
