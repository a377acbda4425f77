package errkv_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/storagetest"
)

func TestConformanceFar(t *testing.T) {
	testflag.Normal(t)
	storagetest.Run(t, func(*testing.T) storage.Store { return errkv.NewFar(errkv.FarOptions{}) })
}

// TestConformanceFarSlow: commits overtake each other, and Settled is old.
func TestConformanceFarSlow(t *testing.T) {
	testflag.Normal(t)
	storagetest.Run(t, func(*testing.T) storage.Store {
		return errkv.NewFar(errkv.FarOptions{Delay: 300 * time.Microsecond, Lag: 3 * time.Millisecond})
	})
}

// TestFarBulk: a bulk load is no larger than a transaction.
func TestFarBulk(t *testing.T) {
	s := errkv.NewFar(errkv.FarOptions{MaxTxn: 1000})
	defer s.Close()
	load := func(n int) error {
		b, err := s.BulkLoad(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		for i := range n {
			if err := b.Add(fmt.Appendf(nil, "k%03d", i), []byte("v")); err != nil {
				t.Fatal(err)
			}
		}
		_, err = b.Finish(t.Context())
		return err
	}
	if err := load(300); !errors.Is(err, storage.ErrTxnTooLarge) {
		t.Fatal(err)
	}
	if _, err := s.Latest().Get(t.Context(), []byte("k000"), nil); !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	if err := load(100); err != nil {
		t.Fatal(err)
	}
}

// TestFarDiscard: a discarded range goes later, and what is written into it is an error.
func TestFarDiscard(t *testing.T) {
	s := errkv.NewFar(errkv.FarOptions{})
	defer s.Close()
	put := func(key string) error {
		x, err := s.Begin(t.Context(), storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Rollback()
		if err := x.Put(t.Context(), []byte(key), []byte("v")); err != nil {
			t.Fatal(err)
		}
		_, err = x.Commit(t.Context())
		return err
	}
	if err := put("a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(t.Context(), storage.Span{Start: []byte("a"), End: []byte("b")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Latest().Get(t.Context(), []byte("a"), nil); err != nil {
		t.Fatal("gone at once:", err)
	}
	if err := put("aa"); err == nil {
		t.Fatal("a discarded range takes a key")
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if err := put("b"); err != nil {
			t.Fatal(err)
		}
		_, err := s.Latest().Get(t.Context(), []byte("a"), nil)
		if errors.Is(err, storage.ErrNotFound) {
			return
		}
		if err != nil || time.Now().After(end) {
			t.Fatal("still there:", err)
		}
	}
}
