package seg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// makeDamageable makes an index with several segments on disk and deletions in
// all of them.
func makeDamageable(t *testing.T, dir string) map[string]*doc {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	ix, err := Open(dir, testSchema(), Options{PersistEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	model := map[string]*doc{}
	for step := range 4 {
		b := ix.NewBatch()
		for range 60 {
			id, d := fmt.Sprintf("id%d", r.IntN(120)), randomDoc(r, 0)
			b.Upsert([]byte(id))
			d.put(b)
			model[id] = d
		}
		b.Checkpoint(uint64(step + 1))
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
		if err := ix.Persist(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	return model
}

func copyDir(t *testing.T, from, to string) []string {
	t.Helper()
	list, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name())
	}
	return names
}

// readAll opens the index, compares it with the model and closes it. The error
// is what the index said; a wrong answer fails the test.
func readAll(t *testing.T, dir string, model map[string]*doc, merge bool) (err error) {
	t.Helper()
	ix, err := Open(dir, testSchema(), Options{PersistEvery: time.Millisecond})
	if err != nil {
		return err
	}
	defer ix.Close()
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok || !errors.Is(e, ErrDamaged) {
				panic(r)
			}
			err = e
			if _, again := ix.Snapshot(); !errors.Is(again, ErrDamaged) {
				t.Errorf("a damaged index gives snapshots: %v", again)
			}
			if again := ix.Apply(ix.NewBatch()); !errors.Is(again, ErrDamaged) {
				t.Errorf("a damaged index takes batches: %v", again)
			}
		}
	}()
	s, err := ix.Snapshot()
	if err != nil {
		return err
	}
	c := s.Checkpoint()
	s.Close()
	if len(model) > 0 && c != 4 {
		return damaged(rootFile, "checkpoint %d instead of the durable 4", c)
	}
	if merge {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := ix.Merge(ctx); err != nil {
			return err
		}
	}
	compareIndex(t, ix, model, rand.New(rand.NewPCG(1, 1)))
	return nil
}

