package pebblekv_test

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// The times of commits ascend across restarts, also when the clock went back in between
// (here: the last commit's time is in the future).
func TestClockAfterReopen(t *testing.T) {
	fs := vfs.NewMem()
	stamp := func(s *pebblekv.Store, name string) int64 {
		x, err := s.Begin(bg, storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.PutStamped([]byte(name), make([]byte, 8), storage.Stamp{Key: -1, Time: 0}); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, err := s.Latest().Get(t.Context(), []byte(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		return int64(binary.BigEndian.Uint64(v))
	}
	s := open(t, pebblekv.Options{FS: fs})
	first := stamp(s, "a")
	const ahead = 3600e6
	pebblekv.SetClock(s, first+ahead)
	second := stamp(s, "b")
	if err := s.Discard(t.Context(), storage.Span{Start: []byte("x"), End: []byte("y")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, pebblekv.Options{FS: fs})
	defer s.Close()
	if third := stamp(s, "c"); second <= first || third <= second {
		t.Fatalf("%d, %d, %d", first, second, third)
	}
}
