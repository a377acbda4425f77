package damage

import (
	"context"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// TestOrphans: rows that refer to nothing are found, those with NULL and those
// with a parent are not.
func TestOrphans(t *testing.T) {
	ctx := context.Background()
	store := memkv.New(memkv.Options{})
	c, err := catalog.Open(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	number := schema.Type{ID: schema.TypeInt, Len: 11, Collation: schema.CollationBinary}
	parent := &schema.Table{Database: "d", Name: "p", Columns: []schema.Column{{ID: 1, Name: "id", Type: number}},
		PrimaryKey: []schema.KeyPart{{Column: 1}}, NextColumnID: 2, NextIndexID: 1}
	child := &schema.Table{Database: "d", Name: "c",
		Columns:    []schema.Column{{ID: 1, Name: "id", Type: number}, {ID: 2, Name: "p", Type: number, Nullable: true}},
		PrimaryKey: []schema.KeyPart{{Column: 1}}, NextColumnID: 3, NextIndexID: 2,
		Indexes:     []schema.Index{{ID: 1, Name: "p", Parts: []schema.KeyPart{{Column: 2}}}},
		ForeignKeys: []schema.ForeignKey{{Name: "k", Columns: []schema.ColumnID{2}, Database: "d", Table: "p", References: []string{"id"}}}}
	err = c.Change(ctx, func(ch *catalog.Change) error {
		ch.PutDatabase(schema.Database{Name: "d", Collation: schema.CollationUTF8MB40900AICI})
		for _, tab := range []*schema.Table{parent, child} {
			tab.ID, tab.Version = ch.NextTableID(), 1
			ch.PutTable(tab)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	insert := func(tab *schema.Table, rows ...[]value.Datum) {
		codec, err := table.NewCodec(tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		txn, err := store.Begin(ctx, storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w := codec.NewWriter(txn, store.Caps())
		for _, row := range rows {
			if conflict, err := w.Insert(ctx, row); err != nil || conflict != nil {
				t.Fatal(err, conflict)
			}
		}
		if _, err := txn.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	insert(parent, []value.Datum{value.Int(1)})
	insert(child, []value.Datum{value.Int(1), value.Int(1)}, []value.Datum{value.Int(2), value.Null}, []value.Datum{value.Int(3), value.Int(7)})
	var problems []string
	ok, err := datacheck.Store(ctx, store, func(r datacheck.Result) {
		for _, p := range r.Report.Problems {
			problems = append(problems, r.Table.Name+": "+p.String())
		}
	})
	if err != nil || ok || len(problems) != 1 || !strings.HasPrefix(problems[0], "c: row") || !strings.Contains(problems[0], "foreign key k") {
		t.Errorf("ok %v, error %v, problems %q", ok, err, problems)
	}
}
