package pebblekv_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/storagetest"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func open(t testing.TB, opts pebblekv.Options) *pebblekv.Store {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = "store"
	}
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	s, err := pebblekv.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storage.Store {
		return open(t, pebblekv.Options{FS: vfs.NewMem(), CacheBytes: 8 << 20})
	})
}

// TestConformanceFiles runs on real files, with write buffers so small that
// everything passes through tables and value files.
func TestConformanceFiles(t *testing.T) {
	testflag.Normal(t) // writes files
	storagetest.Run(t, func(t *testing.T) storage.Store {
		return open(t, pebblekv.Options{Dir: t.TempDir(), CacheBytes: 4 << 20, MemTableBytes: 64 << 10, DiskReserveBytes: -1})
	})
}
