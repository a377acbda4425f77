package backfill_test

import (
	"context"
	"errors"
	"math/rand"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/index/backfill"
	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

var ctx = context.Background()

func bigint() schema.Type { return schema.Type{ID: schema.TypeBigInt, Len: -1} }

func tableWith(state schema.IndexState) *schema.Table {
	return &schema.Table{ID: 5, Database: "d", Name: "t",
		Columns:    []schema.Column{{ID: 1, Name: "id", Type: bigint()}, {ID: 2, Name: "v", Type: bigint()}, {ID: 3, Name: "u", Type: bigint()}},
		PrimaryKey: []schema.KeyPart{{Column: 1}},
		Indexes: []schema.Index{{ID: 1, Name: "v", Parts: []schema.KeyPart{{Column: 2}}, State: state},
			{ID: 2, Name: "u", Unique: true, Parts: []schema.KeyPart{{Column: 3}}, State: state}}}
}

func codec(t testing.TB, tab *schema.Table) *table.Codec {
	t.Helper()
	c, err := table.NewCodec(tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// change runs fn in transactions until one commits.
func change(store storage.Store, c *table.Codec, fn func(txn storage.Txn, w *table.Writer) error) error {
	for {
		txn, err := store.Begin(ctx, storage.TxnOptions{})
		if err != nil {
			return err
		}
		err = fn(txn, c.NewWriter(txn, store.Caps()))
		if err == nil {
			_, err = txn.Commit(ctx)
		}
		txn.Rollback()
		if !errors.Is(err, storage.ErrDeadlock) && !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
}

func row(id, v int64) []value.Datum {
	return []value.Datum{value.Int(id), value.Int(v), value.Int(id*1000 + v)}
}

// Writers change rows while the indexes are built; afterwards all is whole.
func TestLiveWithWriters(t *testing.T) {
	const rows = 600
	store := memkv.New(memkv.Options{})
	bare := tableWith(schema.IndexBuilding)
	bare.Indexes = nil
	err := change(store, codec(t, bare), func(_ storage.Txn, w *table.Writer) error {
		for i := range int64(rows) {
			if _, err := w.Insert(ctx, row(i, i%7)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c := codec(t, tableWith(schema.IndexBuilding))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(g)))
			rd := c.NewRowReader()
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := change(store, c, func(txn storage.Txn, w *table.Writer) error { return randomChange(r, txn, c, w, rd, rows) })
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	ids := []schema.IndexID{1, 2}
	var position []byte
	errStop := errors.New("stopped on purpose")
	total := int64(0)
	build := func(from []byte, rows, limit int64) (*backfill.Build, error) {
		b, err := backfill.New(store, c, ids, backfill.Options{RunRows: 50, Memory: 2000, Checkpoint: func(pos []byte, rows int64) (key, val []byte) {
			position, total = pos, rows
			return []byte{2}, []byte{1}
		}, Progress: func(rows int64) error {
			if rows >= limit {
				return errStop
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return b, b.Fill(ctx, from, rows)
	}
	// It is stopped once and goes on from its position.
	if _, err := build(nil, 0, 200); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if total != 200 {
		t.Fatalf("%d rows were done", total)
	}
	b, err := build(position, total, 1<<40)
	if err != nil || total < 200 || position != nil {
		t.Fatal(total, position, err)
	}
	for range 3 {
		if _, _, err := b.Merge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if err := b.MergeAll(ctx); err != nil {
		t.Fatal(err)
	}
	report, err := scrub.Check(ctx, store.Latest(), codec(t, tableWith(schema.IndexPublic)))
	if err != nil || !report.OK() {
		t.Fatalf("%+v %v", report, err)
	}
}

func randomChange(r *rand.Rand, txn storage.Txn, c *table.Codec, w *table.Writer, rd *table.RowReader, rows int) error {
	for range 3 {
		id := int64(r.Intn(rows))
		key := c.AppendKey(nil, row(id, 0))
		locked, err := txn.Lock(ctx, [][]byte{key}, storage.LockOptions{})
		if err != nil {
			return err
		}
		if locked[0].Value == nil {
			if _, err := w.Insert(ctx, row(id, int64(r.Intn(7)))); err != nil {
				return err
			}
			continue
		}
		old := make([]value.Datum, 3)
		if err := rd.Fetch(ctx, txn.Latest(), key, locked[0].Value, old); err != nil {
			return err
		}
		if r.Intn(3) == 0 {
			err = w.Delete(ctx, old)
		} else {
			err = w.Update(ctx, old, row(id, int64(r.Intn(7))))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestCancel(t *testing.T) {
	store := memkv.New(memkv.Options{})
	c := codec(t, tableWith(schema.IndexBuilding))
	err := change(store, c, func(_ storage.Txn, w *table.Writer) error {
		_, err := w.Insert(ctx, row(1, 1))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := backfill.Run(cancelled, store, c, backfill.Options{}, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A duplicate that a writer makes during Fill is found by Merge; values that pass from
// row to row are none.
func TestDuplicatesOfWriters(t *testing.T) {
	for _, passes := range []bool{true, false} {
		store := memkv.New(memkv.Options{})
		bare := tableWith(schema.IndexBuilding)
		bare.Indexes = nil
		put := func(c *table.Codec, id, u int64, old []value.Datum) []value.Datum {
			t.Helper()
			r := []value.Datum{value.Int(id), value.Int(0), value.Int(u)}
			err := change(store, c, func(_ storage.Txn, w *table.Writer) error {
				if old != nil {
					return w.Update(ctx, old, r)
				}
				_, err := w.Insert(ctx, r)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		plain, c := codec(t, bare), codec(t, tableWith(schema.IndexBuilding))
		var rows [][]value.Datum
		for i := range int64(20) {
			rows = append(rows, put(plain, i, i, nil))
		}
		b, err := backfill.New(store, c, []schema.IndexID{2}, backfill.Options{RunRows: 10, Progress: func(done int64) error {
			if done == 10 { // row 1 leaves its value to row 15, which the next run reads
				if passes {
					rows[1] = put(c, 1, 101, rows[1])
				}
				rows[15] = put(c, 15, 1, rows[15])
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		err = b.Fill(ctx, nil, 0)
		if err == nil && passes { // as above, after both runs
			rows[2] = put(c, 2, 102, rows[2])
			rows[16] = put(c, 16, 2, rows[16])
			rows[16] = put(c, 16, 3, rows[16])
			rows[3] = put(c, 3, 2, rows[3])
			if err := b.MergeAll(ctx); err != nil {
				t.Fatal(err)
			}
			report, err := scrub.Check(ctx, store.Latest(), codec(t, tableWith(schema.IndexPublic)))
			if err != nil || report.Count != 20 { // the other index was not built
				t.Fatalf("%+v %v", report, err)
			}
			put(c, 17, 4, rows[17])
			err = b.MergeAll(ctx)
			if dup, ok := errors.AsType[*table.DuplicateError](err); !ok || dup.Entry(nil) != "4" {
				t.Fatalf("got %v", err)
			}
			continue
		}
		if dup, ok := errors.AsType[*table.DuplicateError](err); !ok || dup.Entry(nil) != "1" {
			t.Fatalf("passes %v: got %v", passes, err)
		}
	}
}

// TestReadsNoOtherCells: large values that no entry has are not read, not even
// missing ones are missed.
func TestReadsNoOtherCells(t *testing.T) {
	store := memkv.New(memkv.Options{})
	tab := tableWith(schema.IndexBuilding)
	tab.Columns = append(tab.Columns, schema.Column{ID: 4, Name: "big", Type: schema.Type{ID: schema.TypeLongBlob, Len: -1}, Nullable: true})
	prefix := schema.Index{ID: 3, Name: "p", Parts: []schema.KeyPart{{Column: 4, Prefix: 3}}, State: schema.IndexBuilding}
	bare := *tab
	bare.Indexes = nil
	c := codec(t, &bare)
	r := append(row(1, 2), value.Bytes(make([]byte, 100_000)))
	err := change(store, c, func(txn storage.Txn, w *table.Writer) error {
		if _, err := w.Insert(ctx, r); err != nil {
			return err
		}
		return txn.Delete(t.Context(), c.AppendCellKey(nil, c.AppendKey(nil, r), 3))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := backfill.Run(ctx, store, codec(t, tab), backfill.Options{}, 1, 2); err != nil {
		t.Error(err)
	}
	tab.Indexes = append(tab.Indexes, prefix)
	if err := backfill.Run(ctx, store, codec(t, tab), backfill.Options{}, 3); !errors.Is(err, storage.ErrCorruption) {
		t.Errorf("an index of the large values: %v", err)
	}
}
