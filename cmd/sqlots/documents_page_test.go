//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// addressVariable makes the test binary the command sqlots (see TestMain).
const addressVariable = "SQLOTS_DOCUMENTS_ADDRESS"

// documentsAddress is the address that the documents give a server.
const documentsAddress = "127.0.0.1:4000"

// documentsHTTP is the address that the documents give a server for HTTP.
const documentsHTTP = "127.0.0.1:4080"

// TestMain lets the shells of TestDocuments run the test binary as sqlots.
func TestMain(m *testing.M) {
	if addr := os.Getenv(addressVariable); addr != "" {
		args := documentArgs(os.Args[1:], addr)
		if len(args) > 0 && args[0] != "serve" {
			awaitServer(addr, args)
		}
		os.Exit(run(args, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// documentArgs puts addr in place of the address of the documents, and adds it
// where a command would take its default.
func documentArgs(args []string, addr string) []string {
	_, port, _ := net.SplitHostPort(addr)
	out, named := slices.Clone(args), false
	for i, a := range out {
		switch {
		case strings.Contains(a, documentsAddress):
			out[i], named = strings.ReplaceAll(a, documentsAddress, addr), true
		case i > 0 && a == "4000" && out[i-1] == "--port":
			out[i], named = port, true
		}
	}
	if len(out) == 0 || named {
		return out
	}
	switch out[0] {
	case "serve":
		return slices.Insert(out, 1, "--listen", addr)
	case "sql":
		return slices.Insert(out, 1, "--port", port)
	case "slt", "bench":
		return slices.Insert(out, min(2, len(out)), "--dsn", "root@tcp("+addr+")/")
	}
	return out
}

// awaitServer waits for a server that the line before may have started.
func awaitServer(addr string, args []string) {
	if !strings.Contains(strings.Join(args, " "), addr) && !slices.Contains(args, "--port") {
		return
	}
	reachable(addr)
}

// reachable waits until a server listens.
func reachable(addr string) bool {
	for range 400 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return true
		}
		time.Sleep(25 * time.Millisecond)
	}
	return false
}

// page runs the blocks of one document in order: statements on one connection,
// commands in one shell, in a directory of their own.
type page struct {
	t    *testing.T
	dir  string
	addr string // of the page's server, once it is needed

	serving bool           // a command has started the server
	server  *server.Server // in memory; nil where a command has started one
	client  *client
	shell   *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errs    lockedBuffer
	ended   bool // the shell has ended, or does not answer
}

// run runs a block and compares its result.
func (p *page) run(b *block) {
	p.t.Helper()
	var err error
	switch b.lang {
	case "sql":
		b.got, err = p.statements(b)
	case "sh":
		b.got, err = p.commands(b)
	}
	b.got = strings.TrimRight(costs.ReplaceAllString(timing.ReplaceAllString(b.got, "N sec"), ""), "\n")
	if err != nil {
		p.t.Fatalf("line %d: %v\n%s", b.line, err, b.got)
	}
	if b.shown[1] > 0 && !testflag.Update() && b.got != b.want {
		p.t.Errorf("line %d gives:\n%s\nthe document shows:\n%s", b.line, b.got, b.want)
	}
}

// statements runs a block of SQL and returns its results. An error is one of
// them where the block shows results.
func (p *page) statements(b *block) (string, error) {
	ctx := context.Background()
	c, err := p.connection(ctx)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, st := range splitStatements(b.code) {
		o, err := c.run(ctx, st.text)
		if err != nil {
			text := errorText(err, 0)
			if b.shown[1] == 0 {
				return out.String(), fmt.Errorf("%s\n%s", st.text, text)
			}
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			out.WriteString(text + "\n")
			continue
		}
		for _, g := range o.sets {
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			if err := writeResult(&out, g, st.vertical); err != nil {
				return "", err
			}
		}
	}
	return out.String(), nil
}

// splitStatements are the statements of a block.
func splitStatements(code string) []statement {
	s := &splitter{}
	var out []statement
	for line := range strings.Lines(code + "\n") {
		out = append(out, s.add(line)...)
	}
	return append(out, s.rest()...)
}

// writeResult prints a result as the shell does, and plans without a table around them.
func writeResult(w io.Writer, g *grid, vertical bool) error {
	switch {
	case len(g.rows) == 0:
		_, err := io.WriteString(w, "Empty set\n")
		return err
	case vertical:
		return g.vertical(w)
	case len(g.columns) == 1 && g.columns[0] == "EXPLAIN":
		for _, row := range g.rows {
			if _, err := io.WriteString(w, strings.TrimRight(row[0].text, "\n")+"\n"); err != nil {
				return err
			}
		}
		return nil
	}
	return g.table(w)
}

// connection connects to the page's server: the one that a command has
// started, or one in memory. Its database is doc.
func (p *page) connection(ctx context.Context) (*client, error) {
	if p.client != nil {
		return p.client, nil
	}
	switch {
	case p.serving && !reachable(p.addr):
		return nil, fmt.Errorf("the server does not listen: %s", p.errs.text())
	case !p.serving:
		listen := p.addr
		if listen == "" {
			listen = "127.0.0.1:0"
		}
		s, err := server.Start(ctx, server.Config{InMemory: true, Listen: listen, Memory: 128 << 20})
		if err != nil {
			return nil, err
		}
		p.server, p.addr = s, s.Addr()
	}
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", p.addr
	c, err := dial(ctx, config)
	if err != nil {
		return nil, err
	}
	p.client = c
	for _, st := range []string{"CREATE DATABASE IF NOT EXISTS doc", "USE doc"} {
		if _, err := c.run(ctx, st); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// address is where the page's server listens, or will listen.
func (p *page) address() string {
	for try := 0; p.addr == ""; try++ {
		// Below the ports that the system gives to others meanwhile.
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)))
		if err == nil {
			p.addr = l.Addr().String()
			l.Close()
		} else if try == 100 {
			p.t.Fatal(err)
		}
	}
	return p.addr
}

// httpAddress is where it answers HTTP, if a command says so: the port after that of address.
func (p *page) httpAddress() string {
	host, port, _ := net.SplitHostPort(p.address())
	n, _ := strconv.Atoi(port)
	return net.JoinHostPort(host, strconv.Itoa(n+1))
}

// blockEnd is printed by the shell after each block, shellEnd when it ends: a
// server that it has started keeps its output open.
const (
	blockEnd = "-- end of the block"
	shellEnd = "-- end of the shell"
)

// commands runs a block of shell commands and returns what they print. It
// fails when one of them does.
func (p *page) commands(b *block) (string, error) {
	if p.shell == nil {
		if err := p.startShell(); err != nil {
			return "", err
		}
	}
	if begin, end := strings.LastIndex(b.code, "sqlots serve"), strings.LastIndex(b.code, "kill $!"); begin >= 0 || end >= 0 {
		if err := p.disconnect(); err != nil {
			return "", err
		}
		p.serving = begin > end
	}
	p.errs.reset()
	code := strings.ReplaceAll(b.code, documentsHTTP, p.httpAddress())
	if _, err := fmt.Fprintf(p.in, "set -e\n%s\nset +e\necho '%s'\n", code, blockEnd); err != nil {
		return "", fmt.Errorf("the shell has ended: %w\n%s", err, p.errs.text())
	}
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		var out strings.Builder
		for {
			line, err := p.out.ReadString('\n')
			if line == shellEnd+"\n" {
				err = io.EOF
			}
			if err != nil || line == blockEnd+"\n" {
				answers <- answer{out.String(), err}
				return
			}
			out.WriteString(line)
		}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			p.ended = true
			return a.text, fmt.Errorf("a command failed: %s", p.errs.text())
		}
		return a.text, nil
	case <-time.After(30 * time.Second):
		p.ended = true
		return "", fmt.Errorf("the commands take too long: %s", p.errs.text())
	}
}

