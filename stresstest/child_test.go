package stresstest

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/server"
)

const (
	childDir    = "SQLOTS_STRESSTEST_DIR"
	childMemory = "SQLOTS_STRESSTEST_MEMORY"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		serve(dir)
	}
	os.Exit(m.Run())
}

// serve is the child: it says its address and runs until it is killed, or its
// parent is gone.
func serve(dir string) {
	memory, err := strconv.ParseInt(os.Getenv(childMemory), 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0)) // as the command does
	s, err := server.Start(context.Background(), server.Config{
		DataDir: dir, Listen: "127.0.0.1:0", Memory: memory, Durability: 1, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
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
}

func startChild(t *testing.T, dir string, memory int64) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), childDir+"="+dir, childMemory+"="+strconv.FormatInt(memory, 10))
	c.cmd.Stderr = os.Stderr
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
	t.Cleanup(c.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	c.addr = strings.TrimSpace(strings.TrimPrefix(line, "READY "))
	return c
}

// kill ends the process with SIGKILL and waits for its end.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may be dead already
	_ = c.cmd.Wait()
}

// memory is a line of /proc/PID/status in bytes, such as VmRSS and VmHWM; 0
// where there is none.
func (c *child) memory(name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

func connect(t *testing.T, addr, database string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName, cfg.Logger = "root", "tcp", addr, database, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}
