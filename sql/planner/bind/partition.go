package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// partitionBy is PARTITION BY. Package define checks what depends on the table.
func (b *binder) partitionBy(n *ast.PartitionOptions) (*define.PartitionBy, error) {
	by := &define.PartitionBy{Linear: n.Linear, Count: n.Num}
	switch n.Tp {
	case ast.PartitionTypeRange:
		by.Kind = schema.PartitionRange
	case ast.PartitionTypeList:
		by.Kind = schema.PartitionList
	case ast.PartitionTypeHash:
		by.Kind = schema.PartitionHash
	case ast.PartitionTypeKey:
		by.Kind = schema.PartitionKey
	default:
		return nil, sqlerr.NotSupported("PARTITION BY " + n.Tp.String())
	}
	switch {
	case n.Sub != nil:
		return nil, sqlerr.NotSupported("SUBPARTITION BY")
	case n.Interval != nil:
		return nil, sqlerr.NotSupported("PARTITION BY … INTERVAL")
	case len(n.UpdateIndexes) > 0:
		return nil, sqlerr.NotSupported("UPDATE INDEXES")
	}
	if n.Expr != nil {
		text, err := b.storedText(define.Owner{Kind: define.OfPartition}, n.Expr)
		if err != nil {
			return nil, err
		}
		by.Expr = text
	} else {
		by.ByColumns = true
		for _, c := range n.ColumnNames {
			by.Columns = append(by.Columns, c.Name.O)
		}
	}
	var err error
	by.Definitions, err = b.partitionDefinitions(n.Definitions)
	return by, err
}

// partitionDefinitions are partitions as they were listed.
func (b *binder) partitionDefinitions(list []*ast.PartitionDefinition) ([]define.PartitionDefinition, error) {
	out := make([]define.PartitionDefinition, len(list))
	for i, n := range list {
		d := &out[i]
		d.Name = n.Name.O
		if len(n.Sub) > 0 {
			return nil, sqlerr.NotSupported("SUBPARTITION")
		}
		for _, o := range n.Options {
			switch o.Tp {
			case ast.TableOptionEngine:
				if err := define.CheckEngine(o.StrValue); err != nil {
					return nil, err
				}
			case ast.TableOptionComment:
				d.Comment = o.StrValue
			case ast.TableOptionMaxRows:
				d.MaxRows = o.UintValue
			case ast.TableOptionMinRows:
				d.MinRows = o.UintValue
			default:
				if err := ignoredTableOption(o); err != nil {
					return nil, err
				}
			}
		}
		var err error
		switch c := n.Clause.(type) {
		case *ast.PartitionDefinitionClauseLessThan:
			d.Less, err = b.partitionLiterals(c.Exprs)
		case *ast.PartitionDefinitionClauseIn:
			if len(c.Values) == 0 {
				return nil, sqlerr.NotSupported("DEFAULT partition")
			}
			for _, in := range c.Values {
				var vals []define.PartitionLiteral
				if vals, err = b.partitionLiterals(in); err != nil {
					break
				}
				d.In = append(d.In, vals)
			}
		case *ast.PartitionDefinitionClauseHistory:
			return nil, sqlerr.NotSupported("PARTITION BY SYSTEM_TIME")
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *binder) partitionLiterals(list []ast.ExprNode) ([]define.PartitionLiteral, error) {
	out, subqueries := make([]define.PartitionLiteral, len(list)), len(b.subqueries)
	for i, n := range list {
		switch n.(type) {
		case *ast.MaxValueExpr:
			continue
		case *ast.DefaultExpr:
			return nil, sqlerr.NotSupported("DEFAULT partition")
		}
		e, err := b.value(b.scope(nil, nil, clausePartitionBy), n)
		if err != nil {
			return nil, err
		}
		if len(b.subqueries) > subqueries {
			return nil, sqlerr.PartitionFunctionNotAllowed()
		}
		if !expr.IsConst(e) || !isLasting(e) {
			return nil, sqlerr.PartitionExpression()
		}
		out[i].Expr = e
	}
	return out, nil
}

// isLasting reports an expression whose value depends neither on the session nor on the
// time.
func isLasting(e expr.Expr) bool {
	lasting := true
	expr.Walk(e, func(e expr.Expr) bool {
		if f, ok := e.(*expr.Func); ok {
			lasting = lasting && define.IsDeterministic(f)
		}
		return lasting
	})
	return lasting
}

// onlyPartitions keeps those rows of a scan that are in partitions of a list, and none
// of removed partitions. 1735, 1747.
func (b *binder) onlyPartitions(s *logical.Scan, in logical.Node, names []ast.CIStr) (logical.Node, error) {
	p := s.Table.Partitioning
	if p == nil {
		if len(names) > 0 {
			return nil, sqlerr.PartitionOfNotPartitioned()
		}
		return in, nil
	}
	if len(names) == 0 && len(p.Removed) == 0 {
		return in, nil
	}
	numbers, err := partitionNumbers(s.Table, names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		numbers = p.Numbers()
	}
	e, err := b.inPartitions(s.Table, s.Cols, numbers)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		s.Only = []expr.Expr{e}
	}
	if f, ok := in.(*logical.Filter); ok {
		return &logical.Filter{Input: f.Input, Conds: append(slices.Clip(f.Conds), e)}, nil
	}
	return &logical.Filter{Input: in, Conds: []expr.Expr{e}}, nil
}

// inPartitions is the condition that a row, of columns cols unless these are nil, is in
// one of some partitions.
func (b *binder) inPartitions(t *schema.Table, cols []logical.Column, numbers []int64) (expr.Expr, error) {
	at := t.ColumnIndex(t.Partitioning.Column)
	c := &expr.Col{T: t.Columns[at].Type, Name: schema.PartitionColumn}
	if cols != nil {
		c = colExpr(&cols[at])
	}
	c.Index = at
	args := []expr.Expr{c}
	for _, n := range numbers {
		args = append(args, expr.NewConst(value.Int(n), types.BigInt))
	}
	return expr.NewOp(b.be, expr.OpIn, args...)
}

// partitionCheck is what INSERT … PARTITION (…) demands of rows.
func (b *binder) partitionCheck(t *schema.Table, names []ast.CIStr) (*logical.RowCheck, error) {
	numbers, err := partitionNumbers(t, names)
	if err != nil {
		return nil, err
	}
	e, err := b.inPartitions(t, nil, numbers)
	return &logical.RowCheck{Conds: []expr.Expr{e}}, err
}

// partitionNumbers are those of the partitions of a list.
func partitionNumbers(t *schema.Table, names []ast.CIStr) ([]int64, error) {
	var out []int64
	for _, n := range names {
		i := t.Partitioning.PartitionByName(n.O)
		if i < 0 {
			return nil, sqlerr.UnknownPartition(n.O, t.Name)
		}
		out = append(out, t.Partitioning.Partitions[i].Number)
	}
	return out, nil
}

// alterPartitions is a clause of ALTER TABLE about partitions.
func (b *binder) alterPartitions(s *ast.AlterTableSpec) ([]logical.AlterSpec, error) {
	out := logical.AlterSpec{Number: s.Num, AllPartitions: s.OnAllPartitions, IfExists: s.IfExists, Partitions: partitionNames(s.PartitionNames)}
	var err error
	switch s.Tp {
	case ast.AlterTablePartition:
		out.Kind = logical.AlterPartitionBy
		out.PartitionBy, err = b.partitionBy(s.Partition)
	case ast.AlterTableRemovePartitioning:
		out.Kind = logical.AlterRemovePartitioning
	case ast.AlterTableAddPartitions:
		out.Kind = logical.AlterAddPartition
		out.Definitions, err = b.partitionDefinitions(s.PartDefinitions)
	case ast.AlterTableDropPartition:
		out.Kind = logical.AlterDropPartition
	case ast.AlterTableTruncatePartition:
		out.Kind = logical.AlterTruncatePartition
	case ast.AlterTableCoalescePartitions:
		out.Kind = logical.AlterCoalescePartition
	case ast.AlterTableReorganizePartition:
		out.Kind = logical.AlterReorganizePartition
		out.Definitions, err = b.partitionDefinitions(s.PartDefinitions)
	default:
		out.Kind = logical.AlterRebuildPartition
	}
	return one(out), err
}

func partitionNames(list []ast.CIStr) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.O)
	}
	return out
}

