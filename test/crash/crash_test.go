package crash

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/testflag"
)

const connections = 6

func TestKill(t *testing.T) {
	testflag.Normal(t)
	seed := testflag.AnySeed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	rounds := testflag.Rounds(2, 2, 12)
	dir := t.TempDir()
	workers := make([]*worker, connections)
	for i := range workers {
		workers[i] = &worker{rng: rand.New(rand.NewPCG(seed, uint64(i)+10))}
	}
	l := &load{nextID: &atomic.Int64{}, killed: &atomic.Bool{}, commits: &atomic.Int64{}, indexes: &atomic.Int64{}, big: strings.Repeat("large ", 2000)}
	unanswered, kept := 0, 0
	for round := range rounds {
		before := l.commits.Load()
		crash(t, dir, l, workers, round, time.Duration(100+rng.IntN(400))*time.Millisecond)
		if t.Failed() {
			return
		}
		t.Logf("round %d: %d acknowledged transactions", round, l.commits.Load()-before)
		scrub(t, dir)
		u, k := verify(t, dir, workers)
		unanswered, kept = unanswered+u, kept+k
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills, %d acknowledged transactions, %d unanswered of which %d had been committed, %d indexes made",
		rounds, l.commits.Load(), unanswered, kept, l.indexes.Load())
	if l.indexes.Load() == 0 {
		t.Error("no index was made under the load")
	}
	if l.commits.Load() < int64(rounds)*10 {
		t.Errorf("only %d transactions in %d rounds: that tests nothing", l.commits.Load(), rounds)
	}
}

// crash runs the load for a while and kills the server. Every second round
// changes the schema at the same time.
func crash(t *testing.T, dir string, l *load, workers []*worker, round int, after time.Duration) {
	t.Helper()
	c := childserver.Start(t, dir)
	l.db = connect(t, c.Addr)
	defer l.db.Close()
	if round == 0 {
		for _, q := range ddl() {
			if _, err := l.db.Exec(q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}
	l.killed.Store(false)
	schema := round%2 == 1
	ended, signalled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(signalled)
		time.Sleep(after)
		l.awaitWork(schema, ended)
		l.killed.Store(true)
		c.Signal()
	}()
	l.run(workers, schema)
	close(ended)
	<-signalled
	c.Kill()
	for i, w := range workers {
		if w.err != nil {
			t.Errorf("connection %d: %v\n%s", i, w.err, c.Log)
		}
	}
}

func connect(t *testing.T, addr string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Logger = "root", "tcp", addr, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(connector)
}

// verify compares what a new server finds with what was acknowledged, and
// takes over the outcome of unanswered transactions.
func verify(t *testing.T, dir string, workers []*worker) (unanswered, kept int) {
	t.Helper()
	c := childserver.Start(t, dir)
	defer c.Kill()
	db := connect(t, c.Addr)
	defer db.Close()
	found := readGroups(t, db)
	for _, w := range workers {
		for _, g := range w.groups {
			got := found[g.id]
			delete(found, g.id)
			switch {
			case got == g.acked:
			case g.maybe != nil && got == *g.maybe:
				kept++
			default:
				t.Errorf("group %d is %+v, was acknowledged as %+v, pending %+v", g.id, got, g.acked, g.maybe)
			}
			if g.maybe != nil {
				unanswered++
			}
			g.acked, g.maybe = got, nil
		}
	}
	for id, s := range found {
		t.Errorf("group %d is %+v, though nobody wrote it", id, s)
	}
	compareIndexes(t, db)
	compareLogs(t, db)
	return unanswered, kept
}

// readGroups reads all groups and looks for ones between two states.
func readGroups(t *testing.T, db *sql.DB) map[int64]state {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), `SELECT grp, COUNT(*), MIN(gen), MAX(gen), MIN(part), MAX(part),
		SUM(amount = grp * 7 + part + gen * 1000), SUM(token = CONCAT('t', grp, '-', part, '-', gen)), SUM(name = CONCAT('n', (grp + gen) % 50)),
		SUM(CHAR_LENGTH(note) = IF((grp + part) % 10 = 0, 12000, 5) AND bulky = note), SUM(wild = IF(gen % 2 = 0, gen, CONCAT('w', gen)))
		FROM crash.entries GROUP BY grp`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[int64]state{}
	for rows.Next() {
		var id int64
		var n, minGen, maxGen, minPart, maxPart, amounts, tokens, names, notes, wilds int
		if err := rows.Scan(&id, &n, &minGen, &maxGen, &minPart, &maxPart, &amounts, &tokens, &names, &notes, &wilds); err != nil {
			t.Fatal(err)
		}
		if minGen != maxGen || minPart != 0 || maxPart != n-1 || amounts != n || tokens != n || names != n || notes != n || wilds != n {
			t.Errorf("group %d is half written: %d rows, gen %d to %d, part %d to %d, %d right amounts, %d tokens, %d names, %d notes, %d attributes",
				id, n, minGen, maxGen, minPart, maxPart, amounts, tokens, names, notes, wilds)
		}
		out[id] = state{minGen, n}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// compareIndexes runs the same query by every index.
func compareIndexes(t *testing.T, db *sql.DB) {
	t.Helper()
	one := func(query string) string {
		var got sql.NullString
		if err := db.QueryRow(query).Scan(&got); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return got.String
	}
	if got := one("SELECT SUM(balance) FROM crash.accounts"); got != "0" {
		t.Errorf("the accounts sum up to %s", got)
	}
	if got := one("SELECT SUM(balance) FROM crash.accounts FORCE INDEX (by_balance)"); got != "0" {
		t.Errorf("the accounts sum up to %s by their index", got)
	}
	const question = "SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM(grp * 31 + part), 0), ' ', COUNT(DISTINCT grp)) FROM crash.entries FORCE INDEX (%s) WHERE %s"
	want := one(fmt.Sprintf(question, "PRIMARY", "grp >= 0"))
	indexes := map[string]string{"by_token": "token >= ''", "by_name": "name >= ''", "by_amount": "amount >= 0", "by_gen": "gen >= 0",
		"by_half": "half >= 0", "by_label": "label >= ''", "by_upper": "UPPER(name) >= ''", "by_expr": "CONCAT(token, '!') >= ''",
		"by_wild": "CAST(wild AS CHAR(20)) >= ''"}
	if one("SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'crash' AND table_name = 'entries' AND index_name = 'extra'") != "0" {
		indexes["extra"] = "half >= 0"
	}
	for index, where := range indexes {
		if got := one(fmt.Sprintf(question, index, where)); got != want {
			t.Errorf("by %s: %s, by the primary key: %s", index, got, want)
		}
	}
}

// scrub compares rows and index entries as "sqlots check" does.
func scrub(t *testing.T, dir string) {
	t.Helper()
	tables := 0
	_, err := datacheck.Dir(context.Background(), dir, func(r datacheck.Result) {
		tables++
		if r.Err != nil {
			t.Errorf("%s: %v", r.Table.Name, r.Err)
		}
		for _, p := range r.Report.Problems {
			t.Errorf("%s: %s", r.Table.Name, p)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if tables != 2 {
		t.Errorf("%d tables checked instead of 2", tables)
	}
}
