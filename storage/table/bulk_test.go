package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// bulkTable has a collated key, a unique index, a covering one and cells.
func bulkTable() *schema.Table {
	ci := schema.CollationUTF8MB40900AICI
	return &schema.Table{ID: 77, Database: "d", Name: "t", Version: 1, NextColumnID: 5, NextIndexID: 3, Collation: ci,
		Columns: []schema.Column{
			{ID: 1, Name: "k", Type: schema.Type{ID: schema.TypeVarchar, Len: 50, Collation: ci}},
			{ID: 2, Name: "n", Type: schema.Type{ID: schema.TypeBigInt, Len: 20}, Nullable: true},
			{ID: 3, Name: "u", Type: schema.Type{ID: schema.TypeBigInt, Len: 20}, Nullable: true},
			{ID: 4, Name: "b", Type: schema.Type{ID: schema.TypeLongText, Collation: ci}, Nullable: true},
		},
		PrimaryKey: []schema.KeyPart{{Column: 1}},
		Indexes: []schema.Index{
			{ID: 1, Name: "by_n", Parts: []schema.KeyPart{{Column: 2, Desc: true}}, Include: []schema.ColumnID{3}},
			{ID: 2, Name: "u", Unique: true, Parts: []schema.KeyPart{{Column: 3}}},
		}}
}

func bulkRow(r *rand.Rand, i int) []value.Datum {
	row := []value.Datum{value.String(fmt.Sprintf("Key-%d", i)), value.Int(int64(r.Intn(20))), value.Int(int64(i)), value.Null}
	if r.Intn(5) == 0 {
		row[1] = value.Null
	}
	if r.Intn(7) == 0 {
		row[2] = value.Null
	}
	if r.Intn(9) == 0 {
		row[3] = value.String(strings.Repeat("x", r.Intn(3*table.CellThreshold)))
	}
	return row
}

func bothStores(t *testing.T, fn func(t *testing.T, s storage.Store)) {
	t.Run("memkv", func(t *testing.T) { fn(t, memkv.New(memkv.Options{})) })
	t.Run("pebblekv", func(t *testing.T) {
		s, err := pebblekv.Open(pebblekv.Options{Dir: t.TempDir(), CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		fn(t, s)
	})
}

func checkTable(t *testing.T, s storage.Store, c *table.Codec, rows int64) {
	t.Helper()
	report, err := scrub.Check(context.Background(), s.Latest(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() || report.Rows != rows {
		t.Fatalf("%d rows, want %d; problems: %v", report.Rows, rows, report.Problems)
	}
}

// TestBulk loads with and without spilling, into an empty table and next to
// rows.
func TestBulk(t *testing.T) {
	bothStores(t, func(t *testing.T, s storage.Store) {
		c, err := table.NewCodec(bulkTable(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewSource(3))
		ctx := context.Background()
		next, total := 0, int64(0)
		for _, memory := range []int64{0, 20_000, 200_000} {
			b := c.NewBulk(s, table.BulkOptions{Memory: memory, TempDir: t.TempDir()})
			order := r.Perm(1500)
			for _, i := range order {
				if err := b.Add(bulkRow(r, next+i)); err != nil {
					t.Fatal(err)
				}
			}
			next += len(order)
			total += int64(b.Rows())
			if err := b.Finish(ctx); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			checkTable(t, s, c, total)
		}
	})
}

// TestBulkDuplicates: nothing is written when a key exists, in the load, across
// spilled runs or in the store, by any unique key.
func TestBulkDuplicates(t *testing.T) {
	testflag.Normal(t)
	bothStores(t, func(t *testing.T, s storage.Store) {
		c, err := table.NewCodec(bulkTable(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		r := rand.New(rand.NewSource(4))
		first := c.NewBulk(s, table.BulkOptions{})
		if err := first.Add([]value.Datum{value.String("stored"), value.Null, value.Int(-5), value.Null}); err != nil {
			t.Fatal(err)
		}
		if err := first.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		for name, dup := range map[string][]value.Datum{
			"key in the load":    {value.String("KEY-3"), value.Null, value.Null, value.Null}, // equal by collation
			"unique in the load": {value.String("other"), value.Null, value.Int(1001), value.Null},
			"stored key":         {value.String("Stored"), value.Null, value.Null, value.Null},
			"stored unique":      {value.String("other"), value.Null, value.Int(-5), value.Null},
		} {
			for _, memory := range []int64{0, 20_000} {
				b := c.NewBulk(s, table.BulkOptions{Memory: memory, TempDir: t.TempDir()})
				var err error
				for i := 0; i < 1002 && err == nil; i++ {
					row := bulkRow(r, i)
					row[2] = value.Int(int64(i))
					err = b.Add(row)
				}
				if err == nil {
					err = b.Add(dup)
				}
				if err == nil {
					err = b.Finish(ctx)
				}
				if !errors.Is(err, table.ErrBulkDuplicate) {
					t.Errorf("%s, memory %d: got %v", name, memory, err)
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				checkTable(t, s, c, 1)
			}
		}
	})
}
