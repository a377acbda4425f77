package errkv_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/storagetest"
)

func TestConformance(t *testing.T) {
	testflag.Normal(t)
	storagetest.Run(t, func(*testing.T) storage.Store { return errkv.Wrap(memkv.New(memkv.Options{})) })
}

func TestFail(t *testing.T) {
	ctx, boom := context.Background(), errors.New("boom")
	s := errkv.Wrap(memkv.New(memkv.Options{}))
	defer s.Close()
	put := func(k string) error {
		x, err := s.Begin(ctx, storage.TxnOptions{})
		if err != nil {
			return err
		}
		defer x.Rollback()
		if err := x.Put(t.Context(), []byte(k), []byte("v")); err != nil {
			return err
		}
		_, err = x.Commit(ctx)
		return err
	}
	has := func(k string) bool {
		_, err := s.Latest().Get(ctx, []byte(k), nil)
		return err == nil
	}
	s.Fail(errkv.OpCommit, 2, boom)
	if put("a") != nil || !errors.Is(put("b"), boom) || put("c") != nil {
		t.Fatal("not the second commit")
	}
	if !has("a") || has("b") || !has("c") {
		t.Fatal("a failed commit had an effect")
	}
	s.FailAfter(errkv.OpCommit, 1, storage.ErrUndetermined)
	if !errors.Is(put("d"), storage.ErrUndetermined) || !has("d") {
		t.Fatal("a lost answer lost the commit")
	}
	s.FailFrom(errkv.OpGet, 1, boom)
	if has("a") || has("c") {
		t.Fatal("a read passed")
	}
	s.Reset()
	if !has("a") || s.Calls(errkv.OpGet) != 1 {
		t.Fatal("reset")
	}
	for _, op := range []errkv.Op{errkv.OpBegin, errkv.OpPut} {
		s.Fail(op, 1, boom)
		if !errors.Is(put("e"), boom) || put("e") != nil {
			t.Fatalf("op %d", op)
		}
	}
	x, err := s.Begin(ctx, storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Rollback()
	s.Fail(errkv.OpLock, 1, storage.ErrDeadlock)
	if _, err := x.Lock(ctx, [][]byte{[]byte("a")}, storage.LockOptions{}); !errors.Is(err, storage.ErrDeadlock) {
		t.Fatal(err)
	}
	sc, err := x.Scan(ctx, storage.Span{}, storage.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	s.Fail(errkv.OpVisit, 1, storage.ErrUnavailable)
	if _, err := sc.Visit(ctx, func(_, _ []byte) bool { return true }); !errors.Is(err, storage.ErrUnavailable) {
		t.Fatal(err)
	}
}

// TestStall: stalled reads end with their context, with its cause, or at Reset.
func TestStall(t *testing.T) {
	s := errkv.Wrap(memkv.New(memkv.Options{}))
	defer s.Close()
	for _, op := range []errkv.Op{errkv.OpGet, errkv.OpBatchGet, errkv.OpScan, errkv.OpVisit} {
		read := func(ctx context.Context) error {
			r := s.Latest()
			if _, err := r.Get(ctx, []byte("a"), nil); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if err := r.BatchGet(ctx, [][]byte{[]byte("a")}, func(int, []byte) error { return nil }); err != nil {
				return err
			}
			sc, err := r.Scan(ctx, storage.Span{}, storage.ScanOptions{})
			if err != nil {
				return err
			}
			defer sc.Close()
			_, err = sc.Visit(ctx, func(_, _ []byte) bool { return true })
			return err
		}
		s.Stall(op, 2)
		if err := read(t.Context()); err != nil {
			t.Fatalf("op %d: the first call: %v", op, err)
		}
		done := make(chan error, 2)
		boom := errors.New("boom")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { done <- read(ctx) }()
		for s.Stalled() == 0 {
			runtime.Gosched()
		}
		cancel(boom)
		if err := <-done; !errors.Is(err, boom) {
			t.Fatalf("op %d: %v, want the cause", op, err)
		}
		go func() { done <- read(t.Context()) }()
		for s.Stalled() == 0 {
			runtime.Gosched()
		}
		s.Reset()
		if err := <-done; err != nil {
			t.Fatalf("op %d: after Reset: %v", op, err)
		}
	}
}
