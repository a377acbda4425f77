package slt

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

const usage = `usage: sqlots slt [flags] FILE_FOLDER_OR_ARCHIVE...

Runs sqllogictest files against a MySQL address, each in a database of its own
that is dropped afterwards. Folders and archives (.tar, .tar.gz, .tar.xz) are
searched for *.test files.

flags:
`

// Exit codes of Main.
const (
	exitOK     = 0 // all records of all files did what they should
	exitFailed = 1 // a record failed, or a file could not be run to its end
	exitUsage  = 2 // wrong arguments, no files, or no connection
)

// command holds the flags of one call of Main.
type command struct {
	dsn, protocol, engine, jsonPath string
	exceptPath                      string
	jobs, maxErrors, show, share    int
	rewrite, verbose, trace         bool
	named, files                    []string
	stdout, stderr                  io.Writer
}

// Main is the command `sqlots slt`; args do not contain its name. It returns
// the exit code: 0 when everything passed, 1 after failures, 2 for bad usage.
func Main(args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	if err := c.parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		_, _ = fmt.Fprintln(stderr, "sqlots slt:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	summary, err := c.run(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "sqlots slt:", err)
		return exitUsage
	}
	if summary.Passed < summary.Files {
		return exitFailed
	}
	return exitOK
}

func (c *command) parse(args []string) error {
	fset := flag.NewFlagSet("sqlots slt", flag.ContinueOnError)
	fset.SetOutput(c.stderr)
	fset.Usage = func() {
		fset.SetOutput(c.stdout)
		_, _ = io.WriteString(c.stdout, usage)
		fset.PrintDefaults()
	}
	fset.StringVar(&c.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` as user:password@tcp(host:port)/")
	fset.StringVar(&c.protocol, "protocol", "text", "text or binary (each statement prepared)")
	fset.StringVar(&c.engine, "engine", "", "comma-separated `names` for skipif and onlyif (default: mysql, and mariadb or sqlots as the server says)")
	fset.IntVar(&c.jobs, "j", 1, "`files` run at the same time")
	fset.IntVar(&c.maxErrors, "max-errors", 0, "stop a file after so many `failures` (0: never)")
	fset.IntVar(&c.show, "show", defaultKeepFailures, "print the first so many `failures` of each file")
	fset.BoolVar(&c.rewrite, "rewrite", false, "put the server's answers into the files")
	fset.BoolVar(&c.verbose, "v", false, "print a line for each file, not only for failed ones")
	fset.BoolVar(&c.trace, "trace", false, "print a line for each record")
	fset.StringVar(&c.jsonPath, "json", "", "write a summary as JSON to this `file` (-: standard output)")
	fset.StringVar(&c.exceptPath, "except", "", "read the records whose expectation is not MySQL's from this `file`")
	fset.IntVar(&c.share, "query-share", 1, "run all statements, and one of so many `queries`")
	var err error
	if c.named, err = parseMixed(fset, args); err != nil {
		return err
	}
	if c.jobs < 1 || c.show < 1 || c.share < 1 || c.maxErrors < 0 {
		return errors.New("-j, -show and -query-share must be at least 1, -max-errors at least 0")
	}
	return nil
}

// parseMixed parses flags before, between and after the file names, which it
// returns.
func parseMixed(fset *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := fset.Parse(args); err != nil {
			return nil, err
		}
		if fset.NArg() == 0 {
			return names, nil
		}
		names = append(names, fset.Arg(0))
		args = fset.Args()[1:]
	}
}

// FindFiles replaces folders by the *.test files below them, in order. What
// archives hold is unpacked below the folder that temp gives.
func FindFiles(ctx context.Context, args []string, temp func() (string, error)) ([]string, error) {
	var files []string
	for _, arg := range args {
		if IsArchive(arg) {
			dir, err := temp()
			if err != nil {
				return nil, err
			}
			if err := Unpack(ctx, arg, dir); err != nil {
				return nil, err
			}
			arg = dir
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		var found []string
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".test" {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("searching for test files: %w", err)
		}
		sort.Strings(found)
		files = append(files, found...)
	}
	return files, nil
}

func (c *command) run(ctx context.Context) (_ *Summary, err error) {
	protocol, err := ParseProtocol(c.protocol)
	if err != nil {
		return nil, err
	}
	var temps []string
	defer func() {
		for _, dir := range temps {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	c.files, err = FindFiles(ctx, c.named, func() (string, error) {
		dir, err := os.MkdirTemp("", "sqlots-slt-")
		temps = append(temps, dir)
		return dir, err
	})
	if err != nil {
		return nil, err
	}
	if len(c.files) == 0 {
		return nil, errors.New("no test files given (see -h)")
	}
	open, err := Opener(c.dsn)
	if err != nil {
		return nil, err
	}
	opts := Options{
		Open: open, Protocol: protocol, MaxErrors: c.maxErrors, KeepFailures: c.show, Rewrite: c.rewrite,
		QueryShare: c.share,
	}
	if opts.Exceptions, err = c.exceptions(); err != nil {
		return nil, err
	}
	if c.trace {
		opts.Trace = &lockedWriter{w: c.stdout}
	}
	if opts.Engines, err = c.engines(ctx, opts); err != nil {
		return nil, err
	}
	summary := &Summary{Engines: opts.Engines, Protocol: protocol.String()}
	start := time.Now()
	c.runAll(ctx, opts, summary)
	summary.Seconds = time.Since(start).Seconds()
	_, _ = fmt.Fprintln(c.stdout, summary)
	return summary, c.writeSummary(summary)
}

// runAll runs the files on c.jobs goroutines and prints their reports as they
// come.
func (c *command) runAll(ctx context.Context, opts Options, summary *Summary) {
	todo := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(c.jobs, len(c.files)) {
		wg.Go(func() {
			for path := range todo {
				report, _ := RunFile(ctx, path, opts) // the report holds the error
				mu.Lock()
				summary.Add(report)
				c.print(report)
				mu.Unlock()
			}
		})
	}
	for _, path := range c.files {
		if ctx.Err() != nil {
			break
		}
		todo <- path
	}
	close(todo)
	wg.Wait()
}

func (c *command) exceptions() (_ []Exception, err error) {
	if c.exceptPath == "" {
		return nil, nil
	}
	f, err := os.Open(c.exceptPath)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return ParseExceptions(c.exceptPath, f)
}

func (c *command) print(r Report) {
	if c.verbose || !r.Passed() {
		_, _ = fmt.Fprintln(c.stdout, r.line())
	}
	for _, f := range r.Failures {
		_, _ = fmt.Fprintln(c.stdout, f)
	}
	if r.Error != "" {
		_, _ = fmt.Fprintln(c.stdout, r.Error)
	}
}

func (c *command) writeSummary(s *Summary) (err error) {
	switch c.jsonPath {
	case "":
		return nil
	case "-":
		return s.writeJSON(c.stdout)
	}
	f, err := os.Create(c.jsonPath)
	if err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return s.writeJSON(f)
}

// engines gives the names for skipif and onlyif: those of the flag, or by the server's
// version.
func (c *command) engines(ctx context.Context, opts Options) ([]string, error) {
	if c.engine != "" {
		return engineNames(c.engine), nil
	}
	conn, err := opts.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the server: %w", err)
	}
	s := &session{conn: conn}
	res, err := s.query(ctx, "SELECT VERSION(), @@version_comment", "TT")
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, fmt.Errorf("asking for the server's version: %w", err)
	}
	return enginesOf(strings.Join(res.values, " ")), nil
}

func enginesOf(version string) []string {
	version = strings.ToLower(version)
	for _, name := range []string{"sqlots", "mariadb"} {
		if strings.Contains(version, name) {
			return []string{"mysql", name}
		}
	}
	return []string{"mysql"}
}

// lockedWriter lets the goroutines of several files trace to one writer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write passes p on, one call at a time.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
