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
		txn, err := store.Begin(storage.TxnOptions{})
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
	bare := tableWith(schema.IndexWriteOnly)
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
	c := codec(t, tableWith(schema.IndexWriteOnly))
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
	var total int64
	var position []byte
	errStop := errors.New("stopped on purpose")
	for _, x := range []schema.IndexID{1, 2} {
		// It is stopped once and goes on from its position.
		err := backfill.Run(ctx, store, c, x, backfill.Options{ChunkRows: 50, Progress: func(pos []byte, rows int64) error {
			position = pos
			if rows >= 200 {
				return errStop
			}
			return nil
		}})
		if !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		err = backfill.Run(ctx, store, c, x, backfill.Options{ChunkRows: 50, From: position, Progress: func(_ []byte, rows int64) error {
			total = rows
			return nil
		}})
		if err != nil || total == 0 {
			t.Fatal(total, err)
		}
	}
	close(stop)
	wg.Wait()
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
	c := codec(t, tableWith(schema.IndexWriteOnly))
	err := change(store, c, func(_ storage.Txn, w *table.Writer) error {
		_, err := w.Insert(ctx, row(1, 1))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, exclusive := range []bool{false, true} {
		if err := backfill.Run(cancelled, store, c, 1, backfill.Options{Exclusive: exclusive}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
