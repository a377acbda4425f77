package tikvkv_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/tikv"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/storagetest"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

var bg = context.Background()

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func cluster(t testing.TB) *tikvtest.Cluster {
	t.Helper()
	c, err := tikvtest.New()
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// open opens a store of a node of its own.
func open(t testing.TB, c *tikvtest.Cluster, opts tikvkv.Options, more ...tikv.Option) (*tikvkv.Store, *tikvtest.Node) {
	t.Helper()
	n := c.Node()
	kv, err := n.Connect(more...)
	must(t, err)
	if opts.Log == nil {
		opts.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s, err := tikvkv.New(bg, kv, opts)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s, n
}

func begin(t testing.TB, s storage.Store) storage.Txn {
	t.Helper()
	x, err := s.Begin(bg, storage.TxnOptions{LockTimeout: 20 * time.Second})
	must(t, err)
	t.Cleanup(x.Rollback)
	return x
}

func lock(x storage.Txn, keys ...string) error {
	bs := make([][]byte, len(keys))
	for i, k := range keys {
		bs[i] = []byte(k)
	}
	_, err := x.Lock(bg, bs, storage.LockOptions{})
	return err
}

func value(t testing.TB, r storage.Reader, key string) string {
	t.Helper()
	v, err := r.Get(bg, []byte(key), nil)
	if errors.Is(err, storage.ErrNotFound) {
		return ""
	}
	must(t, err)
	return string(v)
}

func write(t testing.TB, s storage.Store, key, value string) {
	t.Helper()
	x := begin(t, s)
	must(t, x.Put(bg, []byte(key), []byte(value)))
	_, err := x.Commit(bg)
	must(t, err)
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timed out: " + what)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	storagetest.Run(t, func(t *testing.T) storage.Store {
		t.Parallel() // most of the time is waits
		s, _ := open(t, cluster(t), tikvkv.Options{Prefix: []byte("p/")})
		return s
	})
}

// TestConformanceReal runs the suite on the cluster that SQLOTS_TIKV names.
func TestConformanceReal(t *testing.T) {
	if os.Getenv(tikvtest.Variable) == "" {
		t.Skip(tikvtest.Variable + " names no cluster")
	}
	storagetest.Run(t, func(t *testing.T) storage.Store {
		t.Parallel()
		c, err := tikvtest.Open()
		must(t, err)
		t.Cleanup(c.Close)
		s, err := c.Join(bg, "suite")
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return s
	})
}
