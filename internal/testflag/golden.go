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

// LeftOut is a line of a text that is not compared with that of the file: -short did not
// make it.
const LeftOut = "left out"

// Golden compares a text with that of a file, line by line, or writes the file with
// -update.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	GoldenOf(t, file, got, func(int, string) string { return "" })
}

// GoldenOf is Golden where of says what a line, counted from 0, is about, of which the
// file has want.
func GoldenOf(t testing.TB, file, got string, of func(line int, want string) string) {
	t.Helper()
	if *update {
		write(t, file, got)
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, file, strings.Split(string(b), "\n"), strings.Split(got, "\n"), of)
}

// GoldenPart is GoldenOf for a text that may have some of the file's sections only, in
// their order. A section begins with a line of "## " and its name. What is before the
// first one is left out. With -update the text must have all.
func GoldenPart(t testing.TB, file, got string, of func(line int, want string) string) {
	t.Helper()
	if *update {
		write(t, file, got)
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	compare(t, file, sections(strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), have), have, of)
}

// sections are the lines of those sections that have has too.
func sections(lines, have []string) (out []string) {
	names := map[string]bool{}
	for _, line := range have {
		if strings.HasPrefix(line, section) {
			names[line] = true
		}
	}
	in := false
	for _, line := range lines {
		if strings.HasPrefix(line, section) {
			in = names[line]
		}
		if in {
			out = append(out, line)
		}
	}
	return out
}

const section = "## "

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compare reports the lines that differ. Their numbers are those of the text.
func compare(t testing.TB, file string, want, have []string, of func(line int, want string) string) {
	t.Helper()
	differ := 0
	for i := range min(len(want), len(have)) {
		if want[i] == have[i] || have[i] == LeftOut {
			continue
		}
		if differ++; differ <= mostDifferences {
			t.Errorf("%s:%d: want\n%s\ngot\n%s\n%s", file, i+1, clip(want[i]), clip(have[i]), clip(of(i, want[i])))
		}
	}
	if len(want) != len(have) {
		t.Errorf("%s: %d lines, want %d", file, len(have), len(want))
	}
}
