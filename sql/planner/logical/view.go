package logical

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// RowCheck is what the rows that are written through a view must fulfil (WITH
// CHECK OPTION), or with PARTITION (…), where View is "". Conds see the row in table
// order (expr.Col.Index).
type RowCheck struct {
	DB, View string
	Conds    []expr.Expr
}

// CreateView is CREATE [OR REPLACE] VIEW and ALTER VIEW. View has no id yet.
type CreateView struct {
	View    *schema.View
	Replace bool
	Alter   bool
}

// DropView is DROP VIEW.
type DropView struct {
	Views    []TableName
	IfExists bool
}

func (*CreateView) statement() {}
func (*DropView) statement()   {}
