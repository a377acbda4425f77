package histories

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// disturb runs what happens next to the load. The function that it returns ends it.
func (r *run) disturb() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	start := func(n uint64, fn func(ctx context.Context, rng *rand.Rand)) {
		running.Go(func() { fn(ctx, rand.New(rand.NewPCG(r.seed, n))) })
	}
	start(1001, r.changeFlush)
	if !*calm {
		start(1002, r.killQueries)
		start(1003, r.changeSchema)
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// sleep waits, and reports whether to go on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// changeFlush changes how durable commits are. A commit that is not synced is
// answered sooner, and the others at once.
func (r *run) changeFlush(ctx context.Context, rng *rand.Rand) {
	for {
		n := *flush
		if n < 0 {
			n = []int{0, 1, 2, 2}[rng.IntN(4)]
		}
		if _, err := r.db.Exec(fmt.Sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", n)); err != nil {
			r.t.Error(err)
		}
		if !sleep(ctx, time.Duration(200+rng.IntN(800))*time.Millisecond) {
			return
		}
	}
}

// killQueries interrupts statements now and then.
func (r *run) killQueries(ctx context.Context, rng *rand.Rand) {
	for sleep(ctx, time.Duration(5+rng.IntN(100))*time.Millisecond) {
		id := r.conns[rng.IntN(len(r.conns))].id
		if _, err := r.db.Exec(fmt.Sprintf("KILL QUERY %d", id)); err != nil {
			r.t.Error(err)
			return
		}
		r.killed.Add(1)
	}
}

// schemaChanges are made again and again, in this order. Those of other tables make
// statements be planned again as well.
var schemaChanges = []string{
	"CREATE INDEX extra ON reg (b, n)",
	"ALTER TABLE other ADD COLUMN more INT DEFAULT 5",
	"DROP INDEX extra ON reg",
	"ALTER TABLE reg ADD COLUMN more INT DEFAULT 5",
	"OPTIMIZE TABLE reg",
	"ALTER TABLE other DROP COLUMN more",
	"ALTER TABLE reg ALTER SEARCH INDEX s ADD (more)",
	"CREATE UNIQUE INDEX extra ON elem (e, i)",
	"ALTER TABLE reg ALTER SEARCH INDEX s DROP (more)",
	"ALTER TABLE reg DROP COLUMN more",
	"DROP INDEX extra ON elem",
	"ALTER TABLE reg MODIFY t VARCHAR(80) NOT NULL",
	"ALTER TABLE txt ADD COLUMN more INT DEFAULT 5",
	"OPTIMIZE TABLE txt, elem",
	"ALTER TABLE reg MODIFY t VARCHAR(60) NOT NULL",
	"ALTER TABLE txt DROP COLUMN more",
}

// changeSchema makes them. Each waits a second at most for the transactions that
// use the table; its errors are not looked at.
func (r *run) changeSchema(ctx context.Context, rng *rand.Rand) {
	r.must("CREATE TABLE other (k INT PRIMARY KEY)")
	c, err := r.db.Conn(context.Background())
	if err != nil {
		r.t.Error(err)
		return
	}
	defer c.Close()
	_, _ = c.ExecContext(ctx, "SET lock_wait_timeout = 1")
	for {
		for _, q := range schemaChanges {
			if !sleep(ctx, time.Duration(100+rng.IntN(400))*time.Millisecond) {
				return
			}
			if _, err := c.ExecContext(context.WithoutCancel(ctx), q); err == nil {
				r.schemaChanges.Add(1)
			}
		}
	}
}
