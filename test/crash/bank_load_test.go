package crash

import (
	"database/sql"
	"fmt"
	"sync"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// bankAccounts is small, so that transfers meet.
const bankAccounts = 12

// bankLoad moves money between accounts; each transfer also leaves a row in a
// table of moves. The sum of all accounts is zero in every state, and each
// balance is what the moves say.
type bankLoad struct {
	r  *isoRun
	mu sync.Mutex
	// moves are the acknowledged ones of this epoch, maybe those not answered.
	moves, maybe map[int64]bool
}

func newBankLoad(r *isoRun) *bankLoad { return &bankLoad{r: r} }

func (b *bankLoad) share() int { return 6 }

func (b *bankLoad) create(db *sql.DB) {
	b.r.must(db, `CREATE TABLE iso.acct (id INT PRIMARY KEY, balance BIGINT NOT NULL, note VARCHAR(20), KEY by_balance (balance), KEY by_note (note, balance))`)
	b.r.must(db, `CREATE TABLE iso.moves (id BIGINT PRIMARY KEY, src INT NOT NULL, dst INT NOT NULL, amount BIGINT NOT NULL, KEY by_src (src) INCLUDE (amount), KEY by_dst (dst, amount))`)
	for i := range bankAccounts {
		b.r.must(db, fmt.Sprintf("INSERT INTO iso.acct VALUES (%d, 0, 'n%d')", i, i%3))
	}
}

func (b *bankLoad) begin(db *sql.DB) {
	b.r.must(db, "TRUNCATE TABLE iso.moves")
	b.r.must(db, "UPDATE iso.acct SET balance = 0")
	b.moves, b.maybe = map[int64]bool{}, map[int64]bool{}
}

func (b *bankLoad) end(db *sql.DB) {
	balance := map[int]int64{}
	b.r.all(db, func(rows *sql.Rows) error {
		var id, src, dst int
		var mid, amount int64
		if err := rows.Scan(&mid, &src, &dst, &amount); err != nil {
			return err
		}
		balance[src] -= amount
		balance[dst] += amount
		if !b.moves[mid] && !b.maybe[mid] {
			b.r.t.Errorf("epoch %d: bank: move %d is there, and was never committed", b.r.epoch, mid)
		}
		delete(b.moves, mid)
		_ = id
		return nil
	}, "SELECT id, src, dst, amount FROM iso.moves")
	for id := range b.moves {
		b.r.t.Errorf("epoch %d: bank: move %d was acknowledged and is lost", b.r.epoch, id)
	}
	b.r.all(db, func(rows *sql.Rows) error {
		var id int
		var have int64
		if err := rows.Scan(&id, &have); err != nil {
			return err
		}
		if have != balance[id] {
			b.r.t.Errorf("epoch %d: bank: account %d has %d, its moves say %d", b.r.epoch, id, have, balance[id])
		}
		return nil
	}, "SELECT id, balance FROM iso.acct")
}

func (b *bankLoad) work(c *isoConn) error {
	l := anyLevel(c.rng)
	switch c.rng.IntN(6) {
	case 0:
		return b.audit(c, l)
	case 1:
		return b.sum(c)
	}
	return b.transfer(c, l)
}

// sums are queries for the sum of all accounts, each in one statement.
var sums = []string{
	"SELECT SUM(balance) FROM iso.acct",
	"SELECT SUM(balance) FROM iso.acct FORCE INDEX (by_balance) WHERE balance > -1000000000",
	"SELECT SUM(balance) FROM iso.acct FORCE INDEX (by_note) WHERE note >= 'n'",
	"SELECT SUM(a.balance) FROM iso.acct a JOIN iso.acct b ON b.id = a.id AND b.balance = a.balance",
	"SELECT SUM(balance) FROM (SELECT balance FROM iso.acct WHERE id < 5 UNION ALL SELECT balance FROM iso.acct WHERE id >= 5) x",
	"SELECT (SELECT SUM(balance) FROM iso.acct WHERE note = 'n0') + (SELECT SUM(balance) FROM iso.acct WHERE note = 'n1' OR note = 'n2')",
	// What the moves say of the accounts.
	"SELECT SUM(ABS(a.balance - COALESCE(m.s, 0))) FROM iso.acct a LEFT JOIN (SELECT id, SUM(x) AS s FROM (SELECT src AS id, -amount AS x FROM iso.moves UNION ALL SELECT dst, amount FROM iso.moves) y GROUP BY id) m ON m.id = a.id",
}

// sum reads in autocommit: each statement has a view of its own.
func (b *bankLoad) sum(c *isoConn) error {
	query := sums[c.rng.IntN(len(sums))]
	n, _, err := c.number(query)
	if err == nil {
		b.r.reads.Add(1)
		b.zero(c, n, query)
	}
	return err
}

func (b *bankLoad) zero(c *isoConn, n int64, what string) {
	if n != 0 {
		b.r.t.Errorf("epoch %d: bank: %s: the sum of all accounts is %d: %s", b.r.epoch, c.name, n, what)
	}
}

// audit reads the accounts, by one statement, in parts, and under locks.
func (b *bankLoad) audit(c *isoConn, l level) error {
	_, _, err := c.txn(l, func() error {
		for range 1 + c.rng.IntN(3) {
			query := sums[c.rng.IntN(len(sums))]
			n, _, err := c.number(query)
			if err != nil {
				return err
			}
			b.zero(c, n, string(l)+", "+query)
		}
		if l != readCommitted {
			total, where := int64(0), "id < 4; id between 4 and 7; note; all"
			for _, q := range []string{"SELECT SUM(balance) FROM iso.acct WHERE id < 4", "SELECT SUM(balance) FROM iso.acct FORCE INDEX (by_balance) WHERE id BETWEEN 4 AND 7 AND balance > -1000000000",
				"SELECT SUM(balance) FROM iso.acct FORCE INDEX (by_note) WHERE id > 7 AND note >= ''"} {
				n, _, err := c.number(q)
				if err != nil {
					return err
				}
				total += n
			}
			b.zero(c, total, where)
		}
		if c.rng.IntN(3) == 0 {
			lock := []string{"FOR UPDATE", "FOR SHARE"}[c.rng.IntN(2)]
			total := int64(0)
			err := c.query(func(rows *sql.Rows) error {
				var n int64
				err := rows.Scan(&n)
				total += n
				return err
			}, "SELECT balance FROM iso.acct ORDER BY id "+lock)
			if err != nil {
				return err
			}
			b.zero(c, total, lock)
		}
		return nil
	})
	if err == nil {
		b.r.reads.Add(1)
	}
	return err
}

// transfer moves money, by changes in place or by what a locking read gave.
func (b *bankLoad) transfer(c *isoConn, l level) error {
	src, dst, amount := c.rng.IntN(bankAccounts), c.rng.IntN(bankAccounts), int64(1+c.rng.IntN(100))
	if src == dst {
		return nil
	}
	id := c.fresh()
	o, _, err := c.txn(l, func() error {
		if c.rng.IntN(4) == 0 { // a view that is older than the changes
			n, _, err := c.number(sums[c.rng.IntN(len(sums))])
			if err != nil {
				return err
			}
			b.zero(c, n, "before a transfer")
		}
		for _, step := range []struct {
			id     int
			amount int64
		}{{src, -amount}, {dst, amount}} {
			if err := b.add(c, step.id, step.amount); err != nil {
				return err
			}
		}
		_, err := c.exec("INSERT INTO iso.moves VALUES (?, ?, ?, ?)", id, src, dst, amount)
		return err
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	switch o {
	case histcheck.Committed:
		b.moves[id] = true
	case histcheck.Unknown:
		b.maybe[id] = true
	}
	return err
}

func (b *bankLoad) add(c *isoConn, id int, amount int64) error {
	if c.rng.IntN(2) == 0 {
		_, err := c.exec("UPDATE iso.acct SET balance = balance + (?) WHERE id = ?", amount, id)
		return err
	}
	from := []string{"iso.acct", "iso.acct FORCE INDEX (by_note)"}[c.rng.IntN(2)]
	n, _, err := c.number("SELECT balance FROM "+from+" WHERE id = ? AND note >= '' FOR UPDATE", id)
	if err != nil {
		return err
	}
	_, err = c.exec("UPDATE iso.acct SET balance = ? WHERE id = ?", n+amount, id)
	return err
}