// TestDamagedNames: the root file may name what is no segment: a folder, a name that no
// file can have.
func TestDamagedNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "00000000000\x00.zap", "000000000001.zip", "0000/0000001.zap"} {
		if _, err := openFile(filepath.Join(dir, name)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDamage changes one byte of a file: the index says so, or the byte was
// none that is used.
func TestDamage(t *testing.T) {
	good := t.TempDir()
	model := makeDamageable(t, good)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	found := map[bool]int{}
	rounds := testflag.InShort(20, 60)
	for i := range rounds {
		dir := t.TempDir()
		names := copyDir(t, good, dir)
		path := filepath.Join(dir, names[r.IntN(len(names))])
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at, mask := r.IntN(len(b)), byte(1)<<r.IntN(8)
		b[at] ^= mask
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		err = readAll(t, dir, model, i%3 == 0)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s byte %d ^ %02x: %v", filepath.Base(path), at, mask, err)
		}
		if t.Failed() {
			t.Fatalf("%s byte %d ^ %02x", filepath.Base(path), at, mask)
		}
		found[err != nil]++
	}
	if found[true] < rounds/6 {
		t.Errorf("damage was found %d times of %d", found[true], rounds)
	}
	t.Logf("found %d, in unused bytes %d", found[true], found[false])
}

// TestDamageInUse changes a bit of each section of an index that is open and has not
// read it yet: the first read of it fails, and no read succeeds after that.
func TestDamageInUse(t *testing.T) {
	testflag.Normal(t)
	good := t.TempDir()
	makeDamageable(t, good)
	list, _ := filepath.Glob(filepath.Join(good, "*.zap"))
	f, err := openFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	found := 0
	for _, s := range f.dir {
		if s.len == 0 {
			continue
		}
		dir := t.TempDir()
		copyDir(t, good, dir)
		ix, err := Open(dir, testSchema(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		ix.opts.OnDamage = func() { told++ }
		snap := must(ix.Snapshot())
		var c *core
		for _, g := range snap.Segments() {
			if filepath.Base(g.c.f.name) == filepath.Base(list[0]) {
				c = g.c
			}
		}
		if c == nil {
			t.Fatal("the segment is not there any more")
		}
		known := c.f.dir[partKey(s.field, s.part)].checked.Load()
		w, err := os.OpenFile(filepath.Join(dir, filepath.Base(list[0])), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(s.off + s.len/2)
		var b [1]byte
		if _, err = w.ReadAt(b[:], at); err == nil {
			b[0] ^= 8
			_, err = w.WriteAt(b[:], at)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		for _, g := range snap.Segments() {
			for _, f := range ix.schema.Fields {
				_, e := g.Digests(f.ID)
				err = errors.Join(err, e)
			}
		}
		_ = snap.Close()
		switch {
		case known: // when the index was opened: what is mapped is trusted then
		case !errors.Is(err, ErrDamaged) || told != 1:
			t.Errorf("field %d part %d: %v, told %d times", s.field, s.part, err, told)
		default:
			found++
			if _, err := ix.Snapshot(); !errors.Is(err, ErrDamaged) {
				t.Errorf("a damaged index gives snapshots: %v", err)
			}
		}
		_ = ix.Close()
	}
	t.Logf("%d of %d sections", found, len(f.dir))
	if found < 10 {
		t.Error("that tests nothing")
	}
}

// TestDamagedFiles loses, shortens and exchanges whole files.
func TestDamagedFiles(t *testing.T) {
	good := t.TempDir()
	model := makeDamageable(t, good)
	segs, _ := filepath.Glob(filepath.Join(good, "*.zap"))
	if len(segs) < 2 {
		t.Fatalf("%d segments", len(segs))
	}
	first, second := filepath.Base(segs[0]), filepath.Base(segs[1])
	for name, spoil := range map[string]func(dir string) error{
		"segment missing": func(dir string) error { return os.Remove(filepath.Join(dir, first)) },
		"segment short":   func(dir string) error { return os.Truncate(filepath.Join(dir, first), 1000) },
		"segment empty":   func(dir string) error { return os.Truncate(filepath.Join(dir, first), 0) },
		"segments exchanged": func(dir string) error {
			a, b, c := filepath.Join(dir, first), filepath.Join(dir, second), filepath.Join(dir, "x")
			return errors.Join(os.Rename(a, c), os.Rename(b, a), os.Rename(c, b))
		},
		"root missing": func(dir string) error { return os.Remove(filepath.Join(dir, rootFile)) },
		"root short":   func(dir string) error { return os.Truncate(filepath.Join(dir, rootFile), 4096) },
		"root zeros":   func(dir string) error { return os.WriteFile(filepath.Join(dir, rootFile), make([]byte, 65536), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			copyDir(t, good, dir)
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, name := range []string{first, second, rootFile} {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					kept = append(kept, name)
				}
			}
			err := readAll(t, dir, model, false)
			var d *DamagedError
			if !errors.As(err, &d) || d.File == "" {
				t.Fatalf("open: %v", err)
			}
			if name == "segments exchanged" {
				kept = nil // each is whole: it shows when scorch has opened them, and may have merged them
			}
			for _, name := range kept {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("opening removed %s: %v", name, err)
				}
			}
			// what is rebuilt starts from nothing
			if err := Drop(dir); err != nil {
				t.Fatal(err)
			}
			if err := readAll(t, dir, map[string]*doc{}, false); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestOrphans wants files that nothing names to go away.
func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	model := makeDamageable(t, dir)
	segs, _ := filepath.Glob(filepath.Join(dir, "*.zap"))
	b, err := os.ReadFile(segs[0])
	if err != nil {
		t.Fatal(err)
	}
	// as a crash between a merge and its root leaves them, whole or not
	for i, n := range []int{len(b), len(b) / 2, 0} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%012x.zap", 0xabc+i)), b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := readAll(t, dir, model, false); err != nil {
		t.Fatal(err)
	}
	ix := openTest(t, dir)
	if err := ix.Merge(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		b := ix.NewBatch()
		d := randomDoc(r, 0)
		b.Upsert([]byte("one"))
		d.put(b)
		model["one"] = d
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
		if err := ix.Persist(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.Merge(context.Background()); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		st := must(ix.Stats())
		if st.Files == st.Segments+1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d files of %d segments", st.Files, st.Segments)
		}
		b := ix.NewBatch()
		if err := errors.Join(ix.Apply(b), ix.Persist(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	compareIndex(t, ix, model, r)
}

// TestStrayFiles: files that no root names do not keep an index from opening, and go.
func TestStrayFiles(t *testing.T) {
	dir := t.TempDir()
	model := makeDamageable(t, dir)
	strays := []string{"copy of 1.zap", "fffff0.zap", "00000000zzzz.zap"}
	for _, name := range strays {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := readAll(t, dir, model, true); err != nil {
		t.Fatal(err)
	}
	for _, name := range strays {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
