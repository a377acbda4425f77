package backfill

import (
	"bytes"
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/sorter"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Fill makes the entries of all rows from a position on, nil for the start; rows
// is how many were done before. The error is a *table.DuplicateError when an
// index is unique and the rows are not.
func (b *Build) Fill(ctx context.Context, from []byte, rows int64) error {
	for {
		r := &run{b: b, rows: rows}
		done, err := r.do(ctx, from)
		if err != nil || done {
			return err
		}
		from, rows = r.next, r.rows
	}
}

// run is a part of the rows, whose entries are sorted and loaded as one.
type run struct {
	b      *Build
	snap   storage.Snapshot
	sorter *sorter.Sorter
	rows   int64
	next   []byte // where to go on
	// contested are entries that the store had for another row.
	contested []change
}

func (r *run) do(ctx context.Context, from []byte) (done bool, err error) {
	b := r.b
	if r.snap, err = b.store.Snapshot(ctx); err != nil {
		return false, err
	}
	defer r.snap.Close()
	opts := sorter.Options{Groups: len(b.xs), Memory: b.opts.Memory, TempDir: b.opts.TempDir,
		Pause: func() error { return b.opts.Pace.Pause(ctx, 0) }}
	if b.opts.Budget != nil {
		opts.Budget = b.opts.Budget()
	}
	r.sorter = sorter.New(opts)
	defer r.sorter.Close()
	b.opts.Pace.Start()
	if done, err = r.read(ctx, from); err == nil {
		err = r.sorter.Sort()
	}
	if err == nil {
		err = r.load(ctx, done)
	}
	if dup, ok := errors.AsType[*sorter.DuplicateError](err); ok {
		err = r.duplicate(ctx, dup)
	}
	if err != nil {
		return false, err
	}
	return done, b.opts.Progress(r.rows)
}

// read collects the entries of the rows.
func (r *run) read(ctx context.Context, from []byte) (done bool, err error) {
	b := r.b
	span := table.IndexSpan(b.codec.Table.ID, schema.PrimaryIndexID)
	if from != nil {
		span.Start = from
	}
	scan, err := r.snap.Scan(ctx, span, storage.ScanOptions{Cold: true})
	if err != nil {
		return false, err
	}
	defer scan.Close()
	var bad error
	n := 0
	done, err = scan.Visit(ctx, func(key, val []byte) bool {
		if bad = r.add(ctx, key, val); bad != nil {
			return false
		}
		n++
		r.rows++
		if n%sliceRows == 0 {
			if bad = b.opts.Pace.Pause(ctx, sliceRows); bad == nil {
				bad = b.opts.Progress(r.rows)
			}
		}
		if n == b.opts.RunRows {
			r.next = append(bytes.Clone(key), 0)
			return false
		}
		return bad == nil
	})
	return done, errors.Join(bad, err)
}

func (r *run) add(ctx context.Context, key, val []byte) error {
	b := r.b
	if err := b.rd.Fetch(ctx, r.snap, key, val, b.row); err != nil {
		return err
	}
	for i, x := range b.xs {
		err := x.Each(b.row, func(row []value.Datum) error {
			var at int
			b.buf, at = x.AppendEntry(b.buf[:0], &b.b, key, row)
			return r.sorter.Add(i, b.buf[:at], b.buf[at:])
		})
		if err != nil {
			return b.named(x, err)
		}
	}
	return nil
}

// load hands the sorted entries to the store, and writes the checkpoint.
func (r *run) load(ctx context.Context, done bool) error {
	b := r.b
	load, err := b.store.BulkLoad(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = load.Abort() }() // no-op after Finish
	for i, x := range b.xs {
		if r.sorter.Empty(i) {
			continue
		}
		if err := r.loadIndex(ctx, load, i, x); err != nil {
			return b.named(x, err)
		}
	}
	if err := r.noteContested(ctx); err != nil {
		return err
	}
	// The index is not read yet. What a run without a checkpoint has left is written
	// again by the next, or was noted by whoever changed it.
	if err := load.FinishUnordered(ctx); err != nil || b.opts.Checkpoint == nil {
		return err
	}
	b.opts.Pace.Committed()
	var at []byte
	if !done {
		at = r.next
	}
	txn, err := b.store.Begin(ctx, storage.TxnOptions{Label: "index build"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	key, val := b.opts.Checkpoint(at, r.rows)
	if err := txn.Put(ctx, key, val); err != nil {
		return err
	}
	_, err = txn.Commit(ctx)
	b.opts.Pace.Committed()
	return err
}

// loadIndex makes the sorted run of one index.
func (r *run) loadIndex(ctx context.Context, load storage.BulkLoader, group int, x *table.Index) error {
	out, err := load.Run()
	if err != nil {
		return err
	}
	w := &entryWriter{r: r, x: x, out: out}
	if x.Desc.Unique {
		if w.compare, err = r.hasEntries(ctx, x); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	n := 0
	err = r.sorter.Merge(group, func(key, val []byte) error {
		if n++; n%sliceRows == 0 {
			if err := r.b.opts.Pace.Pause(ctx, 0); err != nil {
				return err
			}
		}
		return w.add(ctx, key, val)
	})
	if err == nil {
		err = w.flush(ctx)
	}
	return errors.Join(err, out.Close())
}

func (r *run) hasEntries(ctx context.Context, x *table.Index) (found bool, err error) {
	scan, err := r.b.store.Latest().Scan(ctx, table.IndexSpan(r.b.codec.Table.ID, x.Desc.ID), storage.ScanOptions{KeyOnly: true, Limit: 1})
	if err != nil {
		return false, err
	}
	_, err = scan.Visit(ctx, func([]byte, []byte) bool {
		found = true
		return false
	})
	return found, errors.Join(err, scan.Close())
}

// entryWriter writes entries to a run, of unique indexes only those that no
// other row has.
type entryWriter struct {
	r       *run
	x       *table.Index
	out     storage.BulkRun
	compare bool
	arena   []byte
	pairs   []pair
}

// pair is an entry in the arena.
type pair struct{ at, val, end int }

func (w *entryWriter) add(ctx context.Context, key, val []byte) error {
	if !w.compare {
		return w.out.Add(key, val)
	}
	p := pair{at: len(w.arena), val: len(w.arena) + len(key), end: len(w.arena) + len(key) + len(val)}
	w.arena = append(append(w.arena, key...), val...)
	w.pairs = append(w.pairs, p)
	if len(w.pairs) < compareBatch {
		return nil
	}
	return w.flush(ctx)
}

func (w *entryWriter) flush(ctx context.Context) error {
	if len(w.pairs) == 0 {
		return nil
	}
	keys := make([][]byte, len(w.pairs))
	for i, p := range w.pairs {
		keys[i] = w.arena[p.at:p.val:p.val]
	}
	err := w.r.b.store.Latest().BatchGet(ctx, keys, func(i int, old []byte) error {
		val := w.arena[w.pairs[i].val:w.pairs[i].end]
		if old != nil {
			ok, err := w.ours(ctx, keys[i], val, old)
			if err != nil || !ok {
				return err
			}
		}
		return w.out.Add(keys[i], val)
	})
	w.arena, w.pairs = w.arena[:0], w.pairs[:0]
	return err
}

// ours reports whether the entry that the store has is that of the same row. If
// not, the row that had it when it was read may have it no more: then it is
// noted as a change.
func (w *entryWriter) ours(ctx context.Context, key, val, old []byte) (bool, error) {
	row, err := w.x.AppendRowKey(nil, key, val)
	if err != nil {
		return false, err
	}
	owner, err := w.x.AppendRowKey(nil, key, old)
	if err != nil || bytes.Equal(row, owner) {
		return true, err
	}
	b := w.r.b
	snap, err := b.store.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer snap.Close()
	both := true
	for _, k := range [][]byte{owner, row} {
		val, err := snap.Get(ctx, k, nil)
		if errors.Is(err, storage.ErrNotFound) {
			both = false
			continue
		}
		if err != nil {
			return false, err
		}
		has, err := b.has(ctx, snap, w.x, k, val, key)
		if err != nil {
			return false, err
		}
		if both = both && has; both && bytes.Equal(k, row) {
			return false, b.duplicateOf(ctx, snap, w.x, k, val, key)
		}
	}
	c := change{}
	out, at := w.x.AppendChange(nil, key, row)
	c.key, c.entry = out[:at:at], out[at:]
	w.r.contested = append(w.r.contested, c)
	return false, nil
}

// noteContested notes the changes, as a writer does.
func (r *run) noteContested(ctx context.Context) error {
	for len(r.contested) > 0 {
		part := r.contested[:min(len(r.contested), mergeBatch)]
		r.contested = r.contested[len(part):]
		txn, err := r.b.store.Begin(ctx, storage.TxnOptions{Label: "index build"})
		if err != nil {
			return err
		}
		for _, c := range part {
			if err := txn.Put(ctx, c.key, c.entry); err != nil {
				txn.Rollback()
				return err
			}
		}
		if _, err := txn.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// duplicate is the error of an entry that two rows of the snapshot have.
func (r *run) duplicate(ctx context.Context, dup *sorter.DuplicateError) error {
	b := r.b
	_, id, _, _ := table.SplitKey(dup.Key)
	x := b.codec.Index(id)
	key, err := x.AppendRowKey(nil, dup.Key, dup.Value)
	if err != nil {
		return b.named(x, err)
	}
	val, err := r.snap.Get(ctx, key, nil)
	if err != nil {
		return b.named(x, err)
	}
	return b.named(x, b.duplicateOf(ctx, r.snap, x, key, val, dup.Key))
}
