package tikvkv_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

// TestCuts: all calls of a server fail from one moment on, as after kill -9, and a new
// server goes on with the store. No transfer that was acknowledged is lost, none is half
// there, indexes have what their tables have, and the change log has each change once.
func TestCuts(t *testing.T) {
	testflag.Long(t) // calls of client-go that are cut off take up to 40 seconds
	defer tikvkv.ShortLease(400*time.Millisecond, 40*time.Millisecond)()
	b := &cutBank{t: t, c: cluster(t), rng: rand.New(rand.NewPCG(testflag.Seed(1), 0))}
	cuts := testflag.Rounds(1, 1, 1)
	for range cuts {
		b.serve(func(db *sql.DB, n *tikvtest.Node) {
			b.check(db)
			b.transfer(db, func() {
				time.Sleep(time.Duration(20+b.rng.IntN(300)) * time.Millisecond)
				n.Cut(true)
			})
		})
	}
	b.serve(func(db *sql.DB, _ *tikvtest.Node) { b.check(db) })
	t.Logf("%d cuts, %d transfers acknowledged, %d not known", cuts, len(b.acknowledged), b.unknown)
}

const (
	cutAccounts = 20
	cutInitial  = 1000
	cutWorkers  = 6
)

// cutBank are the transfers of TestCuts.
type cutBank struct {
	t   *testing.T
	c   *tikvtest.Cluster
	rng *rand.Rand

	mu           sync.Mutex
	next         int
	acknowledged []int
	unknown      int
}

// serve runs a server on the store, with which fn works.
func (b *cutBank) serve(fn func(db *sql.DB, n *tikvtest.Node)) {
	n := b.c.Node()
	kv, err := n.Connect()
	must(b.t, err)
	store, err := tikvkv.Join(bg, kv, "bank", tikvkv.Node{}, tikvkv.Options{})
	must(b.t, err)
	s, err := server.Start(bg, server.Config{InMemory: true, Listen: "127.0.0.1:0", Memory: 128 << 20, MemoryStore: func() storage.Store { return store }})
	must(b.t, err)
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/?multiStatements=true")
	must(b.t, err)
	exec(b.t, db, fmt.Sprintf(`CREATE DATABASE IF NOT EXISTS d;
		CREATE TABLE IF NOT EXISTS d.account (id INT PRIMARY KEY, n INT);
		CREATE TABLE IF NOT EXISTS d.transfer (id INT PRIMARY KEY, a INT, b INT, n INT, note VARCHAR(40), KEY (a, n), UNIQUE (b, id), SEARCH INDEX s (a, note TEXT)) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true}';
		INSERT IGNORE INTO d.account WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < %d) SELECT i, %d FROM x`, cutAccounts, cutInitial))
	fn(db, n)
	_ = db.Close()    // its connections may be broken
	_ = s.Stop(0)     // it cannot say goodbye
	_ = store.Close() // the server has closed it, if it got that far
}

// transfer moves money until stop has cut the server off.
func (b *cutBank) transfer(db *sql.DB, stop func()) {
	ctx, cancel := context.WithCancel(bg)
	var all sync.WaitGroup
	for range cutWorkers {
		all.Go(func() {
			for ctx.Err() == nil {
				b.move(ctx, db)
			}
		})
	}
	stop()
	time.Sleep(50 * time.Millisecond)
	cancel()
	all.Wait()
}

// move makes one transfer.
func (b *cutBank) move(ctx context.Context, db *sql.DB) {
	b.mu.Lock()
	b.next++
	id, from, to, n := b.next, 1+b.rng.IntN(cutAccounts), 1+b.rng.IntN(cutAccounts), 1+b.rng.IntN(9)
	b.mu.Unlock()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return
	}
	for _, q := range []string{
		fmt.Sprintf("UPDATE d.account SET n = n - %d WHERE id = %d", n, from),
		fmt.Sprintf("UPDATE d.account SET n = n + %d WHERE id = %d", n, to),
		fmt.Sprintf("INSERT INTO d.transfer VALUES (%d, %d, %d, %d, 'transfer %d')", id, from, to, n, id),
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			_ = tx.Rollback() // the server may be gone
			return
		}
	}
	err = tx.Commit()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.unknown++
		return
	}
	b.acknowledged = append(b.acknowledged, id)
}

// check compares all that the store has.
func (b *cutBank) check(db *sql.DB) {
	b.t.Helper()
	have := map[int]bool{}
	for _, id := range ints(b.t, db, "SELECT id FROM d.transfer") {
		have[id] = true
	}
	for _, id := range b.acknowledged {
		if !have[id] {
			b.t.Errorf("transfer %d was acknowledged, and is lost", id)
		}
	}
	for q, want := range map[string]int{
		"SELECT SUM(n) FROM d.account": cutAccounts * cutInitial,
		"SELECT COUNT(*) FROM (SELECT id, SUM(n) AS n FROM (SELECT a AS id, -n AS n FROM d.transfer UNION ALL SELECT b, n FROM d.transfer) m GROUP BY id) m JOIN d.account USING (id) WHERE account.n <> 1000 + m.n": 0,
		"SELECT COUNT(*) FROM d.transfer FORCE INDEX (a)":                                         len(have),
		"SELECT COUNT(*) FROM d.transfer FORCE INDEX (s) WHERE a > 0":                             len(have),
		"SELECT COUNT(*) FROM d.transfer FORCE INDEX (s) WHERE MATCH (note) AGAINST ('transfer')": len(have),
		"SELECT COUNT(*) FROM stream('d.transfer') WHERE kind = 'insert'":                         len(have),
	} {
		if got := ints(b.t, db, q); len(got) != 1 || got[0] != want {
			b.t.Errorf("%s: %v, not %d", q, got, want)
		}
	}
	for _, table := range []string{"account", "transfer"} {
		var name, op, kind, text string
		must(b.t, db.QueryRow("CHECK TABLE d."+table).Scan(&name, &op, &kind, &text))
		if text != "OK" {
			b.t.Errorf("CHECK TABLE %s: %s", table, text)
		}
	}
	if b.t.Failed() {
		b.t.FailNow()
	}
}

// ints is a column of numbers.
func ints(t testing.TB, db *sql.DB, q string) (out []int) {
	t.Helper()
	rows, err := db.Query(q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		must(t, rows.Scan(&n))
		out = append(out, n)
	}
	must(t, rows.Err())
	return out
}
