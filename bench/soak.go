package bench

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/go-sql-driver/mysql"
)

// soak is `sqlots bench soak`: a search index under writes and questions for a
// long time.
type soak struct {
	dsn          string
	rows         int64
	duration     time.Duration
	every        time.Duration
	rate         int
	conns        int
	questions    int
	askers       int
	keep         bool
	verify       int
	stdout       io.Writer
	target       *target
	next         atomic.Int64 // the id of the next row that is inserted
	changes      atomic.Int64
	mu           sync.Mutex
	kinds        []soakQuestion
	all, lag     *hdrhistogram.Histogram // of an interval, in microseconds
	lagWhole     *hdrhistogram.Histogram
	segments     int64
	disk, memory int64
}

// soakQuestion is a kind of question.
type soakQuestion struct {
	name string
	sql  func(r *dice) string
	scan bool // the table can answer it too
	took *hdrhistogram.Histogram
}

const soakUsage = `usage: sqlots bench soak [flags]

Makes a table docs with so many rows and a search index over its eight
columns, in the database of -dsn (sqlots_soak if it names none). Then changes
rows at a rate (6 of 10 updates, 2 insertions, 2 removals) and asks questions at
another, and tells the latency of the questions, the lag, segments and bytes of
the index, and the server's memory, for every interval. At the end, counts that
the index gives are compared with those of the table.

`

func soakMain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &soak{stdout: stdout}
	f := newFlags("soak", soakUsage, stderr)
	f.StringVar(&b.dsn, "dsn", "root@tcp(127.0.0.1:4000)/sqlots_soak", "`address` as user:password@tcp(host:port)/database")
	f.Int64Var(&b.rows, "rows", 10_000_000, "rows of the table")
	f.DurationVar(&b.duration, "duration", 30*time.Minute, "how `long`")
	f.DurationVar(&b.every, "every", time.Minute, "a line is printed so often")
	f.IntVar(&b.rate, "rate", 2000, "row changes in a second")
	f.IntVar(&b.conns, "conns", 16, "connections that write")
	f.IntVar(&b.questions, "questions", 50, "questions in a second")
	f.IntVar(&b.askers, "askers", 4, "connections that ask")
	f.BoolVar(&b.keep, "keep", false, "go on with the table of an earlier run")
	f.IntVar(&b.verify, "verify", 20, "counts that are compared at the end")
	if err := f.Parse(args); err != nil {
		return err
	}
	if b.rows < 1 || b.rate < 1 || b.conns < 1 || b.questions < 1 || b.askers < 1 || b.duration <= 0 || b.every <= 0 || f.NArg() > 0 {
		return errors.New("-rows, -duration, -every, -rate, -conns, -questions and -askers must be greater than 0")
	}
	b.kinds = soakQuestions()
	return b.run(ctx)
}

// dice are random numbers of one connection.
type dice struct{ at uint64 }

func (r *dice) n(below int64) int64 {
	r.at++
	return int64(mix(r.at) % uint64(below))
}

// word is often one of few.
func (r *dice) word() string {
	switch r.n(3) {
	case 0:
		return "c" + strconv.FormatInt(r.n(40), 10)
	case 1:
		return "m" + strconv.FormatInt(r.n(5000), 10)
	}
	return "r" + strconv.FormatInt(r.n(300_000), 10)
}

const (
	soakKinds  = 12
	soakOwners = 200_000
	soakPrices = 100_000
	soakDays   = 1000
)

// soakRow is the row of an id after so many changes, as fields of LOAD DATA.
func soakRow(b []byte, id, change int64) []byte {
	r := dice{mix(uint64(id)) + uint64(change)<<20}
	b = strconv.AppendInt(b, id, 10)
	b = fmt.Appendf(b, ",kind%d,owner%d,%d,%d,%d.%02d,", r.n(soakKinds), r.n(soakOwners), r.n(soakPrices), 1+r.n(5), r.n(10_000), r.n(100))
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.n(soakDays*86400)) * time.Second)
	b = at.AppendFormat(b, "2006-01-02 15:04:05,")
	for i := range 6 {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, r.word()...)
	}
	return fmt.Appendf(b, ",%.5f,%.5f", float64(1+r.n(3_599_999))/10_000-180, float64(r.n(1_400_000))/10_000-70)
}

