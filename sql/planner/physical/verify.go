package physical

import (
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
)

// Verify checks that the plan hangs together: every column of an expression
// is at its place in the input, of its kind, scans read what their filters
// and their outputs need, and keys of joins come in pairs of one kind. It is
// for tests and for builds with checks.
func Verify(p *Plan) error {
	for _, n := range p.Roots() {
		if err := verify(n); err != nil {
			return err
		}
	}
	return nil
}

func verify(n Node) error {
	for _, in := range n.Inputs() {
		if in == nil {
			return fmt.Errorf("%s has no input", Title(n))
		}
		if err := verify(in); err != nil {
			return err
		}
	}
	if err := verifyNode(n); err != nil {
		return fmt.Errorf("%s: %w", Title(n), err)
	}
	return nil
}

func verifyNode(n Node) error {
	switch x := n.(type) {
	case *Scan:
		return verifyScan(x)
	case *Values:
		for _, row := range x.Rows {
			if len(row) != len(x.Cols) {
				return fmt.Errorf("a row of %d values for %d columns", len(row), len(x.Cols))
			}
		}
	case *Filter:
		return firstError(sameWidth(x.Cols, x.Input.Columns()), placed(x.Conds, x.Input.Columns()))
	case *Project:
		if len(x.Exprs) != len(x.Cols) {
			return fmt.Errorf("%d expressions for %d columns", len(x.Exprs), len(x.Cols))
		}
		return placed(x.Exprs, x.Input.Columns())
	case *HashJoin:
		return verifyHashJoin(x)
	case *MergeJoin:
		return verifyHashJoin(&HashJoin{Base: x.Base, Kind: x.Kind, Left: x.Left, Right: x.Right, LeftKeys: x.LeftKeys, RightKeys: x.RightKeys, Filter: x.Filter})
	case *LookupJoin:
		return verifyLookupJoin(x)
	case *NestedLoop:
		return firstError(joinWidth(x.Kind, x.Cols, x.Left.Columns(), x.Right.Columns()), placed(x.Filter, both(x.Left.Columns(), x.Right.Columns())))
	case *Apply:
		left, right := x.Left.Columns(), x.Right.Columns()
		return firstError(joinWidth(x.Kind, x.Cols, left, right), placed(x.Params, left), placed(x.Filter, both(left, right)), slots(x.Right, len(x.Params)))
	case *HashAggregate:
		return verifyGroups(x.Cols, x.Input.Columns(), x.GroupBy, x.Aggs)
	case *StreamAggregate:
		return verifyGroups(x.Cols, x.Input.Columns(), x.GroupBy, x.Aggs)
	case *Rollup:
		cols := slices.Delete(slices.Clone(x.Cols), len(x.GroupBy), min(len(x.GroupBy)+1, len(x.Cols)))
		return verifyGroups(cols, x.Input.Columns(), x.GroupBy, x.Aggs)
	case *Window:
		return verifyWindow(x)
	case *Distinct:
		return sameWidth(x.Cols, x.Input.Columns())
	case *Sort:
		return firstError(sameWidth(x.Cols, x.Input.Columns()), placedKeys(x.Keys, x.Input.Columns()))
	case *TopK:
		return firstError(sameWidth(x.Cols, x.Input.Columns()), placedKeys(x.Keys, x.Input.Columns()))
	case *Limit:
		return sameWidth(x.Cols, x.Input.Columns())
	case *SetOperation:
		return firstError(sameWidth(x.Cols, x.Left.Columns()), sameWidth(x.Cols, x.Right.Columns()))
	}
	return nil
}

func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func verifyScan(s *Scan) error {
	scores := 0
	if s.Search != nil {
		scores = len(s.Search.Scores)
	}
	if len(s.Read)+scores != len(s.Cols) {
		return fmt.Errorf("%d columns read for %d", len(s.Read)+scores, len(s.Cols))
	}
	for i, pos := range s.Read {
		if pos < 0 || pos >= len(s.Table.Columns) || i > 0 && pos <= s.Read[i-1] {
			return fmt.Errorf("reads columns %v", s.Read)
		}
	}
	if s.Index != nil && !s.Lookup {
		have := map[int]bool{}
		for _, part := range s.Table.EntryParts(s.Index) {
			if part.Prefix == 0 {
				have[s.Table.ColumnIndex(part.Column)] = true
			}
		}
		for _, id := range s.Index.Include {
			have[s.Table.ColumnIndex(id)] = true
		}
		for _, pos := range s.Read {
			if !have[pos] {
				return fmt.Errorf("the index does not cover %s", s.Table.Columns[pos].Name)
			}
		}
	}
	switch {
	case (s.Kind == AccessSearch) != (s.Search != nil):
		return fmt.Errorf("kind %s with search %v", s.Kind, s.Search)
	case s.Search != nil && (s.Index != nil || s.Lookup || s.Ordered):
		return fmt.Errorf("a search with another index, or in order")
	case (s.Kind == AccessMerge) != (s.Merge != nil):
		return fmt.Errorf("kind %s with merge %v", s.Kind, s.Merge)
	case s.Merge != nil && (len(s.Merge.Parts) < 2 || s.Index != nil || s.Lookup):
		return fmt.Errorf("a merge of %d parts", len(s.Merge.Parts))
	case s.Skip != nil && s.Skip.Merge && (!s.Ordered || s.Distinct || s.Skip.Columns < 1 || s.Skip.By < 1):
		return fmt.Errorf("merges by %d columns behind %d", s.Skip.By, s.Skip.Columns)
	case s.Skip != nil && !s.Skip.Merge && (s.Index == nil || s.Skip.Ranges == nil || s.Skip.Columns < 1 || s.Skip.Columns >= len(s.Index.Parts)):
		return fmt.Errorf("skips %d columns", s.Skip.Columns)
	case s.Loose != nil && (s.Latest || s.Lookup || s.Skip != nil):
		return fmt.Errorf("a loose scan with look-up")
	}
	if s.Latest && s.Index != nil && !s.Lookup {
		return fmt.Errorf("a locking read of entries alone")
	}
	return firstError(placed(s.IndexFilter, s.Cols), placed(s.Filter, s.Cols))
}

