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
	for flag, want := range map[string]string{"--tmp=" + data + "/kv": "--tmp", "--log-dir=" + data: "--log-dir", "--socket=" + data + "/FORMAT": "--socket", "--require-root-password": "--require-root-password"} {
		var out strings.Builder
		if code := serve([]string{"--data", data, "--listen", "127.0.0.1:0", "--memory", "64MiB", flag}, io.Discard, &out); code != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d\n%s", flag, code, out.String())
		}
		if _, err := os.Stat(data); err == nil && want != "--require-root-password" {
			t.Errorf("%s: the directory was made", flag)
		}
		os.RemoveAll(data)
	}
}
