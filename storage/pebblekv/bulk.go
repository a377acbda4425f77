package pebblekv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// bulkTableBytes is the size of one table of a bulk load.
const bulkTableBytes = 64 << 20

// bulkLoader implements storage.BulkLoader with tables written beside the
// database, which Pebble then takes over in one step.
type bulkLoader struct {
	s     *Store
	w     *sstable.Writer
	last  []byte
	paths []string
	done  bool
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
	return &bulkLoader{s: s}, nil
}

// newTable starts a table file.
func (b *bulkLoader) newTable() (*sstable.Writer, error) {
	dfs := b.s.opts.FS
	path := dfs.PathJoin(b.s.opts.Dir, bulkDir, fmt.Sprintf("%06d.sst", b.s.bulks.Add(1)))
	f, err := b.s.disk.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("bulk load: %w", mapError(err))
	}
	b.paths = append(b.paths, path)
	const lastLevel = 6
	return sstable.NewWriter(objstorageprovider.NewFileWritable(f), b.s.po.MakeWriterOptions(lastLevel, b.s.db.TableFormat())), nil
}

// Add implements storage.BulkLoader.
func (b *bulkLoader) Add(key, value []byte) error {
	if b.done || b.s.closing.Load() {
		return storage.ErrClosed
	}
	if err := txn.CheckPair(b.s.Caps(), key, value); err != nil {
		return err
	}
	if b.last != nil && bytes.Compare(b.last, key) >= 0 {
		return fmt.Errorf("key %x after %x: %w", key, b.last, storage.ErrKeyOrder)
	}
	if b.w == nil {
		if err := b.s.writable(); err != nil {
			return err
		}
		w, err := b.newTable()
		if err != nil {
			return err
		}
		b.w = w
	}
	if err := b.w.Set(key, value); err != nil {
		return fmt.Errorf("bulk load: %w", mapError(err))
	}
	b.last = append(b.last[:0], key...)
	if b.w.Raw().EstimatedSize() >= bulkTableBytes {
		return b.closeTable()
	}
	return nil
}

// closeTable completes and syncs the current table.
func (b *bulkLoader) closeTable() error {
	w := b.w
	b.w = nil
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
func (b *bulkLoader) Finish(ctx context.Context) (_ uint64, err error) {
	if b.done {
		return 0, storage.ErrClosed
	}
	s := b.s
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.exit()
	defer func() { err = errors.Join(err, b.discard()) }()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err := b.closeTable(); err != nil {
		return 0, err
	}
	if len(b.paths) == 0 {
		return s.Seq(), nil
	}
	return b.ingest(ctx)
}

// ingest hands the tables to Pebble, with one more that holds the sequence.
func (b *bulkLoader) ingest(ctx context.Context) (uint64, error) {
	s := b.s
	s.disk.syncWanted.Add(1)
	defer s.disk.syncWanted.Add(-1)
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	if err := s.writable(); err != nil {
		return 0, err
	}
	seq := s.seq.Load() + 1
	w, err := b.newTable()
	if err != nil {
		return 0, err
	}
	err = w.Set(seqKey[:], binary.BigEndian.AppendUint64(nil, seq))
	if err = errors.Join(err, w.Close()); err != nil {
		return 0, fmt.Errorf("bulk load: %w", mapError(err))
	}
	s.started.Store(seq)
	s.images.touch(nil, seq)
	s.filters.touch(nil)
	// A cancelled ingestion could stop half-way through Pebble's steps.
	if err := s.db.Ingest(context.WithoutCancel(ctx), b.paths); err != nil {
		return 0, fmt.Errorf("bulk load: %w", mapError(err))
	}
	s.seq.Store(seq)
	if err := s.disk.frozen(); err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUndetermined, err)
	}
	return seq, nil
}

// discard removes the files, of which Pebble has made links of its own.
func (b *bulkLoader) discard() error {
	b.done = true
	var err error
	if b.w != nil {
		_ = b.w.Close() // the file is thrown away
		b.w = nil
	}
	for _, path := range b.paths {
		// Pebble removes what it has taken over.
		if _, serr := b.s.opts.FS.Stat(path); serr == nil {
			err = errors.Join(err, b.s.disk.Remove(path))
		}
	}
	b.paths = nil
	return err
}

// Abort implements storage.BulkLoader.
func (b *bulkLoader) Abort() error {
	if b.done {
		return nil
	}
	return b.discard()
}
