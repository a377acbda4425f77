package querylog

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestInDir(t *testing.T) {
	for name, want := range map[string]string{
		"x.log": "/l/x.log", "/l/x.log": "/l/x.log", "/l//x.log": "/l/x.log", "/l/./x.log": "/l/x.log", "/l/y/../x.log": "/l/x.log", "..log": "/l/..log",
		"": "", "x": "", "x.txt": "", "y/x.log": "", "./x.log": "", "../x.log": "", "/x.log": "", "/l/y/x.log": "", "/l/../x.log": "", "/lx/x.log": "", "x.log/": "",
	} {
		if got := InDir("/l/", name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := InDir("", "x.log"); got != "" {
		t.Errorf("without a directory: %q", got)
	}
}

// TestForeignFile: a file that has become something else is not written to, also
// not when it is opened again.
func TestForeignFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	l := New(slog.New(slog.DiscardHandler), "8.4.3", 0, "")
	l.Output(true, false)
	l.SetPaths("", path)
	note := func(text string) int64 {
		t.Helper()
		l.Note(Command{Name: "Query", Text: text})
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	n := note("SELECT 1")
	l.Reopen(true, true)
	if m := note("SELECT 2"); m <= n {
		t.Errorf("%d bytes after %d", m, n)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	n = note("SELECT 3")
	l.Reopen(true, true)
	if m := note("SELECT 4"); n == 0 || m <= n {
		t.Errorf("%d bytes after %d", m, n)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Reopen(true, true)
	if m := note("SELECT 5"); m != 4 || CanWrite(path) {
		t.Errorf("it was written to: %d bytes", m)
	}
	l.Close()
}
