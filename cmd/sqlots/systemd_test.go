package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServiceManager: the server says when it is ready, that it lives, and that it stops.
func TestServiceManager(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Skip("no such sockets:", err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "300000")
	ended := make(chan int, 1)
	var log strings.Builder
	go func() {
		ended <- serve([]string{"--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--memory", "128MiB", "--metrics", "127.0.0.1:0", "--log-format", "json"}, io.Discard, &log)
	}()
	seen := map[string]bool{}
	buf := make([]byte, 4096)
	expect := func(text string) {
		t.Helper()
		_ = l.SetReadDeadline(time.Now().Add(time.Minute))
		for !seen[text] {
			n, err := l.Read(buf)
			if err != nil {
				t.Fatalf("no %s: %v", text, err)
			}
			for line := range strings.Lines(string(buf[:n])) {
				seen[strings.TrimSpace(line)] = true
			}
		}
	}
	expect("STATUS=starting")
	if seen["READY=1"] {
		t.Error("ready before it started")
	}
	expect("READY=1")
	expect("WATCHDOG=1")
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Skip("no signals:", err)
	}
	expect("STOPPING=1")
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d\n%s", code, log.String())
	}
	for _, event := range []string{"server.start", "server.metrics", "server.ready", "server.stopping", "server.stopped"} {
		if strings.Count(log.String(), `"event":"`+event+`"`) != 1 {
			t.Errorf("event %s\n%s", event, log.String())
		}
	}
}

// TestServiceFile: the unit has flags of the server, and systemd reads it.
func TestServiceFile(t *testing.T) {
	const path = "../../deploy/systemd/sqlots.service"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var usage strings.Builder
	serve([]string{"-h"}, io.Discard, &usage)
	start := regexp.MustCompile(`(?m)^ExecStart=.*$`).FindString(string(b))
	for _, flag := range regexp.MustCompile(` --([a-z-]+)`).FindAllStringSubmatch(start, -1) {
		if !strings.Contains(usage.String(), "\n  -"+flag[1]+" ") && !strings.Contains(usage.String(), "\n  -"+flag[1]+"\n") {
			t.Errorf("serve has no flag --%s", flag[1])
		}
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	// The program need not be installed.
	unit := filepath.Join(t.TempDir(), "sqlots.service")
	if err := os.WriteFile(unit, []byte(strings.Replace(string(b), "/usr/bin/sqlots", "/bin/true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", unit).CombinedOutput(); err != nil || strings.Contains(string(out), unit) {
		t.Errorf("%v\n%s", err, out)
	}
}
