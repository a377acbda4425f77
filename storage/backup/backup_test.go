package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/storage"
)

var bg = context.Background()

// store is a Source with files in memory.
type store map[string]string

func (s store) Seq() uint64 { return uint64(len(s)) }

func (s store) Checkpoint(dir string) error {
	for name, text := range s {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func create(t *testing.T, s Source, dir, to, previous string) (*Manifest, error) {
	t.Helper()
	o := Options{To: filepath.Join(dir, to), Stage: filepath.Join(dir, "stage", "1")}
	if previous != "" {
		o.Previous = filepath.Join(dir, previous)
	}
	m, err := Create(bg, s, o)
	if _, serr := os.Stat(o.Stage); serr == nil {
		t.Fatal("the checkpoint is left")
	}
	return m, err
}

func mustCreate(t *testing.T, s Source, dir, to, previous string) *Manifest {
	t.Helper()
	m, err := create(t, s, dir, to, previous)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func damages(t *testing.T, dir string) (out []string) {
	t.Helper()
	_, err := Verify(bg, dir, func(err error) {
		if !errors.Is(err, storage.ErrCorruption) {
			t.Fatal(err)
		}
		out = append(out, err.Error())
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantStore(t *testing.T, from string, want store) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "a", "new")
	if _, err := Restore(bg, from, to, nil); err != nil {
		t.Fatal(err)
	}
	files, err := list(to)
	if err != nil || len(files) != len(want) {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(to, f.Name))
		if err != nil || string(text) != want[f.Name] {
			t.Fatalf("%s: %q, %v", f.Name, text, err)
		}
	}
}

func TestIncremental(t *testing.T) {
	dir := t.TempDir()
	one := store{"FORMAT": "1", "kv/1.sst": "one", "kv/2.sst": "two", "kv/MANIFEST-1": "m", "kv/9.log": ""}
	two := store{"FORMAT": "1", "kv/1.sst": "one", "kv/2.sst": "TWO", "kv/3.sst": "three", "kv/MANIFEST-1": "mm"}
	three := store{"FORMAT": "1", "kv/1.sst": "one", "kv/2.sst": "TWO", "kv/3.sst": "three", "kv/4.sst": "four"}
	mustCreate(t, one, dir, "one", "")
	m := mustCreate(t, two, dir, "two", "one")
	if all, own := m.Size(); all != 14 || own != 10 || m.Previous != "../one" {
		t.Fatal(all, own, m.Previous)
	}
	m = mustCreate(t, three, dir, "three", "two")
	held := map[string]string{}
	for _, f := range m.Files {
		held[f.Name] = f.In
	}
	if want := "map[FORMAT:../one kv/1.sst:../one kv/2.sst:../two kv/3.sst:../two kv/4.sst:]"; fmt.Sprint(held) != want {
		t.Fatal(held)
	}
	for name, s := range map[string]store{"one": one, "two": two, "three": three} {
		wantStore(t, filepath.Join(dir, name), s)
		if bad := damages(t, filepath.Join(dir, name)); bad != nil {
			t.Fatal(bad)
		}
	}
	// A file that the backup before has lost is copied again.
	if err := os.Remove(filepath.Join(dir, "one/data/kv/1.sst")); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, three, dir, "four", "three")
	wantStore(t, filepath.Join(dir, "four"), three)
	if bad := damages(t, filepath.Join(dir, "two")); len(bad) != 1 || !strings.Contains(bad[0], "one/data/kv/1.sst") || !strings.Contains(bad[0], "missing") {
		t.Fatal(bad)
	}
	if _, err := create(t, one, dir, "two", ""); !errors.Is(err, ErrExists) {
		t.Fatal(err)
	}
	if _, err := create(t, one, dir, "five", "nothing"); !errors.Is(err, ErrNoBackup) {
		t.Fatal(err)
	}
}

// TestDamage changes each byte of a backup: restoring it fails and makes
// nothing, and names the file.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	mustCreate(t, store{"FORMAT": "1", "kv/1.sst": "some data"}, dir, "b", "")
	for _, name := range []string{"MANIFEST", "data/FORMAT", "data/kv/1.sst"} {
		path := filepath.Join(dir, "b", name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		spoil := [][]byte{good[:len(good)-1], append(slices.Clone(good), 'x')}
		for i := range good {
			bad := slices.Clone(good)
			bad[i] ^= 1
			spoil = append(spoil, bad)
		}
		for i, text := range spoil {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Restore(bg, filepath.Join(dir, "b"), filepath.Join(dir, "new"), nil)
			if err == nil || !strings.Contains(err.Error(), path) || !errors.Is(err, storage.ErrCorruption) && !errors.Is(err, storage.ErrFormat) {
				t.Fatalf("%s, case %d: %v", name, i, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "new*")); left != nil {
				t.Fatal(left)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantStore(t, filepath.Join(dir, "b"), store{"FORMAT": "1", "kv/1.sst": "some data"})
}

// TestInterrupted: a backup that is copied when it is half made is none.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	s := store{"FORMAT": "1", "kv/1.sst": "one", "kv/2.sst": "two"}
	half := 0
	o := Options{To: filepath.Join(dir, "b"), Stage: filepath.Join(dir, "stage", "1")}
	o.Progress = func(p Progress) {
		half++
		if _, err := os.Stat(o.To); err == nil {
			t.Fatal("it has its name before it is whole")
		}
		to := filepath.Join(dir, fmt.Sprintf("killed%d%s", half, partial))
		if err := os.CopyFS(to, os.DirFS(o.To+partial)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(to); !errors.Is(err, ErrNoBackup) {
			t.Fatal(err)
		}
	}
	if _, err := Create(bg, s, o); err != nil || half < 6 {
		t.Fatal(half, err)
	}
	// The next attempt at the name says what is in the way.
	if err := os.Mkdir(filepath.Join(dir, "c"+partial), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, s, dir, "c", ""); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "c.partial") {
		t.Fatal(err)
	}
	// A cancelled one cleans up.
	ctx, cancel := context.WithCancelCause(bg)
	o.To = filepath.Join(dir, "d")
	o.Progress = func(p Progress) {
		if p.FilesDone == 2 {
			cancel(errors.New("enough"))
		}
	}
	if _, err := Create(ctx, s, o); err == nil || err.Error() != "enough" {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "d*")); left != nil {
		t.Fatal(left)
	}
}

func TestRestorePlaces(t *testing.T) {
	dir := t.TempDir()
	mustCreate(t, store{"FORMAT": "1"}, dir, "b", "")
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(bg, filepath.Join(dir, "b"), used, nil); !errors.Is(err, ErrExists) {
		t.Fatal(err)
	}
	if _, err := Restore(bg, filepath.Join(dir, "b"), t.TempDir(), nil); err != nil { // empty
		t.Fatal(err)
	}
	if _, err := Restore(bg, used, filepath.Join(dir, "n"), nil); !errors.Is(err, ErrNoBackup) {
		t.Fatal(err)
	}
}
