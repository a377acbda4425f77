package exec

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// passes reports whether a row may be written through a view or into a list of
// partitions: 1369 and 1748, which IGNORE turns into a warning. NULL is not true.
func passes(ec *expr.Ctx, c *physical.RowCheck, ignore bool, row []value.Datum) (bool, error) {
	if c == nil {
		return true, nil
	}
	for _, e := range c.Conds {
		d, err := expr.EvalRow(ec, e, row)
		if err != nil {
			return false, err
		}
		if !d.IsNull() && d.Bits() != 0 {
			continue
		}
		failed := sqlerr.RowOutsidePartitions()
		if c.View != "" {
			failed = sqlerr.ViewCheckFailed(c.DB, c.View)
		}
		if !ignore {
			return false, failed
		}
		ec.Warning(failed)
		return false, nil
	}
	return true, nil
}

// checkExprs are the expressions of a RowCheck.
func checkExprs(c *physical.RowCheck) []expr.Expr {
	if c == nil {
		return nil
	}
	return c.Conds
}
