package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/server"
)

// demo is "sqlots demo".
func demo(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots demo", flag.ContinueOnError)
	fs.SetOutput(stderr)
	exit := fs.Bool("exit", false, "stop after the queries instead of staying up")
	listen := fs.String("listen", "127.0.0.1:0", "TCP address to listen on; port 0 takes a free one")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots demo: unexpected argument", fs.Arg(0))
		return 2
	}
	// SIGPIPE: the directory is removed also when the reader of the output has gone.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	if err := runDemo(ctx, *listen, *exit, stdout, stderr); err != nil {
		if errors.Is(err, context.Canceled) {
			return 0 // stopped by the user
		}
		fmt.Fprintln(stderr, "sqlots demo:", err)
		return 1
	}
	return 0
}

// stopGrace is how long statements of other clients may go on at the end.
const stopGrace = 2 * time.Second

// runDemo runs the scenario on a server of its own, in a directory that is
// removed at the end.
func runDemo(ctx context.Context, listen string, exit bool, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "sqlots-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := server.Start(ctx, server.Config{DataDir: dir, Listen: listen, Durability: 1, Memory: 512 << 20,
		Log: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(stopGrace)) }()
	fmt.Fprintf(stdout, "-- A sqlots server on %s, its data in %s\n\n", s.Addr(), dir)
	failed, err := runScenario(ctx, s.Addr(), stdout)
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d results differ from the expected ones", failed)
	}
	fmt.Fprintln(stdout, "-- All results are as expected.")
	if exit {
		return nil
	}
	inviteClients(s.Addr(), stdout)
	<-ctx.Done()
	fmt.Fprintf(stdout, "\n-- Stopping, and removing %s\n", dir)
	return nil
}

// runScenario goes through all steps over a connection and returns how many
// results are not the expected ones.
func runScenario(ctx context.Context, addr string, stdout io.Writer) (failed int, err error) {
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", addr
	c, err := dial(ctx, config)
	if err != nil {
		return 0, err
	}
	defer c.close()
	for _, st := range slices.Concat(demoSetup(), demoQueries(), demoSearch()) {
		ok, err := st.run(ctx, c, stdout)
		if err != nil {
			return failed, fmt.Errorf("%s\n%s", st.sql, errorText(err, 0))
		}
		if !ok {
			failed++
		}
	}
	return failed, nil
}

// run prints statement, plan and result; false when the result is wrong.
func (st step) run(ctx context.Context, c *client, stdout io.Writer) (bool, error) {
	if st.title != "" {
		fmt.Fprintf(stdout, "-- %s\n", st.title)
	}
	fmt.Fprintf(stdout, "%s;\n", st.sql)
	if st.explained || st.compared {
		if err := printPlan(ctx, c, st, stdout); err != nil {
			return false, err
		}
	}
	out, err := c.run(ctx, st.sql)
	if err != nil {
		return false, err
	}
	if st.want == nil {
		fmt.Fprintf(stdout, "Query OK, %s affected (%s)\n\n", counted(out.affected, "row"), seconds(out.elapsed))
		return true, nil
	}
	if len(out.sets) != 1 {
		return false, fmt.Errorf("%d result sets instead of one", len(out.sets))
	}
	g := out.sets[0]
	if err := g.table(stdout); err != nil {
		return false, err
	}
	fmt.Fprintf(stdout, "%s in set (%s)\n", counted(int64(len(g.rows)), "row"), seconds(out.elapsed))
	ok := g.equal(st.want)
	if !ok {
		fmt.Fprintf(stdout, "WRONG: expected %v\n", st.want)
	}
	fmt.Fprintln(stdout)
	return ok, nil
}

// printPlan prints the plan of a statement, indented.
func printPlan(ctx context.Context, c *client, st step, stdout io.Writer) error {
	format := "TREE"
	if st.compared {
		format = "'trace'"
	}
	out, err := c.run(ctx, "EXPLAIN FORMAT="+format+" "+st.sql)
	if err != nil {
		return err
	}
	for _, g := range out.sets {
		for _, row := range g.rows {
			for line := range strings.SplitSeq(lastPlan(row[0].text), "\n") {
				fmt.Fprintf(stdout, "  %s\n", line)
			}
		}
	}
	return nil
}

// lastPlan is the plan at the end of a trace, after those of the rewrite rules.
func lastPlan(trace string) string {
	trace = strings.TrimRight(trace, "\n")
	if i := strings.LastIndex(trace, "\n\n"); i >= 0 {
		return trace[i+2:]
	}
	return trace
}

// equal compares all values as text.
func (g *grid) equal(want [][]string) bool {
	if len(g.rows) != len(want) {
		return false
	}
	for i, row := range g.rows {
		if len(row) != len(want[i]) {
			return false
		}
		for j, c := range row {
			if c.isNull || c.text != want[i][j] {
				return false
			}
		}
	}
	return true
}

func inviteClients(addr string, stdout io.Writer) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = addr, "4000"
	}
	fmt.Fprintf(stdout, `
The server stays up. In another terminal:
  mysql --host %[1]s --port %[2]s --user root demo
  go run ./cmd/sqlots sql --host %[1]s --port %[2]s --database demo
Programs connect to root@tcp(%[1]s:%[2]s)/demo. Ctrl-C stops the server and removes its data.
`, host, port)
}
