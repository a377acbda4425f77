package tpch

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

const usage = `usage: sqlots bench tpch [flags]

Loads the TPC-H tables (those of an earlier load with the same scale are used
again), runs the 22 queries, and prints the times. With -compare, everything is
done on both addresses in turn, and the answers are compared.

flags:
`

// Exit codes of Main.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

type command struct {
	dsn, compare   string
	scale          scale
	rounds         int
	reload         bool
	columnar       bool
	only           string
	stdout, stderr io.Writer
}

// Main is the command `sqlots bench tpch`; args come after its name. It returns
// the exit code: 1 when a query failed or answers differ.
func Main(args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	f := flag.NewFlagSet("sqlots bench tpch", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		f.SetOutput(stdout)
		_, _ = io.WriteString(stdout, usage)
		f.PrintDefaults()
	}
	f.StringVar(&c.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` A as user:password@tcp(host:port)/database (default database sqlots_tpch)")
	f.StringVar(&c.compare, "compare", "", "`address` B to compare with")
	f.Float64Var(&c.scale.factor, "scale", 0.1, "scale `factor`; 1 is 6 million lines")
	f.IntVar(&c.rounds, "rounds", 3, "runs of each query; the median counts")
	f.BoolVar(&c.reload, "reload", false, "load the tables anew")
	f.BoolVar(&c.columnar, "columnar", false, "B has a columnar index on each table, A has none; both may be databases of one server")
	f.StringVar(&c.only, "queries", "", "comma-separated `numbers` of the queries to run (default all)")
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var chosen []int
	if err == nil {
		chosen, err = c.validate(f)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "sqlots bench tpch:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := c.run(ctx, chosen)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "sqlots bench tpch:", err)
	}
	if err != nil || !ok {
		return exitFailed
	}
	return exitOK
}

func (c *command) validate(f *flag.FlagSet) (chosen []int, err error) {
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case c.scale.factor <= 0 || c.scale.factor > 100:
		return nil, errors.New("-scale must be above 0 and at most 100")
	case c.rounds < 1:
		return nil, errors.New("-rounds must be at least 1")
	}
	for n := range queries {
		chosen = append(chosen, n)
	}
	if c.only == "" {
		return chosen, nil
	}
	chosen = chosen[:0]
	for _, s := range strings.Split(c.only, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n > len(queries) {
			return nil, fmt.Errorf("-queries: %q is not a number from 1 to %d", s, len(queries))
		}
		chosen = append(chosen, n-1)
	}
	return chosen, nil
}

func (c *command) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.stdout, format+"\n", args...)
}

func (c *command) run(ctx context.Context, chosen []int) (ok bool, err error) {
	var dbs []*sql.DB
	defer func() {
		for _, db := range dbs {
			err = errors.Join(err, db.Close())
		}
	}()
	for i, dsn := range []string{c.dsn, c.compare} {
		if dsn == "" {
			continue
		}
		name := string(rune('A' + i))
		db, err := open(ctx, dsn)
		if err != nil {
			return false, fmt.Errorf("address %s: %w", name, err)
		}
		dbs = append(dbs, db)
		if err := c.load(ctx, name, db); err != nil {
			return false, fmt.Errorf("address %s: %w", name, err)
		}
	}
	if c.columnar && len(dbs) == 2 {
		if err := addColumns(ctx, dbs[1]); err != nil {
			return false, fmt.Errorf("address B: %w", err)
		}
	}
	if len(dbs) == 2 {
		c.printf("%5s %8s %10s %10s %8s  %s", "query", "rows", "A ms", "B ms", "B/A", "answers")
	} else {
		c.printf("%5s %8s %10s", "query", "rows", "ms")
	}
	return c.measure(ctx, dbs, chosen)
}

func (c *command) measure(ctx context.Context, dbs []*sql.DB, chosen []int) (ok bool, err error) {
	ok = true
	var totals [2]time.Duration
	logs := 0.0
	for _, n := range chosen {
		var medians [2]time.Duration
		var answers [2][]string
		var failed error
		for i, db := range dbs {
			var times []time.Duration
			for range c.rounds {
				start := time.Now()
				answers[i], err = rowsOf(ctx, db, queries[n])
				if err != nil {
					failed = errors.Join(failed, fmt.Errorf("%c: %w", 'A'+i, err))
					break
				}
				times = append(times, time.Since(start))
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if len(times) > 0 {
				slices.Sort(times)
				medians[i] = times[len(times)/2]
				totals[i] += medians[i]
			}
		}
		switch {
		case failed != nil:
			ok = false
			c.printf("%5d failed: %v", n+1, failed)
		case len(dbs) == 1:
			c.printf("%5d %8d %10.1f", n+1, len(answers[0]), ms(medians[0]))
		default:
			verdict := compare(answers[0], answers[1])
			logs += math.Log(float64(medians[1]) / float64(medians[0]))
			ok = ok && verdict == same
			c.printf("%5d %8d %10.1f %10.1f %8.2f  %s", n+1, len(answers[0]), ms(medians[0]), ms(medians[1]),
				float64(medians[1])/float64(medians[0]), verdict)
		}
	}
	if len(dbs) == 2 {
		c.printf("total          %10.1f %10.1f %8.2f", ms(totals[0]), ms(totals[1]), float64(totals[1])/float64(totals[0]))
		c.printf("geometric mean %30.2f", math.Exp(logs/float64(len(chosen))))
	} else {
		c.printf("total          %10.1f", ms(totals[0]))
	}
	return ok, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

const same = "equal"

// compare says how two answers differ.
func compare(a, b []string) string {
	if len(a) != len(b) {
		return fmt.Sprintf("DIFFERENT: %d rows and %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Sprintf("DIFFERENT in row %d: %q and %q", i+1, a[i], b[i])
		}
	}
	return same
}

// addColumns makes a columnar index on each table that has none.
func addColumns(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT TABLE_NAME FROM information_schema.TABLES t WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME <> 'tpch_info'
		AND NOT EXISTS (SELECT 1 FROM information_schema.SQLOTS_SEARCH_INDEXES i WHERE i.TABLE_SCHEMA = DATABASE() AND i.TABLE_NAME = t.TABLE_NAME)`)
	if err != nil {
		return err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return errors.Join(err, rows.Close())
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, name := range names {
		for _, text := range []string{"ALTER TABLE `" + name + "` ADD COLUMNAR INDEX bench_columns (*)", "ANALYZE TABLE `" + name + "`"} {
			if _, err := db.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
	}
	return nil
}

// rowsOf returns the rows of a query as text.
func rowsOf(ctx context.Context, db *sql.DB, query string) (out []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]sql.RawBytes, len(columns))
	dest := make([]any, len(columns))
	for i := range dest {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		var line strings.Builder
		for i, v := range values {
			if i > 0 {
				line.WriteByte('|')
			}
			if v == nil {
				line.WriteString("NULL")
			}
			line.Write(v)
		}
		out = append(out, line.String())
	}
	return out, rows.Err()
}

