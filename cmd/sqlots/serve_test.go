package main

import (
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testutil"
)

func TestFileMode(t *testing.T) {
	for text, want := range map[string]fileMode{"0600": 0o600, "660": 0o660, "0777": 0o777, "": 0, "0": 0, "rw": 0, "0800": 0, "1777": 0, "-1": 0} {
		var m fileMode
		if err := m.Set(text); (err == nil) != (want != 0) || m != want {
			t.Errorf("%q: %s, %v", text, m.String(), err)
		}
	}
}

// TestServeRefuses: flags that would lead to the files of the store end a start.
func TestServeRefuses(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for flag, want := range map[string]string{"--tmp=" + data + "/kv": "--tmp", "--log-dir=" + data: "--log-dir", "--socket=" + data + "/FORMAT": "--socket", "--require-root-password": "--require-root-password", "--initial-root-password-file=" + data + "x": "initial password of root", "--audit-log=yes": "--audit-log", "--store=tikv:/x": "--store: tikv:/x", "--store-ca=x": "--store-ca, "} {
		var out strings.Builder
		if code := serve([]string{"--data", data, "--listen", "127.0.0.1:0", "--memory", "64MiB", flag}, io.Discard, &out); code != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d\n%s", flag, code, out.String())
		}
		if _, err := os.Stat(data); err == nil && strings.HasPrefix(want, "--") && want != "--require-root-password" {
			t.Errorf("%s: the directory was made", flag)
		}
		os.RemoveAll(data)
	}
}

// TestInitialRootPassword: the file precedes the environment, which does not keep it.
func TestInitialRootPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(" hunter2 \r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, env, want string }{{file, "", " hunter2 "}, {file, "x", " hunter2 "}, {"", "x", "x"}} {
		t.Setenv(rootPasswordVariable, c.env)
		if got, err := initialRootPassword(c.path)(); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if _, ok := os.LookupEnv(rootPasswordVariable); ok {
			t.Error("the environment keeps the password")
		}
	}
	if initialRootPassword("") != nil {
		t.Error("a password without a file and a variable")
	}
	if _, err := initialRootPassword(file + "x")(); err == nil {
		t.Error("a file that does not exist is read")
	}
}

// TestHangup: SIGHUP lets the logs go on in new files, and SIGTERM stops the server with
// all events in them.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	out := &testutil.Buffer{}
	code := make(chan int, 1)
	go func() {
		code <- serve([]string{"--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--memory", "64MiB", "--log-dir", dir, "--audit-log", "on"}, io.Discard, out)
	}()
	until := func(what string, fn func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !fn(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) || len(code) > 0 {
				t.Fatalf("%s: %s", what, out)
			}
		}
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	signal := func(s os.Signal) {
		t.Helper()
		if err := self.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	until("start", func() bool { return strings.Contains(out.String(), "msg=ready") })
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(out.String(), "msg=ready event=server.ready address=")
	address, _, _ = strings.Cut(address, " ")
	signal(syscall.SIGHUP)
	until("a new file", func() bool {
		db, err := sql.Open("mysql", "root@tcp("+address+")/")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("FLUSH STATUS"); err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(path)
		return err == nil
	})
	signal(syscall.SIGTERM)
	if n := <-code; n != 0 {
		t.Errorf("exit code %d: %s", n, out)
	}
	text, err := os.ReadFile(path)
	if last := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || !strings.Contains(last[len(last)-1], `"event":"server_stop"`) {
		t.Errorf("%s, %v", text, err)
	}
}
