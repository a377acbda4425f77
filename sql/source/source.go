package source

import (
	"context"
	"errors"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/changelog"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/source/kvread"
	"github.com/sqlots/sqlots/sql/source/searchscan"
	"github.com/sqlots/sqlots/sql/source/write"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// Env is what a statement reads from and writes to.
type Env struct {
	Store storage.Store
	// View is the view of plain reads.
	View storage.Reader
	// Ranges says which reads lock ranges of keys. With decode.AllRanges plain reads
	// do not read View, but the latest state.
	Ranges decode.Ranges
	// UpTo: View has all commits up to this time, in microseconds since 1970; 0
	// where that is not known.
	UpTo int64
	// Txn is the transaction; nil where nothing is locked or changed.
	Txn storage.Txn
	// Loc is the session's time zone, nil for UTC.
	Loc    *time.Location
	Codecs *decode.Codecs
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
	// Virtual opens virtual tables; nil if none exists.
	Virtual func(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error)
	// FindStream is the change log of a table that is there, or was; nil without
	// change logs.
	FindStream func(ctx context.Context, db, table string) (schema.StreamID, error)
	// Memory counts what the statement holds; nil counts nothing. Keys that are
	// too many for it are spilled as Spill, SpillOver and Usage say; see
	// exec.Env.
	Memory    *exec.Tracker
	Spill     *spill.Disk
	SpillOver int64
	Usage     *exec.Usage
	// Heat takes a sample of the accesses to rows; nil takes none.
	Heat *metrics.Heat
	// Limits are those of what is written.
	Limits table.Limits
	// Search is where the search indexes are; nil if none exists.
	Search *search.Manager
	// Eventual: search indexes are read in their present state, without the
	// changes that they do not have yet, unless there is a transaction.
	Eventual bool
	// BatchSize is the most rows of a batch, 0 for vec.MaxRows.
	BatchSize int
}

// Source is the exec.Source and exec.Sink of one statement.
type Source struct {
	write.Sink
	state   decode.State
	read    kvread.Reader
	search  searchscan.Searcher
	log     changelog.ChangeLog
	virtual func(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error)
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
	s := &Source{virtual: env.Virtual}
	s.state = decode.State{Store: env.Store, Reader: env.View, View: env.View, Txn: env.Txn, Ranges: env.Ranges, Loc: env.Loc, Codecs: env.Codecs,
		Memory: env.Memory, Spill: env.Spill, SpillOver: env.SpillOver, Usage: env.Usage, Heat: env.Heat, BatchSize: env.BatchSize}
	if env.Ranges == decode.AllRanges {
		s.state.Reader = env.Txn.Locking(storage.WaitBlock)
	}
	s.read = kvread.New(&s.state)
	s.search = searchscan.New(searchscan.Env{State: &s.state, Rows: &s.read, Search: env.Search, Eventual: env.Eventual})
	s.log = changelog.New(changelog.Env{State: &s.state, UpTo: env.UpTo, FindStream: env.FindStream})
	s.Sink = write.New(write.Env{State: &s.state, Sequences: env.Sequences, Keys: env.Keys, Expr: env.Expr, ShowExpired: env.ShowExpired, Undo: env.Undo, Sees: env.Sees, Limits: env.Limits})
	return s
}

// Virtual implements exec.Source.
func (s *Source) Virtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
	if s.virtual == nil {
		return nil, sqlerr.Internal("no virtual tables here")
	}
	return s.virtual(ctx, ec, v)
}

// Scan implements exec.Source.
func (s *Source) Scan(ctx context.Context, ec *expr.Ctx, n physical.TableNode, part exec.Partition) (exec.Operator, error) {
	r := n.Reads()
	limit, err := decode.LimitOf(ec, r.Limit)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		return emptyOp{}, nil
	}
	k, err := s.state.Codecs.Table(r.Table)
	if err != nil {
		return nil, err
	}
	if r.Table.Derived == nil {
		return s.open(ctx, ec, k, n, part, limit, s.state.Reader)
	}
	d, err := s.log.Open(ctx, ec, k, r)
	if err != nil {
		return nil, err
	}
	op, err := s.open(ctx, ec, k, n, part, limit, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d.Operator(op), nil
}

// open is Scan of what reader shows: the one place that distinguishes the kinds
// of access.
func (s *Source) open(ctx context.Context, ec *expr.Ctx, k *decode.Table, n physical.TableNode, part exec.Partition, limit int64, reader storage.Reader) (exec.Operator, error) {
	leaf := n.Leaf()
	switch a := leaf.Access.(type) {
	case *physical.IndexMerge:
		return s.read.OpenMerge(ctx, ec, k, leaf, a, limit)
	case *physical.SearchScan:
		return s.search.Open(ctx, ec, k, leaf, part, limit, reader)
	case *physical.LooseScan:
		return s.read.OpenLoose(ctx, ec, k, leaf, a, reader)
	}
	return s.read.OpenRanges(ctx, ec, k, n, part, limit, reader)
}

// Partitions implements exec.Source.
func (s *Source) Partitions(ctx context.Context, ec *expr.Ctx, n physical.TableNode, parts int, rowWork float64) ([]exec.Partition, error) {
	leaf := n.Leaf()
	if leaf.Search() == nil {
		return s.read.Partitions(ctx, ec, n, parts)
	}
	k, err := s.state.Codecs.Table(leaf.Table)
	if err != nil {
		return nil, err
	}
	return s.search.Partitions(ctx, ec, k, leaf, searchscan.Cut{Parts: parts, RowWork: rowWork}, s.state.Reader)
}

// Lookup implements exec.Source.
func (s *Source) Lookup(ctx context.Context, ec *expr.Ctx, n physical.TableNode, nkeys int) (exec.Lookup, error) {
	r := n.Reads()
	k, err := s.state.Codecs.Table(r.Table)
	if err != nil {
		return nil, err
	}
	if r.Table.Derived == nil {
		return s.read.Lookup(ec, k, n, nkeys, s.state.Reader)
	}
	d, err := s.log.Open(ctx, ec, k, r)
	if err != nil {
		return nil, err
	}
	l, err := s.read.Lookup(ec, k, n, nkeys, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d.Lookup(l), nil
}

// emptyOp is the scan of nothing.
type emptyOp struct{}

func (emptyOp) Next(context.Context) (*vec.Batch, error) { return nil, nil }
func (emptyOp) Close() error                             { return nil }
