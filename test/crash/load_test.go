package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// accounts is the number of rows that all connections fight for.
const accounts = 8

// ddl makes the tables. Each index has another way to be kept up.
func ddl() []string {
	list := []string{
		"CREATE DATABASE crash",
		`CREATE TABLE crash.entries (
  grp BIGINT NOT NULL, part INT NOT NULL, gen INT NOT NULL, name VARCHAR(60), amount BIGINT, token VARCHAR(60) NOT NULL, note TEXT,
  half BIGINT AS (amount DIV 2), label VARCHAR(80) AS (CONCAT(name, '#', grp)) STORED,
  PRIMARY KEY (grp, part),
  UNIQUE KEY by_token (token),
  KEY by_name (name, grp) INCLUDE (amount),
  KEY by_amount (amount DESC),
  KEY by_half (half), KEY by_label (label), KEY by_upper ((UPPER(name)), part), UNIQUE KEY by_expr ((CONCAT(token, '!'))),
  KEY by_wild ((CAST(wild AS CHAR(20)))),
  KEY by_gen (gen), CHECK (gen > 0)) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "dynamic_columns": true}'`,
		`CREATE TABLE crash.accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL, KEY by_balance (balance)) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "max_versions": 4}'`,
	}
	for i := range accounts {
		list = append(list, fmt.Sprintf("INSERT INTO crash.accounts VALUES (%d, 0)", i))
	}
	return list
}

// state is what a group looks like; gen 0 means that it has no rows.
type state struct{ gen, parts int }

// group is a set of rows that change together. mu is not needed: one worker
// owns it while the load runs, the checker afterwards.
type group struct {
	id    int64
	acked state
	// maybe is the state of a transaction that was not answered.
	maybe *state
}

// load is the write load of one round.
type load struct {
	db      *sql.DB
	nextID  *atomic.Int64
	killed  *atomic.Bool
	commits *atomic.Int64
	indexes *atomic.Int64 // made by changeSchema
	big     string        // a value that leaves its row, see rowenc
}

// worker is one connection.
type worker struct {
	*load
	rng    *rand.Rand
	groups []*group
	err    error // an error that no crash explains
}

// run starts all workers, and with schema set one more that makes and drops an
// index, and waits until each has met an error.
func (l *load) run(workers []*worker, schema bool) {
	var wg sync.WaitGroup
	if schema {
		wg.Go(l.changeSchema)
	}
	for _, w := range workers {
		w.load = l
		wg.Go(w.work)
	}
	wg.Wait()
}

// awaitWork waits until there are enough commits, and with schema an index, for a
// kill to mean something: a slow machine does nothing in a fraction of a second.
// It waits a minute at most, and not after the workers have ended.
func (l *load) awaitWork(schema bool, ended <-chan struct{}) {
	commits := l.commits.Load()
	limit := time.After(time.Minute)
	for l.commits.Load() < commits+10 || schema && l.indexes.Load() == 0 {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ended:
			return
		case <-limit:
			return
		}
	}
}

// changeSchema makes and drops an index until the server is gone. Its errors
// are not looked at: the rows and entries that are left are.
func (l *load) changeSchema() {
	for !l.killed.Load() {
		if _, err := l.db.Exec("CREATE INDEX extra ON crash.entries (half, (LOWER(name)), amount) INCLUDE (note)"); err == nil {
			l.indexes.Add(1)
		}
		_, _ = l.db.Exec("DROP INDEX extra ON crash.entries")
	}
}

func (w *worker) work() {
	ctx := context.Background()
	conn, err := w.db.Conn(ctx)
	if err != nil {
		w.fail(err)
		return
	}
	defer conn.Close()
	for {
		if err := w.transaction(ctx, conn); err != nil {
			w.fail(err)
			return
		}
	}
}

// fail keeps an error that came before the kill.
func (w *worker) fail(err error) {
	if !w.killed.Load() {
		w.err = err
	}
}

