package bench

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

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

// both writes and reads.
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
					// What could not be done until the end is left out.
					if due.After(end) || time.Now().After(end) || sleep(ctx, time.Until(due)) != nil {
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
	at(b.questions, b.query, b.askers)
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

// query runs a query and reads the answer. Its latency counts from the moment at which
// it is sent.
func (b *soak) query(ctx context.Context, conn *sql.Conn, r *dice, n int64) error {
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
