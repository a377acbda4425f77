package define

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Mode is the sql_mode under which expressions of descriptors are parsed and
// bound: the default one.
const Mode = types.DefaultSQLMode

// Binder parses the text of an expression and gives it types, under Mode and
// the default character set, without a session. It is safe for concurrent use.
type Binder interface {
	// Bind binds text, which may be a row of values. Errors are *sqlerr.Error.
	Bind(text string, in Names) (Bound, error)
}

// Names is what the names in an expression mean.
type Names struct {
	// Column is the column of a name, whose qualifiers may be "". The error is
	// 1054 if no column has the name.
	Column func(db, table, name string) (expr.Expr, error)
	// Stored is the form of a column's name in Bound.Text.
	Stored func(name string) string
	// Index is set for the parts of an index: CAST(… AS type ARRAY) is allowed
	// as a whole expression, for the index of this name.
	Index *string
}

// Bound is an expression that has been bound.
type Bound struct {
	Expr expr.Expr
	// Text is the expression in the form in which it is stored. Parsed again, it
	// is the same expression.
	Text string
	// Condition: MySQL takes the expression for a condition.
	Condition bool
}

// bindEnv is where expressions are built that belong to no statement.
func bindEnv() *expr.BindEnv {
	return &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: Mode}
}

func internalf(format string, args ...any) error {
	return sqlerr.Internal("%s", fmt.Sprintf(format, args...))
}

// isRow reports an expression of several values.
func isRow(e expr.Expr) bool {
	f, ok := e.(*expr.Func)
	return ok && f.Op == expr.OpRow
}

// qualified is a name with the qualifiers that are not "".
func qualified(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
}
