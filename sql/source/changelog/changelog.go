package changelog

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/source/decode"
)

// Env is what a ChangeLog needs.
type Env struct {
	*decode.State
	// UpTo: View has all commits up to this time, in microseconds since 1970; 0
	// where that is not known.
	UpTo int64
	// FindStream is the change log of a table that is there, or was; nil without
	// change logs.
	FindStream func(ctx context.Context, db, table string) (schema.StreamID, error)
}

// ChangeLog opens the derived tables of one statement: change logs, and tables as
// they were.
type ChangeLog struct{ env Env }

// New makes a ChangeLog.
func New(env Env) ChangeLog { return ChangeLog{env} }
