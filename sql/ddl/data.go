package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sqlots/sqlots/index/backfill"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

func tableSpan(t schema.TableID) storage.Span { return table.TableSpan(t) }

func indexSpan(t schema.TableID, x schema.IndexID) storage.Span { return table.IndexSpan(t, x) }

func (r *Runner) dropSequences(ctx context.Context, t schema.TableID) error {
	return r.Sequences.Drop(ctx, t)
}

// raiseAutoIncrement makes the next value at least n. MySQL does not let it
// fall below what the rows have; here it never falls.
func (r *Runner) raiseAutoIncrement(ctx context.Context, t *schema.Table, n uint64) error {
	return r.Sequences.Bump(ctx, t, table.AutoIncrement, n-1)
}

// codec is the codec of a descriptor that need not be published.
func (c *change) codec(t *schema.Table) (*table.Codec, error) {
	codec, err := c.r.Codecs.Uncached(t)
	if err != nil {
		return nil, fmt.Errorf("table %s.%s: %w", t.Database, t.Name, err)
	}
	return codec, nil
}

// buildCodec is the codec of a descriptor with only some of its indexes: rows are
// read for these alone.
func (c *change) buildCodec(t *schema.Table, ids []schema.IndexID) (*table.Codec, error) {
	only := t.Clone()
	only.Indexes = slices.DeleteFunc(only.Indexes, func(x schema.Index) bool { return !slices.Contains(ids, x.ID) })
	only.DropUnusedHidden()
	return c.codec(only)
}

// backfill makes the entries of the new indexes for the existing rows; no other
// session uses the table.
func (a *alteration) backfill(ctx context.Context) error {
	codec, err := a.c.buildCodec(a.t, a.build)
	if err != nil {
		return err
	}
	a.c.state("creating index")
	r := a.c.r
	return backfill.Run(ctx, r.Store, codec, backfill.Options{Memory: r.sortMemory(lockedSort), TempDir: r.TempDir, Budget: r.SortBudget, Progress: func(rows int64) error {
		a.c.state(fmt.Sprintf("creating index: %d rows", rows))
		r.step("backfill chunk")
		return context.Cause(ctx)
	}}, a.build...)
}

// The memory for entries: while others wait for the table, and next to them.
const (
	lockedSort = 128 << 20
	onlineSort = 64 << 20
)

func (r *Runner) sortMemory(n int64) int64 {
	if r.SortMemory > 0 {
		return min(n, r.SortMemory)
	}
	return n
}

// indexError gives the failure of an index its MySQL number.
func (a *alteration) indexError(err error) error {
	var dup *table.DuplicateError
	if errors.As(err, &dup) {
		return a.c.duplicate(dup)
	}
	return err
}

func (c *change) duplicate(dup *table.DuplicateError) error {
	entry := dup.Entry(func(dst []byte, t schema.Type, d value.Datum) []byte {
		return types.AppendText(dst, t, c.toSession(d, t))
	})
	return sqlerr.DuplicateEntry(entry, dup.Table.Name+"."+dup.KeyName())
}

func (c *change) location() *time.Location {
	if c.env.Types.Loc == nil {
		return time.UTC
	}
	return c.env.Types.Loc
}

// toSession turns a stored value into what the session works with: TIMESTAMP
// is stored in UTC.
func (c *change) toSession(d value.Datum, t schema.Type) value.Datum {
	return moveTimestamp(d, t, time.UTC, c.location())
}

// toStored is the opposite of toSession.
func (c *change) toStored(d value.Datum, t schema.Type) value.Datum {
	return moveTimestamp(d, t, c.location(), time.UTC)
}

func moveTimestamp(d value.Datum, t schema.Type, from, to *time.Location) value.Datum {
	if t.ID != schema.TypeTimestamp || d.Kind() != value.KindTime || d.Time().IsZero() {
		return d
	}
	at, ok := d.Time().Go(from)
	if !ok {
		return d
	}
	return value.TimeOf(value.FromGo(at.In(to)))
}
