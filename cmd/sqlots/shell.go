package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/term"
)

const shellUsage = `usage: sqlots sql [flags]

A shell for any MySQL server. Statements end with ; or \G. Without -e it reads
from the terminal, or a script from standard input.

flags:
`

const shellHelp = `Statements end with ; or \g, with \G the result is printed vertically.
  \q  quit            quit
  \?  help            this help
  \c                  forget the statement that is being typed
  \. FILE  source FILE  run the statements of a file
  \s                  who and where you are
  \u NAME  use NAME   change the database
Ctrl-C interrupts the running statement, Ctrl-D quits.
LOAD DATA LOCAL INFILE 'path' INTO TABLE … reads a file of this machine.
`

// shellOptions are the flags of "sqlots sql".
type shellOptions struct {
	connection
	database, execute string
	batch, force      bool
}

func (o *shellOptions) flags(fs *flag.FlagSet) {
	o.connection.flags(fs)
	fs.StringVar(&o.database, "database", "", "database")
	fs.StringVar(&o.execute, "e", "", "statements to run instead of reading any")
	fs.BoolVar(&o.batch, "batch", false, "print results as tab-separated lines")
	fs.BoolVar(&o.force, "force", false, "go on after an error in a script")
}

// connection are the flags that say which server to connect to.
type connection struct {
	dsn, host, user, password, socket string
	port                              int
	askPassword                       bool
}

func (o *connection) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.dsn, "dsn", "", "data source name, user:password@tcp(host:port)/database, instead of the flags below")
	fs.StringVar(&o.host, "host", "127.0.0.1", "host")
	fs.IntVar(&o.port, "port", 4000, "port")
	fs.StringVar(&o.socket, "socket", "", "unix socket, instead of host and port")
	fs.StringVar(&o.user, "user", "root", "user")
	fs.StringVar(&o.password, "password", "", "password; other users of this machine can see it, better use -p")
	fs.BoolVar(&o.askPassword, "p", false, "ask for the password")
}

// config makes the driver's configuration. It prompts for the password with
// askPassword.
func (o *connection) config(stderr io.Writer) (*mysql.Config, error) {
	if o.dsn != "" {
		return mysql.ParseDSN(o.dsn)
	}
	if o.askPassword {
		fmt.Fprint(stderr, "Password: ")
		password, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(stderr)
		if err != nil {
			return nil, fmt.Errorf("reading the password: %w", err)
		}
		o.password = string(password)
	}
	c := mysql.NewConfig()
	c.User, c.Passwd = o.user, o.password
	c.Net, c.Addr = "tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port))
	if o.socket != "" {
		c.Net, c.Addr = "unix", o.socket
	}
	c.TLSConfig = "preferred" // encrypted where the server can, as MySQL's client does
	return c, nil
}

// shell is "sqlots sql".
func shell(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots sql", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, shellUsage)
		fs.PrintDefaults()
	}
	o := &shellOptions{}
	o.flags(fs)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots sql: unexpected argument", fs.Arg(0))
		return 2
	}
	onTerminal := o.execute == "" && term.IsTerminal(int(os.Stdin.Fd()))
	config, err := o.config(stderr)
	if err != nil {
		fmt.Fprintln(stderr, "sqlots sql:", err)
		return 2
	}
	if o.dsn == "" {
		config.DBName = o.database
	}
	ctx := context.Background()
	c, err := dial(ctx, config)
	if err != nil {
		fmt.Fprintln(stderr, errorText(err, 0))
		return 1
	}
	defer c.close()
	r := &repl{client: c, stdout: stdout, stderr: stderr, batch: o.batch, force: o.force}
	switch {
	case o.execute != "":
		return r.script(ctx, strings.NewReader(o.execute))
	case onTerminal:
		r.interactive = true
		return r.terminal(ctx)
	}
	return r.script(ctx, os.Stdin)
}

// repl reads statements, runs them and prints what they give.
type repl struct {
	client         *client
	stdout, stderr io.Writer
	batch, force   bool
	interactive    bool
	depth          int // of source within source
}

// script runs all statements of in and returns the exit code. It stops at the
// first error unless force is set.
func (r *repl) script(ctx context.Context, in io.Reader) int {
	s, code := &splitter{}, 0
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := reader.ReadString('\n')
		if err != nil && err != io.EOF {
			fmt.Fprintln(r.stderr, "ERROR: reading the script:", err)
			return 1
		}
		var list []statement
		if s.isBlank() && isCommand(text) {
			if quit, failed := r.command(ctx, strings.TrimSpace(text)); quit {
				return code
			} else if failed {
				code = 1
			}
			s.line++
		} else {
			list = s.add(text)
		}
		if err == io.EOF {
			list = append(list, s.rest()...)
		}
		for _, st := range list {
			if !r.execute(ctx, st) {
				code = 1
				if !r.force {
					return code
				}
			}
		}
		if err == io.EOF {
			return code
		}
		if code != 0 && !r.force {
			return code
		}
	}
}

