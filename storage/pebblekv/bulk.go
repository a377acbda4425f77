package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// bulkTableBytes is the size of one table of a bulk load.
const bulkTableBytes = 64 << 20

const bulkSyncBytes = 1 << 20

// bulkLoader implements storage.BulkLoader with tables written next to the
// database, which Pebble then takes over in one step.
type bulkLoader struct {
	s    *Store
	own  bulkRun
	done atomic.Bool

	mu   sync.Mutex
	runs []*bulkRun
}

// bulkRun implements storage.BulkRun.
type bulkRun struct {
	b     *bulkLoader
	w     *sstable.Writer
	first []byte
	last  []byte
	paths []string
}

// BulkLoad implements storage.Store.
func (s *Store) BulkLoad(ctx context.Context) (storage.BulkLoader, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.exit()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.writable(); err != nil {
		return nil, err
	}
	b := &bulkLoader{s: s}
	b.own.b = b
	return b, nil
}

// Run implements storage.BulkLoader.
func (b *bulkLoader) Run() (storage.BulkRun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done.Load() || b.s.closing.Load() {
		return nil, storage.ErrClosed
	}
	r := &bulkRun{b: b}
	b.runs = append(b.runs, r)
	return r, nil
}

// Add implements storage.BulkLoader.
func (b *bulkLoader) Add(key, value []byte) error { return b.own.Add(key, value) }

// newTable starts a table file.
func (r *bulkRun) newTable() (*sstable.Writer, error) {
	s := r.b.s
	path := s.opts.FS.PathJoin(s.opts.Dir, bulkDir, fmt.Sprintf("%06d.sst", s.bulks.Add(1)))
	f, err := s.disk.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("bulk load: %w", mapError(err))
	}
	// Synced bit by bit, so that commits need not wait for all of it.
	f = vfs.NewSyncingFile(f, vfs.SyncingFileOptions{BytesPerSync: bulkSyncBytes})
	r.paths = append(r.paths, path)
	const lastLevel = 6
	return sstable.NewWriter(objstorageprovider.NewFileWritable(f), s.po.MakeWriterOptions(lastLevel, s.db.TableFormat())), nil
}

// Add implements storage.BulkRun.
func (r *bulkRun) Add(key, value []byte) error {
	s := r.b.s
	if r.b.done.Load() || s.closing.Load() {
		return storage.ErrClosed
	}
	if err := txn.CheckPair(s.Caps(), key, value); err != nil {
		return err
	}
	if r.last == nil {
		r.first = bytes.Clone(key)
	} else if bytes.Compare(r.last, key) >= 0 {
		return fmt.Errorf("key %x after %x: %w", key, r.last, storage.ErrKeyOrder)
	}
	if r.w == nil {
		if err := s.writable(); err != nil {
			return err
		}
		w, err := r.newTable()
		if err != nil {
			return err
		}
		r.w = w
	}
	if err := r.w.Set(key, value); err != nil {
		return fmt.Errorf("bulk load: %w", mapError(err))
	}
	r.last = append(r.last[:0], key...)
	if r.w.Raw().EstimatedSize() >= bulkTableBytes {
		return r.Close()
	}
	return nil
}

// Close implements storage.BulkRun: it completes and syncs the current table.
func (r *bulkRun) Close() error {
	w := r.w
	r.w = nil
	if w == nil {
		return nil
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("bulk load: %w", mapError(err))
	}
	return nil
}

