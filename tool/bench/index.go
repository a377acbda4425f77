package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// indexBuild is `sqlots bench index`: the latency of writers without and with
// an index build next to them.
type indexBuild struct {
	dsn       string
	rate      int
	conns     int
	duration  time.Duration
	statement string
	drop      string
	stdout    io.Writer

	target *target
	data   *dataset
	sent   atomic.Int64
	// pausing: what is written now does not count.
	pausing atomic.Bool
}

// settle is how long the removal of an index may busy the store.
const settle = 2 * time.Second

const indexUsage = `usage: sqlots bench index [flags]

Writes to the table calls that "sqlots bench load" has made, so many times a
second whether or not the answers come in time, and tells their latency, from
the moment at which a write was due: first alone, then while an index is built.

`

func indexMain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &indexBuild{stdout: stdout}
	f := newFlags("index", indexUsage, stderr)
	f.StringVar(&b.dsn, "dsn", "root@tcp(127.0.0.1:4000)/", "`address` as user:password@tcp(host:port)/database")
	f.IntVar(&b.rate, "rate", 1000, "writes in a second: half of them updates of the indexed column, half insertions")
	f.IntVar(&b.conns, "conns", 16, "connections that write")
	f.DurationVar(&b.duration, "duration", 20*time.Second, "least `time` of each part; the index is built again until all builds took it")
	f.StringVar(&b.statement, "statement", "CREATE INDEX bench_build ON calls (duration, called)", "what builds the index")
	f.StringVar(&b.drop, "drop", "DROP INDEX bench_build ON calls", "what drops it")
	if err := f.Parse(args); err != nil {
		return err
	}
	if b.rate < 1 || b.conns < 1 || b.duration <= 0 || f.NArg() > 0 {
		return errors.New("-rate, -conns and -duration must be greater than 0")
	}
	return b.run(ctx)
}

func (b *indexBuild) run(ctx context.Context) (err error) {
	if b.target, err = openTarget(ctx, "A", b.dsn, 0); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.target.db.Close()) }()
	b.target.db.SetMaxIdleConns(b.conns + 2)
	sizes, err := readInfo(ctx, b.target.db)
	if err != nil {
		return err
	}
	b.data = newDataset(sizes)
	_, _ = b.target.db.ExecContext(ctx, b.drop) // of a run that broke off
	if err := b.warm(ctx); err != nil {
		return err
	}
	alone, err := b.write(ctx, func(ctx context.Context) error { return sleep(ctx, b.duration) })
	if err != nil {
		return err
	}
	builds, longest := 0, time.Duration(0)
	beside, err := b.write(ctx, func(ctx context.Context) error {
		for took := time.Duration(0); took < b.duration; builds++ {
			if builds > 0 {
				b.pausing.Store(true)
				if _, err := b.target.db.ExecContext(ctx, b.drop); err != nil {
					return err
				}
				if err := sleep(ctx, settle); err != nil {
					return err
				}
				b.pausing.Store(false)
			}
			start := time.Now()
			if _, err := b.target.db.ExecContext(ctx, b.statement); err != nil {
				return fmt.Errorf("%s: %w", b.statement, err)
			}
			took += time.Since(start)
			longest = max(longest, time.Since(start))
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = b.target.db.ExecContext(ctx, b.drop)
	_, _ = fmt.Fprintf(b.stdout, "%d rows, %d writes/s on %d connections; %s\n%s\nwithout a build  %s\nbeside %d builds  %s\nthe longest build took %v; p99 %.2f times\n",
		b.data.Rows, b.rate, b.conns, b.target.durable, b.statement, alone, builds, beside, longest.Round(time.Millisecond), float64(beside.p99)/float64(alone.p99))
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

func (b *indexBuild) warm(ctx context.Context) error {
	_, err := b.write(ctx, func(ctx context.Context) error { return sleep(ctx, 2*time.Second) })
	return err
}

// latencies are those of a part.
type latencies struct {
	count              int
	p50, p99, p999, at time.Duration
}

// String is a line of the report.
func (l latencies) String() string {
	return fmt.Sprintf("%7d writes  p50 %v  p99 %v  p99.9 %v  worst %v", l.count, l.p50.Round(time.Microsecond), l.p99.Round(time.Microsecond), l.p999.Round(time.Microsecond), l.at.Round(time.Microsecond))
}

// write writes at the rate while the other runs.
func (b *indexBuild) write(ctx context.Context, other func(ctx context.Context) error) (latencies, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var stop atomic.Bool
	var wg sync.WaitGroup
	took := make([][]time.Duration, b.conns)
	start := time.Now()
	var turn atomic.Int64
	for i := range b.conns {
		wg.Go(func() {
			conn, err := b.target.db.Conn(ctx)
			if err != nil {
				cancel(err)
				return
			}
			defer conn.Close()
			for !stop.Load() && ctx.Err() == nil {
				due := start.Add(time.Duration(turn.Add(1)) * time.Second / time.Duration(b.rate))
				if sleep(ctx, time.Until(due)) != nil {
					return
				}
				counts := !b.pausing.Load()
				if err := b.one(ctx, conn); err != nil {
					cancel(err)
					return
				}
				if counts || !b.pausing.Load() {
					took[i] = append(took[i], time.Since(due))
				}
			}
		})
	}
	err := other(ctx)
	stop.Store(true)
	wg.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) == 0 {
		return latencies{}, errors.Join(err, errors.New("nothing was written"))
	}
	return latencies{len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)*999/1000], all[len(all)-1]}, err
}

// one writes once.
func (b *indexBuild) one(ctx context.Context, conn *sql.Conn) error {
	n := b.sent.Add(1)
	var err error
	if n%2 == 0 {
		c := b.data.row(int64(mix(uint64(n)) % uint64(b.data.Rows)))
		_, err = conn.ExecContext(ctx, "UPDATE calls SET duration = duration + 1 WHERE cell = ? AND start = ?", c.cell, c.start)
	} else {
		at := time.Now()
		_, err = conn.ExecContext(ctx, "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)", int64(mix(uint64(n))%1_000_000), at.UnixNano(), n, n%3600, n%1000, at.UTC().Format(time.DateTime))
	}
	return err
}
