package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/storage"
)

// damageable makes a store with two tables far apart, one of them with separated
// values, and a log.
func damageable(t *testing.T) *vfs.MemFS {
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	bl, err := s.BulkLoad(bg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if err := bl.Add(fmt.Appendf(nil, "a%02d", i), bytes.Repeat([]byte{byte(i)}, 300)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bl.Finish(bg); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if _, err := tryPut(s, storage.DurabilityNone, bytes.Repeat([]byte{byte(i)}, 3000), fmt.Sprintf("m%02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "z1")
	mustPut(t, s, "z2")
	closeStore(t, s)
	return dfs
}

// TestEveryFile flips bytes all over every file of a store: opening or reading says
// that the store is corrupt and names the file, or what is read is right. What is
// stored elsewhere can be read, and written to.
func TestEveryFile(t *testing.T) {
	testflag.Normal(t)
	whole := damageable(t)
	names, err := whole.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, name := range names {
		kind := strings.TrimLeft(path.Ext(name), ".")
		switch {
		case strings.HasPrefix(name, "MANIFEST-"):
			kind = "manifest"
		case kind != "sst" && kind != "log" && kind != "blob":
			continue // markers, OPTIONS, LOCK
		}
		for step := range 12 {
			dfs := vfs.NewMem()
			if _, err := vfs.Clone(whole, dfs, "store", "store"); err != nil {
				t.Fatal(err)
			}
			if !flip(t, dfs, "store/kv/"+name, step, 12) {
				continue
			}
			if damagedStore(t, dfs, name, kind) {
				found[kind]++
			}
		}
	}
	t.Log("found:", found)
	for _, kind := range []string{"sst", "log", "blob", "manifest"} {
		if found[kind] == 0 {
			t.Errorf("no damage in a file of kind %s was found", kind)
		}
	}
}

// flip changes one byte, at step of steps through the file.
func flip(t *testing.T, dfs *vfs.MemFS, name string, step, steps int) bool {
	f, err := dfs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	at := info.Size() * int64(step) / int64(steps)
	b := make([]byte, 1)
	if n, _ := f.ReadAt(b, at); n == 0 || info.Size() == 0 {
		return false
	}
	b[0] ^= 0x55
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	return true
}

func damagedStore(t *testing.T, dfs vfs.FS, name, kind string) (found bool) {
	t.Helper()
	log := &testutil.Buffer{}
	s, err := Open(Options{Dir: "store", FS: dfs, CacheBytes: 8 << 20, MemTableBytes: 256 << 10, DiskReserveBytes: -1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		if kind == "sst" || kind == "blob" || !errors.Is(err, storage.ErrCorruption) {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(err.Error(), "store") {
			t.Fatalf("%s: the error names nothing: %v", name, err)
		}
		return true
	}
	defer s.Close()
	bad := map[string]bool{}
	for _, group := range []string{"a", "m"} {
		for i := range 60 {
			key := fmt.Sprintf("%s%02d", group, i)
			v, err := s.Latest().Get(bg, []byte(key), nil)
			switch {
			case err == nil:
				if len(v) == 0 || bytes.Count(v, []byte{byte(i)}) != len(v) {
					t.Fatalf("%s: wrong data under %s", name, key)
				}
			case errors.Is(err, storage.ErrCorruption):
				bad[group] = true
				if !strings.Contains(err.Error(), name) {
					t.Fatalf("%s: the error does not name it: %v", name, err)
				}
			default:
				t.Fatalf("%s: %s: %v", name, key, err)
			}
		}
	}
	if len(bad) == 0 && kind != "log" {
		return false // the byte is not of what is read
	}
	// The store goes on elsewhere, and a check finds the file.
	mustPut(t, s, "q")
	if kind == "log" {
		return !has(t, s, "z2")
	}
	if kind != "log" && kind != "manifest" && !strings.Contains(log.String(), "restore a backup") || s.Metrics()["damaged_files"] != map[string]int64{"sst": 1, "blob": 1}[kind] {
		t.Fatalf("%s: log %q, metrics %v", name, log, s.Metrics()["damaged_files"])
	}
	checked := 0
	if err := s.Verify(context.Background(), func(d Damage) { checked++ }); err != nil || checked == 0 {
		t.Fatalf("%s: verify found %d, %v", name, checked, err)
	}
	return true
}

// TestDamagedBlocksCostLittle reads damaged blocks again and again: that takes no
// longer than to read others. The block of a large table's index, and that of
// its filter, are long.
func TestDamagedBlocksCostLittle(t *testing.T) {
	testflag.Normal(t)
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	bl, err := s.BulkLoad(bg)
	if err != nil {
		t.Fatal(err)
	}
	const n = 120_000
	key := func(i int) []byte { return fmt.Appendf(nil, "k%08d", i) }
	for i := range n {
		if err := bl.Add(key(i), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bl.Finish(bg); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	names, err := dfs.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	const steps = 20
	for step := range steps {
		damaged := vfs.NewMem()
		if _, err := vfs.Clone(dfs, damaged, "store", "store"); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := dfs.Stat("store/kv/" + name); err == nil && strings.HasSuffix(name, ".sst") && info.Size() > 100_000 {
				flip(t, damaged, "store/kv/"+name, step, steps)
			}
		}
		s := openAt(t, damaged)
		start, met := time.Now(), 0
		for range 20 {
			for i := 0; i < n; i += n / 50 {
				v, err := s.Latest().Get(bg, key(i), nil)
				switch {
				case errors.Is(err, storage.ErrCorruption):
					met++
				case err != nil || string(v) != "v":
					t.Fatalf("step %d, key %d: %q, %v", step, i, v, err)
				}
			}
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("step %d: %v for 1000 reads, %d of them damaged", step, took, met)
		}
		if err := s.Verify(context.Background(), func(Damage) {}); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("step %d: %v with the check", step, took)
		}
		_ = s.Close() // it may meet the damage
	}
}

// TestSwappedValues: two files of values that have changed places are damage, also
// where all lengths fit.
func TestSwappedValues(t *testing.T) {
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	for _, group := range []string{"a", "b"} {
		for i := range 10 {
			if _, err := tryPut(s, storage.DurabilityNone, bytes.Repeat([]byte(group), 3000), fmt.Sprintf("%s%d", group, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	names, err := dfs.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	var blobs []string
	for _, name := range names {
		if strings.HasSuffix(name, ".blob") {
			blobs = append(blobs, name)
		}
	}
	if len(blobs) != 2 {
		t.Fatalf("%v are not two files", blobs)
	}
	for _, x := range [][2]string{{blobs[0], "x"}, {blobs[1], blobs[0]}, {"x", blobs[1]}} {
		if err := dfs.Rename("store/kv/"+x[0], "store/kv/"+x[1]); err != nil {
			t.Fatal(err)
		}
	}
	s = openAt(t, dfs)
	defer s.Close()
	for _, key := range []string{"a3", "b3"} {
		v, err := s.Latest().Get(bg, []byte(key), nil)
		if !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), ".blob") {
			t.Errorf("%s: %.10q, %v", key, v, err)
		}
	}
	if n := s.Metrics()["damaged_files"]; n != 2 {
		t.Errorf("%d damaged files", n)
	}
}

// TestSwappedTables: table files that have changed places are noticed, also where
// their lengths are the same.
func TestSwappedTables(t *testing.T) {
	dfs := vfs.NewMem()
	s := openAt(t, dfs)
	for _, group := range []string{"a", "b"} {
		bl, err := s.BulkLoad(bg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if err := bl.Add(fmt.Appendf(nil, "%s%02d", group, i), bytes.Repeat([]byte("v"), 300)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := bl.Finish(bg); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	closeStore(t, openAt(t, dfs))
	names, err := dfs.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	bySize := map[int64][]string{}
	for _, name := range names {
		if info, err := dfs.Stat("store/kv/" + name); err != nil {
			t.Fatal(err)
		} else if strings.HasSuffix(name, ".sst") {
			bySize[info.Size()] = append(bySize[info.Size()], name)
		}
	}
	var same []string
	for _, list := range bySize {
		if len(list) == 2 {
			same = list
		}
	}
	if same == nil {
		t.Fatalf("no two tables of one length among %v", bySize)
	}
	for _, x := range [][2]string{{same[0], "x"}, {same[1], same[0]}, {"x", same[1]}} {
		if err := dfs.Rename("store/kv/"+x[0], "store/kv/"+x[1]); err != nil {
			t.Fatal(err)
		}
	}
	s, err = Open(Options{Dir: "store", FS: dfs, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		v, err := s.Latest().Get(bg, []byte("a07"), nil)
		t.Errorf("the store is open, and has %.5q, %v", v, err)
		_ = s.Close() // what it says does not matter here
	} else if !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), same[0]) && !strings.Contains(err.Error(), same[1]) {
		t.Errorf("error %v", err)
	}
}
