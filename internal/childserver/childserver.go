package childserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/server"
)

// variable holds, in the environment of a child, what Start was given.
const variable = "SQLOTS_CHILD_SERVER"

// StartTimeout bounds the start, with recovery after a crash.
const StartTimeout = 30 * time.Second

// Main makes a process that Start has begun a server, and does not return then.
// config makes the settings of what Start was given; address, log and
// durability are set here.
func Main(config func(arg string) server.Config) {
	if arg, ok := os.LookupEnv(variable); ok {
		serve(config(arg))
	}
}

// serve says its address and runs until it is stopped or killed, or its parent is
// gone.
func serve(c server.Config) {
	c.Listen, c.Durability, c.Log = "127.0.0.1:0", 1, slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := server.Start(context.Background(), c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting:", err)
		os.Exit(1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		os.Exit(3)
	}()
	fmt.Println("READY", s.Addr())
	<-stop
	if err := s.Stop(StartTimeout); err != nil {
		fmt.Fprintln(os.Stderr, "stopping:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Child is a running server process.
type Child struct {
	// Addr is where it listens.
	Addr string
	// Log is what it has written so far.
	Log   fmt.Stringer
	cmd   *exec.Cmd
	ended sync.Once // the process was waited for: two at once may wait for ever
}

// Start runs the test binary as a server, which is killed at the end of the test
// at the latest. A server that does not start fails the test.
func Start(t testing.TB, arg string) *Child {
	t.Helper()
	c, err := Try(t, arg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Try is Start for a server that may refuse to start: the error has what it
// wrote.
func Try(t testing.TB, arg string) (*Child, error) {
	t.Helper()
	log := &testutil.Buffer{}
	c := &Child{cmd: exec.Command(os.Args[0]), Log: log}
	c.cmd.Env = append(os.Environ(), variable+"="+arg)
	c.cmd.Stderr = log
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
	t.Cleanup(c.Kill)
	timer := time.AfterFunc(StartTimeout, c.Signal)
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.Kill()
		return nil, fmt.Errorf("the server did not start: %w\n%s", err, log)
	}
	c.Addr = strings.TrimSpace(strings.TrimPrefix(line, "READY "))
	return c, nil
}

// Pid is the number of the process.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Signal sends SIGKILL and does not wait.
func (c *Child) Signal() { _ = c.cmd.Process.Kill() } // it may be dead already

// Kill ends the process with SIGKILL and waits for its end. It may be called
// again, and from several goroutines.
func (c *Child) Kill() {
	c.Signal()
	c.ended.Do(func() { _ = c.cmd.Wait() })
}

// Stop ends the server as SIGTERM does, and returns how the process ended; one
// that goes on is killed after StartTimeout.
func (c *Child) Stop() (err error) {
	c.ended.Do(func() {
		timer := time.AfterFunc(StartTimeout, c.Signal)
		defer timer.Stop()
		_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may be dead already
		err = c.cmd.Wait()
	})
	return err
}

// Memory is a line of /proc/PID/status in bytes, such as VmRSS and VmHWM; 0 if it is
// missing.
func (c *Child) Memory(name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}
