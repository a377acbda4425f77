package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// check is "sqlots check".
func check(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("sqlots check", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("data", "", "data directory (required); no server may be using it")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *dir == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "sqlots check: --data DIR is required, and no other argument")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if ok := checkLogs(*dir, stdout, stderr); !ok {
		return 1
	}
	tables, bad, files := 0, 0, 0
	_, err := datacheck.DirAndFiles(ctx, *dir, func(d pebblekv.Damage) {
		files++
		fmt.Fprintln(stdout, d)
	}, func(r datacheck.Result) {
		tables++
		if !r.OK() {
			bad++
		}
		printResult(stdout, r)
	})
	if err != nil {
		fmt.Fprintln(stderr, "sqlots check:", err)
		return 1
	}
	if files > 0 {
		fmt.Fprintf(stdout, "%s damaged: restore a backup\n", counted(int64(files), "file"))
	}
	if bad > 0 {
		fmt.Fprintf(stdout, "%s checked, %d damaged\n", counted(int64(tables), "table"), bad)
		return 1
	}
	if files > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%s checked, nothing is wrong\n", counted(int64(tables), "table"))
	return 0
}

// checkLogs prints what a start leaves out of the logs. It is false where a start is
// refused; then the directory is not changed.
func checkLogs(dir string, stdout, stderr io.Writer) bool {
	r, err := datacheck.Logs(dir)
	if err != nil {
		fmt.Fprintln(stderr, "sqlots check:", err)
		return false
	}
	if r.Unsure != "" {
		fmt.Fprintln(stdout, r.Unsure+": if the last records of the newest log were lost, that cannot be detected")
	}
	ok := true
	for _, x := range r.LeftOut {
		if x.Err == nil {
			fmt.Fprintf(stdout, "%s is left out; nothing that was acknowledged as synced is missing\n", x)
			continue
		}
		ok = false
		fmt.Fprintf(stdout, "%s; a start with --accept-log-damage leaves out %s from offset %d on\n", x, counted(x.Bytes, "byte"), x.Offset)
	}
	if !ok {
		fmt.Fprintln(stdout, "the log is damaged: restore a backup; nothing else was checked")
	}
	return ok
}

func printResult(w io.Writer, r datacheck.Result) {
	verdict := "ok"
	if !r.OK() {
		verdict = "DAMAGED"
	}
	fmt.Fprintf(w, "%s.%s: %s, %s, index entries: %d, large values: %d\n", r.Table.Database, r.Table.Name, verdict,
		counted(r.Report.Rows, "row"), r.Report.Entries, r.Report.Cells)
	for _, x := range r.Search {
		if x.Unchecked != "" {
			fmt.Fprintf(w, "  search index %s was not checked: %s\n", x.Name, x.Unchecked)
		} else {
			fmt.Fprintf(w, "  search index %s: %s\n", x.Name, counted(x.Docs, "document"))
		}
	}
	if r.Err != nil {
		fmt.Fprintf(w, "  could not be read to its end: %v\n", r.Err)
	}
	for _, p := range r.Report.Problems {
		fmt.Fprintf(w, "  %s\n", p)
	}
	if more := r.Report.Count - int64(len(r.Report.Problems)); more > 0 {
		fmt.Fprintf(w, "  and %s more\n", counted(more, "problem"))
	}
}
