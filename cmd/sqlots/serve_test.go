package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	for flag, want := range map[string]string{"--tmp=" + data + "/kv": "--tmp", "--log-dir=" + data: "--log-dir", "--socket=" + data + "/FORMAT": "--socket", "--require-root-password": "--require-root-password", "--initial-root-password-file=" + data + "x": "initial password of root"} {
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
