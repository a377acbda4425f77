package ddl

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/index/backfill"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// The large values of a dropped column are in cells that are not read any more,
// as the ids of columns are not used twice. They are removed in the background:
// the keys of all cells of the table have to be read for that.

// droppedCells are the jobs for what the alteration, which has the table alone,
// leaves of columns that go.
func (a *alteration) droppedCells(ctx context.Context) (jobs []job, err error) {
	for i := range a.old.Columns {
		c := &a.old.Columns[i]
		if a.t.ColumnIndex(c.ID) < 0 && !c.IsVirtual() && (c.Type.IsString() || c.Type.ID == schema.TypeJSON || c.Type.ID == schema.TypeGeometry) {
			jobs = append(jobs, job{table: a.old.ID, column: c.ID})
		}
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	scan, err := a.c.r.Store.Latest().Scan(ctx, table.IndexSpan(a.old.ID, table.CellIndexID), storage.ScanOptions{KeyOnly: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	found := false
	if _, err := scan.Visit(ctx, func(_, _ []byte) bool { found = true; return false }); err != nil || !found {
		return nil, err
	}
	return jobs, nil
}

// removeCells does jobs of droppedCells of one table, and ends them.
func (r *Runner) removeCells(t *schema.Table, jobs []job) {
	if len(jobs) == 0 {
		return
	}
	name := "removing large values of dropped columns of " + t.Database + "." + t.Name
	r.start(name, func(ctx context.Context, turn Turn) {
		r.repeat(ctx, name, turn, func(ctx context.Context) error {
			if err := r.deleteCells(ctx, t, jobs); err != nil {
				return err
			}
			return r.writeJobs(storage.FreeingSpace(ctx), jobs, true)
		})
	})
}

// Bounds of one transaction of deleteCells, and how many cells are read before
// the clock is looked at.
const (
	cellsDeleted = 250
	cellsRead    = 100_000
	cellsSlice   = 64
)

func (r *Runner) deleteCells(ctx context.Context, t *schema.Table, jobs []job) error {
	codec, err := r.Codecs.Uncached(t)
	if err != nil {
		return err
	}
	gone := map[schema.ColumnID]bool{}
	for _, j := range jobs {
		gone[j.column] = true
	}
	pace := r.pacer()
	pace.Start()
	span := table.IndexSpan(t.ID, table.CellIndexID)
	for span.Start != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		if span.Start, err = r.deleteSomeCells(storage.FreeingSpace(ctx), pace, codec, span, gone); err != nil {
			return fmt.Errorf("cells of table %d: %w", t.ID, err)
		}
	}
	return nil
}

// deleteSomeCells begins at the start of the span and returns where to go on; nil
// at the end.
func (r *Runner) deleteSomeCells(ctx context.Context, pace *backfill.Pacer, codec *table.Codec, span storage.Span, gone map[schema.ColumnID]bool) (next []byte, err error) {
	scan, err := r.Store.Latest().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Cold: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	// The end of the jobs is durable, and with it what was committed before.
	txn, err := r.Store.Begin(ctx, storage.TxnOptions{Label: "schema change", Durability: storage.DurabilityWrite})
	if err != nil {
		return nil, err
	}
	defer txn.Rollback()
	read, deleted := 0, 0
	var bad error
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		_, id, err := codec.SplitCellKey(key)
		if err == nil && gone[id] {
			err = txn.Delete(ctx, bytes.Clone(key))
			deleted++
		}
		if read++; err == nil && read%cellsSlice == 0 {
			err = pace.Pause(ctx, cellsSlice)
		}
		if bad = err; bad != nil {
			return false
		}
		if read == cellsRead || deleted == cellsDeleted {
			next = append(bytes.Clone(key), 0)
		}
		return next == nil
	})
	if err = errors.Join(err, bad); err != nil || deleted == 0 {
		return next, err
	}
	_, err = txn.Commit(ctx)
	pace.Committed()
	return next, err
}
