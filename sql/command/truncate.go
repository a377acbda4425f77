package command

import (
	"context"
	"fmt"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// truncateAll is CALL sys.ps_truncate_all_tables.
func (s *commands) truncateAll(ctx context.Context, more bool, w mysqlwire.ResultWriter) error {
	if err := s.Tx.Commit(ctx); err != nil {
		return err
	}
	n := s.Shared.TruncateVirtual(logical.TableName{})
	text := types.VarcharOf(64, schema.CollationUTF8MB40900AICI)
	if err := w.Header(mysqlwire.NewHeader([]mysqlwire.Column{{Name: "summary", Type: text}})); err != nil {
		return err
	}
	if err := w.Row([]value.Datum{value.String(fmt.Sprintf("Truncated %d tables", n))}); err != nil {
		return err
	}
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}
