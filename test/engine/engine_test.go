package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const knownDifferences = "testdata/known.txt"

// TestCorpus runs every suite as a subtest; with -run some of them.
func TestCorpus(t *testing.T) {
	list, err := readKnown(knownDifferences)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	r := &runner{dsn: *dsn, seen: map[string]int{}, observe: observer(t)}
	if r.dsn == "" {
		r.dsn = start(t)
	}
	matched, ran, total := map[string]bool{}, map[string]bool{}, 0
	for _, s := range suites() {
		t.Run(s.name, func(t *testing.T) {
			ran[s.name] = true
			differences, steps, err := r.run(ctx, &s)
			if err != nil {
				t.Error(err)
			}
			for _, d := range differences {
				if k, ok := list[d.key]; ok {
					matched[d.key] = true
					if !k.covers(d) {
						t.Errorf("%s:%d: another outcome than the section says\n%s", knownDifferences, k.line, d)
					}
					continue
				}
				t.Error(d)
			}
			total += steps
			t.Logf("%d cases, %d steps, %d differences", len(s.cases), steps, len(differences))
		})
	}
	if *dsn != "" {
		return // another server has other differences
	}
	for key, k := range list {
		if suite, _, _ := strings.Cut(key, " | "); ran[suite] && !matched[key] {
			t.Errorf("%s:%d: no difference any more, delete it: %s", knownDifferences, k.line, key)
		}
	}
	t.Logf("%d steps, %d known differences", total, len(list))
}

// start builds the server and runs it for the time of the test.
func start(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "sqlots")
	build := exec.Command("go", "build", "-o", binary, "./cmd/sqlots")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--listen", addr, "--flush-log-at-commit", "0", "--grace", "1s")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			text, _ := os.ReadFile(log.Name())
			t.Errorf("the server ended with %v\n%s", err, text[max(0, len(text)-4000):])
		}
		_ = log.Close()
	})
	dsn := "root@tcp(" + addr + ")/"
	for deadline := time.Now().Add(time.Minute); ; {
		s, err := connect(t.Context(), dsn)
		if err == nil {
			_ = s.conn.Close()
			return dsn
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("the server does not answer: %v\n%s", err, text)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// observer writes the outcomes, so that two servers can be compared.
func observer(t *testing.T) func(key, outcome string) {
	if *outcomes == "" {
		return func(string, string) {}
	}
	f, err := os.Create(*outcomes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	enc := json.NewEncoder(f)
	return func(key, outcome string) {
		if err := enc.Encode(map[string]string{"key": key, "outcome": outcome}); err != nil {
			t.Error(fmt.Errorf("writing outcomes: %w", err))
		}
	}
}