func (p *page) startShell() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	bin := p.t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "sqlots")); err != nil {
		return err
	}
	p.shell = exec.Command("sh")
	p.shell.Dir = p.dir
	p.shell.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), addressVariable+"="+p.address())
	p.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.shell.Stderr = &p.errs
	if p.in, err = p.shell.StdinPipe(); err != nil {
		return err
	}
	out, err := p.shell.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := p.shell.Start(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.in, "trap \"echo '%s'\" EXIT\n", shellEnd)
	return err
}

// close ends the shell with all that it has started, and the server.
func (p *page) close() {
	if err := p.disconnect(); err != nil {
		p.t.Error(err)
	}
	if p.shell != nil {
		p.endShell()
	}
}

// disconnect leaves the page's server, and stops it if it is in memory.
func (p *page) disconnect() error {
	if p.client != nil {
		p.client.close()
		p.client = nil
	}
	if p.server == nil {
		return nil
	}
	err := p.server.Stop(5 * time.Second)
	p.server = nil
	return err
}

// endShell ends what the shell has started, and the shell.
func (p *page) endShell() {
	group := -p.shell.Process.Pid
	if p.ended {
		_ = syscall.Kill(group, syscall.SIGTERM) // none left: ESRCH
	} else {
		_, _ = io.WriteString(p.in, "trap '' TERM; kill 0; wait\n")
	}
	_ = p.in.Close()
	timer := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
	defer timer.Stop()
	_ = p.shell.Wait() // its status is that of the last job
	_ = syscall.Kill(group, syscall.SIGKILL)
}

// lockedBuffer is a buffer that a process writes to while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *lockedBuffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b.Reset()
}
