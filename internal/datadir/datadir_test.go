package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPaths(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	for _, dir := range []string{"data/kv", "data/mine", "elsewhere/bulk", "elsewhere/new"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"link": "data", "tokv": "data/kv", "chain": "tokv", "loop": "loop", "dangling": "data/backup", "data/bulk": "../elsewhere/bulk", "data/mine/up": "../kv",
	} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := New(data, "kv", "bulk", "backup")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"data/kv": "kv", "data/kv/": "kv", "data//kv/x/y": "kv", "data/mine/../kv/000002.log": "kv", "tokv": "kv", "chain/x": "kv", "link/kv/new": "kv", "data/mine/up/x": "kv",
		"data/bulk/x": "bulk", "elsewhere/bulk": "bulk", "elsewhere/bulk/x": "bulk",
		"data/backup": "backup", "dangling": "backup", "dangling/x": "backup", "link/backup/x/y": "backup",
		"data": "", "data/mine": "", "data/kvx": "", "elsewhere/new": "", "loop": "", "none/at/all": "",
	} {
		if got := d.Folder(base + "/" + path); got != want {
			t.Errorf("%s is in folder %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]bool{"data": true, "data/": true, "link": true, "link/mine/x": true, "data/new": true, "elsewhere/bulk/x": true, "elsewhere/new": false, ".": false, "data2": false} {
		if got := d.Holds(base + "/" + path); got != want {
			t.Errorf("%s is held: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"data": true, "link": true, "link/.": true, "data/kv": false, ".": false} {
		if got := d.Is(base + "/" + path); got != want {
			t.Errorf("%s is the directory: %v", path, got)
		}
	}
	t.Chdir(data)
	if !d.Is(".") || d.Folder("kv/x") != "kv" {
		t.Error("relative paths are not resolved")
	}
	if (Dir{}).Holds(data) || (Dir{}).Folder(data) != "" || (Dir{}).Is(data) {
		t.Error("a server in memory holds files")
	}
}

func TestOpen(t *testing.T) {
	base := t.TempDir()
	path := func(name string) string { return filepath.Join(base, name) }
	if err := os.MkdirAll(path("data/kv"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data/kv/1.log", "free", "twice"} {
		if err := os.WriteFile(path(name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"data/kv/1.log": "hard", "twice": "again"} {
		if err := os.Link(path(from), path(to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("free", path("soft")); err != nil {
		t.Fatal(err)
	}
	d, err := New(path("data"), "kv")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"free": true, "twice": true, "again": true, "hard": false, "soft": false, "data": false, "none": false} {
		f, _, err := d.Open(path(name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if name == "hard" && !errors.Is(err, ErrHeld) || name == "data" && !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			f.Close()
		}
	}
	if f, _, err := (Dir{}).Open(path("hard")); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}
