package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sqlots/sqlots/internal/testutil"
)

func testLog(t *testing.T, s Settings) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := New(slog.New(slog.DiscardHandler), path)
	s.On, s.Classes, s.TextSize = true, All, 4096
	if s.Rotations == 0 {
		s.Rotations = 3
	}
	l.Set(s)
	t.Cleanup(l.Close)
	return l, path
}

// lines are those of a file, each of which has to be a JSON object.
func lines(t *testing.T, path string) (out []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out = append(out, m)
	}
	return out
}

func TestLine(t *testing.T) {
	e := Event{Class: Denied, Name: "denied", Connection: 7, User: "app", Account: "app@%", Client: "10.0.0.1:5", TLS: "TLS 1.3", Program: "mysql", Database: "shop", Roles: []string{"r@%"},
		Command: "Query", Statement: "DROP TABLE", Text: "DROP TABLE a", Objects: []string{"shop.a"}, Privilege: "DROP", Number: 1142, Message: "no", Settings: []Change{{"global", "v", "", "1"}}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	want := `{"time":"2026-01-02T02:04:05.000006Z","event":"denied","connection":7,"user":"app","account":"app@%","client":"10.0.0.1:5","tls":"TLS 1.3","program":"mysql","database":"shop","roles":["r@%"],` +
		`"command":"Query","statement":"DROP TABLE","text":"DROP T","text_bytes":12,"objects":["shop.a"],"settings":[{"scope":"global","name":"v","old":"","new":"1"}],"privilege":"DROP","outcome":"error","error":1142,"message":"no"}` + "\n"
	if got := string(e.append(nil, at, 6)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	long := Event{Name: "x", User: strings.Repeat("é", 10000), Message: strings.Repeat("m", 10000), Text: strings.Repeat("\x01", 10000), Objects: make([]string, 1000), Roles: []string{strings.Repeat("r", 1000)}}
	if got := len(long.append(nil, at, 4096)); got > 40000 {
		t.Errorf("a line of %d bytes", got)
	}
}

// FuzzText: any text is one line of JSON, whose value is the text with U+FFFD for what is
// no UTF-8, and has only printable characters.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\nb\r\t\x00\x1b[31m\x7f", "\"\\/", "\xff\xfe\xc3", "\u202e\u2028\u009b\U000e0001", "é€😀", "</script>", "\xed\xa0\x80", `{"time":"x"}` + "\n{}"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, size int) {
		e := Event{Name: s, Text: s, Objects: []string{s}, Settings: []Change{{New: s}}}
		size &= 0xffff
		b := e.append(nil, time.Time{}, size)
		if bytes.IndexByte(b, '\n') != len(b)-1 || !utf8.Valid(b) || strings.ContainsFunc(string(b[:len(b)-1]), func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' }) {
			t.Fatalf("%q", b)
		}
		var m struct {
			Text    string
			Objects []string
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		want := s
		if len(s) > size {
			want = cut(s, size)
		}
		if whole := string([]rune(want)); m.Text != whole {
			t.Fatalf("%q, want %q", m.Text, whole)
		}
		if len(s) <= maxName && m.Objects[0] != string([]rune(s)) {
			t.Fatalf("%q of %q", m.Objects, s)
		}
	})
}

