package tikvkv_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

// join opens the store "shop" as a node at address.
func join(t testing.TB, c *tikvtest.Cluster, address string, opts tikvkv.Options) (*tikvkv.Store, *tikvtest.Node, error) {
	t.Helper()
	n := c.Node()
	kv, err := n.Connect()
	must(t, err)
	s, err := tikvkv.Join(bg, kv, "shop", tikvkv.Node{Address: address, Host: "h", PID: 7, Version: "1"}, opts)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() }) // may have been closed, or lost
	}
	return s, n, err
}

// TestOneNode: a store has one server. A second one is refused while the first one lives,
// goes on where it has left, and waits for the end of a lease that is not renewed.
func TestOneNode(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	c := cluster(t)
	short := tikvkv.Options{}.WithLease(600*time.Millisecond, 50*time.Millisecond)
	a, _, err := join(t, c, "a:4000", short)
	must(t, err)
	write(t, a, "k", "1")
	_, _, err = join(t, c, "b:4000", short)
	wantErr(t, err, storage.ErrLocked)
	if !strings.Contains(err.Error(), "a:4000") || !strings.Contains(err.Error(), "process 7") {
		t.Errorf("the error does not name the server: %v", err)
	}
	must(t, a.Close())

	b, _, err := join(t, c, "b:4000", short)
	must(t, err)
	if b.ID() == "" || b.ID() != a.ID() {
		t.Errorf("the store was %s and is %s", a.ID(), b.ID())
	}
	if got := value(t, b.Latest(), "k"); got != "1" {
		t.Errorf("k is %q", got)
	}
	b.Stop() // as kill -9 does
	began := time.Now()
	x, _, err := join(t, c, "c:4000", short)
	must(t, err)
	if waited := time.Since(began); waited < 300*time.Millisecond {
		t.Errorf("the lease of a dead server was waited for %v", waited)
	}
	if got := value(t, x.Latest(), "k"); got != "1" {
		t.Errorf("k is %q", got)
	}
}

// TestLostStore: a server that was cut off while another one took the store commits
// nothing and reads nothing from then on, also when it is connected again.
func TestLostStore(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	c := cluster(t)
	short := tikvkv.Options{}.WithLease(600*time.Millisecond, 50*time.Millisecond)
	var lost atomic.Bool
	withLost := short
	withLost.Lost = func(error) { lost.Store(true) }
	a, way, err := join(t, c, "a:4000", withLost)
	must(t, err)
	write(t, a, "k", "1")
	open := begin(t, a)
	must(t, open.Put(bg, []byte("k"), []byte("2")))
	way.Cut(true)
	b, _, err := join(t, c, "b:4000", short)
	must(t, err)
	way.Cut(false)
	if _, err := open.Commit(bg); !errors.Is(err, storage.ErrUnavailable) {
		t.Fatalf("a commit behind the lease: %v", err)
	}
	eventually(t, "the server knows", lost.Load)
	if _, err := a.Snapshot(bg); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a snapshot behind the lease: %v", err)
	}
	if _, err := a.Latest().Get(bg, []byte("k"), nil); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a read behind the lease: %v", err)
	}
	if got := value(t, b.Latest(), "k"); got != "1" {
		t.Errorf("k is %q", got)
	}
}

// TestCutOff: a server that was cut off for longer than its lease goes on if no other one
// has taken the store.
func TestCutOff(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	c := cluster(t)
	short := tikvkv.Options{}.WithLease(300*time.Millisecond, 30*time.Millisecond)
	a, way, err := join(t, c, "a:4000", short)
	must(t, err)
	write(t, a, "k", "1")
	way.Cut(true)
	time.Sleep(500 * time.Millisecond)
	ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
	defer cancel()
	if _, err := a.Latest().Get(ctx, []byte("k"), nil); err == nil {
		t.Error("a server that is cut off reads")
	}
	wantErr(t, a.Writable(), storage.ErrUnreachable)
	way.Cut(false)
	eventually(t, "the server goes on", func() bool {
		_, err := a.Snapshot(bg)
		return err == nil && a.Writable() == nil
	})
	write(t, a, "k", "2")
}

// TestFormatOfStore: what this program did not write, or a newer one did, is refused.
func TestFormatOfStore(t *testing.T) {
	c := cluster(t)
	raw, _ := open(t, c, tikvkv.Options{Prefix: []byte("sqlots/shop/")})
	write(t, raw, "other", "1")
	_, _, err := join(t, c, "a:4000", tikvkv.Options{})
	wantErr(t, err, storage.ErrFormat)
	write(t, raw, "format", `{"format":99,"store":"x"}`)
	_, _, err = join(t, c, "a:4000", tikvkv.Options{})
	wantErr(t, err, storage.ErrFormat)
	if !strings.Contains(err.Error(), "99") {
		t.Errorf("the error does not name the format: %v", err)
	}
	write(t, raw, "format", `{`)
	_, _, err = join(t, c, "a:4000", tikvkv.Options{})
	wantErr(t, err, storage.ErrFormat)
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"tikv://pd1:2379,pd2,pd3:1/shop": "tikv://pd1:2379,pd2:2379,pd3:1/shop",
		"tikv://[::1]:2379,[::2]/a_b-C":  "tikv://[::1]:2379,[::2]:2379/a_b-C",
	} {
		a, err := tikvkv.ParseAddress(text)
		if err != nil || a.String() != want {
			t.Errorf("%s is %s (%v), not %s", text, a, err, want)
		}
	}
	for _, text := range []string{"", "shop", "tikv:pd/x", "mysql://pd/x", "tikv://pd", "tikv://pd/", "tikv:///x", "tikv://pd,/x", "tikv://pd/a/b", "tikv://pd/x?tls=1", "tikv://u@pd/x", "tikv://pd/ä", "tikv://p d/x"} {
		if a, err := tikvkv.ParseAddress(text); err == nil || !strings.Contains(err.Error(), "tikv://HOST") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is %s: %v", text, a, err)
		}
	}
}

// TestNobodyThere: without a placement driver the error has one line with the reason, and
// comes in time. Without some of its files TLS is refused at once.
func TestNobodyThere(t *testing.T) {
	testflag.Normal(t)
	defer tikvkv.ShortConnect(time.Second)()
	a, err := tikvkv.ParseAddress("tikv://127.0.0.1:1/x")
	must(t, err)
	began := time.Now()
	_, err = tikvkv.Open(bg, a, tikvkv.TLS{}, tikvkv.Node{}, tikvkv.Options{})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.HasSuffix(err.Error(), "connection refused") || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	for _, files := range []tikvkv.TLS{{CA: "/ca"}, {CA: "/ca", Cert: "/cert"}, {Cert: "/cert", Key: "/key"}, {CA: "/nonexistent", Cert: "/cert", Key: "/key"}} {
		if _, err := tikvkv.Open(bg, a, files, tikvkv.Node{}, tikvkv.Options{}); err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "within") {
			t.Errorf("%v: %v", files, err)
		}
	}
}
