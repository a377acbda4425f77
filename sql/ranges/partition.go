package ranges

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// partitions are the partitions that may have rows for which conditions are true: the
// columns by which rows are spread are a key of their own, whose spans are looked up
// among the partitions.
type partitions struct {
	of *expr.Partitioner
	// set are the conditions on the columns, nil for all partitions.
	set *Set
}

// partitions is the atom of expr.NewPartitionIn.
func (b *builder) partitions(f *expr.Func) node {
	p, column, conds, _ := expr.AsPartitionIn(f)
	col := b.column(column)
	if col < 0 {
		return nil
	}
	set := PartitionSet(p, conds)
	if set != nil && set.SinglePoint {
		return &atom{col: col, op: opEq, args: []expr.Expr{onePartition(p, set)}, exact: true, points: 1}
	}
	return &atom{col: col, op: opPartition, exact: true, points: len(p.Numbers), parts: &partitions{p, set}}
}

// PartitionSet is the restriction of the columns by which rows are spread, nil for
// none.
func PartitionSet(p *expr.Partitioner, conds []expr.Expr) *Set {
	key := make([]Column, len(p.Reads))
	for i, pos := range p.Reads {
		key[i] = Column{Table: pos, Type: p.Types[i], Null: true}
	}
	set, _ := Build(key, conds)
	return set
}

// onePartition is the number of the partition of a single point, NULL if it has
// none.
func onePartition(p *expr.Partitioner, set *Set) expr.Expr {
	return expr.NewComputed("partition", set.Keys, types.BigInt, func(c *expr.Ctx, _ []value.Datum) (value.Datum, error) {
		spans, err := set.singleSpan(c)
		if err != nil || len(spans) == 0 {
			return value.Null, err
		}
		vals, err := p.Values(c, spans[0].Low)
		if err != nil {
			return value.Null, err
		}
		if at := p.At(vals); at >= 0 {
			return value.Int(p.Numbers[at]), nil
		}
		return value.Null, nil
	})
}

// points are the numbers of the partitions, ascending.
func (p *partitions) points(c *expr.Ctx) ([]interval, error) {
	mark := make([]bool, len(p.of.Numbers))
	if p.set == nil {
		for i := range mark {
			mark[i] = true
		}
	} else {
		spans, err := p.set.Spans(c)
		if err != nil {
			return nil, err
		}
		for _, s := range spans {
			if s.Prefix { // the order of the strings that start with the last value is not looked at
				s.Low, s.High = s.Low[:len(s.Low)-1], s.High[:len(s.High)-1]
			}
			if err := p.of.Mark(c, s.Low, s.High, s.LowOpen, s.HighOpen, mark); err != nil {
				return nil, err
			}
		}
	}
	var numbers []int64
	for i, n := range p.of.Numbers {
		if mark[i] {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := make([]interval, len(numbers))
	for i, n := range numbers {
		d := value.Int(n)
		out[i] = interval{lo: bound{d: d}, hi: bound{d: d}}
	}
	return out, nil
}
