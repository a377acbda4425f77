package bench

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// searchBench is `sqlots bench search`: what a search index answers, through SQL
// and from one connection.
type searchBench struct {
	dsn, compare string
	rows         int64
	seed         uint64
	keep         bool
	duration     time.Duration
	only         string
	stdout       io.Writer

	targets []*target
	// prepare makes the data of a target; nil for none.
	prepare func(ctx context.Context, t *target) error
	list    []searchQuestion
}

const searchUsage = `usage: sqlots bench search [flags]

Fills a table of documents of eight fields, builds a search index over them
(elsewhere: a key for each, FULLTEXT and SPATIAL keys), and measures questions
over one connection: the median time of an answer and the server's CPU time.
With -compare, the answers of the two servers have to be the same.

`

func searchMain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &searchBench{stdout: stdout}
	f := newFlags("search", searchUsage, stderr)
	f.StringVar(&b.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` A as user:password@tcp(host:port)/database")
	f.StringVar(&b.compare, "compare", "", "`address` B to compare with")
	f.Int64Var(&b.rows, "rows", 1_000_000, "documents")
	f.Uint64Var(&b.seed, "seed", 1, "seed of the data")
	f.BoolVar(&b.keep, "keep", false, "measure the documents of an earlier run")
	f.DurationVar(&b.duration, "duration", time.Second, "`time` of each measurement; one answer at least")
	f.StringVar(&b.only, "questions", "", "comma-separated `names` (default: all)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if b.rows < 100 || b.duration <= 0 || f.NArg() > 0 {
		return errors.New("-rows must be at least 100 and -duration greater than 0")
	}
	b.list = questions(b.rows)
	if !b.keep {
		b.prepare = b.fill
	}
	return b.run(ctx)
}

// The documents' values: 10 kinds, 200,000 users, two integers, a double, a time
// in a year, a text of 8 to 16 words of 50,000, a place in one of 20 towns.
const (
	documentsDDL = `CREATE TABLE documents (id BIGINT PRIMARY KEY, kind VARCHAR(20) NOT NULL, user VARCHAR(20) NOT NULL, wide INT NOT NULL,
  narrow INT NOT NULL, amount DOUBLE NOT NULL, at DATETIME NOT NULL, body VARCHAR(250) NOT NULL, place POINT NOT NULL)`
	searchIndexDDL = "ALTER TABLE documents ADD SEARCH INDEX s (id, kind, user, wide, narrow, amount, at, body TEXT ANALYZER 'fulltext', place GEO_POINT)"
	otherKeysDDL   = "ALTER TABLE documents ADD KEY (kind), ADD KEY (user), ADD KEY (wide), ADD KEY (narrow), ADD KEY (amount), ADD KEY (at), ADD SPATIAL KEY (place)"
	fulltextDDL    = "ALTER TABLE documents ADD FULLTEXT KEY (body)"
	towns          = 20
)

func town(c int) (lon, lat float64) { return -5 + 2*float64(c), 40 + float64(c) }

// writeDocuments writes lines for LOAD DATA.
func writeDocuments(w io.Writer, rows int64, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 49_999)
	out := bufio.NewWriterSize(w, 1<<20)
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for id := range rows {
		fmt.Fprintf(out, "%d\tkind%d\tuser%06d\t%d\t%d\t%g\t%s\t", id, r.IntN(10), r.IntN(200_000), r.IntN(1_000_000), r.IntN(1000),
			math.Exp(r.NormFloat64()), start.Add(time.Duration(r.IntN(365*86400))*time.Second).Format(time.DateTime))
		for j := range 8 + r.IntN(9) {
			if j > 0 {
				_ = out.WriteByte(' ')
			}
			fmt.Fprintf(out, "word%d", zipf.Uint64())
		}
		lon, lat := town(r.IntN(towns))
		fmt.Fprintf(out, "\t%.7f\t%.7f\n", lon+0.05*r.NormFloat64(), lat+0.05*r.NormFloat64())
	}
	return out.Flush()
}

// searchQuestion is a query for each form of server; other is that without a
// search index, where it differs.
type searchQuestion struct{ name, sql, other string }

func questions(rows int64) []searchQuestion {
	// MariaDB reads a SPATIAL key for relations with boxes only.
	near := func(km float64) searchQuestion {
		lon, lat := town(7)
		where := fmt.Sprintf("ST_Distance_Sphere(place, POINT(%g, %g)) < %g", lon, lat, km*1000)
		dy := km / 111
		dx := dy / math.Cos((lat+dy)*math.Pi/180)
		box := fmt.Sprintf("MBRContains(ST_GeomFromText('LINESTRING(%g %g, %g %g)'), place) AND ", lon-dx, lat-dy, lon+dx, lat+dy)
		const count = "SELECT COUNT(*) FROM documents WHERE "
		return searchQuestion{fmt.Sprintf("geo_%gkm", km), count + where, count + box + where}
	}
	lon, lat := town(7)
	distance := fmt.Sprintf("ST_Distance_Sphere(place, POINT(%g, %g))", lon, lat)
	return []searchQuestion{
		{name: "term_count", sql: "SELECT COUNT(*) FROM documents WHERE kind = 'kind3'"},
		{name: "and3", sql: "SELECT COUNT(*) FROM documents WHERE kind = 'kind3' AND wide < 500000 AND MATCH (body) AGAINST ('+word5' IN BOOLEAN MODE)"},
		{name: "range_1", sql: "SELECT COUNT(*) FROM documents WHERE wide BETWEEN 0 AND 9999"},
		{name: "range_30", sql: "SELECT COUNT(*) FROM documents WHERE wide BETWEEN 0 AND 299999"},
		{name: "range_sum", sql: "SELECT SUM(narrow) FROM documents WHERE wide BETWEEN 0 AND 299999"},
		{name: "top10", sql: "SELECT id FROM documents WHERE kind = 'kind3' ORDER BY narrow DESC, id LIMIT 10"},
		{name: "offset", sql: fmt.Sprintf("SELECT id FROM documents WHERE kind = 'kind3' ORDER BY wide, id LIMIT 10 OFFSET %d", rows*9/100)},
		{name: "group_by", sql: "SELECT kind, COUNT(*) FROM documents WHERE wide < 300000 GROUP BY kind ORDER BY kind"},
		{name: "sum_avg", sql: "SELECT SUM(narrow), AVG(narrow) FROM documents"},
		near(1), near(10),
		{name: "phrase", sql: `SELECT COUNT(*) FROM documents WHERE MATCH (body) AGAINST ('"word0 word1"' IN BOOLEAN MODE)`},
		{name: "best10", sql: "SELECT MAX(s) > 0 FROM (SELECT MATCH (body) AGAINST ('word3 word40') AS s FROM documents WHERE MATCH (body) AGAINST ('word3 word40') ORDER BY s DESC LIMIT 10) x"},
		{name: "best_word", sql: "SELECT MAX(s) > 0 FROM (SELECT MATCH (body) AGAINST ('word0') AS s FROM documents WHERE MATCH (body) AGAINST ('word0') ORDER BY s DESC LIMIT 10) x"},
		{name: "nearest", sql: "SELECT id, user FROM documents ORDER BY " + distance + ", id LIMIT 10"},
		{name: "nearest_kind", sql: "SELECT id, user FROM documents WHERE kind = 'kind3' ORDER BY " + distance + ", id LIMIT 10"},
		{name: "keys", sql: "SELECT id FROM documents WHERE kind = 'kind3' ORDER BY id"},
		{name: "few", sql: "SELECT id, wide FROM documents WHERE user = 'user012345' ORDER BY id"},
	}
}

func (b *searchBench) run(ctx context.Context) (err error) {
	for i, dsn := range []string{b.dsn, b.compare} {
		if dsn == "" {
			continue
		}
		t, oerr := openTarget(ctx, string(rune('A'+i)), dsn, 0)
		if oerr != nil {
			return oerr
		}
		defer func() { err = errors.Join(err, t.close()) }()
		b.targets = append(b.targets, t)
		_, _ = fmt.Fprintln(b.stdout, t)
	}
	for _, t := range b.targets {
		if b.prepare == nil {
			continue
		}
		if err := b.prepare(ctx, t); err != nil {
			return fmt.Errorf("filling %s: %w", t.name, err)
		}
	}
	_, _ = fmt.Fprintf(b.stdout, "%-12s %9s", "question", "rows")
	for _, t := range b.targets {
		_, _ = fmt.Fprintf(b.stdout, " %10s %10s", t.name+" ms", t.name+" CPU ms")
	}
	_, _ = fmt.Fprintln(b.stdout)
	wrong := 0
	for _, q := range b.list {
		if b.only != "" && !slices.Contains(strings.Split(b.only, ","), q.name) {
			continue
		}
		same, err := b.measure(ctx, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		if !same {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d questions were answered differently", wrong)
	}
	return nil
}

func (b *searchBench) fill(ctx context.Context, t *target) error {
	for _, s := range []string{"DROP TABLE IF EXISTS documents", documentsDDL} {
		if _, err := t.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	const name = "sqlots-bench-search"
	mysql.RegisterReaderHandler(name, func() io.Reader {
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(writeDocuments(w, b.rows, b.seed)) }()
		return r
	})
	defer mysql.DeregisterReaderHandler(name)
	const load = "LOAD DATA LOCAL INFILE 'Reader::" + name + "' INTO TABLE documents (id, kind, user, wide, narrow, amount, at, body, @x, @y) SET place = POINT(@x, @y)"
	start := time.Now()
	if _, err := t.db.ExecContext(ctx, load); err != nil {
		return err
	}
	loaded := time.Since(start)
	keys := []string{searchIndexDDL}
	if t.form(ddlAuto) == ddlPortable {
		keys = []string{otherKeysDDL, fulltextDDL}
	}
	start = time.Now()
	before, _ := processCPU(t.pid)
	for _, s := range keys {
		if _, err := t.db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	took := time.Since(start)
	after, _ := processCPU(t.pid)
	_, err := fmt.Fprintf(b.stdout, "%s: %d documents loaded in %.1f s, indexed in %.1f s: %.0f a second, %.0f a second of CPU\n", t.name, b.rows,
		loaded.Seconds(), took.Seconds(), float64(b.rows)/took.Seconds(), float64(b.rows)/max((after-before).Seconds(), 0.01))
	if t.form(ddlAuto) == ddlPortable {
		_, _ = t.db.ExecContext(ctx, "ANALYZE TABLE documents")
		return err
	}
	var bytes sql.NullFloat64
	if t.db.QueryRowContext(ctx, "SELECT SUM(DISK_BYTES + MEMORY_BYTES) FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'documents'").Scan(&bytes) == nil && bytes.Valid {
		_, _ = fmt.Fprintf(b.stdout, "%s: %.0f bytes a document\n", t.name, bytes.Float64/float64(b.rows))
	}
	return err
}

// measure runs a query on all targets; same: their answers are equal.
func (b *searchBench) measure(ctx context.Context, q searchQuestion) (same bool, err error) {
	var line strings.Builder
	var first [][]string
	same = true
	rows := 0
	for i, t := range b.targets {
		text := q.sql
		if q.other != "" && t.form(ddlAuto) == ddlPortable {
			text = q.other
		}
		conn, err := t.db.Conn(ctx)
		if err != nil {
			return false, err
		}
		answer, took, cpu, err := b.timeQuery(ctx, conn, t, text)
		if err = errors.Join(err, conn.Close()); err != nil {
			return false, fmt.Errorf("%s: %w", t.name, err)
		}
		if !strings.Contains(text, "ORDER BY") {
			slices.SortFunc(answer, slices.Compare)
		}
		if i == 0 {
			first, rows = answer, len(answer)
		} else if sameRows(first, answer) != nil {
			same = false
		}
		_, _ = fmt.Fprintf(&line, " %10.3f %10.3f", took.Seconds()*1000, cpu.Seconds()*1000)
	}
	note := ""
	if !same {
		note = "  DIFFERENT ANSWERS"
	}
	_, err = fmt.Fprintf(b.stdout, "%-12s %9d%s%s\n", q.name, rows, &line, note)
	return same, err
}

// timeQuery measures the median time of an answer, and the CPU time of the server for
// one.
func (b *searchBench) timeQuery(ctx context.Context, conn *sql.Conn, t *target, text string) (answer [][]string, took, cpu time.Duration, err error) {
	once := func(keep bool) error {
		rows, err := conn.QueryContext(ctx, text)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		cols, err := rows.Columns()
		if err != nil {
			return err
		}
		raw, dst := make([]sql.RawBytes, len(cols)), make([]any, len(cols))
		for i := range raw {
			dst[i] = &raw[i]
		}
		for rows.Next() {
			if !keep {
				continue
			}
			if err := rows.Scan(dst...); err != nil {
				return err
			}
			row := make([]string, len(raw))
			for i := range raw {
				row[i] = string(raw[i])
			}
			answer = append(answer, row)
		}
		return rows.Err()
	}
	if err := once(true); err != nil {
		return nil, 0, 0, err
	}
	for end := time.Now().Add(b.duration / 4); time.Now().Before(end); {
		if err := once(false); err != nil {
			return nil, 0, 0, err
		}
	}
	var times []time.Duration
	before, _ := processCPU(t.pid)
	for end := time.Now().Add(b.duration); len(times) == 0 || time.Now().Before(end); {
		start := time.Now()
		if err := once(false); err != nil {
			return nil, 0, 0, err
		}
		times = append(times, time.Since(start))
	}
	after, _ := processCPU(t.pid)
	slices.Sort(times)
	return answer, times[len(times)/2], (after - before) / time.Duration(len(times)), nil
}