// maintainPartitions is ALTER TABLE … CHECK, OPTIMIZE and REPAIR PARTITION, which is
// done to the whole table; nil for other statements. 1505, 1735.
func (b *binder) maintainPartitions(t *schema.Table, name logical.TableName, specs []*ast.AlterTableSpec) (logical.Statement, error) {
	if len(specs) != 1 {
		return nil, nil
	}
	s := specs[0]
	op := map[ast.AlterTableType]string{ast.AlterTableCheckPartitions: "check", ast.AlterTableOptimizePartition: "optimize", ast.AlterTableRepairPartition: "repair"}[s.Tp]
	if op == "" {
		return nil, nil
	}
	if err := knownPartitions(t, s.PartitionNames); err != nil {
		return nil, err
	}
	return &logical.Maintain{Op: op, Tables: []logical.TableName{name}}, nil
}

// knownPartitions is 1505 for a table without partitions, and 1735 for a name that none
// has.
func knownPartitions(t *schema.Table, names []ast.CIStr) error {
	if t.Partitioning == nil {
		return sqlerr.NotPartitioned()
	}
	_, err := partitionNumbers(t, names)
	return err
}

// aloneIfPartitions refuses clauses about partitions next to others, but for PARTITION BY
// and REMOVE PARTITIONING. In MySQL they do not parse.
func aloneIfPartitions(specs []logical.AlterSpec) error {
	alone, real := false, 0
	for i := range specs {
		switch k := specs[i].Kind; {
		case k == logical.AlterNoOp:
			continue
		case k.IsPartitionClause() && k != logical.AlterPartitionBy && k != logical.AlterRemovePartitioning:
			alone = true
		}
		real++
	}
	if alone && real > 1 {
		return sqlerr.NotSupported("a clause about partitions next to another")
	}
	return nil
}