// transaction changes one group. A conflict with another connection leaves
// the group as it was.
func (w *worker) transaction(ctx context.Context, conn *sql.Conn) error {
	g, next := w.pick()
	if g.acked.gen == 0 && next.gen == 1 && w.rng.IntN(3) == 0 {
		return w.single(ctx, conn, g, next)
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err := w.change(ctx, conn, g, next)
	if err == nil {
		err = w.transfer(ctx, conn)
	}
	var reply *mysql.MySQLError
	if errors.As(err, &reply) && (reply.Number == 1213 || reply.Number == 1205) {
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	if err != nil {
		return err
	}
	g.maybe = &next
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	g.acked, g.maybe = next, nil
	w.commits.Add(1)
	return nil
}

// single makes a group by one statement that is its own transaction.
func (w *worker) single(ctx context.Context, conn *sql.Conn, g *group, next state) error {
	g.maybe = &next
	if _, err := conn.ExecContext(ctx, w.insert(g, next)); err != nil {
		return err
	}
	g.acked, g.maybe = next, nil
	w.commits.Add(1)
	return nil
}

// pick takes a new group, or one of the worker's to change or delete.
func (w *worker) pick() (*group, state) {
	if len(w.groups) < 5 || w.rng.IntN(2) == 0 {
		g := &group{id: w.nextID.Add(1)}
		w.groups = append(w.groups, g)
		return g, state{1, 1 + w.rng.IntN(6)}
	}
	g := w.groups[w.rng.IntN(len(w.groups))]
	switch {
	case g.acked.gen == 0:
		return g, state{1, 1 + w.rng.IntN(6)}
	case w.rng.IntN(4) == 0:
		return g, state{}
	}
	return g, state{g.acked.gen + 1, g.acked.parts}
}

func (w *worker) change(ctx context.Context, conn *sql.Conn, g *group, next state) error {
	query := w.insert(g, next)
	switch {
	case next.gen == 0:
		query = fmt.Sprintf("DELETE FROM crash.entries WHERE grp = %d", g.id)
	case g.acked.gen > 0:
		query = fmt.Sprintf(`UPDATE crash.entries SET gen = %[2]d, amount = grp * 7 + part + %[2]d * 1000, name = CONCAT('n', (grp + %[2]d) %% 50),
			token = CONCAT('t', grp, '-', part, '-', %[2]d), wild = %[3]s WHERE grp = %[1]d`, g.id, next.gen, wild(next.gen))
	}
	res, err := conn.ExecContext(ctx, query)
	if err != nil {
		return err
	}
	want := max(g.acked.parts, next.parts)
	if n, err := res.RowsAffected(); err != nil || n != int64(want) {
		return fmt.Errorf("%s: %d rows affected instead of %d (%v)", query[:60], n, want, err)
	}
	return nil
}

// insert gives the statement that makes a group.
func (w *worker) insert(g *group, next state) string {
	query := "INSERT INTO crash.entries (grp, part, gen, name, amount, token, note, wild, bulky) VALUES "
	for part := range next.parts {
		if part > 0 {
			query += ", "
		}
		note := "'small'"
		if (g.id+int64(part))%10 == 0 {
			note = "'" + w.big + "'"
		}
		query += fmt.Sprintf("(%[1]d, %[2]d, %[3]d, 'n%[4]d', %[5]d, 't%[1]d-%[2]d-%[3]d', %[6]s, %[7]s, %[6]s)",
			g.id, part, next.gen, (g.id+int64(next.gen))%50, g.id*7+int64(part)+int64(next.gen)*1000, note, wild(next.gen))
	}
	return query
}

// wild is the value of an attribute in rows of generation gen: sometimes a
// number, sometimes a text.
func wild(gen int) string {
	if gen%2 == 0 {
		return strconv.Itoa(gen)
	}
	return fmt.Sprintf("'w%d'", gen)
}

// transfer moves money between two accounts, in the order of their ids.
func (w *worker) transfer(ctx context.Context, conn *sql.Conn) error {
	a, b, sum := w.rng.IntN(accounts), w.rng.IntN(accounts), w.rng.IntN(1000)-500
	if a == b {
		return nil
	}
	if a > b {
		a, b, sum = b, a, -sum
	}
	for _, q := range []string{
		fmt.Sprintf("UPDATE crash.accounts SET balance = balance + (%d) WHERE id = %d", sum, a),
		fmt.Sprintf("UPDATE crash.accounts SET balance = balance - (%d) WHERE id = %d", sum, b),
	} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
