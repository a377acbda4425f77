package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
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
