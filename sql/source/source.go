package source

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// Env is what a statement reads from and writes to.
type Env struct {
	Store storage.Store
	// Reader is the view of plain reads.
	Reader storage.Reader
	// UpTo: Reader has all commits up to this time, in microseconds since 1970; 0
	// where that is not known.
	UpTo int64
	// Txn is the transaction; nil where nothing is locked or changed.
	Txn storage.Txn
	// Loc is the session's time zone, nil for UTC.
	Loc    *time.Location
	Codecs *Codecs
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
	// Virtual opens virtual tables; nil when there are none.
	Virtual func(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error)
	// FindStream is the change log of a table that is there, or was; nil when
	// there are none.
	FindStream func(ctx context.Context, db, table string) (schema.StreamID, error)
	// Memory counts what the statement holds; nil counts nothing. Keys that are
	// too many for it are put aside as Spill, SpillOver and Spilled say; see
	// exec.Env.
	Memory    *exec.Tracker
	Spill     *spill.Disk
	SpillOver int64
	Spilled   *exec.SpillCounters
	// Limits are those of what is written.
	Limits table.Limits
	// Search is where the search indexes are; nil when there are none.
	Search *search.Manager
	// Eventual: search indexes are read as they are, without the changes that they
	// do not have yet, unless there is a transaction.
	Eventual bool
	// BatchSize is the most rows of a batch, 0 for vec.MaxRows.
	BatchSize int
}

// Source is the exec.Source and exec.Sink of one statement.
type Source struct {
	env     Env
	writers map[*schema.Table]*writer
	// verified are keys of parents that this statement has locked.
	verified map[string]bool
}

var (
	_ exec.Source = (*Source)(nil)
	_ exec.Sink   = (*Source)(nil)
)

// New makes the source of a statement.
func New(env Env) *Source {
	if env.BatchSize <= 0 || env.BatchSize > vec.MaxRows {
		env.BatchSize = vec.MaxRows
	}
	return &Source{env: env}
}

// keyEnv is what lists of keys need.
func (s *Source) keyEnv() *exec.Env {
	return &exec.Env{Memory: s.env.Memory, Spill: s.env.Spill, SpillOver: s.env.SpillOver, Spilled: s.env.Spilled}
}

func internal(format string, args ...any) error { return sqlerr.Internal(format, args...) }

// Virtual implements exec.Source.
func (s *Source) Virtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
	if s.env.Virtual == nil {
		return nil, internal("no virtual tables here")
	}
	return s.env.Virtual(ctx, ec, v)
}

// emptyOp is the scan of nothing.
type emptyOp struct{}

func (emptyOp) Next(context.Context) (*vec.Batch, error) { return nil, nil }
func (emptyOp) Close() error                             { return nil }