func verifyHashJoin(j *HashJoin) error {
	if len(j.LeftKeys) == 0 || len(j.LeftKeys) != len(j.RightKeys) {
		return fmt.Errorf("%d left keys, %d right keys", len(j.LeftKeys), len(j.RightKeys))
	}
	for i := range j.LeftKeys {
		a, b := j.LeftKeys[i].Type(), j.RightKeys[i].Type()
		if types.KindOf(a) != types.KindOf(b) || a.IsString() && a.Collation != b.Collation {
			return fmt.Errorf("keys %s and %s", j.LeftKeys[i], j.RightKeys[i])
		}
	}
	if j.BuildLeft && j.Kind != JoinInner {
		return fmt.Errorf("builds the left side")
	}
	left, right := j.Left.Columns(), j.Right.Columns()
	return firstError(placed(j.LeftKeys, left), placed(j.RightKeys, right), placed(j.Filter, both(left, right)), joinWidth(j.Kind, j.Cols, left, right))
}

func verifyLookupJoin(j *LookupJoin) error {
	if err := verifyScan(j.Inner); err != nil {
		return err
	}
	parts := j.Inner.Table.PrimaryKey
	if j.Inner.Index != nil {
		parts = j.Inner.Table.EntryParts(j.Inner.Index)
	}
	for i, k := range j.Keys {
		if c := j.Inner.Table.Column(parts[i].Column); parts[i].Prefix > 0 || types.KindOf(k.Type()) != types.KindOf(c.KeyType()) {
			return fmt.Errorf("key %s for column %s", k, c.Name)
		}
	}
	left, right := j.Left.Columns(), j.Inner.Columns()
	return firstError(placed(j.Keys, left), placed(j.Filter, both(left, right)), joinWidth(j.Kind, j.Cols, left, right))
}

func verifyGroups(cols, in []Column, groups []expr.Expr, aggs []*expr.Agg) error {
	if len(cols) != len(groups)+len(aggs) {
		return fmt.Errorf("%d columns for %d groups and %d aggregates", len(cols), len(groups), len(aggs))
	}
	for _, a := range aggs {
		if err := placed(expr.AggInputs(a), in); err != nil {
			return err
		}
	}
	return placed(groups, in)
}

func both(left, right []Column) []Column {
	return append(left[:len(left):len(left)], right...)
}

func joinWidth(k JoinKind, cols, left, right []Column) error {
	if k == JoinSemi || k == JoinAnti {
		return sameWidth(cols, left)
	}
	return sameWidth(cols, both(left, right))
}

func sameWidth(cols, in []Column) error {
	if len(cols) != len(in) {
		return fmt.Errorf("%d columns of %d", len(cols), len(in))
	}
	for i := range cols {
		if types.KindOf(cols[i].T) != types.KindOf(in[i].T) {
			return fmt.Errorf("column %s is of type %s, not %s", cols[i].Name, in[i].T, cols[i].T)
		}
	}
	return nil
}

func placedKeys(keys []SortKey, in []Column) error {
	for _, k := range keys {
		if err := placed([]expr.Expr{k.Expr}, in); err != nil {
			return err
		}
	}
	return nil
}

// placed checks that the columns of expressions stand at their positions.
func placed(list []expr.Expr, in []Column) (err error) {
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) bool {
			c, ok := x.(*expr.Col)
			switch {
			case !ok || err != nil:
			case c.Index < 0 || c.Index >= len(in):
				err = fmt.Errorf("%s reads column %d of %d in %s", c, c.Index, len(in), e)
			case types.KindOf(c.T) != types.KindOf(in[c.Index].T):
				err = fmt.Errorf("%s reads a %s as %s in %s", c, in[c.Index].T, c.T, e)
			}
			return err == nil
		})
	}
	return err
}

// slots checks that the values of the query around that a plan reads are
// among the n that it is given.
func slots(n Node, count int) (err error) {
	check := func(list []expr.Expr) {
		for _, e := range list {
			expr.Walk(e, func(x expr.Expr) bool {
				if o, ok := x.(*expr.Outer); ok && o.Slot >= count {
					err = fmt.Errorf("%s is value %d of %d", o, o.Slot+1, count)
				}
				return err == nil
			})
		}
	}
	switch x := n.(type) {
	case *Scan:
		check(x.IndexFilter)
		check(x.Filter)
	case *Filter:
		check(x.Conds)
	case *Project:
		check(x.Exprs)
	case *Apply:
		check(x.Params)
		check(x.Filter)
		return firstError(err, slots(x.Left, count))
	}
	for _, in := range n.Inputs() {
		if err == nil {
			err = slots(in, count)
		}
	}
	return err
}
