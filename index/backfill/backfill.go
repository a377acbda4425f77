package backfill

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/sorter"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Options shape a Build. The zero value is a build without concurrent writers.
type Options struct {
	// RunRows is the number of rows of a run; 0 for all.
	RunRows int
	// Memory bounds the bytes that are sorted in memory; 0 for 64 MiB. The rest
	// goes to temporary files in TempDir, "" for the system's.
	Memory  int64
	TempDir string
	// Budget makes that of a sorter; nil for none.
	Budget func() sorter.Budget
	// Checkpoint gives a pair that is written after a run: the position
	// at which to go on, nil at the end, and how many rows are done. nil for none.
	Checkpoint func(position []byte, rows int64) (key, val []byte)
	// Progress is called with the number of rows done; an error ends Fill. May be nil.
	Progress func(rows int64) error
	// Pace slows the build down; nil for as fast as it goes.
	Pace *Pacer
}

const (
	defaultMemory = 64 << 20
	mergeRetries  = 20
	// sliceRows is how many rows are read, or entries written, before the clock is
	// looked at.
	sliceRows = 64
	// compareBatch is how many entries are looked for at a time.
	compareBatch = 512
	// mergeBatch is the number of changes in a transaction.
	mergeBatch = 256
)

// Build makes the entries of some indexes of a table. It belongs to one
// goroutine.
type Build struct {
	store storage.Store
	codec *table.Codec
	xs    []*table.Index
	opts  Options
	rd    *table.RowReader
	b     rowenc.Builder
	row   []value.Datum
	buf   []byte
	// ownerRow is for the rows of entries that conflict.
	ownerRow []value.Datum
}

// New makes a Build of the indexes with the given ids.
func New(store storage.Store, codec *table.Codec, ids []schema.IndexID, opts Options) (*Build, error) {
	if opts.Memory <= 0 {
		opts.Memory = defaultMemory
	}
	if opts.Progress == nil {
		opts.Progress = func(int64) error { return nil }
	}
	b := &Build{store: store, codec: codec, opts: opts, rd: codec.NewBuildReader(),
		row: make([]value.Datum, len(codec.Columns)), ownerRow: make([]value.Datum, len(codec.Columns))}
	for _, id := range ids {
		x := codec.Index(id)
		if x == nil {
			return nil, fmt.Errorf("build of table %s: no index %d", codec.Table.Name, id)
		}
		b.xs = append(b.xs, x)
	}
	return b, nil
}

// Run makes an index of a table without concurrent writers.
func Run(ctx context.Context, store storage.Store, codec *table.Codec, opts Options, ids ...schema.IndexID) error {
	b, err := New(store, codec, ids, opts)
	if err != nil {
		return err
	}
	return b.Fill(ctx, nil, 0)
}

// Hurry ends the pauses: others wait.
func (b *Build) Hurry() { b.opts.Pace = nil }

func (b *Build) named(x *table.Index, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("building index %s.%s: %w", b.codec.Table.Name, x.Desc.Name, err)
}

// MergeAll merges until nothing is left. The table has no concurrent writers.
func (b *Build) MergeAll(ctx context.Context) error {
	for {
		merged, left, err := b.Merge(ctx)
		if err != nil || merged+left == 0 {
			return err
		}
	}
}

// Merge goes once through the changes that writers have noted. left are those
// whose rows were in use.
func (b *Build) Merge(ctx context.Context) (merged, left int, err error) {
	b.opts.Pace.Start()
	for _, x := range b.xs {
		span := table.ChangesSpan(b.codec.Table.ID, x.Desc.ID)
		for {
			list, err := b.changes(ctx, x, span)
			if err != nil {
				return merged, left, b.named(x, err)
			}
			if len(list) == 0 {
				break
			}
			span.Start = append(bytes.Clone(list[len(list)-1].key), 0)
			n, err := b.mergeBatch(ctx, x, list)
			if err != nil {
				return merged, left, b.named(x, err)
			}
			merged, left = merged+n, left+len(list)-n
			if err := b.opts.Pace.breathe(ctx); err != nil {
				return merged, left, err
			}
		}
	}
	return merged, left, nil
}

// change is a change that a writer has noted.
type change struct{ key, entry, row []byte }

// changes are the next ones of a span.
func (b *Build) changes(ctx context.Context, x *table.Index, span storage.Span) ([]change, error) {
	scan, err := b.store.Latest().Scan(ctx, span, storage.ScanOptions{Limit: mergeBatch, Cold: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var list []change
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		c := change{key: bytes.Clone(key)}
		c.entry, c.row, bad = x.SplitChange(val)
		list = append(list, c)
		return bad == nil && len(list) < mergeBatch
	})
	return list, errors.Join(err, bad)
}

// mergeBatch takes changes over. It tries again when another transaction conflicts;
// done are those whose rows were free.
func (b *Build) mergeBatch(ctx context.Context, x *table.Index, list []change) (done int, err error) {
	for try := 0; ; try++ {
		done, err = b.tryMerge(ctx, x, list)
		again := errors.Is(err, storage.ErrDeadlock) || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrLockTimeout)
		if !again || try == mergeRetries {
			return done, err
		}
	}
}

