package catalog

import (
	"context"
	"errors"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage/memkv"
)

func newTable(ch *Change, db, name string) *schema.Table {
	return &schema.Table{ID: ch.NextTableID(), Database: db, Name: name, Version: 1,
		Columns:    []schema.Column{{ID: 1, Name: "id", Type: schema.Type{ID: schema.TypeBigInt, Len: 20}}},
		PrimaryKey: []schema.KeyPart{{Column: 1}}}
}

func TestChangesArePublishedAndPersist(t *testing.T) {
	ctx := context.Background()
	store := memkv.New(memkv.Options{})
	c, err := Open(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	before := c.Snapshot()
	var id schema.TableID
	err = c.Change(ctx, func(ch *Change) error {
		ch.PutDatabase(schema.Database{Name: "d"})
		tab := newTable(ch, "d", "t")
		id = tab.ID
		ch.PutTable(tab)
		ch.PutAccount(&Account{User: "u", Host: "h", Plugin: "p"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := before.Database("d"); ok {
		t.Fatal("an old snapshot changed")
	}
	for name, s := range map[string]*Snapshot{"published": c.Snapshot(), "loaded": reopen(t, c)} {
		tab, ok := s.Table("d", "t")
		if !ok || tab.ID != id || s.TableByID(id) != tab || s.Account("u", "h") == nil || s.Account("root", "%") == nil {
			t.Errorf("%s: the change is not whole: %v %v", name, tab, s.Accounts())
		}
	}
	// A rename leaves nothing under the old name.
	err = c.Change(ctx, func(ch *Change) error {
		n := ch.Base.TableByID(id).Clone()
		n.Name = "t2"
		ch.PutTable(n)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Snapshot{"published": c.Snapshot(), "loaded": reopen(t, c)} {
		if _, ok := s.Table("d", "t"); ok {
			t.Errorf("%s: the old name is left", name)
		}
		if _, ok := s.Table("d", "t2"); !ok {
			t.Errorf("%s: the new name is missing", name)
		}
	}
}

func reopen(t *testing.T, c *Catalog) *Snapshot {
	t.Helper()
	again, err := Open(context.Background(), c.store)
	if err != nil {
		t.Fatal(err)
	}
	return again.Snapshot()
}

func TestFailedChangeLeavesNothing(t *testing.T) {
	ctx := context.Background()
	c, err := Open(ctx, memkv.New(memkv.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("bad")
	before := c.Snapshot()
	err = c.Change(ctx, func(ch *Change) error {
		ch.PutDatabase(schema.Database{Name: "d"})
		return bad
	})
	if !errors.Is(err, bad) || c.Snapshot() != before {
		t.Fatalf("err %v, snapshot changed: %v", err, c.Snapshot() != before)
	}
	if s := reopen(t, c); len(s.Databases()) != 0 {
		t.Fatal("a failed change was stored")
	}
}

func TestTableIDsAreNotReused(t *testing.T) {
	ctx := context.Background()
	store := memkv.New(memkv.Options{})
	seen := map[schema.TableID]bool{}
	for i := 0; i < 3; i++ {
		c, err := Open(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Change(ctx, func(ch *Change) error {
			ch.PutDatabase(schema.Database{Name: "d"})
			tab := newTable(ch, "d", "t")
			if seen[tab.ID] {
				t.Errorf("id %d came twice", tab.ID)
			}
			seen[tab.ID] = true
			ch.PutTable(tab)
			ch.DropTable(tab)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
