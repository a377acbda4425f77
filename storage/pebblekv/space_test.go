package pebblekv

import (
	"errors"
	"testing"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv/kvtest"
)

// TestRoomAgain: a write after room was made on a full disk is not refused until the
// next look of watch.
func TestRoomAgain(t *testing.T) {
	dfs := kvtest.NewMeteredFS(1 << 40)
	s, err := Open(Options{Dir: t.TempDir(), FS: dfs, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	dfs.Leave(0)
	s.checkSpace()
	if _, err := tryPut(s, storage.DurabilityNone, []byte("v"), "a"); !errors.Is(err, storage.ErrDiskFull) {
		t.Fatal(err)
	}
	s.looked.Store(0)
	dfs.Leave(1 << 40)
	mustPut(t, s, "a")
}
