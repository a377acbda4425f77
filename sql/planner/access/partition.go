package access

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
)

// The primary key of a partitioned table begins with the partition. No condition of a
// statement is about that column: what the conditions say of the columns by which
// rows are spread becomes one, for the spans of the key alone.

// partition is that condition under conds, nil for tables without partitions.
func (r *Request) partition(conds []expr.Expr) expr.Expr {
	t := r.Scan.Table
	if r.Partitions == nil || t.Partitioning == nil || t.Derived != nil {
		return nil
	}
	pos := t.ColumnIndex(t.Partitioning.Column)
	c := &t.Columns[pos]
	return expr.NewPartitionIn(r.Partitions, &expr.Col{Index: pos, T: c.Type, Name: c.Name}, conds)
}

// Spread are the partitions that a join has to look into, if it looks for rows by columns
// after the partition; nil for tables without any.
func Spread(r *Request) *ranges.Set {
	e := r.partition(r.Conds)
	if e == nil {
		return nil
	}
	set, _ := ranges.Build(KeyColumns(r.Scan.Table, nil)[:1], []expr.Expr{e})
	return set
}

// byPartitions are conds with the condition on the partition, where that makes the
// spans of the primary key smaller.
func (r *Request) byPartitions(key []ranges.Column, conds []expr.Expr) (all, probes []expr.Expr) {
	e := r.partition(conds)
	if e == nil {
		return conds, nil
	}
	if ranges.PartitionSet(r.Partitions, conds) == nil {
		if rest, _ := ranges.Build(key[1:], conds); rest == nil {
			return conds, nil
		}
	}
	return append(slices.Clip(conds), e), []expr.Expr{e}
}
