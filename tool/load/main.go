package load

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

const usage = `usage: sqlots load [flags] --table TABLE FILE...

Loads files of CSV, TSV or JSON lines (one object a line) into a table; "-" is
standard input. .gz and .zst are decompressed. Pieces of the files are loaded
side by side, each as a whole or not at all; an interrupted load goes on where
it stopped with --resume.

flags:
`

// Exit codes of Main.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

type options struct {
	dsn, database, table string
	files                []string
	format, compression  string
	header               string
	columns              string
	delimiter, quote     string
	null                 string
	hasNull              bool
	ignoreUnknown        bool
	piece                int64
	jobs                 int
	maxRejects           int
	rejects              string
	resume               string
	replace              bool
	set                  settings
	quiet                bool
}

// settings are session variables, "name=value".
type settings []string

func (s *settings) String() string { return strings.Join(*s, ",") }

func (s *settings) Set(v string) error {
	name, _, ok := strings.Cut(v, "=")
	if !ok || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return errors.New("want name=value")
	}
	*s = append(*s, v)
	return nil
}

// Main is the command `sqlots load`; args do not contain its name. It returns
// the exit code: 0 when all is loaded, 1 when not, 2 for bad usage.
func Main(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout, stderr)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		_, _ = fmt.Fprintln(stderr, "sqlots load:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := load(ctx, o, stdout, stderr); err != nil {
		_, _ = fmt.Fprintln(stderr, "sqlots load:", err)
		return exitFailed
	}
	return exitOK
}

func parse(args []string, stdout, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("sqlots load", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		f.SetOutput(stdout)
		_, _ = io.WriteString(stdout, usage)
		f.PrintDefaults()
	}
	piece := "64MiB"
	f.StringVar(&o.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` as user:password@tcp(host:port)/database")
	f.StringVar(&o.table, "table", "", "`table` to load into, with or without its database")
	f.StringVar(&o.format, "format", "auto", "csv, tsv, jsonl, or auto: by the file's name")
	f.StringVar(&o.compression, "compression", "auto", "gzip, zstd, none, or auto: by the file's first bytes")
	f.StringVar(&o.header, "header", "auto", "whether each file begins with the names of its columns: yes, no, or auto: when all its fields are such names")
	f.StringVar(&o.columns, "columns", "", "comma-separated `names` of the fields' columns (default: the header, else the table's columns)")
	f.StringVar(&o.delimiter, "delimiter", "", "csv: one `character` between fields (default comma)")
	f.StringVar(&o.quote, "quote", `"`, "csv: `character` around fields, doubled within")
	f.Func("null", "csv and tsv: a field of this `text` is NULL, with or without quotes (beside NULL without quotes in csv and \\N in tsv)", func(v string) error {
		o.null, o.hasNull = v, true
		return nil
	})
	f.BoolVar(&o.ignoreUnknown, "ignore-unknown", false, "leave out fields of which the table has no column")
	f.StringVar(&piece, "piece", piece, "`size` of a piece")
	f.IntVar(&o.jobs, "jobs", min(4, runtime.GOMAXPROCS(0)), "connections that load side by side")
	f.IntVar(&o.maxRejects, "max-rejects", 0, "`number` of records that may be left out because they cannot be stored")
	f.StringVar(&o.rejects, "rejects", "", "`file` for these records; their reasons go to the file of that name with .reasons (default: the first file's name with .rejects)")
	f.StringVar(&o.resume, "resume", "", "go on with this `job`, which an earlier call has printed")
	f.BoolVar(&o.replace, "replace", false, "records replace rows with the same key")
	f.Var(&o.set, "set", "session `variable=value`; may be repeated")
	f.BoolVar(&o.quiet, "quiet", false, "no progress")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.files = f.Args()
	return o, o.check(piece)
}

func (o *options) check(piece string) error {
	switch {
	case o.table == "":
		return errors.New("--table is missing")
	case len(o.files) == 0:
		return errors.New("no file is named")
	case o.jobs < 1 || o.jobs > 256:
		return errors.New("--jobs is a number from 1 to 256")
	case o.maxRejects < 0:
		return errors.New("--max-rejects is negative")
	case len(o.delimiter) > 1 || len(o.quote) > 1:
		return errors.New("--delimiter and --quote are one byte each")
	}
	for _, c := range []struct{ name, value, allowed string }{
		{"format", o.format, "auto csv tsv jsonl"},
		{"compression", o.compression, "auto gzip zstd none"},
		{"header", o.header, "auto yes no"},
	} {
		if !strings.Contains(" "+c.allowed+" ", " "+c.value+" ") {
			return fmt.Errorf("--%s is one of %s", c.name, strings.ReplaceAll(c.allowed, " ", ", "))
		}
	}
	size, err := parseSize(piece)
	if err != nil || size < 1<<10 || size > 1<<30 {
		return errors.New("--piece is a size from 1KiB to 1GiB")
	}
	o.piece = size
	cfg, err := mysql.ParseDSN(o.dsn)
	if err != nil {
		return err
	}
	o.database = cfg.DBName
	if db, table, ok := strings.Cut(o.table, "."); ok {
		o.database, o.table = db, table
	}
	if o.database == "" {
		return errors.New("neither --dsn nor --table names a database")
	}
	if o.format == "auto" {
		if o.format, err = formatOf(o.files); err != nil {
			return err
		}
	}
	if o.rejects == "" && o.maxRejects > 0 {
		if o.files[0] == "-" {
			return errors.New("--rejects is missing")
		}
		o.rejects = o.files[0] + ".rejects"
	}
	return nil
}

// formatOf goes by the names of all files.
func formatOf(files []string) (string, error) {
	format := ""
	for _, name := range files {
		base := strings.ToLower(name)
		for _, c := range []string{".gz", ".zst", ".gzip", ".zstd"} {
			base = strings.TrimSuffix(base, c)
		}
		var of string
		switch {
		case strings.HasSuffix(base, ".csv"):
			of = "csv"
		case strings.HasSuffix(base, ".tsv"), strings.HasSuffix(base, ".tab"):
			of = "tsv"
		case strings.HasSuffix(base, ".jsonl"), strings.HasSuffix(base, ".ndjson"), strings.HasSuffix(base, ".json"):
			of = "jsonl"
		}
		if of == "" || format != "" && of != format {
			return "", fmt.Errorf("the name of %s does not tell its format: give --format", name)
		}
		format = of
	}
	return format, nil
}

// parseSize reads a number of bytes with or without a unit (KiB, MiB, GiB).
func parseSize(s string) (int64, error) {
	unit := int64(1)
	for i, u := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(s, u); ok {
			s, unit = n, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return n * unit, nil
}
