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
	case TableNode:
		return verifyTable(x)
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
	if x, ok := s.Access.(*SearchScan); ok {
		scores = len(x.Scores)
	}
	if err := verifyRead(&s.TableRead, len(s.Cols)-scores); err != nil {
		return err
	}
	index := s.Key().Index
	if index != nil {
		have := map[int]bool{}
		for _, part := range s.Table.EntryParts(index) {
			if part.Prefix == 0 {
				have[s.Table.ColumnIndex(part.Column)] = true
			}
		}
		for _, id := range index.Include {
			have[s.Table.ColumnIndex(id)] = true
		}
		for _, pos := range s.Read {
			if !have[pos] {
				return fmt.Errorf("the index does not cover %s", s.Table.Columns[pos].Name)
			}
		}
	}
	switch {
	case s.Keys && index == nil:
		return fmt.Errorf("entries of no index")
	case s.Latest && index != nil && !s.Keys:
		return fmt.Errorf("a locking read of entries alone")
	}
	return firstError(s.Access.verify(s), placed(s.Filter, s.Cols))
}

func verifyRead(r *TableRead, cols int) error {
	if len(r.Read) != cols {
		return fmt.Errorf("%d columns read for %d", len(r.Read), cols)
	}
	for i, pos := range r.Read {
		if pos < 0 || pos >= len(r.Table.Columns) || i > 0 && pos <= r.Read[i-1] {
			return fmt.Errorf("reads columns %v", r.Read)
		}
	}
	return nil
}

func verifyIndexJoin(n *IndexJoin) error {
	if !n.Entries.Keys || n.Entries.Table != n.Table || n.Entries.Latest != n.Latest || n.Latest != (n.Again != nil) && len(n.Entries.Filter) > 0 {
		return fmt.Errorf("an index join with other entries")
	}
	return firstError(verifyScan(n.Entries), verifyRead(&n.TableRead, len(n.Cols)), placed(n.Filter, n.Cols), placed(n.Again, n.Cols))
}

func verifyTable(n TableNode) error {
	if x, ok := n.(*IndexJoin); ok {
		return verifyIndexJoin(x)
	}
	return verifyScan(n.Leaf())
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
	if j.BuildLeft && j.Kind == JoinLeft {
		return fmt.Errorf("builds the left side")
	}
	left, right := j.Left.Columns(), j.Right.Columns()
	return firstError(placed(j.LeftKeys, left), placed(j.RightKeys, right), placed(j.Filter, both(left, right)), joinWidth(j.Kind, j.Cols, left, right))
}

func verifyLookupJoin(j *LookupJoin) error {
	if err := verifyTable(j.Inner); err != nil {
		return err
	}
	table := j.Inner.Reads().Table
	parts := keyParts(j.Inner.Leaf())
	if j.Inner.Leaf().Spread != nil {
		parts = parts[1:]
	}
	for i, k := range j.Keys {
		if c := table.Column(parts[i].Column); parts[i].Prefix > 0 || types.KindOf(k.Type()) != types.KindOf(c.KeyType()) {
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

// placed checks that the columns of expressions are at their positions.
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
		check(x.Filter)
	case *IndexJoin:
		check(x.Filter)
		check(x.Again)
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
