package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
)

// terminal runs the shell with line editing until the user leaves.
func (r *repl) terminal(ctx context.Context) int {
	h := openHistory()
	defer h.close()
	keys := &keyboard{in: os.Stdin}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, os.Stdout}, "")
	t.History = h
	fmt.Fprintf(r.stdout, "Connected to %s. Statements end with ; or \\G, \\? helps, \\q quits.\n\n", r.client.config.Addr)
	s := &splitter{}
	for {
		line, err := readLine(t, prompt(s))
		if keys.interrupted {
			keys.interrupted = false
			s.reset()
			continue
		}
		if err != nil && err != term.ErrPasteIndicator {
			fmt.Fprintln(r.stdout, "Bye")
			return 0
		}
		if s.isBlank() && isCommand(line) {
			if quit, _ := r.command(ctx, strings.TrimSpace(line)); quit {
				fmt.Fprintln(r.stdout, "Bye")
				return 0
			}
			continue
		}
		for _, st := range s.add(line + "\n") {
			r.execute(ctx, st)
		}
	}
}

// readLine puts the terminal into raw mode for the time of one line only, so
// that Ctrl-C is a signal while a statement runs.
func readLine(t *term.Terminal, prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, old)
	if w, h, err := term.GetSize(fd); err == nil && w > 0 {
		if err := t.SetSize(w, h); err != nil {
			return "", err
		}
	}
	t.SetPrompt(prompt)
	return t.ReadLine()
}

func prompt(s *splitter) string {
	switch {
	case s.isBlank():
		return "sqlots> "
	case s.state == 0 || s.state == '#':
		return "     -> "
	case s.state == '*':
		return "    /*> "
	}
	return "     " + string(rune(s.state)) + "> "
}

// keyboard turns Ctrl-C into keys that clear the line and end it, since
// term.Terminal would take it for the end of the input.
type keyboard struct {
	in          io.Reader
	pending     []byte
	interrupted bool
}

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.pending) == 0 {
		buf := make([]byte, 256)
		n, err := k.in.Read(buf)
		if n == 0 {
			return 0, err
		}
		for _, c := range buf[:n] {
			if c == 3 {
				k.interrupted = true
				k.pending = append(k.pending, 5, 21, '\r') // end of line, delete to its start, enter
				continue
			}
			k.pending = append(k.pending, c)
		}
	}
	n := copy(p, k.pending)
	k.pending = k.pending[n:]
	return n, nil
}

// historyLines bounds the history that is kept in memory.
const historyLines = 1000

// history implements term.History and appends to a file of the user. Lines
// that may hold a password are not kept.
type history struct {
	lines []string
	file  *os.File
}

func openHistory() *history {
	h := &history{}
	home, err := os.UserHomeDir()
	if err != nil {
		return h // without a file
	}
	f, err := os.OpenFile(filepath.Join(home, ".sqlots_history"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return h
	}
	h.file = f
	for scan := bufio.NewScanner(f); scan.Scan(); {
		h.keep(scan.Text())
	}
	return h
}

func (h *history) close() {
	if h.file != nil {
		h.file.Close()
	}
}

func (h *history) keep(line string) {
	h.lines = append(h.lines, line)
	if len(h.lines) > historyLines {
		h.lines = h.lines[len(h.lines)-historyLines:]
	}
}

// Add implements term.History.
func (h *history) Add(line string) {
	upper := strings.ToUpper(line)
	if strings.TrimSpace(line) == "" || strings.Contains(upper, "IDENTIFIED") || strings.Contains(upper, "PASSWORD") ||
		len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.keep(line)
	if h.file != nil {
		fmt.Fprintln(h.file, line) // a history that cannot be written is no reason to stop
	}
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History; 0 is the newest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
