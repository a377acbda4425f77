package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sqlots/sqlots/tool/bench/tpch"
)

const usage = `usage: sqlots bench load|run|index|search|words|columns|soak|tpch [flags]

load   creates and fills the call-record tables in the database of -dsn
       (sqlots_bench if it names none); tables of an earlier load are dropped
run    measures workloads on what load has made
index  measures writers beside an index build (sqlots bench index -h)
search measures questions of a search index (sqlots bench search -h)
words  measures searches for words over many connections (sqlots bench words -h)
columns measures aggregates over what load has made (sqlots bench columns -h)
soak   changes and asks a search index for a long time (sqlots bench soak -h)
tpch   runs the queries of TPC-H (sqlots bench tpch -h tells more)

With -compare, everything is done on both addresses in turn: A is that of
-dsn, B that of -compare; ratios above 1 say that A is better.

workloads (-workloads takes names, reads, writes, all):
`

// Exit codes of Main.
const (
	exitOK     = 0
	exitFailed = 1 // an answer was wrong, an operation failed, or the run broke off
	exitUsage  = 2
)

// command holds the flags of one call of Main.
type command struct {
	verb           string
	dsn, compare   string
	pid, pid2      int
	load           loadOptions
	ddl            string
	workloads      string
	conns          string
	maxHeavy       int
	rounds         int
	plan           plan
	verify         int
	check          bool
	jsonPath       string
	stdout, stderr io.Writer

	report  report
	chosen  []workload
	connsOf []int
	failed  bool // an operation failed or an answer was wrong
}

