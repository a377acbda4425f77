package backfill

import (
	"bytes"
	"context"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// exclusive is the state of a build without writers.
type exclusive struct {
	store storage.Store
	snap  storage.Snapshot
	x     *table.Index
	opts  Options
	rd    *table.RowReader
	b     rowenc.Builder
	row   []value.Datum
	runs  int
	// The run that is collected: pairs in arena.
	arena []byte
	pairs []pair
}

// pair is an entry in the arena. The arena may be larger than 4 GiB.
type pair struct {
	at        int
	klen, len uint32
}

func (e *exclusive) key(p pair) []byte { return e.arena[p.at : p.at+int(p.klen)] }
func (e *exclusive) val(p pair) []byte { return e.arena[p.at+int(p.klen) : p.at+int(p.len)] }

func runExclusive(ctx context.Context, store storage.Store, x *table.Index, opts Options) error {
	snap, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	c := x.Codec()
	e := &exclusive{store: store, snap: snap, x: x, opts: opts, rd: c.NewEntryReader(), row: make([]value.Datum, len(c.Columns))}
	scan, err := snap.Scan(ctx, table.IndexSpan(c.Table.ID, schema.PrimaryIndexID), storage.ScanOptions{Cold: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	var rows int64
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		if bad = e.add(ctx, key, val); bad != nil {
			return false
		}
		if rows++; rows%progressRows == 0 {
			bad = opts.Progress(nil, rows)
		}
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	if err != nil {
		return err
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	return opts.Progress(nil, rows)
}

const pairBytes = 16

func (e *exclusive) add(ctx context.Context, key, val []byte) error {
	if err := e.rd.Fetch(ctx, e.snap, key, val, e.row); err != nil {
		return err
	}
	err := e.x.Each(e.row, func(row []value.Datum) error {
		start := len(e.arena)
		var at int
		e.arena, at = e.x.AppendEntry(e.arena, &e.b, key, row)
		e.pairs = append(e.pairs, pair{at: start, klen: uint32(at - start), len: uint32(len(e.arena) - start)})
		return nil
	})
	if err != nil {
		return err
	}
	if len(e.arena)+pairBytes*len(e.pairs) >= e.opts.SortBytes {
		return e.flush(ctx)
	}
	return nil
}

// flush sorts the run and loads it.
func (e *exclusive) flush(ctx context.Context) error {
	if len(e.pairs) == 0 {
		return nil
	}
	slices.SortFunc(e.pairs, func(a, b pair) int { return bytes.Compare(e.key(a), e.key(b)) })
	for i := 1; i < len(e.pairs); i++ {
		if bytes.Equal(e.key(e.pairs[i-1]), e.key(e.pairs[i])) {
			return e.duplicate(ctx, e.pairs[i])
		}
	}
	if err := e.checkRuns(ctx); err != nil {
		return err
	}
	load, err := e.store.BulkLoad(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = load.Abort() }() // no-op after Finish
	for i, p := range e.pairs {
		if i%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := load.Add(e.key(p), e.val(p)); err != nil {
			return err
		}
	}
	if _, err := load.Finish(ctx); err != nil {
		return err
	}
	e.runs++
	e.arena, e.pairs = e.arena[:0], e.pairs[:0]
	return nil
}

// checkRuns looks for the keys of this run of a unique index among those of
// the earlier ones.
func (e *exclusive) checkRuns(ctx context.Context) error {
	if e.runs == 0 || !e.x.Desc.Unique {
		return nil
	}
	const batch = 4096
	keys := make([][]byte, 0, batch)
	for start := 0; start < len(e.pairs); start += batch {
		part := e.pairs[start:min(start+batch, len(e.pairs))]
		keys = keys[:0]
		for _, p := range part {
			keys = append(keys, e.key(p))
		}
		err := e.store.Latest().BatchGet(ctx, keys, func(i int, val []byte) error {
			if val != nil {
				return e.duplicate(ctx, part[i])
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// duplicate is the error of an entry whose key exists twice.
func (e *exclusive) duplicate(ctx context.Context, p pair) error {
	key, err := e.x.AppendRowKey(nil, e.key(p), e.val(p))
	if err != nil {
		return err
	}
	val, err := e.snap.Get(ctx, key, nil)
	if err != nil {
		return err
	}
	if err := e.rd.Fetch(ctx, e.snap, key, val, e.row); err != nil {
		return err
	}
	return e.x.Duplicate(e.row)
}
