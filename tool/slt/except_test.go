package slt

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExceptions(t *testing.T) {
	list, err := ParseExceptions("x", strings.NewReader(
		"# comment\n\na/s.test 1-2 1064 MySQL's  grammar\ns.test * ok for MySQL\ns.test 5 1064 no longer needed\nt.test * ok other file\n"))
	if err != nil || len(list) != 4 || list[0].Reason != "MySQL's grammar" {
		t.Fatalf("%+v %v", list, err)
	}
	const file = "statement ok\nBAD\n\nstatement error\none\n\nstatement ok\nBAD\n\nquery I\none\n----\n9\n"
	report, err := RunReader(t.Context(), "/x/a/s.test", strings.NewReader(file), Options{Open: newFake().open, Exceptions: list})
	if err != nil {
		t.Fatal(err)
	}
	// The second BAD is on no excepted line, a wrong result never passes, and
	// one exception is not needed.
	if report.Excepted != 2 || report.Failed != 3 || len(report.Exceptions) != 2 ||
		!strings.Contains(report.Failures[2].Reason, "no longer needed") {
		t.Errorf("%+v", report)
	}
	var s Summary
	s.Add(report)
	if text := s.String(); !strings.Contains(text, "excepted a/s.test: 1 records, error 1064: MySQL's grammar\n") {
		t.Error(text)
	}
	for _, bad := range []string{"a 1 1064", "a x ok r", "a 2-1 ok r", "a 0 ok r", "a 1 bad r", "a 1 0 r"} {
		if _, err := ParseExceptions("x", strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestQueryShare(t *testing.T) {
	text := strings.Repeat("query I\none\n\n", 10) + "statement ok\nUPDATE\n"
	list := []Exception{{File: "s.test", Number: 1}}
	report, err := RunReader(t.Context(), "s.test", strings.NewReader(text),
		Options{Open: newFake().open, QueryShare: 3, Exceptions: list})
	if err != nil || report.OK != 4 || report.Skipped != 7 || report.Failed != 0 {
		t.Errorf("%+v %v", report, err)
	}
}

func archiveOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 2, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	plain := archiveOf(t, "test/a.test", "test/README", "test/sub/b.test")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(plain)
	_ = z.Close()
	archives := map[string][]byte{"a.tar": plain, "a.tar.gz": zipped.Bytes()}
	if _, err := exec.LookPath("xz"); err == nil {
		cmd := exec.Command("xz", "-c")
		cmd.Stdin = bytes.NewReader(plain)
		if archives["a.tar.xz"], err = cmd.Output(); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range archives {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		into := t.TempDir()
		files, err := FindFiles(t.Context(), []string{path}, func() (string, error) { return into, nil })
		want := []string{filepath.Join(into, "test", "a.test"), filepath.Join(into, "test", "sub", "b.test")}
		if err != nil || !slices.Equal(files, want) {
			t.Errorf("%s: %v %v", name, files, err)
		}
	}
	for name, data := range map[string][]byte{"out.tar": archiveOf(t, "../a.test"), "bad.tar.xz": []byte("no"), "bad.tgz": []byte("no")} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Unpack(t.Context(), path, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
}
