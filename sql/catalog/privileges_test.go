package catalog

import (
	"context"
	"testing"

	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestUpgrade: accounts of a store without privileges get all, once; later a missing
// record is nothing granted.
func TestUpgrade(t *testing.T) {
	ctx := context.Background()
	store := memkv.New(memkv.Options{})
	c, err := Open(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Upgraded()) != 0 {
		t.Errorf("a new store is upgraded: %v", c.Upgraded())
	}
	old := priv.Name{User: "old", Host: "%"}
	remove := func(keys ...[]byte) *Catalog {
		t.Helper()
		txn, err := store.Begin(storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if err := txn.Delete(ctx, k); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := txn.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		c, err := Open(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	err = c.Change(ctx, func(ch *Change) error {
		ch.PutAccount(&Account{User: "old", Host: "%", Plugin: "caching_sha2_password"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c = remove(grantsKey(old))
	if g := c.Snapshot().Privileges().Grants(old); g == nil || !g.IsEmpty() || len(c.Upgraded()) != 0 {
		t.Errorf("a lost record gives %+v", g)
	}
	c = remove(grantsKey(old), []byte{system, keyPrivileges})
	if g := c.Snapshot().Privileges().Grants(old); g.Global != priv.AllGlobal || len(c.Upgraded()) != 1 {
		t.Errorf("the upgrade gives %+v, %v", g, c.Upgraded())
	}
	if c = remove(); len(c.Upgraded()) != 0 || c.Snapshot().Privileges().Grants(old).Global != priv.AllGlobal {
		t.Error("the upgrade is not kept")
	}
}
