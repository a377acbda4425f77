package table

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/internal/procs"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/sorter"
	"github.com/sqlots/sqlots/value"
)

// ErrBulkDuplicate: two rows of a bulk load, or one and a stored row, have the
// same key. Nothing was written; loading row by row finds out which row it is.
var ErrBulkDuplicate = errors.New("duplicate key in a bulk load")

// BulkOptions shape a bulk load.
type BulkOptions struct {
	// Memory is how many bytes of sorted rows are held in memory; 0 for 256 MiB.
	Memory int64
	// TempDir is the directory of temporary files, "" for the system's.
	TempDir string
	// Limits are those of the rows.
	Limits Limits
	// Budget is that of the sorter; nil for none.
	Budget sorter.Budget
}

// Bulk adds many rows to a table in one atomic step: rows and index entries are
// sorted, in memory or through temporary files, and handed to the store as
// sorted runs. The caller excludes writers of the table from the first Add to
// the end of Finish; none of its indexes is being built. It belongs to one
// goroutine.
type Bulk struct {
	store storage.Store
	w     *Writer
	rows  int

	// spaces are the index ids of the groups of pairs: the rows, each index, and
	// the cells.
	spaces []schema.IndexID
	sorter *sorter.Sorter
	also   [2][]byte
}

// Also has Finish write a pair outside of the table in the same step.
func (b *Bulk) Also(key, val []byte) { b.also = [2][]byte{key, val} }

// NewBulk starts a bulk load.
func (c *Codec) NewBulk(store storage.Store, opts BulkOptions) *Bulk {
	b := &Bulk{store: store, w: c.NewWriter(nil, store.Caps())}
	b.w.Limit(opts.Limits)
	b.spaces = append(b.spaces, schema.PrimaryIndexID)
	for _, x := range c.Indexes {
		b.spaces = append(b.spaces, x.Desc.ID)
	}
	b.spaces = append(b.spaces, CellIndexID)
	slices.Sort(b.spaces)
	b.sorter = sorter.New(sorter.Options{Groups: len(b.spaces), Memory: opts.Memory, TempDir: opts.TempDir, Budget: opts.Budget})
	return b
}

// Rows is the number of rows added.
func (b *Bulk) Rows() int { return b.rows }

// Add collects a row; limits are checked (storage.LimitError).
func (b *Bulk) Add(row []value.Datum) error {
	w := b.w
	if err := w.encode(&w.new, row, true, always); err != nil {
		return err
	}
	if err := w.check(&w.new, nil, row); err != nil {
		return err
	}
	if err := w.checkNewKey(row); err != nil {
		return err
	}
	m := &w.new
	b.rows++
	if err := b.add(schema.PrimaryIndexID, m.rowKey(), m.rowValue()); err != nil {
		return err
	}
	for i := range m.entries {
		e := &m.entries[i]
		if err := b.add(e.x.Desc.ID, m.entryKey(e), m.entryVal(e)); err != nil {
			return err
		}
	}
	for _, cell := range m.attrs.Cells {
		w.buf = w.c.appendAttributeKey(w.buf[:0], m.rowKey(), cell.Suffix)
		if err := b.add(CellIndexID, w.buf, cell.Value); err != nil {
			return err
		}
	}
	if !w.c.hasCell {
		return nil
	}
	for pos := range w.c.Columns {
		if w.c.isCell(pos, row[pos]) {
			w.buf = w.c.AppendCellKey(w.buf[:0], m.rowKey(), pos)
			if err := b.add(CellIndexID, w.buf, row[pos].Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bulk) add(space schema.IndexID, key, val []byte) error {
	i, _ := slices.BinarySearch(b.spaces, space)
	return duplicate(b.sorter.Add(i, key, val))
}

func duplicate(err error) error {
	if errors.Is(err, sorter.ErrDuplicate) {
		return ErrBulkDuplicate
	}
	return err
}

// Finish makes all rows visible and durable at once. ErrBulkDuplicate says that
// a key exists already; after any error nothing is visible, unless it is
// storage.ErrUndetermined.
func (b *Bulk) Finish(ctx context.Context) error {
	if b.rows == 0 && b.also[0] == nil {
		return nil
	}
	if err := b.sorter.Sort(); err != nil {
		return duplicate(err)
	}
	load, err := b.store.BulkLoad(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = load.Abort() }()
	if err := b.build(ctx, load); err != nil {
		return err
	}
	if b.also[0] != nil {
		if err := load.Add(b.also[0], b.also[1]); err != nil {
			return err
		}
	}
	seq, err := load.Finish(ctx)
	if m := b.w.c.Marks; m != nil && err == nil {
		m.changed.Raise(seq)
	}
	return err
}

// build makes the runs of all groups, as many at a time as there are cores.
func (b *Bulk) build(ctx context.Context, load storage.BulkLoader) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	slots := make(chan struct{}, procs.Number())
	for i, space := range b.spaces {
		if b.sorter.Empty(i) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := guard.Run(func() error { return b.buildRun(ctx, load, i, space) }); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// buildRun makes the run of a group.
func (b *Bulk) buildRun(ctx context.Context, load storage.BulkLoader, group int, space schema.IndexID) error {
	exist, err := b.newExisting(ctx, space)
	if err != nil {
		return err
	}
	run, err := load.Run()
	if err != nil {
		return err
	}
	n := 0
	err = b.sorter.Merge(group, func(key, val []byte) error {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if exist != nil {
			if err := exist.check(ctx, key); err != nil {
				return err
			}
		}
		return run.Add(key, val)
	})
	if err == nil && exist != nil {
		err = exist.flush(ctx)
	}
	return errors.Join(duplicate(err), run.Close())
}

// existing looks for keys of a run in the store, in batches.
type existing struct {
	store storage.Store
	keys  [][]byte
	buf   []byte
}

const existingBatch = 1024

// newExisting is nil where the keys of the space cannot be there.
func (b *Bulk) newExisting(ctx context.Context, space schema.IndexID) (*existing, error) {
	c := b.w.c
	if x := c.Index(space); space != schema.PrimaryIndexID && (x == nil || !x.Desc.Unique) {
		return nil, nil
	}
	scan, err := b.store.Latest().Scan(ctx, IndexSpan(c.Table.ID, space), storage.ScanOptions{KeyOnly: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	var e *existing
	_, err = scan.Visit(ctx, func([]byte, []byte) bool {
		e = &existing{store: b.store}
		return false
	})
	return e, errors.Join(err, scan.Close())
}

func (e *existing) check(ctx context.Context, key []byte) error {
	if len(e.buf)+len(key) > cap(e.buf) {
		e.buf = make([]byte, 0, max(64<<10, len(key)))
	}
	start := len(e.buf)
	e.buf = append(e.buf, key...)
	e.keys = append(e.keys, e.buf[start:])
	if len(e.keys) == existingBatch {
		return e.flush(ctx)
	}
	return nil
}

func (e *existing) flush(ctx context.Context) error {
	if len(e.keys) == 0 {
		return nil
	}
	err := e.store.Latest().BatchGet(ctx, e.keys, func(_ int, val []byte) error {
		if val != nil {
			return ErrBulkDuplicate
		}
		return nil
	})
	e.keys, e.buf = e.keys[:0], e.buf[:0]
	return err
}

// Close frees memory and files. It is idempotent.
func (b *Bulk) Close() error { return b.sorter.Close() }
