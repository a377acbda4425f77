package damage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

const (
	// bound is the longest that a start, a query or a check may take.
	bound        = 20 * time.Second
	serverMemory = 64 << 20
	addressSpace = 3 << 30
	memTable     = 1 << 20
)

// checkVariable holds, in the environment of a child, the directory to check.
const checkVariable = "SQLOTS_CHECK_DIR"

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(checkVariable); ok {
		limitAddressSpace()
		os.Exit(check(dir))
	}
	childserver.Main(func(dir string) server.Config {
		limitAddressSpace()
		return server.Config{DataDir: dir, Memory: serverMemory, Tune: func(o *pebblekv.Options) { o.MemTableBytes = memTable }}
	})
	os.Exit(m.Run())
}

// check is "sqlots check"; 1 for anything that is wrong.
func check(dir string) int {
	logs, err := datacheck.Logs(dir)
	if err != nil {
		fmt.Println("cannot check:", err)
		return 1
	}
	for _, x := range logs.LeftOut {
		fmt.Println(x)
		if x.Err != nil {
			return 1
		}
	}
	ok, err := datacheck.DirAndFiles(context.Background(), dir, func(d pebblekv.Damage) { fmt.Println(d) }, func(r datacheck.Result) {
		fmt.Println(r.Table.Name, r.OK(), r.Err, r.Report.Problems, r.Search)
	})
	if err != nil {
		fmt.Println("cannot check:", err)
		return 1
	}
	if !ok {
		return 1
	}
	return 0
}

// checked is what the check says of a directory, and whether it found nothing.
func checked(t *testing.T, dir string) (text string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), checkVariable+"="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Errorf("the check hangs\n%.3000s", out.String())
	case err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1):
		t.Errorf("the check ended badly: %v\n%.3000s", err, out.String())
	}
	return out.String(), err == nil
}