func soakQuestions() []soakQuestion {
	const where = "SELECT COUNT(*) FROM docs WHERE "
	return []soakQuestion{
		{name: "count of an owner", scan: true, sql: func(r *dice) string {
			return fmt.Sprintf(where+"owner = 'owner%d'", r.n(soakOwners))
		}},
		{name: "three conditions", sql: func(r *dice) string {
			return fmt.Sprintf(where+"kind = 'kind%d' AND stars >= %d AND MATCH (title) AGAINST ('m%d c%d')", r.n(soakKinds), 1+r.n(5), r.n(5000), r.n(40))
		}},
		{name: "range, sum", scan: true, sql: func(r *dice) string {
			p := r.n(soakPrices)
			return fmt.Sprintf("SELECT COUNT(*), SUM(amount) FROM docs WHERE price BETWEEN %d AND %d", p, p+soakPrices/100)
		}},
		{name: "newest ten", sql: func(r *dice) string {
			return fmt.Sprintf("SELECT id, title FROM docs WHERE kind = 'kind%d' AND stars = %d ORDER BY at DESC LIMIT 10", r.n(soakKinds), 1+r.n(5))
		}},
		{name: "words, rows", sql: func(r *dice) string {
			return fmt.Sprintf("SELECT id, title FROM docs WHERE MATCH (title) AGAINST ('+m%d +c%d' IN BOOLEAN MODE) LIMIT 100", r.n(5000), r.n(40))
		}},
		{name: "within 20 km", sql: func(r *dice) string {
			return fmt.Sprintf("SELECT id, owner FROM docs WHERE ST_Distance_Sphere(place, POINT(%d, %d)) < 20000", r.n(359)-179, r.n(140)-70)
		}},
		{name: "groups", scan: true, sql: func(r *dice) string {
			p := r.n(soakPrices)
			return fmt.Sprintf("SELECT kind, stars, COUNT(*) FROM docs WHERE price BETWEEN %d AND %d GROUP BY kind, stars", p, p+soakPrices/50)
		}},
	}
}

func (b *soak) say(format string, args ...any) { _, _ = fmt.Fprintf(b.stdout, format+"\n", args...) }

func (b *soak) run(ctx context.Context) (err error) {
	if b.target, err = openTarget(ctx, "A", b.dsn, 0); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.target.db.Close()) }()
	b.target.db.SetMaxIdleConns(b.conns + b.askers + 2)
	b.say("%s", b.target)
	if !b.keep {
		if err := b.fill(ctx); err != nil {
			return err
		}
	}
	var last int64
	if err := b.target.db.QueryRowContext(ctx, "SELECT MAX(id) FROM docs").Scan(&last); err != nil {
		return err
	}
	b.next.Store(last)
	b.all, b.lag, b.lagWhole = newHistogram(), newHistogram(), newHistogram()
	for i := range b.kinds {
		b.kinds[i].took = newHistogram()
	}
	if err := b.both(ctx); err != nil {
		return err
	}
	b.say("\n%-20s %9s %9s %9s %9s", "question", "asked", "p50 ms", "p99 ms", "worst ms")
	for _, k := range b.kinds {
		b.say("%-20s %9d %9.2f %9.2f %9.2f", k.name, k.took.TotalCount(), ms(k.took, 50), ms(k.took, 99), float64(k.took.Max())/1000)
	}
	b.say("%-20s %9d %9.2f %9.2f %9.2f", "lag", b.lagWhole.TotalCount(), ms(b.lagWhole, 50), ms(b.lagWhole, 99), float64(b.lagWhole.Max())/1000)
	return b.compare(ctx)
}

func ms(h *hdrhistogram.Histogram, q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }

// soakReader gives rows as CSV, made as they are read.
type soakReader struct {
	next, end int64
	buf       []byte
	pos       int
}

