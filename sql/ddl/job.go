package ddl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/stats"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// A job names data that must not outlive the schema change that made or left
// it:
//
//	01 'j' 't' table (4 bytes BE)                    all data of a table
//	01 'j' 'i' table (4 bytes BE) index (2 bytes BE) the entries of an index
//	01 'j' 'c' table (4 bytes BE) column (2 bytes BE) the cells of a dropped column
//
// The value is one byte, the version of the format.
type job struct {
	table schema.TableID
	index schema.IndexID // PrimaryIndexID for the whole table
	// column is not 0 where the cells of a column go, see removeCells.
	column schema.ColumnID
}

const jobVersion = 1

var jobPrefix = []byte{0x01, 'j'}

func (j job) key() []byte {
	kind, number := byte('t'), uint16(0)
	switch {
	case j.column != 0:
		kind, number = 'c', uint16(j.column)
	case j.index != schema.PrimaryIndexID:
		kind, number = 'i', uint16(j.index)
	}
	key := append(append([]byte(nil), jobPrefix...), kind)
	key = binary.BigEndian.AppendUint32(key, uint32(j.table))
	if kind != 't' {
		key = binary.BigEndian.AppendUint16(key, number)
	}
	return key
}

func parseJob(key []byte) (job, bool) {
	rest := key[len(jobPrefix):]
	switch {
	case len(rest) == 5 && rest[0] == 't':
		return job{table: schema.TableID(binary.BigEndian.Uint32(rest[1:]))}, true
	case len(rest) == 7 && rest[0] == 'i':
		return job{table: schema.TableID(binary.BigEndian.Uint32(rest[1:])), index: schema.IndexID(binary.BigEndian.Uint16(rest[5:]))}, true
	case len(rest) == 7 && rest[0] == 'c':
		return job{table: schema.TableID(binary.BigEndian.Uint32(rest[1:])), column: schema.ColumnID(binary.BigEndian.Uint16(rest[5:]))}, true
	}
	return job{}, false
}

// span is the data of the job.
func (j job) span() storage.Span {
	if j.index == schema.PrimaryIndexID {
		return tableSpan(j.table)
	}
	return indexSpan(j.table, j.index)
}

