package pebblekv

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/storage"
)

// TestLiveFiles: the manifest lists the tables and files of values that exist.
func TestLiveFiles(t *testing.T) {
	dfs := vfs.NewMem()
	rng := seeded(5)
	for range 4 {
		s := openAt(t, dfs)
		for range 30 {
			for range 20 {
				size := []int{10, 3000}[rng.IntN(2)]
				if _, err := tryPut(s, storage.DurabilityNone, bytes.Repeat([]byte("v"), size), fmt.Sprintf("k%04d", rng.IntN(3000))); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		from := fmt.Sprintf("k%04d", rng.IntN(2000))
		if err := s.Discard(bg, storage.Span{Start: []byte(from), End: []byte(from + "z")}); err != nil {
			t.Fatal(err)
		}
		if err := s.db.Compact(bg, []byte("k"), []byte("k15"), false); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
	}
	closeStore(t, openAt(t, dfs)) // what is not needed is removed
	names, err := dfs.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	b, err := readAll(dfs, "store/kv/"+currentManifest(names))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, name := range names {
		if ext := path.Ext(name); ext == ".sst" || ext == ".blob" {
			want = append(want, name)
		}
	}
	live := liveFiles(b)
	for number := range live.blobs {
		got = append(got, fmt.Sprintf("%06d.blob", number))
	}
	for _, table := range live.tables {
		if name := table.name(); !slices.Contains(got, name) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(live.blobs) == 0 || !slices.Equal(got, want) {
		t.Fatalf("the manifest has %v, the directory %v", got, want)
	}
}

// TestMissingBlob: a store without one of its files of values opens, again and
// again; reads, compactions, copies and checks that need it are errors of damage
// that name it, and all else goes on.
func TestMissingBlob(t *testing.T) {
	dfs := damageable(t)
	closeStore(t, openAt(t, dfs)) // what is not needed is removed
	names, err := dfs.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, ".blob") })
	name := names[i]
	if err := dfs.Remove("store/kv/" + name); err != nil {
		t.Fatal(err)
	}
	isIt := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for round := range 2 {
		s := openAt(t, dfs)
		_, err = s.Latest().Get(bg, []byte("m30"), nil)
		isIt("get", err)
		sc, err := s.Latest().Scan(bg, storage.Span{Start: []byte("m")}, storage.ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = sc.Visit(bg, func(_, _ []byte) bool { return true })
		isIt("scan", err)
		if err := sc.Close(); err != nil {
			t.Error(err)
		}
		if s.Metrics()["damaged_files"] != 1 {
			t.Error(s.Metrics()["damaged_files"])
		}
		if err := s.db.Compact(bg, []byte("a"), []byte("z9"), false); err != nil {
			isIt("compaction", err)
		}
		var found []string
		if err := s.Verify(bg, func(d Damage) { found = append(found, path.Base(d.File)) }); err != nil || !slices.Equal(found, []string{name}) {
			t.Errorf("a check finds %v: %v", found, err)
		}
		if err := s.Checkpoint(fmt.Sprintf("copy%d", round)); err == nil {
			t.Error("a copy without the file")
		}
		if !has(t, s, "a05") || !has(t, s, "z1") {
			t.Error("other keys are gone")
		}
		mustPut(t, s, "q", "m05")
		if !has(t, s, "m05") {
			t.Error("a new value cannot be read")
		}
		if err := s.Discard(bg, storage.Span{Start: []byte("m05"), End: []byte("m051")}); err != nil {
			t.Error(err)
		}
		mustPut(t, s, "m04")
		if err := s.db.Flush(); err != nil {
			t.Error(err)
		}
		closeStore(t, s)
	}
	// Without the values the file is not missed.
	s := openAt(t, dfs)
	if err := s.Discard(bg, storage.Span{Start: []byte("m"), End: []byte("n")}); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Compact(bg, []byte("a"), []byte("z9"), false); err != nil {
		t.Error(err)
	}
	closeStore(t, s)
	s = openAt(t, dfs)
	defer closeStore(t, s)
	if err := s.Verify(bg, func(d Damage) { t.Error(d) }); err != nil {
		t.Error(err)
	}
	if len(s.disk.missing) > 0 {
		t.Error(s.disk.missing)
	}
}

// TestMissingMarker: without its markers, or without the files that its manifest
// names, a store is not opened, least of all as a new one.
func TestMissingMarker(t *testing.T) {
	whole := damageable(t)
	names, err := whole.List("store/kv")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "marker.") && !strings.HasPrefix(name, "MANIFEST-") && !strings.HasSuffix(name, ".sst") {
			continue
		}
		dfs := vfs.NewMem() // a store made again may have compacted less, and have files of other names
		if _, err := vfs.Clone(whole, dfs, "store", "store"); err != nil {
			t.Fatal(err)
		}
		if err := dfs.Remove("store/kv/" + name); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Dir: "store", FS: dfs, DiskReserveBytes: -1})
		if err == nil {
			closeStore(t, s)
			t.Errorf("it opens without %s", name)
			continue
		}
		want := name
		if strings.HasPrefix(name, "marker.") {
			want = name[:strings.LastIndex(strings.TrimSuffix(name, path.Ext(name)), ".")]
		}
		if !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestPanicOfAnImage: a panic while an image or a filter is made is logged, and
// the next one can be made.
func TestPanicOfAnImage(t *testing.T) {
	log := &testutil.Buffer{}
	s, err := Open(Options{Dir: "store", FS: vfs.NewMem(), DiskReserveBytes: -1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Close(); err != nil { // any use of it now panics
		t.Fatal(err)
	}
	g := group([]byte("\x10group!"))
	im := &image{}
	s.images.by[g], s.images.busy = im, true
	s.images.count.Add(1)
	s.startImage(g, im)
	s.filters.mu.Lock()
	s.startFilter(g, 100)
	s.filters.mu.Unlock()
	for start := time.Now(); time.Since(start) < time.Minute && (s.active.Load() > 0 || strings.Count(log.String(), "panic in a task") < 2); {
		runtime.Gosched()
	}
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	s.images.mu.Lock()
	defer s.images.mu.Unlock()
	s.filters.mu.Lock()
	defer s.filters.mu.Unlock()
	if s.images.busy || s.images.by[g] != nil || s.filters.busy || s.filters.find(g) != nil {
		t.Error("still being made")
	}
	if n := strings.Count(log.String(), "panic in a task"); n != 2 {
		t.Errorf("%d panics in the log: %s", n, log)
	}
}
