package backfill

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Options shape a Run. The zero value builds live, from the start.
type Options struct {
	// Exclusive: no transaction writes to the table while Run works.
	Exclusive bool
	// From is the position at which to go on (live only), nil for the start.
	From []byte
	// ChunkRows is the number of rows of a transaction (live); 0 for 2,000.
	ChunkRows int
	// SortBytes bounds the memory in which entries are sorted (exclusive); 0
	// for 128 MiB.
	SortBytes int
	// Progress is told how many rows of this Run are done. Live, it is called
	// after each chunk is committed, with the position at which a later Run can
	// go on; an error ends the Run. nil for none.
	Progress func(position []byte, rows int64) error
}

const (
	defaultChunk = 2000
	defaultSort  = 128 << 20
	chunkRetries = 20
	// progressRows is how often an exclusive build reports.
	progressRows = 50_000
)

// Run writes the entries of index x of the codec's table for all its rows. The
// error is a *table.DuplicateError when the index is unique and the rows are
// not.
func Run(ctx context.Context, store storage.Store, codec *table.Codec, x schema.IndexID, opts Options) error {
	ix := codec.Index(x)
	if ix == nil {
		return fmt.Errorf("backfill of table %s: no index %d", codec.Table.Name, x)
	}
	if opts.ChunkRows <= 0 {
		opts.ChunkRows = defaultChunk
	}
	if opts.SortBytes <= 0 {
		opts.SortBytes = defaultSort
	}
	if opts.Progress == nil {
		opts.Progress = func([]byte, int64) error { return nil }
	}
	var err error
	if opts.Exclusive {
		err = runExclusive(ctx, store, ix, opts)
	} else {
		err = runLive(ctx, store, ix, opts)
	}
	if err != nil {
		return fmt.Errorf("building index %s.%s: %w", codec.Table.Name, ix.Desc.Name, err)
	}
	return nil
}

// live is the state of a live build.
type live struct {
	store storage.Store
	x     *table.Index
	opts  Options
	rd    *table.RowReader
	b     rowenc.Builder
	row   []value.Datum
	buf   []byte
}

func runLive(ctx context.Context, store storage.Store, x *table.Index, opts Options) error {
	c := x.Codec()
	l := &live{store: store, x: x, opts: opts, rd: c.NewEntryReader(), row: make([]value.Datum, len(c.Columns))}
	span := table.IndexSpan(c.Table.ID, schema.PrimaryIndexID)
	if opts.From != nil {
		span.Start = opts.From
	}
	var rows int64
	for {
		keys, err := l.chunk(ctx, span)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := l.writeChunk(ctx, keys); err != nil {
			return err
		}
		rows += int64(len(keys))
		span.Start = append(bytes.Clone(keys[len(keys)-1]), 0)
		if err := opts.Progress(span.Start, rows); err != nil {
			return err
		}
	}
}

// chunk is the keys of the next rows.
func (l *live) chunk(ctx context.Context, span storage.Span) ([][]byte, error) {
	scan, err := l.store.Latest().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: l.opts.ChunkRows, Cold: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	keys := make([][]byte, 0, l.opts.ChunkRows)
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		keys = append(keys, bytes.Clone(key))
		return len(keys) < l.opts.ChunkRows
	})
	return keys, err
}

// writeChunk writes the entries of the rows at keys, again when another
// transaction stood in the way.
func (l *live) writeChunk(ctx context.Context, keys [][]byte) error {
	for try := 0; ; try++ {
		err := l.tryChunk(ctx, keys)
		again := errors.Is(err, storage.ErrDeadlock) || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrLockTimeout)
		if !again || try == chunkRetries {
			return err
		}
	}
}

func (l *live) tryChunk(ctx context.Context, keys [][]byte) error {
	txn, err := l.store.Begin(storage.TxnOptions{Label: "index build"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	locked, err := txn.Lock(ctx, keys, storage.LockOptions{})
	if err != nil {
		return err
	}
	for i, key := range keys {
		if locked[i].Value == nil {
			continue // deleted meanwhile
		}
		if err := l.writeEntry(ctx, txn, key, locked[i].Value); err != nil {
			return err
		}
	}
	_, err = txn.Commit(ctx)
	return err
}

func (l *live) writeEntry(ctx context.Context, txn storage.Txn, key, val []byte) error {
	if err := l.rd.Fetch(ctx, txn.Latest(), key, val, l.row); err != nil {
		return err
	}
	return l.x.Each(l.row, func(row []value.Datum) error { return l.put(ctx, txn, key, row) })
}

// put writes one entry of a row, as table.Index.Each gives it.
func (l *live) put(ctx context.Context, txn storage.Txn, key []byte, entry []value.Datum) error {
	var at int
	l.buf, at = l.x.AppendEntry(l.buf[:0], &l.b, key, entry)
	ekey, eval := l.buf[:at], l.buf[at:]
	if !l.x.IsUniqueEntry(entry) {
		return txn.Put(ekey, eval)
	}
	err := txn.Insert(ctx, ekey, eval)
	exists, ok := errors.AsType[*storage.KeyExistsError](err)
	if !ok {
		return err
	}
	owner, err := l.x.AppendRowKey(nil, ekey, exists.Value)
	if err != nil {
		return err
	}
	if !bytes.Equal(owner, key) {
		return l.x.Duplicate(l.row)
	}
	return nil // a writer was here before
}
