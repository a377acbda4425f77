package memkv_test

import (
	"context"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestSavepointOfEachRow: a savepoint and a rollback for each row of a large transaction, as
// INSERT IGNORE makes them, take about as much memory as the rows.
func TestSavepointOfEachRow(t *testing.T) {
	s := memkv.New(memkv.Options{})
	defer s.Close()
	x, err := s.Begin(context.Background(), storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Rollback()
	const rows, size = 4000, 500
	put := func(i int) {
		key := binary.BigEndian.AppendUint64(nil, uint64(i))
		if err := x.Put(context.Background(), key, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		put(i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range rows {
		p := x.Savepoint()
		put(1000 + i)
		if err := x.RollbackTo(p); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rows; each > 16*size {
		t.Errorf("%d bytes a row", each)
	}
}
