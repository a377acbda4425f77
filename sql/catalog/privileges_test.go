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
		txn, err := store.Begin(ctx, storage.TxnOptions{})
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

// TestRenameDefault: a default role that an account has because it is mandatory goes with
// its name, so that another role of the old name is not one.
func TestRenameDefault(t *testing.T) {
	c, err := Open(t.Context(), memkv.New(memkv.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	user, role, to := priv.Name{User: "u", Host: "%"}, priv.Name{User: "r", Host: "%"}, priv.Name{User: "s", Host: "%"}
	err = c.Change(t.Context(), func(ch *Change) error {
		ch.PutAccount(&Account{User: "u", Host: "%"})
		ch.PutAccount(&Account{User: "r", Host: "%"})
		g := ch.Grants(user).Clone()
		g.SetDefault([]priv.Name{role})
		ch.PutGrants(g)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Change(t.Context(), func(ch *Change) error {
		ch.RenameAccount(c.Snapshot().Account("r", "%"), to)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.SetMandatoryRoles([]priv.Name{role, to})
	if got := c.Snapshot().Privileges().DefaultRoles(user); len(got) != 1 || got[0] != to {
		t.Errorf("the default roles are %v", got)
	}
}