// Finish implements storage.BulkLoader. After an error nothing is visible,
// unless it is storage.ErrUndetermined.
func (b *bulkLoader) Finish(ctx context.Context) (seq uint64, err error) {
	seq = b.s.Seq()
	err = b.finish(ctx, func(paths []string) error {
		seq, err = b.ingest(ctx, paths)
		return err
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}

// FinishUnordered implements storage.BulkLoader. A table with the sequence, a
// key that is in memory, would have Pebble write the memory out.
func (b *bulkLoader) FinishUnordered(ctx context.Context) error {
	return b.finish(ctx, func(paths []string) error {
		s := b.s
		if err := s.writable(); err != nil {
			return err
		}
		// What the tables were made of is not to be lost while they stay.
		s.disk.syncWanted.Add(1)
		err := s.db.LogData(nil, pebble.Sync)
		s.disk.syncWanted.Add(-1)
		if err == nil {
			err = s.disk.frozen()
		}
		if err != nil {
			return fmt.Errorf("bulk load: %w", err)
		}
		if err := s.db.Ingest(context.WithoutCancel(ctx), paths); err != nil {
			return fmt.Errorf("bulk load: %w", mapError(err))
		}
		if err := s.disk.frozen(); err != nil {
			return fmt.Errorf("%w: %w", storage.ErrUndetermined, err)
		}
		// An empty commit ends the sharing of this state among readers.
		_, err = s.commit(ctx, s.db.NewBatch(), nil, storage.DurabilityNone, nil)
		b.touch()
		return err
	})
}

// finish completes the tables, has them taken over and ends the load.
func (b *bulkLoader) finish(ctx context.Context, ingest func(paths []string) error) (err error) {
	if b.done.Load() {
		return storage.ErrClosed
	}
	if err := b.s.enter(); err != nil {
		return err
	}
	defer b.s.exit()
	defer func() { err = errors.Join(err, b.discard()) }()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := b.own.Close(); err != nil {
		return err
	}
	paths, err := b.tables()
	if err != nil || len(paths) == 0 {
		return err
	}
	return ingest(paths)
}

// touch drops what the memory holds of the spans.
func (b *bulkLoader) touch() {
	for _, r := range b.all() {
		if r.last != nil {
			b.s.images.touchSpan(r.first, r.last)
			b.s.filters.touchSpan(r.first, r.last)
		}
	}
}

// tables are the files of all runs, which must not overlap.
func (b *bulkLoader) tables() ([]string, error) {
	var runs []*bulkRun
	for _, r := range b.all() {
		if r.w != nil {
			return nil, errors.New("bulk load: a run is not closed")
		}
		if r.last != nil {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(x, y *bulkRun) int { return bytes.Compare(x.first, y.first) })
	var paths []string
	for i, r := range runs {
		if i > 0 && bytes.Compare(runs[i-1].last, r.first) >= 0 {
			return nil, fmt.Errorf("a run from %x and one to %x: %w", r.first, runs[i-1].last, storage.ErrKeyOrder)
		}
		paths = append(paths, r.paths...)
	}
	return paths, nil
}

func (b *bulkLoader) all() []*bulkRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*bulkRun{&b.own}, b.runs...)
}

// ingest hands the tables to Pebble, with one more that holds the sequence.
func (b *bulkLoader) ingest(ctx context.Context, paths []string) (uint64, error) {
	s := b.s
	s.disk.syncWanted.Add(1)
	defer s.disk.syncWanted.Add(-1)
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	if err := s.writable(); err != nil {
		return 0, err
	}
	seq := s.seq.Load() + 1
	w, err := b.own.newTable()
	if err != nil {
		return 0, err
	}
	paths = append(paths, b.own.paths[len(b.own.paths)-1])
	err = w.Set(seqKey[:], s.seqValue(nil, seq))
	if err = errors.Join(err, w.Close()); err != nil {
		return 0, fmt.Errorf("bulk load: %w", mapError(err))
	}
	s.started.Store(seq)
	s.opts.Steps.At(step.CommitStarted)
	b.touch()
	s.opts.Steps.At(step.CommitNoted)
	// A cancelled ingestion could stop half-way through Pebble's steps.
	if err := s.db.Ingest(context.WithoutCancel(ctx), paths); err != nil {
		return 0, fmt.Errorf("bulk load: %w", mapError(err))
	}
	if err := s.disk.frozen(); err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUndetermined, err)
	}
	s.opts.Steps.At(step.CommitApplied)
	s.seq.Store(seq)
	s.opts.Steps.At(step.CommitStored)
	return seq, nil
}

// discard removes the files, of which Pebble has made links of its own.
func (b *bulkLoader) discard() error {
	b.done.Store(true)
	var err error
	for _, r := range b.all() {
		if r.w != nil {
			_ = r.w.Close() // the file is thrown away
			r.w = nil
		}
		for _, path := range r.paths {
			// Pebble removes what it has taken over.
			if _, serr := b.s.opts.FS.Stat(path); serr == nil {
				err = errors.Join(err, b.s.disk.Remove(path))
			}
		}
		r.paths = nil
	}
	return err
}

// Abort implements storage.BulkLoader.
func (b *bulkLoader) Abort() error {
	if b.done.Load() {
		return nil
	}
	return b.discard()
}
