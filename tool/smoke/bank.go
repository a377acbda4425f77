package smoke

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Bank moves money between accounts, and knows how each transfer ended. Its methods may be
// called concurrently, but for Create and Check.
type Bank struct {
	// Database is made by Create.
	Database string

	mu    sync.Mutex
	ended []outcome // of transfers, by number; the first one is 1
	stats Stats
}

const (
	accounts = 50
	initial  = 1000
)

// outcome is how a transfer ended.
type outcome uint8

const (
	unknown outcome = iota // it has not ended, or nobody can say
	acknowledged
	refused
)

// Stats are counts of transfers.
type Stats struct {
	Acknowledged, Refused, Unknown int
	// Last is when one was acknowledged, and Longest the longest time without that.
	Last    time.Time
	Longest time.Duration
	// Errors are counts by what clients saw.
	Errors map[string]int
}

// Create makes the tables. It fails when the database is there.
func (b *Bank) Create(ctx context.Context, db *sql.DB) error {
	for _, q := range []string{
		"CREATE DATABASE " + b.Database,
		fmt.Sprintf("CREATE TABLE %s.account (id INT PRIMARY KEY, n INT NOT NULL)", b.Database),
		fmt.Sprintf(`CREATE TABLE %s.transfer (id INT PRIMARY KEY, a INT, b INT, n INT, note VARCHAR(40),
			KEY (a, n), UNIQUE (b, id), SEARCH INDEX s (a, note TEXT)) SECONDARY_ENGINE_ATTRIBUTE = '{"stream": true}'`, b.Database),
		fmt.Sprintf("INSERT INTO %s.account WITH RECURSIVE x (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < %d) SELECT i, %d FROM x", b.Database, accounts, initial),
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	b.stats.Last, b.stats.Errors = time.Now(), map[string]int{}
	return nil
}

// Stats are the counts until now.
func (b *Bank) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Longest = max(s.Longest, time.Since(s.Last))
	s.Errors = make(map[string]int, len(b.stats.Errors))
	for text, n := range b.stats.Errors {
		s.Errors[text] = n
	}
	return s
}

// errorPause is between a transfer that failed and the next one of a worker.
const errorPause = 50 * time.Millisecond

// Run makes transfers side by side until the context ends. What clients see of failures is
// counted, not returned.
func (b *Bank) Run(ctx context.Context, db *sql.DB, workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := b.transfer(ctx, db); err != nil {
					pause(ctx, errorPause)
				}
			}
		})
	}
	all.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// transfer makes one transfer, in a transaction. One that the end of the context cuts off
// is unknown.
func (b *Bank) transfer(ctx context.Context, db *sql.DB) error {
	from, to, n := 1+rand.IntN(accounts), 1+rand.IntN(accounts), 1+rand.IntN(9)
	id := b.next()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		b.end(ctx, id, refused, err)
		return err
	}
	for _, q := range []string{
		fmt.Sprintf("UPDATE %s.account SET n = n - %d WHERE id = %d", b.Database, n, from),
		fmt.Sprintf("UPDATE %s.account SET n = n + %d WHERE id = %d", b.Database, n, to),
		fmt.Sprintf("INSERT INTO %s.transfer VALUES (%d, %d, %d, %d, 'transfer %d')", b.Database, id, from, to, n, id),
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			_ = tx.Rollback() // the connection may be gone
			b.end(ctx, id, refused, err)
			return err
		}
	}
	err = tx.Commit()
	b.end(ctx, id, outcomeOf(err), err)
	return err
}

// outcomeOf is what the answer to COMMIT says.
func outcomeOf(err error) outcome {
	var reply *mysql.MySQLError
	switch {
	case err == nil:
		return acknowledged
	case errors.As(err, &reply) && reply.Number != errUnknown:
		return refused
	}
	return unknown
}

// errUnknown is ER_ERROR_DURING_COMMIT: the outcome of a commit is not known.
const errUnknown = 1180

func (b *Bank) next() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, unknown)
	return len(b.ended)
}

func (b *Bank) end(ctx context.Context, id int, o outcome, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended[id-1] = o
	switch o {
	case acknowledged:
		b.stats.Acknowledged++
		now := time.Now()
		b.stats.Longest = max(b.stats.Longest, now.Sub(b.stats.Last))
		b.stats.Last = now
	case refused:
		b.stats.Refused++
	default:
		b.stats.Unknown++
	}
	if err != nil && ctx.Err() == nil {
		b.stats.Errors[textOf(err)]++
	}
}

// textOf is an error without what differs from one time to the next.
func textOf(err error) string {
	var reply *mysql.MySQLError
	if errors.As(err, &reply) {
		return fmt.Sprintf("error %d", reply.Number)
	}
	return "lost connection"
}
