package session

import (
	"context"
	"fmt"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/value"
)

// Runner implements Commands.
type Runner struct{}

// commands runs one of them.
type commands struct{ *statement.Statement }

// IntoFile implements Commands.
func (Runner) IntoFile(ctx context.Context, st *statement.Statement, q *logical.Query, c *statement.Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	return (&commands{st}).selectIntoFile(ctx, q, c, vals, more, w)
}

// Run implements Commands.
func (Runner) Run(ctx context.Context, st *statement.Statement, stmt logical.Statement, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	s := &commands{st}
	switch x := stmt.(type) {
	case *logical.LoadData:
		return s.loadData(ctx, x, more, w)
	case *logical.AnalyzeTable, *logical.Maintain:
		if m, ok := stmt.(*logical.Maintain); !ok || m.Op != "checksum" {
			if err := s.Tx.Commit(ctx); err != nil {
				return err
			}
		}
		return s.maintain(ctx, stmt, more, w)
	case *logical.Backup:
		return s.backup(ctx, x, more, w)
	}
	affected, err := s.command(ctx, stmt, vals)
	if err != nil {
		return err
	}
	s.Functions.Rows = int64(affected)
	ok := mysqlwire.OK{AffectedRows: affected}
	if _, alters := stmt.(*logical.AlterTable); alters {
		ok.Info = fmt.Sprintf("Records: %d  Duplicates: 0  Warnings: %d", affected, s.Diagnostics.WarningCount)
	}
	return s.OK(w, ok, more)
}
