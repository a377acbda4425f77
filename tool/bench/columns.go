package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

const columnsUsage = `usage: sqlots bench columns [flags]

Measures aggregates over all the calls that load has made, over one connection:
the median time of an answer and the server's CPU time. With -compare, the
answers of the two servers have to be the same.

`

func columnsMain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &searchBench{stdout: stdout}
	f := newFlags("columns", columnsUsage, stderr)
	f.StringVar(&b.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` A as user:password@tcp(host:port)/database")
	f.StringVar(&b.compare, "compare", "", "`address` B to compare with")
	index := f.String("index", "keep", "of A and B, if they are sqlots: columnar or search make such an index first, none drops it, keep changes nothing")
	f.DurationVar(&b.duration, "duration", time.Second, "`time` of each measurement; one answer at least")
	f.StringVar(&b.only, "questions", "", "comma-separated `names` (default: all)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if b.duration <= 0 || f.NArg() > 0 {
		return errors.New("-duration must be greater than 0")
	}
	ddl, ok := map[string]string{"keep": "", "none": "", "search": "ADD SEARCH INDEX bench_columns (cell, start, called, duration, station, created_at)",
		"columnar": "ADD COLUMNAR INDEX bench_columns (*)"}[*index]
	if !ok {
		return fmt.Errorf("unknown -index %q (columnar, search, none or keep)", *index)
	}
	if *index != "keep" {
		b.prepare = func(ctx context.Context, t *target) error { return b.reindex(ctx, t, ddl) }
	}
	b.list = columnQuestions
	return b.run(ctx)
}

// columnQuestions are those of the goals for columns.
var columnQuestions = []searchQuestion{
	{name: "count", sql: "SELECT COUNT(*) FROM calls"},
	{name: "sum", sql: "SELECT SUM(duration) FROM calls"},
	{name: "moments", sql: "SELECT COUNT(*), SUM(duration), AVG(duration), MIN(duration), MAX(duration) FROM calls"},
	{name: "station", sql: "SELECT station, COUNT(*), SUM(duration) FROM calls GROUP BY station ORDER BY station"},
	{name: "modulo", sql: "SELECT called % 100 AS m, COUNT(*), SUM(duration) FROM calls GROUP BY m ORDER BY m"},
	{name: "hour", sql: "SELECT HOUR(created_at) AS h, COUNT(*), SUM(duration) FROM calls GROUP BY h ORDER BY h"},
	{name: "distinct", sql: "SELECT COUNT(DISTINCT cell) FROM calls"},
	{name: "cells", sql: "SELECT MAX(n), COUNT(*) FROM (SELECT cell, COUNT(*) AS n FROM calls GROUP BY cell) x"},
	{name: "filter", sql: "SELECT COUNT(*), SUM(duration) FROM calls WHERE station < 100 AND called % 7 = 3"},
	{name: "expression", sql: "SELECT SUM(duration * 2 + station) FROM calls"},
	{name: "some_rows", sql: "SELECT cell, start, called, duration FROM calls WHERE called % 20 = 3"},
	{name: "top10", sql: "SELECT cell, start, duration FROM calls ORDER BY duration DESC, start LIMIT 10"},
	{name: "join", sql: "SELECT s.region, COUNT(*), SUM(c.duration) FROM calls c JOIN stations s ON s.id = c.station GROUP BY s.region ORDER BY s.region"},
}

// reindex replaces the index that the command has made before.
func (b *searchBench) reindex(ctx context.Context, t *target, ddl string) error {
	if t.form(ddlAuto) != ddlSqlots {
		return nil
	}
	var n int
	const known = "SELECT COUNT(*) FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'calls' AND INDEX_NAME = 'bench_columns'"
	if err := t.db.QueryRowContext(ctx, known).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		if _, err := t.db.ExecContext(ctx, "ALTER TABLE calls DROP INDEX bench_columns"); err != nil {
			return err
		}
	}
	if ddl == "" {
		return nil
	}
	start := time.Now()
	before, _ := processCPU(t.pid)
	if _, err := t.db.ExecContext(ctx, "ALTER TABLE calls "+ddl); err != nil {
		return err
	}
	took := time.Since(start)
	after, _ := processCPU(t.pid)
	if _, err := t.db.ExecContext(ctx, "ANALYZE TABLE calls, stations"); err != nil {
		return err
	}
	var rows, bytes float64
	const size = "SELECT (SELECT COUNT(*) FROM calls), SUM(DISK_BYTES + MEMORY_BYTES) FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'calls' AND INDEX_NAME = 'bench_columns'"
	if err := t.db.QueryRowContext(ctx, size).Scan(&rows, &bytes); err != nil {
		return err
	}
	_, err := fmt.Fprintf(b.stdout, "%s: index built in %.1f s, %.1f s of CPU, %.1f bytes a row\n", t.name, took.Seconds(), (after - before).Seconds(), bytes/max(rows, 1))
	return err
}

// ColumnQuestions are the questions of `sqlots bench columns`, for programs that put
// them to other databases.
func ColumnQuestions() (names, texts []string) {
	for _, q := range columnQuestions {
		names, texts = append(names, q.name), append(texts, q.sql)
	}
	return names, texts
}

// Calls gives the rows of the table calls, as `sqlots bench load` makes them: lines of
// CSV with the columns in their order.
func Calls(s Sizes) io.Reader { return &rowReader{d: newDataset(s), end: s.Rows} }

// Stations gives the rows of the table stations in this form.
func Stations(s Sizes) io.Reader {
	var b strings.Builder
	for id := range s.Stations {
		fmt.Fprintf(&b, "%d,%s,%d\n", id+1, stationName(id+1), regionOf(id+1))
	}
	return strings.NewReader(b.String())
}