func (r *Runner) writeJobs(ctx context.Context, jobs []job, del bool) error {
	if len(jobs) == 0 {
		return nil
	}
	txn, err := r.Store.Begin(ctx, storage.TxnOptions{Label: "schema change"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	keys := make([][]byte, len(jobs))
	for i, j := range jobs {
		keys[i] = j.key()
	}
	if err := storage.LockOutside(ctx, r.Store, txn, keys...); err != nil {
		return err
	}
	for _, j := range jobs {
		if del {
			err = txn.Delete(ctx, j.key())
		} else {
			err = txn.Put(ctx, j.key(), []byte{jobVersion})
		}
		if err != nil {
			return err
		}
	}
	if _, err := txn.Commit(ctx); err != nil {
		return fmt.Errorf("recording a schema change: %w", err)
	}
	return nil
}

// openJobs records jobs, durably.
func (r *Runner) openJobs(ctx context.Context, jobs ...job) error {
	return r.writeJobs(context.WithoutCancel(ctx), jobs, false)
}

// finish has the data of jobs deleted whose descriptors are gone, then the jobs, in the
// background. It has the locks of the change meanwhile: ids may be given again.
func (c *change) finish(ctx context.Context, jobs ...job) {
	if len(jobs) == 0 {
		return
	}
	c.state("removing data")
	c.leave(ctx, dataRemoval, func(ctx context.Context, c *change) error { return c.r.deleteJobs(ctx, jobs) })
}

// dataRemoval is the name of its job.
const dataRemoval = "removing data of dropped tables and indexes"

func (r *Runner) deleteJobs(ctx context.Context, jobs []job) error {
	for _, j := range jobs {
		r.step("before delete")
		if err := r.deleteData(ctx, j); err != nil {
			return fmt.Errorf("deleting data of table %d, index %d: %w", j.table, j.index, err)
		}
	}
	r.step("before job end")
	return r.writeJobs(ctx, jobs, true)
}

// closeJobs forgets jobs whose data is in use.
func (r *Runner) closeJobs(ctx context.Context, jobs ...job) {
	if r.temporary {
		return
	}
	if err := r.writeJobs(context.WithoutCancel(ctx), jobs, true); err != nil {
		r.Log.Error("ending a schema change", "error", err)
	}
}

func (r *Runner) deleteData(ctx context.Context, j job) error {
	if j.index != schema.PrimaryIndexID {
		if err := r.discardIndex(ctx, j.table, j.index, j.span()); err != nil {
			return err
		}
		// Of a build that was not taken back.
		return r.discardIndex(ctx, j.table, j.index, table.ChangesSpan(j.table, j.index))
	}
	if err := r.Store.Discard(ctx, j.span()); err != nil {
		return err
	}
	r.Codecs.Forget(j.table)
	if err := stats.Remove(ctx, r.Store, j.table); err != nil {
		return err
	}
	return r.dropSequences(ctx, j.table)
}

// discardIndex removes a span of what belongs to an index. Table ids are given once, but
// the id of an index that its table never had may be given again, and that of the
// earlier versions is always the same: of these nothing may be left to go later.
func (r *Runner) discardIndex(ctx context.Context, id schema.TableID, index schema.IndexID, span storage.Span) error {
	if t := r.Catalog.Snapshot().TableByID(id); t != nil && index >= t.NextIndexID {
		return storage.Clear(ctx, r.Store, span)
	}
	return r.Store.Discard(ctx, span)
}

func (r *Runner) jobs(ctx context.Context) ([]job, error) {
	end := append([]byte(nil), jobPrefix...)
	end[len(end)-1]++
	scan, err := r.Store.Latest().Scan(ctx, storage.Span{Start: jobPrefix, End: end}, storage.ScanOptions{KeyOnly: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var out []job
	var bad error
	_, err = scan.Visit(ctx, func(k, _ []byte) bool {
		if k[len(jobPrefix)] == 'b' {
			return true // see Build
		}
		j, ok := parseJob(k)
		if !ok {
			bad = fmt.Errorf("%w: schema change record %x", storage.ErrCorruption, k)
			return false
		}
		out = append(out, j)
		return true
	})
	return out, errors.Join(err, bad)
}

// Resume brings the store in order after a crash: indexes that were not
// finished are taken out of their tables, and data that no descriptor knows is
// deleted, that of tables by ContinueRemovals. It runs before any other use of the catalog.
func (r *Runner) Resume(ctx context.Context) error {
	jobs, err := r.jobs(ctx)
	if err != nil {
		return err
	}
	if err := r.resumeBuilds(ctx); err != nil {
		return err
	}
	if err := r.resumeSearch(ctx); err != nil {
		return err
	}
	if err := r.resumePartitions(ctx); err != nil {
		return err
	}
	if err := r.removeUnfinished(ctx); err != nil {
		return err
	}
	snap := r.Catalog.Snapshot()
	cells := map[schema.TableID][]job{}
	var later []job
	for _, j := range jobs {
		t := snap.TableByID(j.table)
		used := t != nil
		if j.column != 0 {
			if used && t.ColumnIndex(j.column) < 0 {
				cells[j.table] = append(cells[j.table], j)
			}
			continue
		}
		if used && j.index != schema.PrimaryIndexID {
			used = indexByID(t, j.index) != nil || j.index == table.HistoryIndexID && t.KeepsVersions()
		}
		switch {
		case t == nil:
			later = append(later, j)
		case !used: // the id of an index may be given again
			if err := r.deleteData(ctx, j); err != nil {
				return fmt.Errorf("deleting data of table %d: %w", j.table, err)
			}
			r.Log.Info("removed data of an interrupted schema change", "event", "ddl.cleaned", "table", j.table, "index", j.index)
		}
	}
	for id, list := range cells {
		r.removeCells(snap.TableByID(id), list)
	}
	if len(later) > 0 {
		r.removals = append(r.removals, removal{r.remover(), dataRemoval, func(ctx context.Context, _ *change) error {
			if err := r.deleteJobs(ctx, later); err != nil {
				return err
			}
			for _, j := range later {
				r.Log.Info("removed data of an interrupted schema change", "event", "ddl.cleaned", "table", j.table, "index", j.index)
			}
			return nil
		}})
	}
	return r.writeJobs(ctx, slices.DeleteFunc(jobs, func(j job) bool { return slices.Contains(cells[j.table], j) || slices.Contains(later, j) }), true)
}

// removeUnfinished takes all indexes out of the catalog that are neither public
// nor belong to a build that will be continued. Their jobs exist since before
// the index did.
func (r *Runner) removeUnfinished(ctx context.Context) error {
	return r.Catalog.Change(ctx, func(ch *catalog.Change) error {
		for _, d := range ch.Base.Databases() {
			for _, t := range ch.Base.Tables(d.Name) {
				ids := slices.DeleteFunc(unfinishedIndexes(t), func(x schema.IndexID) bool { return r.isContinued(t.ID, x) })
				if n := without(t, ids); n != nil {
					ch.PutTable(n)
				}
			}
		}
		return nil
	})
}

// withoutUnfinished is t with its public indexes only; nil when it has no
// others.
func withoutUnfinished(t *schema.Table) *schema.Table {
	return without(t, unfinishedIndexes(t))
}

func unfinishedIndexes(t *schema.Table) (ids []schema.IndexID) {
	for i := range t.Indexes {
		if x := &t.Indexes[i]; x.State != schema.IndexPublic {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// without is t without some indexes and what only they need; nil when it has
// none of them.
func without(t *schema.Table, ids []schema.IndexID) *schema.Table {
	n := t.Clone()
	n.Indexes = slices.DeleteFunc(n.Indexes, func(x schema.Index) bool { return slices.Contains(ids, x.ID) })
	if len(n.Indexes) == len(t.Indexes) {
		return nil
	}
	n.DropUnusedHidden()
	n.Version++
	return n
}

func indexByID(t *schema.Table, id schema.IndexID) *schema.Index {
	for i := range t.Indexes {
		if t.Indexes[i].ID == id {
			return &t.Indexes[i]
		}
	}
	return nil
}
