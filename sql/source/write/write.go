package write

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// Env is what a Sink needs.
type Env struct {
	*decode.State
	// Sequences are needed by INSERT.
	Sequences *table.Sequences
	// Keys are the foreign keys that changes keep; nil for none.
	Keys *schema.References
	// Expr is where expressions over stored rows are evaluated.
	Expr *expr.Ctx
	// ShowExpired: rows that are past their TTL are seen.
	ShowExpired bool
	// Undo: a row that foreign keys refuse does not end the statement.
	Undo bool
	// Sees reports that the account may know of a table, which errors name then; nil for
	// all.
	Sees func(db, table string) bool
	// Limits are those of what is written.
	Limits table.Limits
}

// Sink is the exec.Sink of one statement.
type Sink struct {
	env     Env
	writers map[*schema.Table]*writer
	// verified are keys of parents that this statement has locked.
	verified map[string]bool
	// ahead is what was read for changes to come; nil where the store is not on other
	// machines.
	ahead *storage.Ahead
	// prepared are the keys of children whose changes were prepared.
	prepared map[string]bool
}

var _ exec.Sink = (*Sink)(nil)

// New makes the sink of a statement.
func New(env Env) Sink { return Sink{env: env} }
