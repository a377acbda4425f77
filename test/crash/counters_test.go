package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestKillCounters kills a server that gives out AUTO_INCREMENT numbers, for a
// whole table and within the prefixes of a key: no number is given twice, also
// not that of a row that is gone, and a reader that goes on from the last number
// it saw misses no row.
func TestKillCounters(t *testing.T) {
	seed := testflag.AnySeed(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	b := &builds{dir: t.TempDir(), gone: &atomic.Bool{}}
	testflag.Normal(t)
	rounds := testflag.Rounds(1, 1, 5)
	const topics = 3
	var mu sync.Mutex
	given := map[string]bool{} // numbers that were acknowledged
	last := map[string]int64{} // the greatest of them before the last kill
	total := 0
	for round := range rounds {
		b.start(t)
		if round == 0 {
			b.exec(t, "CREATE DATABASE crash", "CREATE TABLE crash.q (topic INT, seq BIGINT AUTO_INCREMENT, body INT, PRIMARY KEY (topic, seq))",
				"CREATE TABLE crash.w (seq BIGINT AUTO_INCREMENT PRIMARY KEY, body INT)")
		}
		time.AfterFunc(time.Duration(300+rng.IntN(700))*time.Millisecond, b.kill)
		before := map[string]int64{}
		for k, v := range last {
			before[k] = v
		}
		insert := func(key, query string, drop string) bool {
			conn, err := b.db.Conn(context.Background())
			if err != nil {
				return false
			}
			defer conn.Close()
			res, err := conn.ExecContext(context.Background(), query)
			if err != nil {
				if !b.gone.Load() {
					t.Errorf("%s: %v", query, err)
				}
				return false
			}
			id, _ := res.LastInsertId()
			mu.Lock()
			name := fmt.Sprintf("%s/%d", key, id)
			if given[name] || id <= before[key] {
				t.Errorf("number %s again, or not behind %d", name, before[key])
			}
			given[name], last[key] = true, max(last[key], id)
			total++
			mu.Unlock()
			if drop != "" {
				_, err = conn.ExecContext(context.Background(), fmt.Sprintf(drop, id))
			}
			return err == nil
		}
		var wg sync.WaitGroup
		for g := range 4 {
			rng := rand.New(rand.NewPCG(seed+uint64(g), uint64(round)))
			wg.Go(func() {
				for ok := true; ok; {
					topic := rng.IntN(topics)
					if rng.IntN(3) == 0 {
						drop := ""
						if rng.IntN(2) == 0 {
							drop = "DELETE FROM crash.w WHERE seq = %d"
						}
						ok = insert("w", "INSERT INTO crash.w (body) VALUES (1)", drop)
						continue
					}
					drop := ""
					if rng.IntN(4) == 0 {
						drop = fmt.Sprintf("UPDATE crash.q SET topic = %d WHERE topic = %d AND seq = %%d", topics+topic, topic) // out of the way
					}
					ok = insert(fmt.Sprint(topic), fmt.Sprintf("INSERT INTO crash.q (topic, body) VALUES (%d, 1)", topic), drop)
				}
			})
		}
		wg.Go(func() { b.follow(t) })
		wg.Wait()
		b.child.Kill()
		if t.Failed() {
			return
		}
	}
	b.start(t)
	for topic := range topics {
		// A row that was acknowledged is in its topic, or where it was moved.
		n := b.one(t, fmt.Sprintf("SELECT COUNT(*) FROM crash.q WHERE topic IN (%d, %d)", topic, topic+topics))
		acked := 0
		for name := range given {
			var k, id int
			if _, err := fmt.Sscanf(name, "%d/%d", &k, &id); err == nil && k == topic {
				acked++
			}
		}
		var got int
		if _, err := fmt.Sscan(n, &got); err != nil || got < acked {
			t.Errorf("topic %d has %s rows, %d were acknowledged", topic, n, acked)
		}
	}
	b.kill()
	t.Logf("%d numbers in %d rounds", total, rounds)
}

// follow reads a topic as a queue: by what is greater than the last number. No smaller
// number may appear after that.
func (b *builds) follow(t *testing.T) {
	last, n := int64(0), 0
	for {
		rows, err := b.db.Query("SELECT seq FROM crash.q WHERE topic = 0 AND seq > ? ORDER BY seq LIMIT 30", last)
		if err != nil {
			return
		}
		for rows.Next() {
			if rows.Scan(&last) == nil {
				n++
			}
		}
		if rows.Err() != nil || rows.Close() != nil {
			return
		}
		var missed int
		err = b.db.QueryRow("SELECT COUNT(*) FROM crash.q WHERE topic = 0 AND seq <= ?", last).Scan(&missed)
		if err != nil {
			return
		}
		if missed > n { // rows that left the topic were read before
			t.Errorf("%d rows up to %d, %d were read", missed, last, n)
			return
		}
	}
}