// open connects and creates the database.
func open(ctx context.Context, dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parsing the data source name: %w", err)
	}
	cfg.ParseTime, cfg.InterpolateParams = false, true
	name := cfg.DBName
	if name == "" {
		name = "sqlots_tpch"
	}
	cfg.DBName = ""
	for {
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(connector)
		if cfg.DBName != "" {
			return db, nil
		}
		_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(name, "`", "``")+"`")
		if err = errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
		cfg.DBName = name
	}
}

// load makes the tables, unless those of the same scale are there.
func (c *command) load(ctx context.Context, name string, db *sql.DB) error {
	want := fmt.Sprintf("scale %v", c.scale.factor)
	var have string
	err := db.QueryRowContext(ctx, "SELECT state FROM tpch_info").Scan(&have)
	if err == nil && have == want && !c.reload {
		return nil
	}
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS tpch_info"); err != nil {
		return err
	}
	start := time.Now()
	for t := range tables {
		if err := c.loadTable(ctx, db, t); err != nil {
			return fmt.Errorf("loading %s: %w", t, err)
		}
	}
	for _, q := range []string{"CREATE TABLE tpch_info (state VARCHAR(100) NOT NULL PRIMARY KEY)", "INSERT INTO tpch_info VALUES ('" + want + "')"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	c.printf("%s: loaded scale %v in %.1f s", name, c.scale.factor, time.Since(start).Seconds())
	return nil
}

// readerNumber makes the names unique that the driver knows readers by.
var readerNumber atomic.Int64

func (c *command) loadTable(ctx context.Context, db *sql.DB, t table) error {
	reader := "sqlots-tpch-" + strconv.FormatInt(readerNumber.Add(1), 10)
	mysql.RegisterReaderHandler(reader, func() io.Reader { return c.scale.reader(t) })
	defer mysql.DeregisterReaderHandler(reader)
	for _, q := range []string{
		"DROP TABLE IF EXISTS " + t.String(),
		ddl[t],
		"LOAD DATA LOCAL INFILE 'Reader::" + reader + "' INTO TABLE " + t.String() + " FIELDS TERMINATED BY '|' LINES TERMINATED BY '|\\n'",
		"ANALYZE TABLE " + t.String(),
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
