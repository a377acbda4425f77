package exec

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Operator produces rows in batches. It belongs to one goroutine.
//
// Next returns a batch of at least one live row, or nil at the end; the batch
// is valid until the next call. After an error or nil only Close may be
// called. Close is idempotent and releases what Next acquired.
type Operator interface {
	Next(ctx context.Context) (*vec.Batch, error)
	Close() error
}

// Source opens the leaves of a plan. It belongs to one statement; its methods
// may be called concurrently by the parallel parts of that statement.
type Source interface {
	// Scan opens n. part is nil for the whole scan, or one of Partitions.
	// ec belongs to the operator's goroutine.
	Scan(ctx context.Context, ec *expr.Ctx, n physical.TableNode, part Partition) (Operator, error)
	// Partitions cuts n into at most max parts that can be scanned at the same
	// time, one at least; nil when that is not worth while. rowWork is about what is
	// done with each row, in nanoseconds. The caller closes all, after the operators
	// that read them.
	Partitions(ctx context.Context, ec *expr.Ctx, n physical.TableNode, max int, rowWork float64) ([]Partition, error)
	// Lookup opens the inner side of a LookupJoin with nkeys key columns.
	Lookup(ctx context.Context, ec *expr.Ctx, n physical.TableNode, nkeys int) (Lookup, error)
	// Virtual opens a virtual table.
	Virtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (Operator, error)
}

// Partition is a part of a scan, private to the source.
type Partition interface{ Close() error }

// closePartitions closes all.
func closePartitions(list []Partition) (err error) {
	for _, p := range list {
		err = errors.Join(err, p.Close())
	}
	return err
}

// Lookup finds rows by key.
type Lookup interface {
	// Find calls emit with batches of inner rows (columns as in TableRead.Read)
	// and for each live row the index of its key: key[r] is the position in keys
	// (an element of live) of the r-th live row of rows. keys holds the key
	// columns of n rows; live lists the rows to look up (none is NULL). Batches
	// come in any order of keys, unless ordered: then they come in input order.
	Find(ctx context.Context, keys []*vec.Vec, live []uint16, ordered bool, emit func(rows *vec.Batch, key []uint16) error) error
	Close() error
}

// Counters are what an operator of a Source has read from the store.
type Counters struct {
	// Pairs and Bytes are of the keys and values that were read, Seeks the
	// scans and point reads.
	Pairs, Bytes, Seeks int64
	// Of a search index: its segments, the documents whose values were looked at
	// to find those that it has found, the rows that were looked at in its place,
	// and the nanoseconds that it was waited for.
	Segments, Candidates, Hits, Overlay, Waited int64
}

// Plus is the sum of both.
func (c Counters) Plus(o Counters) Counters {
	return Counters{Pairs: c.Pairs + o.Pairs, Bytes: c.Bytes + o.Bytes, Seeks: c.Seeks + o.Seeks, Segments: c.Segments + o.Segments,
		Candidates: c.Candidates + o.Candidates, Hits: c.Hits + o.Hits, Overlay: c.Overlay + o.Overlay, Waited: c.Waited + o.Waited}
}

// Counted is implemented by operators and lookups of a Source that count, for
// EXPLAIN ANALYZE.
type Counted interface {
	// Counters are those so far.
	Counters() Counters
}

// EntryCounted is implemented by those that read for an IndexJoin.
type EntryCounted interface {
	// EntryCounters are what the entries took: how many passed their filter, and what
	// was read of the index, which Counters leaves out.
	EntryCounters() (passed int64, c Counters)
}

// skipper is implemented by operators that can leave out rows, which their
// consumer does not read, before the first Next.
type skipper interface {
	// Skip leaves out some of the first n rows of the order, and returns how
	// many.
	Skip(ctx context.Context, n uint64) (uint64, error)
}

// Limited is implemented by the operators of a Source that read for a change
// and end at the Limit of their scan.
type Limited interface {
	// Uncount says that n of the rows so far do not count against the Limit.
	Uncount(n int)
}

// Sink changes tables. It belongs to one statement and one goroutine. Rows are
// whole table rows in table order, with values as types.Store made them.
type Sink interface {
	// Insert adds rows. For each row that violates a unique key it calls conflict
	// with the stored row that has the key and the key's index (nil for the
	// primary key), before anything of that row is written; the returned action
	// says what to do.
	Insert(ctx context.Context, t *schema.Table, row []value.Datum, conflict ConflictFunc) error
	// Reserve prepares changes of t where the store is on other machines: it takes the
	// locks that they need together, and reads together what they look for. Without old
	// rows are to be inserted, without rows old ones to be removed; replaces says that those
	// with which the inserted ones conflict are removed. It changes nothing. The rows may be
	// wrong in any way, which is for Insert, Update and Delete to say.
	Reserve(ctx context.Context, t *schema.Table, old, rows [][]value.Datum, replaces bool) error
	// Remote reports a store on other machines.
	Remote() bool
	// Update changes a stored row. The caller has read old under a lock.
	Update(ctx context.Context, t *schema.Table, old, row []value.Datum) error
	// Delete removes a stored row that the caller has read under a lock.
	Delete(ctx context.Context, t *schema.Table, old []value.Datum) error
	// Current is the present row with the primary key of row, which the caller
	// has locked; false when it is gone. The values are the caller's.
	Current(ctx context.Context, t *schema.Table, row []value.Datum) ([]value.Datum, bool, error)
	// NextInKey is the next value of a column that counts for each prefix of the
	// primary key (schema.Table.AutoInKey), RaiseInKey makes later ones greater
	// than v.
	NextInKey(ctx context.Context, t *schema.Table, row []value.Datum) (uint64, error)
	RaiseInKey(ctx context.Context, t *schema.Table, row []value.Datum, v uint64) error
	// NextAutoIncrement reserves n consecutive values and returns the first.
	NextAutoIncrement(ctx context.Context, t *schema.Table, n int) (uint64, error)
	// BumpAutoIncrement makes later values greater than v.
	BumpAutoIncrement(ctx context.Context, t *schema.Table, v uint64) error
	// TableExprs are what rows of t must satisfy and what is computed from them; nil
	// when there is nothing.
	TableExprs(t *schema.Table) (*derive.Exprs, error)
	// NextHiddenKey gives the value of schema.HiddenKeyColumn for a new row.
	NextHiddenKey(ctx context.Context, t *schema.Table) (int64, error)
}

// ConflictAction is the answer to a conflict.
type ConflictAction uint8

// Answers to a conflict.
const (
	ConflictFail    ConflictAction = iota // error 1062
	ConflictSkip                          // leave the new row out
	ConflictRetry                         // the callback removed or changed the old row: try again
	ConflictHandled                       // the callback did all: the new row is not inserted
)

// ConflictFunc decides about a conflict; see Sink.Insert. existing is locked.
type ConflictFunc func(index *schema.Index, existing []value.Datum) (ConflictAction, error)