// Read fills p with as many bytes as there are.
func (r *soakReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.pos == len(r.buf) {
			if r.next == r.end {
				break
			}
			r.buf, r.pos = append(soakRow(r.buf[:0], r.next, 0), '\n'), 0
			r.next++
		}
		k := copy(p[n:], r.buf[r.pos:])
		n, r.pos = n+k, r.pos+k
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// fill makes the table, and then the index.
func (b *soak) fill(ctx context.Context) error {
	for _, s := range []string{
		"DROP TABLE IF EXISTS docs",
		"CREATE TABLE docs (id BIGINT PRIMARY KEY, kind VARCHAR(12), owner VARCHAR(24), price INT, stars INT, amount DECIMAL(10,2), at DATETIME, title VARCHAR(200), place POINT NOT NULL)",
	} {
		if _, err := b.target.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	start := time.Now()
	mysql.RegisterReaderHandler("soak", func() io.Reader { return &soakReader{end: b.rows} })
	defer mysql.DeregisterReaderHandler("soak")
	if _, err := b.target.db.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::soak' INTO TABLE docs FIELDS TERMINATED BY ',' (id, kind, owner, price, stars, amount, at, title, @x, @y) SET place = POINT(@x, @y)"); err != nil {
		return err
	}
	took := time.Since(start)
	b.say("loaded %d rows in %.0f s, %.0f a second", b.rows, took.Seconds(), float64(b.rows)/took.Seconds())
	start = time.Now()
	if _, err := b.target.db.ExecContext(ctx, "CREATE SEARCH INDEX s ON docs (kind, owner, price, stars, amount, at, title TEXT, place GEO_POINT)"); err != nil {
		return err
	}
	took = time.Since(start)
	if err := b.look(ctx); err != nil {
		return err
	}
	b.say("built the index in %.0f s, %.0f rows a second, %.0f bytes a row", took.Seconds(), float64(b.rows)/took.Seconds(), float64(b.disk)/float64(b.rows))
	return nil
}

// writeValues writes a row as a list of VALUES.
func writeValues(q *bytes.Buffer, id, change int64) {
	f := strings.Split(string(soakRow(nil, id, change)), ",")
	fmt.Fprintf(q, "(%s,'%s','%s',%s,%s,%s,'%s','%s',POINT(%s,%s))", f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9])
}

// look reads what the server tells of the index.
func (b *soak) look(ctx context.Context) error {
	var lag sql.NullFloat64
	err := b.target.db.QueryRowContext(ctx, "SELECT LAG_MILLISECONDS, SEGMENTS, DISK_BYTES, MEMORY_BYTES FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'docs'").
		Scan(&lag, &b.segments, &b.disk, &b.memory)
	if err != nil {
		return err
	}
	if !lag.Valid {
		lag.Float64 = math.Inf(1)
	}
	if b.lag != nil {
		us := int64(min(lag.Float64*1000, float64(maxLatency/time.Microsecond)))
		b.mu.Lock()
		err = errors.Join(b.lag.RecordValue(us), b.lagWhole.RecordValue(us))
		b.mu.Unlock()
	}
	return err
}

// both writes and asks.
func (b *soak) both(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	start := time.Now()
	end := start.Add(b.duration)
	at := func(rate int, work func(ctx context.Context, conn *sql.Conn, r *dice, n int64) error, conns int) {
		var turn atomic.Int64
		for i := range conns {
			wg.Go(func() {
				conn, err := b.target.db.Conn(ctx)
				if err != nil {
					cancel(err)
					return
				}
				defer conn.Close()
				r := &dice{uint64(time.Now().UnixNano()) + uint64(i)<<40}
				for {
					n := turn.Add(1)
					due := start.Add(time.Duration(float64(n) / float64(rate) * float64(time.Second)))
					if due.After(end) || sleep(ctx, time.Until(due)) != nil {
						return
					}
					if err := work(ctx, conn, r, n); err != nil {
						cancel(err)
						return
					}
				}
			})
		}
	}
	at(b.rate, b.change, b.conns)
	at(b.questions, b.ask, b.askers)
	wg.Go(func() {
		for sleep(ctx, min(100*time.Millisecond, time.Until(end))) == nil && time.Now().Before(end) {
			if err := b.look(ctx); err != nil {
				cancel(err)
				return
			}
		}
	})
	b.say("\n%8s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s", "seconds", "changes/s", "asked/s", "p50 ms", "p99 ms", "lag p50", "lag p99", "segments", "disk MB", "index MB", "RSS MB")
	wg.Go(func() {
		for now := start; now.Before(end); {
			next := now.Add(b.every)
			if next.After(end) {
				next = end
			}
			if sleep(ctx, time.Until(next)) != nil {
				return
			}
			b.line(start, next.Sub(now))
			now = next
		}
	})
	wg.Wait()
	return context.Cause(ctx)
}

