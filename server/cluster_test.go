package server_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/datadir"
	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
)

// TestDirectoryOfCluster: a directory has one store, in it or elsewhere.
func TestDirectoryOfCluster(t *testing.T) {
	const address = "tikv://127.0.0.1:1/shop"
	cluster := &server.Cluster{Address: address}
	start := func(dir string, c *server.Cluster) error {
		s, err := server.Start(context.Background(), server.Config{DataDir: dir, Cluster: c, Listen: "127.0.0.1:0", Memory: 64 << 20})
		if err == nil {
			err = errors.Join(errors.New("it has started"), s.Stop(0))
		}
		return err
	}
	want := func(err error, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, not %s", err, text)
			}
		}
	}
	own := t.TempDir()
	s := servertest.Open(t, server.Config{DataDir: own, Listen: "127.0.0.1:0", Memory: 64 << 20})
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	want(start(own, cluster), own, "a store of its own")

	local := t.TempDir()
	lock, err := datadir.Lock(local)
	if err != nil {
		t.Fatal(err)
	}
	if err := start(local, cluster); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("the directory of another process: %v", err)
	}
	if err := errors.Join(datadir.Claim(local, datadir.Owner{Store: "1", Address: address}), lock.Close()); err != nil {
		t.Fatal(err)
	}
	want(start(local, nil), local, address, "--store")
	if _, err := os.Stat(filepath.Join(local, "kv")); err == nil {
		t.Error("a store was made")
	}

	for _, c := range []server.Config{
		{Cluster: cluster, BackupDir: "b"}, {Cluster: cluster, AcceptLogDamage: true},
	} {
		c.DataDir, c.Listen = t.TempDir(), "127.0.0.1:0"
		_, err := server.Start(context.Background(), c)
		want(err, "--", "cluster")
	}
}
