package crash

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/histcheck"
)

const slots = 6

// setLoad adds rows and reads all of them: a read has every row that was
// acknowledged before it began. It also fights for unique keys: of several
// connections one gets a slot, until it gives it back.
type setLoad struct {
	r     *isoRun
	mu    sync.Mutex
	added map[int64]addition
	seen  []setRead
	held  [slots][]tenure
}

// addition is a row that was to be added.
type addition struct {
	outcome      histcheck.Outcome
	began, ended time.Duration
}

type setRead struct {
	began, ended time.Duration
	ids          map[int64]bool
}

// tenure is the time in which a connection certainly had a slot.
type tenure struct {
	from, until time.Duration
	name        string
}

func newSetLoad(r *isoRun) *setLoad { return &setLoad{r: r} }

func (s *setLoad) share() int { return 2 }

func (s *setLoad) create(db *sql.DB) {
	s.r.must(db, "CREATE TABLE iso.st (id BIGINT PRIMARY KEY, u VARCHAR(30) NOT NULL, w INT NOT NULL, UNIQUE KEY by_u (u), KEY by_w (w, id))")
	s.r.must(db, "CREATE TABLE iso.claim (id BIGINT PRIMARY KEY, slot INT, owner VARCHAR(30), UNIQUE KEY by_slot (slot), KEY by_owner (owner))")
}

func (s *setLoad) begin(db *sql.DB) {
	s.r.must(db, "DELETE FROM iso.st")
	s.r.must(db, "DELETE FROM iso.claim")
	s.added, s.seen = map[int64]addition{}, nil
	s.held = [slots][]tenure{}
}

func (s *setLoad) end(db *sql.DB) {
	last := setRead{began: s.r.now(), ids: map[int64]bool{}}
	s.r.all(db, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		last.ids[id] = true
		return err
	}, "SELECT id FROM iso.st")
	last.ended = s.r.now()
	for _, read := range append(s.seen, last) {
		s.r.reads.Add(1)
		s.checkRead(read)
	}
	for slot, list := range s.held {
		for i, a := range list {
			for _, b := range list[:i] {
				if a.from < b.until && b.from < a.until {
					s.r.t.Errorf("epoch %d: set: slot %d belonged to %s (%v to %v) and %s (%v to %v)", s.r.epoch, slot, a.name, a.from, a.until, b.name, b.from, b.until)
				}
			}
		}
	}
}

func (s *setLoad) checkRead(r setRead) {
	for id, a := range s.added {
		switch {
		case a.outcome == histcheck.Committed && a.ended < r.began && !r.ids[id]:
			s.r.t.Errorf("epoch %d: set: %d was acknowledged at %v and is missing in a read at %v", s.r.epoch, id, a.ended, r.began)
		case r.ids[id] && a.outcome == histcheck.Aborted:
			s.r.t.Errorf("epoch %d: set: %d was refused at %v and is in a read at %v", s.r.epoch, id, a.ended, r.began)
		case r.ids[id] && a.began > r.ended:
			s.r.t.Errorf("epoch %d: set: %d was added at %v and is in a read at %v", s.r.epoch, id, a.began, r.ended)
		}
	}
	for id := range r.ids {
		if _, ok := s.added[id]; !ok {
			s.r.t.Errorf("epoch %d: set: %d was never added", s.r.epoch, id)
		}
	}
}

func (s *setLoad) work(c *isoConn) error {
	switch n := c.rng.IntN(30); {
	case n == 0:
		return s.read(c)
	case n < 10:
		return s.claim(c)
	}
	return s.add(c)
}

// add puts a few rows in by one statement, sometimes one that has to fail.
func (s *setLoad) add(c *isoConn) error {
	a := addition{began: c.now()}
	ids := make([]int64, 1+c.rng.IntN(3))
	query := "INSERT INTO iso.st VALUES "
	for i := range ids {
		ids[i] = c.fresh()
		query += fmt.Sprintf("(%d, 'u%d', %d), ", ids[i], ids[i], ids[i]%7)
	}
	fails := c.rng.IntN(10) == 0
	if fails {
		query += fmt.Sprintf("(%d, 'u%d', 1), ", c.fresh(), ids[0]) // a duplicate
	}
	_, err := c.exec(query[:len(query)-2])
	a.ended = c.now()
	var reply *mysql.MySQLError
	switch {
	case err == nil && !fails:
		a.outcome = histcheck.Committed
		c.commits.Add(1)
	case errors.As(err, &reply) && reply.Number == 1062 && fails:
		a.outcome, err = histcheck.Aborted, nil
	case conflict(err):
		a.outcome = histcheck.Aborted // KILL QUERY: a statement is done whole, or not at all
		if reply.Number == 1317 {
			a.outcome = histcheck.Unknown
		}
	case err == nil:
		err = errors.New("a duplicate was taken")
	default:
		a.outcome = histcheck.Unknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.added[id] = a
	}
	return err
}

func (s *setLoad) read(c *isoConn) error {
	r := setRead{began: c.now(), ids: map[int64]bool{}}
	query := []string{"SELECT id FROM iso.st", "SELECT id FROM iso.st FORCE INDEX (by_w) WHERE w >= 0", "SELECT id FROM iso.st FORCE INDEX (by_u) WHERE u > ''",
		"SELECT id FROM iso.st WHERE w IN (0, 1, 2, 3) UNION SELECT id FROM iso.st WHERE w > 3"}[c.rng.IntN(4)]
	err := c.query(func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		r.ids[id] = true
		return err
	}, query)
	if err != nil {
		return err
	}
	r.ended = c.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
	return nil
}

// claim takes a slot and gives it back.
func (s *setLoad) claim(c *isoConn) error {
	slot, id := c.rng.IntN(slots), c.fresh()
	_, err := c.exec("INSERT INTO iso.claim VALUES (?, ?, ?)", id, slot, c.name)
	var reply *mysql.MySQLError
	if errors.As(err, &reply) && reply.Number == 1062 {
		return nil
	}
	if err != nil {
		return err // it may hold the slot for the rest of the epoch
	}
	h := tenure{from: c.now(), name: c.name}
	for {
		h.until = c.now()
		var res sql.Result
		if c.rng.IntN(2) == 0 {
			res, err = c.exec("DELETE FROM iso.claim WHERE id = ?", id)
		} else {
			res, err = c.exec("UPDATE iso.claim SET slot = NULL WHERE slot = ? AND owner = ?", slot, c.name)
		}
		if conflict(err) {
			continue // KILL QUERY: it is still ours, or the next turn finds nothing
		}
		if err == nil {
			if n, _ := res.RowsAffected(); n != 1 {
				s.r.t.Errorf("epoch %d: set: %s gave %d rows of slot %d back", s.r.epoch, c.name, n, slot)
			}
		}
		break
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[slot] = append(s.held[slot], h)
	return err
}
