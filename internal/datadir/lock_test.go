package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	f, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("a second lock: %v", err)
	}
	f.Close()
	if f, err = Lock(dir); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestClaim(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := ReadOwner(dir); ok || err != nil {
		t.Fatalf("a new directory has an owner (%v)", err)
	}
	a := Owner{Store: "1", Address: "tikv://a/x"}
	for range 2 {
		if err := Claim(dir, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := Claim(dir, Owner{Store: "2", Address: "tikv://a/y"}); !errors.Is(err, ErrOwner) {
		t.Errorf("the directory of another store: %v", err)
	}
	a.Address = "tikv://b/x" // it has moved
	if err := Claim(dir, a); err != nil {
		t.Fatal(err)
	}
	if o, ok, err := ReadOwner(dir); o != a || !ok || err != nil {
		t.Errorf("the owner is %v (%v)", o, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ownerFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Claim(dir, a); err == nil {
		t.Error("a damaged file is overwritten")
	}
}