func TestClasses(t *testing.T) {
	for text, want := range map[string]Class{"ALL": All, "none": 0, "": 0, "connect, Denied": Connect | Denied, "ADMIN,ACCOUNT": Account | Admin} {
		if got, ok := ParseClasses(text); !ok || got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, bad := range []string{"x", "CONNECT,", ",", "CONNECT;DENIED"} {
		if _, ok := ParseClasses(bad); ok {
			t.Error(bad)
		}
	}
	l, path := testLog(t, Settings{})
	s := l.Settings()
	s.Classes = Account
	l.Set(s)
	l.Write(&Event{Class: Schema, Name: "no"})
	l.Write(&Event{Class: Account, Name: "yes"})
	l.Write(&Event{Class: Always, Name: "always"})
	s.On = false
	l.Set(s)
	l.Write(&Event{Class: Always, Name: "no"})
	if got := lines(t, path); len(got) != 2 || l.Events() != 2 || l.Takes(Always) {
		t.Error(got)
	}
}

// TestRotation: no file is larger than the limit, no event is in none or in two, and as
// many files are kept as shall be.
func TestRotation(t *testing.T) {
	l, path := testLog(t, Settings{RotateSize: 4096, Rotations: 3})
	write := func(from, n int) {
		for i := range n {
			l.Write(&Event{Name: fmt.Sprint(from + i), Text: strings.Repeat("x", i*37%500)})
		}
	}
	files := func() []string {
		list, err := filepath.Glob(path + "*")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	write(0, 200)
	if got := files(); len(got) != 4 {
		t.Fatal(got)
	}
	next := 199
	for n := range 4 {
		list := lines(t, l.numbered(n))
		for i := len(list) - 1; i >= 0; i, next = i-1, next-1 {
			if list[i]["event"] != fmt.Sprint(next) {
				t.Fatalf("file %d: %v, want %d", n, list[i]["event"], next)
			}
		}
		if info, err := os.Stat(l.numbered(n)); err != nil || info.Size() > 4096 || n == 0 && info.Size() != l.Size() {
			t.Error(n, info.Size(), err)
		}
	}
	// One larger than the limit has a file of its own. Fewer are kept.
	s := l.Settings()
	s.Rotations = 1
	l.Set(s)
	l.Write(&Event{Name: "large", Text: strings.Repeat("x", 4096)})
	if got := files(); len(got) != 2 || len(lines(t, path)) != 1 {
		t.Fatal(got)
	}
	// What has another's name is left: the file was renamed, and a new one made.
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(0, 30)
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestReopen: files that are renamed go on until Reopen; the next one is appended to.
func TestReopen(t *testing.T) {
	l, path := testLog(t, Settings{Sync: true})
	l.Write(&Event{Name: "a"})
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	l.Write(&Event{Name: "b"})
	l.Reopen()
	l.Write(&Event{Name: "c"})
	if a, b := lines(t, path+".old"), lines(t, path); len(a) != 2 || len(b) != 1 {
		t.Error(a, b)
	}
	// A crash has cut the last line.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time":"20`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	l.Reopen()
	l.Write(&Event{Name: "d"})
	text, err := os.ReadFile(path)
	if list := strings.Split(string(text), "\n"); err != nil || len(list) != 4 || list[1] != `{"time":"20` || !strings.Contains(list[2], `"d"`) {
		t.Errorf("%q", text)
	}
}

// TestForeign: nothing is written to other files, nor through links.
func TestForeign(t *testing.T) {
	l, path := testLog(t, Settings{})
	other := path + ".other"
	if err := os.WriteFile(other, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"text": func() error { return os.WriteFile(path, []byte("[mysqld]\n"), 0o600) },
		"link": func() error { return os.Symlink(other, path) },
		"hard": func() error { return os.Link(other, path) },
		"dir":  func() error { return os.Mkdir(path, 0o700) },
		"fifo": func() error { return syscall.Mkfifo(path, 0o600) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		l.Reopen()
		lost := l.Lost()
		l.Write(&Event{Name: "x"})
		if l.Lost() != lost+1 || l.Check() == nil {
			t.Errorf("%s: it was written", name)
		}
		if text, err := os.ReadFile(other); string(text) != "x" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	l.Reopen()
	l.Write(&Event{Name: "x"})
	if list := lines(t, path); len(list) != 2 || list[0]["event"] != "lost" {
		t.Error(list)
	}
}

// faultyFile fails after some bytes.
type faultyFile struct {
	file
	left *int
}

func (f faultyFile) Write(b []byte) (int, error) {
	if len(b) <= *f.left {
		*f.left -= len(b)
		return f.file.Write(b)
	}
	n, err := f.file.Write(b[:*f.left])
	*f.left = 0
	return n, errors.Join(err, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
}

// TestFullDisk: events are lost and counted, no line is cut, the server's log has one
// line, and the log goes on when there is room.
func TestFullDisk(t *testing.T) {
	l, path := testLog(t, Settings{})
	log := &testutil.Buffer{}
	l.log = slog.New(slog.NewTextHandler(log, nil))
	now, left := time.Now(), 1000
	l.now = func() time.Time { return now }
	l.wrap = func(f *os.File) file { return faultyFile{f, &left} }
	for range 50 {
		l.Write(&Event{Name: "a"})
		now = now.Add(100 * time.Millisecond)
	}
	before := len(lines(t, path))
	if before == 0 || l.Events() != int64(before) || l.Lost() != int64(50-before) {
		t.Errorf("%d lines, %d events, %d lost", before, l.Events(), l.Lost())
	}
	left = 1 << 20
	now = now.Add(time.Minute)
	l.Write(&Event{Name: "b"})
	list := lines(t, path)[before:]
	if len(list) != 2 || list[0]["event"] != "lost" || list[0]["message"] != fmt.Sprint(50-before, " events could not be written") || list[1]["event"] != "b" {
		t.Error(list)
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 1 || strings.Count(text, "level=INFO") != 1 {
		t.Error(text)
	}
}

// TestNoDirectory: rotation that fails, and a folder that has gone, fail no caller.
func TestNoDirectory(t *testing.T) {
	l, path := testLog(t, Settings{RotateSize: 4096, Rotations: 2})
	if err := os.MkdirAll(path+".1/x", 0o755); err != nil { // where a file shall go
		t.Fatal(err)
	}
	if err := os.MkdirAll(path+".2/x", 0o755); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		l.Write(&Event{Name: "a"})
	}
	if got := len(lines(t, path)); got != 100 || l.Lost() != 0 {
		t.Errorf("%d lines, %d lost", got, l.Lost())
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	l.Reopen()
	l.Write(&Event{Name: "a"})
	if l.Lost() != 1 {
		t.Error(l.Lost())
	}
	if l := New(l.log, ""); l.On() {
		t.Error("on without a path")
	} else if l.Set(Settings{On: true}); l.On() {
		t.Error("on without a path")
	}
}

// TestConcurrent: lines of many writers are whole and in the order of their times, over
// rotations and Reopen.
func TestConcurrent(t *testing.T) {
	l, path := testLog(t, Settings{RotateSize: 16 << 10, Rotations: 900})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 300 {
				l.Write(&Event{Name: "e", Connection: uint64(w*1000 + i + 1), Text: strings.Repeat("x", i)})
				if i%50 == w {
					l.Reopen()
				}
			}
		})
	}
	wg.Wait()
	list, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	seen, last := map[any]bool{}, ""
	for n := len(list) - 1; n >= 0; n-- {
		for _, m := range lines(t, l.numbered(n)) {
			seen[m["connection"]] = true
			if at := m["time"].(string); at < last {
				t.Errorf("%s after %s", at, last)
			} else {
				last = at
			}
		}
	}
	if len(seen) != 2400 || l.Lost() != 0 || l.Events() != 2400 {
		t.Errorf("%d events, %d lost", len(seen), l.Lost())
	}
}

// BenchmarkOff is what a statement pays while the log is off; BenchmarkWrite is an event.
func BenchmarkOff(b *testing.B) {
	l := New(slog.New(slog.DiscardHandler), "")
	for b.Loop() {
		if l.On() {
			b.Fatal()
		}
	}
}

// BenchmarkWrite is described at BenchmarkOff.
func BenchmarkWrite(b *testing.B) {
	l := New(slog.New(slog.DiscardHandler), filepath.Join(b.TempDir(), "audit.jsonl"))
	l.Set(Settings{On: true, Classes: All, TextSize: 4096, RotateSize: 64 << 20, Rotations: 2})
	defer l.Close()
	e := Event{Class: Account, Name: "account", Connection: 5, User: "root", Account: "root@%", Client: "127.0.0.1:50000", Command: "Query", Statement: "CREATE USER", Text: "CREATE USER app IDENTIFIED BY <secret>", Objects: []string{"app@%"}}
	for b.Loop() {
		l.Write(&e)
	}
}
