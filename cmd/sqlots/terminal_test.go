package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/term"
)

// TestCtrlC: the line that is being typed is dropped, the shell goes on.
func TestCtrlC(t *testing.T) {
	keys := &keyboard{in: strings.NewReader("SELECT 1\x03SELECT 2;\r")}
	var screen bytes.Buffer
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, &screen}, "> ")
	line, err := terminal.ReadLine()
	if line != "" || err != nil || !keys.interrupted {
		t.Errorf("after Ctrl-C: %q, %v, interrupted %v", line, err, keys.interrupted)
	}
	keys.interrupted = false
	if line, err := terminal.ReadLine(); line != "SELECT 2;" || err != nil || keys.interrupted {
		t.Errorf("the next line: %q, %v", line, err)
	}
	if _, err := terminal.ReadLine(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestHistory(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	h := openHistory()
	for _, line := range []string{"SELECT 1;", "SELECT 1;", " ", "ALTER USER a IDENTIFIED BY 'x';", "SET PASSWORD = 'x';", "SELECT 2;"} {
		h.Add(line)
	}
	h.close()
	h = openHistory()
	defer h.close()
	if want := []string{"SELECT 1;", "SELECT 2;"}; !reflect.DeepEqual(h.lines, want) {
		t.Errorf("got %q, want %q", h.lines, want)
	}
	if h.Len() != 2 || h.At(0) != "SELECT 2;" {
		t.Errorf("newest of %d is %q", h.Len(), h.At(0))
	}
	info, err := os.Stat(filepath.Join(home, ".sqlots_history"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the history: %v, %v", info.Mode(), err)
	}
}
