package testflag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostDifferences are printed for one file.
const mostDifferences = 10

// clip is the beginning of a line.
func clip(line string) string {
	const most = 2000
	if len(line) > most {
		return line[:most] + "…"
	}
	return line
}

// Golden compares a text with that of a file, line by line, or writes the file with
// -update.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	GoldenOf(t, file, got, func(int) string { return "" })
}

// GoldenOf is Golden where of says what a line, counted from 0, is about.
func GoldenOf(t testing.TB, file, got string, of func(line int) string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, have := strings.Split(string(b), "\n"), strings.Split(got, "\n")
	differ := 0
	for i := range min(len(want), len(have)) {
		if want[i] == have[i] {
			continue
		}
		if differ++; differ <= mostDifferences {
			t.Errorf("%s:%d: want\n%s\ngot\n%s\n%s", file, i+1, clip(want[i]), clip(have[i]), clip(of(i)))
		}
	}
	if len(want) != len(have) {
		t.Errorf("%s: %d lines, want %d", file, len(have), len(want))
	}
}