// Main is the command `sqlots bench`; args do not contain its name. It returns
// the exit code: 0 when all went well, 1 when operations failed or answers
// were wrong, 2 for bad usage.
func Main(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "tpch" {
		return tpch.Main(args[1:], stdout, stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	others := map[string]func(context.Context, []string, io.Writer, io.Writer) error{"index": indexMain, "soak": soakMain, "search": searchMain, "words": wordsMain, "columns": columnsMain}
	if len(args) > 0 && others[args[0]] != nil {
		run := others[args[0]]
		err := run(ctx, args[1:], stdout, stderr)
		if err == nil || errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		_, _ = fmt.Fprintf(stderr, "sqlots bench %s: %v\n", args[0], err)
		return exitFailed
	}
	c := &command{stdout: stdout, stderr: stderr}
	if err := c.parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		_, _ = fmt.Fprintln(stderr, "sqlots bench:", err)
		return exitUsage
	}
	if err := errors.Join(c.run(ctx), c.writeReport()); err != nil {
		_, _ = fmt.Fprintln(stderr, "sqlots bench:", err)
		return exitFailed
	}
	if c.failed {
		return exitFailed
	}
	return exitOK
}

// newFlags are those of a command of its own.
func newFlags(name, usage string, stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("sqlots bench "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		f.PrintDefaults()
	}
	return f
}

func (c *command) flags() *flag.FlagSet {
	f := flag.NewFlagSet("sqlots bench", flag.ContinueOnError)
	f.SetOutput(c.stderr)
	f.Usage = func() {
		f.SetOutput(c.stdout)
		_, _ = io.WriteString(c.stdout, usage)
		for _, w := range workloads() {
			_, _ = fmt.Fprintf(c.stdout, "  %-16s %s\n", w.name, w.about)
		}
		_, _ = io.WriteString(c.stdout, "\nflags:\n")
		f.PrintDefaults()
	}
	f.StringVar(&c.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` A as user:password@tcp(host:port)/database")
	f.StringVar(&c.compare, "compare", "", "`address` B to compare with")
	f.IntVar(&c.pid, "pid", 0, "`process` of server A, for its CPU time (default: found for loopback ports)")
	f.IntVar(&c.pid2, "pid2", 0, "`process` of server B")
	f.StringVar(&c.jsonPath, "json", "", "write all numbers as JSON to this `file` (-: standard output)")

	f.Int64Var(&c.load.sizes.Rows, "rows", 2_000_000, "load: number of calls")
	f.Int64Var(&c.load.sizes.Cells, "cells", 1_000_000, "load: number of cells")
	f.Int64Var(&c.load.sizes.Stations, "stations", 1_000, "load: number of stations")
	f.Uint64Var(&c.load.sizes.Seed, "seed", 1, "load: seed of the data")
	f.StringVar(&c.load.method, "method", methodInfile, "load: infile (LOAD DATA LOCAL INFILE) or insert")
	f.StringVar(&c.ddl, "ddl", "auto", "load: sqlots (INCLUDE), portable (a longer key), or auto")
	f.Int64Var(&c.load.batch, "batch", 1000, "load: rows of one INSERT")
	f.Int64Var(&c.load.chunk, "chunk", 0, "load: rows of one LOAD DATA (0: all in one)")
	f.IntVar(&c.load.conns, "load-conns", 1, "load: connections")

	f.StringVar(&c.workloads, "workloads", "all", "run: comma-separated `names`")
	f.StringVar(&c.conns, "conns", "1,8,64", "run: comma-separated `numbers` of connections")
	f.IntVar(&c.maxHeavy, "max-heavy-conns", 8, "run: most connections for full scans and the like")
	f.DurationVar(&c.plan.duration, "duration", 3*time.Second, "run: time of each measurement")
	f.DurationVar(&c.plan.warmup, "warmup", 500*time.Millisecond, "run: time before each measurement")
	f.Int64Var(&c.plan.ops, "ops", 0, "run: operations of each measurement, instead of -duration")
	f.IntVar(&c.rounds, "rounds", 0, "run: measurements of each kind, medians are printed (default 1, with -compare 3)")
	f.BoolVar(&c.check, "check", true, "run: compare some answers with the data set before measuring")
	f.IntVar(&c.verify, "verify", 0, "run: compare the two addresses' answers to so many queries of each workload")
	return f
}

func (c *command) parse(args []string) error {
	f := c.flags()
	if len(args) == 0 {
		f.Usage()
		return errors.New("say load, run, index, search, columns, soak or tpch")
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help" {
		f.Usage()
		return flag.ErrHelp
	}
	c.verb = args[0]
	if c.verb != "load" && c.verb != "run" {
		return fmt.Errorf("unknown command %q (load, run, index, search, columns, soak or tpch)", c.verb)
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return c.validate()
}

func (c *command) validate() error {
	if err := c.load.sizes.Validate(); err != nil {
		return err
	}
	var err error
	if c.load.ddl, err = parseDDL(c.ddl); err != nil {
		return err
	}
	if c.load.method != methodInfile && c.load.method != methodInsert {
		return fmt.Errorf("unknown -method %q (infile or insert)", c.load.method)
	}
	if c.load.batch < 1 || c.load.chunk < 0 || c.load.conns < 1 {
		return errors.New("-batch and -load-conns must be at least 1, -chunk at least 0")
	}
	if c.rounds < 0 || c.maxHeavy < 1 || c.verify < 0 || c.plan.ops < 0 || c.plan.duration <= 0 || c.plan.warmup < 0 {
		return errors.New("numbers and times must not be negative")
	}
	if c.verify > 0 && c.compare == "" {
		return errors.New("-verify needs a second address in -compare")
	}
	if c.rounds == 0 {
		c.rounds = 1
		if c.compare != "" {
			c.rounds = 3
		}
	}
	for _, s := range strings.Split(c.conns, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return fmt.Errorf("-conns: %q is not a number of connections", s)
		}
		c.connsOf = append(c.connsOf, n)
	}
	c.chosen, err = selectWorkloads(c.workloads)
	return err
}

func (c *command) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.stdout, format+"\n", args...)
}

func (c *command) writeReport() (err error) {
	switch c.jsonPath {
	case "":
		return nil
	case "-":
		return c.report.writeJSON(c.stdout)
	}
	f, err := os.Create(c.jsonPath)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return c.report.writeJSON(f)
}
