package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/sqlots/sqlots/storage/backup"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

const backupUsage = `usage: sqlots backup --to DIR [flags]
       sqlots backup verify DIR

Without --data, a running server makes the backup: it connects as "sqlots sql"
does, and DIR lies on the server's machine, in its --backup-dir.

flags:
`

// parseFlags parses args; code is the exit code when ok is false.
func parseFlags(fs *flag.FlagSet, args []string) (code int, ok bool) {
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0, false
	case err != nil:
		return 2, false
	}
	return 0, true
}

// interruptible is a context that Ctrl-C and SIGTERM end.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// runBackup is "sqlots backup".
func runBackup(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "verify" {
		return verifyBackup(args[1:], stdout, stderr)
	}
	fs := flag.NewFlagSet("sqlots backup", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, backupUsage)
		fs.PrintDefaults()
	}
	to := fs.String("to", "", "directory to make (required)")
	previous := fs.String("incremental-from", "", "the backup before: only files that it does not have are copied")
	data := fs.String("data", "", "data directory that no server uses, instead of a server")
	rate := byteSize(0)
	fs.Var(&rate, "rate", "most bytes to read a second, such as 50MiB (default: no limit)")
	o := &connection{}
	o.flags(fs)
	if code, ok := parseFlags(fs, args); !ok {
		return code
	}
	if *to == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots backup: --to DIR is required, and no other argument")
		return 2
	}
	if *data != "" {
		return backupDir(*data, backup.Options{To: *to, Previous: *previous, BytesPerSecond: int64(rate)}, stdout, stderr)
	}
	statement := "BACKUP DATABASE * TO " + quoteText(*to)
	if *previous != "" {
		statement += " LAST_BACKUP = " + quoteText(*previous)
	}
	if rate > 0 {
		statement += fmt.Sprintf(" RATE_LIMIT = %d MB/SECOND", max(int64(rate)>>20, 1))
	}
	return backupServer(o, statement, stdout, stderr)
}

func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// backupServer has a server make a backup, which Ctrl-C ends.
func backupServer(o *connection, statement string, stdout, stderr io.Writer) int {
	config, err := o.config(stderr)
	if err != nil {
		fmt.Fprintln(stderr, "sqlots backup:", err)
		return 2
	}
	c, err := dial(context.Background(), config)
	if err != nil {
		fmt.Fprintln(stderr, errorText(err, 0))
		return 1
	}
	defer c.close()
	ctx, stop := interruptible()
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ended:
		case <-ctx.Done():
			_ = c.interrupt(context.Background()) // the connection's end stops it too
		}
	}()
	out, err := c.run(context.Background(), statement)
	if err != nil {
		fmt.Fprintln(stderr, errorText(err, 0))
		return 1
	}
	for _, g := range out.sets {
		for _, row := range g.rows {
			for i, name := range g.columns {
				fmt.Fprintf(stdout, "%s: %s\n", strings.ToLower(name), row[i].text)
			}
		}
	}
	return 0
}

// backupDir makes a backup of a directory that no server uses.
func backupDir(dir string, o backup.Options, stdout, stderr io.Writer) int {
	if _, err := os.Stat(filepath.Join(dir, "FORMAT")); err != nil { // opening would make a new store
		fmt.Fprintf(stderr, "sqlots backup: %s is not a data directory: %v\n", dir, err)
		return 1
	}
	ctx, stop := interruptible()
	defer stop()
	store, err := pebblekv.Open(pebblekv.Options{Dir: dir, DiskReserveBytes: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprintln(stderr, "sqlots backup:", err)
		return 1
	}
	o.Stage = filepath.Join(dir, pebblekv.StageDir, "1")
	meter := newMeter(stderr)
	o.Progress = meter.show
	m, err := backup.Create(ctx, store, o)
	meter.clear()
	if err = errors.Join(err, store.Close()); err != nil {
		fmt.Fprintln(stderr, "sqlots backup:", err)
		return 1
	}
	printBackup(stdout, o.To, m)
	return 0
}

func printBackup(w io.Writer, dir string, m *backup.Manifest) {
	all, own := m.Size()
	fmt.Fprintf(w, "%s: %s, %d bytes", dir, counted(int64(len(m.Files)), "file"), all)
	if m.Previous != "" {
		fmt.Fprintf(w, ", %d of them in this backup, the others in those before it", own)
	}
	fmt.Fprintf(w, "; made %s, with all commits up to %d\n", m.Created.Format(time.RFC3339), m.Sequence)
}

// verifyBackup is "sqlots backup verify".
func verifyBackup(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots backup verify", flag.ContinueOnError)
	fs.SetOutput(stderr)
	if code, ok := parseFlags(fs, args); !ok {
		return code
	}
	if fs.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: sqlots backup verify DIR")
		return 2
	}
	ctx, stop := interruptible()
	defer stop()
	meter := newMeter(stderr)
	bad := 0
	m, err := backup.Verify(ctx, fs.Arg(0), func(err error) {
		meter.clear()
		bad++
		fmt.Fprintln(stdout, err)
	}, meter.show)
	meter.clear()
	if err != nil {
		fmt.Fprintln(stderr, "sqlots backup:", err)
		return 1
	}
	printBackup(stdout, fs.Arg(0), m)
	if bad > 0 {
		fmt.Fprintf(stdout, "%s damaged or missing\n", counted(int64(bad), "file"))
		return 1
	}
	fmt.Fprintln(stdout, "nothing is wrong")
	return 0
}

// restore is "sqlots restore".
func restore(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots restore", flag.ContinueOnError)
	fs.SetOutput(stderr)
	from := fs.String("from", "", "directory of the backup (required)")
	data := fs.String("data", "", "data directory to make (required)")
	if code, ok := parseFlags(fs, args); !ok {
		return code
	}
	if *from == "" || *data == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots restore: --from DIR and --data DIR are required, and no other argument")
		return 2
	}
	ctx, stop := interruptible()
	defer stop()
	meter := newMeter(stderr)
	m, err := backup.Restore(ctx, *from, *data, meter.show)
	meter.clear()
	if err != nil {
		fmt.Fprintln(stderr, "sqlots restore:", err)
		return 1
	}
	printBackup(stdout, *from, m)
	fmt.Fprintf(stdout, "restored to %s\n", *data)
	return 0
}

// meter shows progress on a terminal.
type meter struct {
	w     io.Writer
	on    bool
	start time.Time
	last  time.Time
}

func newMeter(w io.Writer) *meter {
	f, ok := w.(*os.File)
	return &meter{w: w, on: ok && term.IsTerminal(int(f.Fd())), start: time.Now()}
}

func (m *meter) show(p backup.Progress) {
	if !m.on || time.Since(m.last) < 200*time.Millisecond {
		return
	}
	m.last = time.Now()
	rate := float64(p.BytesDone) / max(time.Since(m.start).Seconds(), 0.001)
	fmt.Fprintf(m.w, "\r\x1b[K%d of %d files, %d of %d MiB, %.0f MiB/s", p.FilesDone, p.Files, p.BytesDone>>20, p.Bytes>>20, rate/(1<<20))
}

func (m *meter) clear() {
	if m.on {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}
