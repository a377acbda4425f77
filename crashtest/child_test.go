package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/server"
)

// childDir is the variable that makes the test binary a server.
const childDir = "SQLOTS_CRASHTEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		serve(dir)
	}
	os.Exit(m.Run())
}

// serve is the child: it says its address and runs until it is killed, or its
// parent is gone.
func serve(dir string) {
	s, err := server.Start(context.Background(), server.Config{
		DataDir: dir, Listen: "127.0.0.1:0", Memory: 256 << 20, Durability: 1, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting:", err)
		os.Exit(1)
	}
	fmt.Println("READY", s.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
	os.Exit(3)
}

// child is a running server process.
type child struct {
	cmd  *exec.Cmd
	addr string
	log  *lockedBuffer
}

// lockedBuffer collects the log while the process runs.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what was written so far.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startTimeout bounds recovery after a crash.
const startTimeout = 30 * time.Second

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), log: &lockedBuffer{}}
	c.cmd.Env = append(os.Environ(), childDir+"="+dir)
	c.cmd.Stderr = c.log
	if _, err := c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	timer := time.AfterFunc(startTimeout, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = c.cmd.Wait()
		t.Fatalf("the server did not start: %v\n%s", err, c.log)
	}
	c.addr = strings.TrimSpace(strings.TrimPrefix(line, "READY "))
	return c
}

// kill ends the process with SIGKILL and waits for its end.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may be dead already
	_ = c.cmd.Wait()
}