// line tells about an interval.
func (b *soak) line(start time.Time, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := d.Seconds()
	b.say("%8.0f %9.0f %9.0f %9.2f %9.2f %9.1f %9.1f %9d %9.0f %9.0f %9.0f", time.Since(start).Seconds(), float64(b.changes.Swap(0))/s, float64(b.all.TotalCount())/s,
		ms(b.all, 50), ms(b.all, 99), ms(b.lag, 50), ms(b.lag, 99), b.segments, float64(b.disk)/1e6, float64(b.memory)/1e6, float64(residentBytes(b.target.pid))/1e6)
	b.all.Reset()
	b.lag.Reset()
}

// residentBytes is the memory of a process; 0 when that cannot be known.
func residentBytes(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(data)
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return n * int64(os.Getpagesize())
}

// change changes a row.
func (b *soak) change(ctx context.Context, conn *sql.Conn, r *dice, n int64) error {
	var q bytes.Buffer
	switch k := n % 10; {
	case k < 2:
		q.WriteString("INSERT INTO docs VALUES ")
		writeValues(&q, b.next.Add(1), 0)
	case k < 4:
		fmt.Fprintf(&q, "DELETE FROM docs WHERE id = %d", r.n(b.next.Load()))
	case k < 7:
		fmt.Fprintf(&q, "UPDATE docs SET price = %d, stars = %d WHERE id = %d", r.n(soakPrices), 1+r.n(5), r.n(b.next.Load()))
	default:
		fmt.Fprintf(&q, "UPDATE docs SET title = '%s %s %s', kind = 'kind%d' WHERE id = %d", r.word(), r.word(), r.word(), r.n(soakKinds), r.n(b.next.Load()))
	}
	_, err := conn.ExecContext(ctx, q.String())
	b.changes.Add(1)
	return err
}

// ask asks a question and reads the answer. Its latency counts from the moment
// at which it is sent.
func (b *soak) ask(ctx context.Context, conn *sql.Conn, r *dice, n int64) error {
	k := &b.kinds[n%int64(len(b.kinds))]
	q := k.sql(r)
	start := time.Now()
	rows, err := conn.QueryContext(ctx, q)
	if err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	for rows.Next() {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	us := min(time.Since(start), maxLatency).Microseconds()
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(k.took.RecordValue(us), b.all.RecordValue(us))
}

// compare asks the index and the table the same.
func (b *soak) compare(ctx context.Context) error {
	r := &dice{uint64(time.Now().UnixNano())}
	same := 0
	kinds := slices.DeleteFunc(slices.Clone(b.kinds), func(k soakQuestion) bool { return !k.scan })
	for i := range b.verify {
		q := kinds[i%len(kinds)].sql(r)
		var answers [2]string
		for j, use := range []string{"docs FORCE INDEX (s)", "docs USE INDEX ()"} {
			rows, err := b.target.db.QueryContext(ctx, strings.Replace(q, "docs", use, 1))
			if err != nil {
				return err
			}
			if answers[j], err = allRows(rows); err != nil {
				return err
			}
		}
		if answers[0] != answers[1] {
			return fmt.Errorf("%s: the index says %s, the table %s", q, answers[0], answers[1])
		}
		same++
	}
	b.say("\n%d answers of the index and of the table are the same", same)
	return nil
}

// allRows is an answer, its rows in the order of their texts.
func allRows(rows *sql.Rows) (string, error) {
	cols, err := rows.Columns()
	if err != nil {
		return "", errors.Join(err, rows.Close())
	}
	var out []string
	vals, ptrs := make([]sql.RawBytes, len(cols)), make([]any, len(cols))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return "", errors.Join(err, rows.Close())
		}
		out = append(out, string(bytes.Join(asBytes(vals), []byte(" "))))
	}
	slices.Sort(out)
	return strings.Join(out, "; "), errors.Join(rows.Err(), rows.Close())
}

func asBytes(in []sql.RawBytes) [][]byte {
	out := make([][]byte, len(in))
	for i := range in {
		out[i] = in[i]
	}
	return out
}