func (b *Build) tryMerge(ctx context.Context, x *table.Index, list []change) (done int, err error) {
	// What is not synced is not lost alone: the changes go in the same commit.
	txn, err := b.store.Begin(ctx, storage.TxnOptions{Label: "index build", Durability: storage.DurabilityNone})
	if err != nil {
		return 0, err
	}
	defer txn.Rollback()
	for i := range list {
		ok, err := b.mergeOne(ctx, txn, x, &list[i])
		if err != nil {
			return 0, err
		}
		if ok {
			done++
		}
	}
	_, err = txn.Commit(ctx)
	b.opts.Pace.Committed()
	return done, err
}

// mergeOne brings an entry in line with its row; false when a row that it needs
// is in use.
func (b *Build) mergeOne(ctx context.Context, txn storage.Txn, x *table.Index, c *change) (bool, error) {
	skip := storage.LockOptions{Wait: storage.WaitSkip}
	locked, err := txn.Lock(ctx, [][]byte{c.row}, skip)
	if err != nil || locked[0].Skipped {
		return false, err
	}
	found, unique, err := b.entryOf(ctx, txn.Latest(), x, c, locked[0].Value)
	if err != nil {
		return false, err
	}
	val := bytes.Clone(b.buf)
	if x.Desc.Unique {
		free, owner, err := b.ownerOf(ctx, txn, x, c)
		if err != nil {
			return false, err
		}
		switch {
		case free:
		case !found:
			return true, txn.Delete(ctx, c.key) // the entry is another row's
		case unique:
			other, err := txn.Lock(ctx, [][]byte{owner}, skip)
			if err != nil || other[0].Skipped {
				return false, err
			}
			has, err := b.has(ctx, txn.Latest(), x, owner, other[0].Value, c.entry)
			if err != nil {
				return false, err
			}
			if has {
				return false, b.duplicateOf(ctx, txn.Latest(), x, owner, other[0].Value, c.entry)
			}
		}
	}
	if found {
		err = txn.Put(ctx, c.entry, val)
	} else {
		err = txn.Delete(ctx, c.entry)
	}
	if err != nil {
		return false, err
	}
	return true, txn.Delete(ctx, c.key)
}

// ownerOf reports whether an entry is absent or that of the change's row, and returns
// the row that has it otherwise.
func (b *Build) ownerOf(ctx context.Context, txn storage.Txn, x *table.Index, c *change) (free bool, owner []byte, err error) {
	old, err := txn.Latest().Get(ctx, c.entry, nil)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	owner, err = x.AppendRowKey(nil, c.entry, old)
	return bytes.Equal(owner, c.row), owner, err
}

// entryOf looks for the entry among those of the row that the change names; its
// value is in b.buf then.
func (b *Build) entryOf(ctx context.Context, kv storage.Reader, x *table.Index, c *change, val []byte) (found, unique bool, err error) {
	if val == nil {
		return false, false, nil
	}
	if err := b.rd.Fetch(ctx, kv, c.row, val, b.row); err != nil {
		return false, false, err
	}
	var hit []byte
	var buf []byte
	err = x.Each(b.row, func(row []value.Datum) error {
		var at int
		buf, at = x.AppendEntry(buf[:0], &b.b, c.row, row)
		if bytes.Equal(buf[:at], c.entry) {
			found, unique, hit = true, x.IsUniqueEntry(row), bytes.Clone(buf[at:])
		}
		return nil
	})
	b.buf = hit
	return found, unique, err
}

// has reports whether a row has an entry.
func (b *Build) has(ctx context.Context, kv storage.Reader, x *table.Index, key, val, entry []byte) (found bool, err error) {
	found, err = false, nil
	if val == nil {
		return false, nil
	}
	if err := b.rd.Fetch(ctx, kv, key, val, b.ownerRow); err != nil {
		return false, err
	}
	var buf []byte
	err = x.Each(b.ownerRow, func(row []value.Datum) error {
		var at int
		buf, at = x.AppendEntry(buf[:0], &b.b, key, row)
		found = found || bytes.Equal(buf[:at], entry)
		return nil
	})
	return found, err
}

// duplicateOf is the error of an entry that a row has and that is wanted by
// another.
func (b *Build) duplicateOf(ctx context.Context, kv storage.Reader, x *table.Index, key, val, entry []byte) error {
	if err := b.rd.Fetch(ctx, kv, key, val, b.ownerRow); err != nil {
		return err
	}
	var dup error
	err := x.Each(b.ownerRow, func(row []value.Datum) error {
		out, at := x.AppendEntry(nil, &b.b, key, row)
		if bytes.Equal(out[:at], entry) {
			dup = x.Duplicate(row)
		}
		return nil
	})
	return errors.Join(err, dup)
}