// execute runs one statement and prints its outcome; false after an error.
func (r *repl) execute(ctx context.Context, st statement) bool {
	out, err := r.interruptible(ctx, st.text)
	if err == nil {
		err = r.print(ctx, out, st.vertical)
	}
	if err == nil {
		return true
	}
	line := st.line
	if r.interactive && r.depth == 0 {
		line = 0
	}
	fmt.Fprintln(r.stderr, errorText(err, line))
	return false
}

// interruptible runs a statement so that Ctrl-C ends it and not the shell.
func (r *repl) interruptible(ctx context.Context, query string) (*outcome, error) {
	if !r.interactive {
		return r.client.run(ctx, query)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-interrupts:
			fmt.Fprintln(r.stderr, "^C -- sending KILL QUERY")
			if err := r.client.interrupt(ctx); err != nil {
				fmt.Fprintln(r.stderr, "interrupting:", err)
			}
		case <-done:
		}
	}()
	out, err := r.client.run(ctx, query)
	close(done)
	<-watched // the statement's KILL must not hit the next one
	return out, err
}

func (r *repl) print(ctx context.Context, out *outcome, vertical bool) error {
	for _, g := range out.sets {
		if err := r.printGrid(g, vertical, out.elapsed); err != nil {
			return err
		}
	}
	if r.batch {
		return nil
	}
	warnings := ""
	if r.interactive {
		warnings = r.warnings(ctx)
	}
	if len(out.sets) == 0 {
		fmt.Fprintf(r.stdout, "Query OK, %s affected%s (%s)\n", counted(out.affected, "row"), warnings, seconds(out.elapsed))
	}
	_, err := fmt.Fprintln(r.stdout)
	return err
}

func (r *repl) printGrid(g *grid, vertical bool, elapsed time.Duration) error {
	if r.batch && !vertical {
		return g.tabs(r.stdout)
	}
	if len(g.rows) == 0 {
		_, err := fmt.Fprintf(r.stdout, "Empty set (%s)\n", seconds(elapsed))
		return err
	}
	write := g.table
	if vertical {
		write = g.vertical
	}
	if err := write(r.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.stdout, "%s in set (%s)\n", counted(int64(len(g.rows)), "row"), seconds(elapsed))
	return err
}

// warnings is ", 2 warnings" when the last statement gave some.
func (r *repl) warnings(ctx context.Context) string {
	out, err := r.client.run(ctx, "SELECT @@warning_count")
	if err != nil || len(out.sets) != 1 || len(out.sets[0].rows) != 1 {
		return "" // the statement itself was fine
	}
	n, _ := strconv.ParseInt(out.sets[0].rows[0][0].text, 10, 64)
	if n == 0 {
		return ""
	}
	return ", " + counted(n, "warning")
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f sec", d.Seconds()) }

// isCommand reports that a line is for the shell and not for the server.
func isCommand(line string) bool {
	line = strings.TrimSpace(line)
	if len(line) >= 2 && line[0] == '\\' {
		return strings.ContainsRune("q?h.su", rune(line[1]))
	}
	word, _, _ := strings.Cut(strings.TrimRight(strings.ToLower(line), "; "), " ")
	switch word {
	case "quit", "exit", "help", "source":
		return true
	}
	return false
}

// command runs a command of the shell.
func (r *repl) command(ctx context.Context, line string) (quit, failed bool) {
	line = strings.TrimRight(line, "; \t")
	name, arg, _ := strings.Cut(line, " ")
	if line[0] == '\\' {
		name, arg = line[:2], line[2:]
	}
	arg = strings.TrimSpace(arg)
	switch strings.ToLower(name) {
	case `\q`, "quit", "exit":
		return true, false
	case `\.`, "source":
		return false, !r.source(ctx, arg)
	case `\s`:
		return false, !r.execute(ctx, statement{text: "SELECT CURRENT_USER() AS user, DATABASE() AS `database`, VERSION() AS version, CONNECTION_ID() AS id", vertical: true})
	case `\u`:
		return false, !r.execute(ctx, statement{text: "USE `" + strings.ReplaceAll(strings.Trim(arg, "`"), "`", "``") + "`"})
	}
	fmt.Fprint(r.stdout, shellHelp)
	return false, false
}

const maxSourceDepth = 16

// source runs a file; false when it cannot be read or a statement fails.
func (r *repl) source(ctx context.Context, path string) bool {
	if r.depth >= maxSourceDepth {
		fmt.Fprintln(r.stderr, "ERROR: files include one another too deeply")
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(r.stderr, "ERROR:", err)
		return false
	}
	defer f.Close()
	r.depth++
	defer func() { r.depth-- }()
	return r.script(ctx, f) == 0
}
