package crash

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// listLoad appends to lists and reads them, several in a transaction. Lists with
// even keys are texts in one row, those with odd keys rows of a table, numbered
// by a counter in a row of their own.
type listLoad struct {
	r    *isoRun
	keys []int // of this epoch
	mu   sync.Mutex
	h    *histcheck.Lists
	pad  string
}

func newListLoad(r *isoRun) *listLoad {
	// Texts grow over the size from which they leave their row.
	return &listLoad{r: r, pad: strings.Repeat("x", 100)}
}

func (l *listLoad) share() int { return 8 }

func (l *listLoad) create(db *sql.DB) {
	l.r.must(db, `CREATE TABLE iso.txt (k INT PRIMARY KEY, s MEDIUMTEXT NOT NULL, c INT NOT NULL, KEY by_c (c), KEY by_s (s(20), c))`)
	l.r.must(db, `CREATE TABLE iso.head (k INT PRIMARY KEY, n INT NOT NULL, KEY by_n (n))`)
	l.r.must(db, `CREATE TABLE iso.elem (k INT, n INT, val BIGINT NOT NULL, PRIMARY KEY (k, n), UNIQUE KEY by_val (val), KEY by_k (k, n) INCLUDE (val))`)
}

// begin takes half of the keys of the last epoch, and new ones.
func (l *listLoad) begin(db *sql.DB) {
	before := map[int][]histcheck.Element{}
	const n = 10
	if len(l.keys) > 0 {
		l.keys = l.keys[n/2:]
	}
	for len(l.keys) < n {
		l.keys = append(l.keys, 1000+l.r.epoch*n+len(l.keys))
	}
	oldest := slices.Min(l.keys)
	for _, table := range []string{"txt", "head", "elem"} {
		l.r.must(db, fmt.Sprintf("DELETE FROM iso.%s WHERE k < %d", table, oldest))
	}
	for _, key := range l.keys {
		if key%2 == 1 {
			l.r.must(db, fmt.Sprintf("INSERT IGNORE INTO iso.head VALUES (%d, 0)", key))
		}
	}
	if l.h != nil {
		for _, key := range l.keys {
			before[key] = l.h.After[key]
		}
	}
	l.h = &histcheck.Lists{Before: before}
}

// end reads all lists and checks the epoch.
func (l *listLoad) end(db *sql.DB) {
	c := l.h
	c.After = map[int][]histcheck.Element{}
	for _, key := range l.keys {
		c.After[key] = nil
	}
	l.r.all(db, func(rows *sql.Rows) error { return l.scanText(rows, c.After) }, "SELECT k, s FROM iso.txt")
	l.r.all(db, func(rows *sql.Rows) error { return scanElement(rows, c.After) }, "SELECT k, val FROM iso.elem ORDER BY k, n")
	for _, x := range c.Txns {
		l.r.reads.Add(int64(len(x.Reads)))
	}
	for _, problem := range c.Check() {
		l.r.t.Errorf("epoch %d: lists: %s", l.r.epoch, problem)
	}
}

func (l *listLoad) scanText(rows *sql.Rows, into map[int][]histcheck.Element) error {
	var key int
	var s string
	if err := rows.Scan(&key, &s); err != nil {
		return err
	}
	for _, part := range strings.Split(s, ",")[1:] {
		n, err := strconv.ParseInt(strings.TrimRight(part, "x"), 10, 64)
		if err != nil {
			return fmt.Errorf("list %d holds %q", key, part)
		}
		into[key] = append(into[key], histcheck.Element(n))
	}
	return nil
}

func scanElement(rows *sql.Rows, into map[int][]histcheck.Element) error {
	var key int
	var val int64
	err := rows.Scan(&key, &val)
	into[key] = append(into[key], histcheck.Element(val))
	return err
}

// listWork is one transaction being made.
type listWork struct {
	*listLoad
	c     *isoConn
	x     *histcheck.Txn
	level level
}

func (l *listLoad) work(c *isoConn) error {
	w := &listWork{listLoad: l, c: c, level: anyLevel(c.rng)}
	w.x = &histcheck.Txn{Name: fmt.Sprintf("%s-t%d", c.name, c.fresh()), Level: string(w.level), Appends: map[int][]histcheck.Element{}}
	steps, writes := 1+c.rng.IntN(4), c.rng.IntN(4) > 0
	w.x.Began = c.now()
	var err error
	w.x.Outcome, w.x.Ending, err = c.txn(w.level, func() error {
		for range steps {
			var err error
			if writes && c.rng.IntN(2) == 0 {
				err = w.append(l.keys[c.rng.IntN(len(l.keys))])
			} else {
				err = w.read()
			}
			if err != nil {
				return err
			}
			if c.rng.IntN(15) == 0 {
				if err := w.takenBack(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	w.x.Ended = c.now()
	l.mu.Lock()
	l.h.Txns = append(l.h.Txns, w.x)
	l.mu.Unlock()
	return err
}

// takenBack appends and goes back to a savepoint.
func (w *listWork) takenBack() error {
	if _, err := w.c.exec("SAVEPOINT sp"); err != nil {
		return err
	}
	was := maps.Clone(w.x.Appends)
	for range 1 + w.c.rng.IntN(2) {
		if err := w.append(w.keys[w.c.rng.IntN(len(w.keys))]); err != nil {
			return err
		}
	}
	w.x.Appends = was
	_, err := w.c.exec("ROLLBACK TO sp")
	return err
}

// append adds one element to a list.
func (w *listWork) append(key int) error {
	e := histcheck.Element(w.c.fresh())
	text := fmt.Sprintf(",%d%s", e, w.pad)
	var err error
	switch {
	case key%2 == 1:
		if _, err = w.c.exec("UPDATE iso.head SET n = LAST_INSERT_ID(n + 1) WHERE k = ?", key); err == nil {
			_, err = w.c.exec("INSERT INTO iso.elem VALUES (?, LAST_INSERT_ID(), ?)", key, int64(e))
		}
	case w.c.rng.IntN(3) == 0:
		err = w.rewrite(key, e, text)
	default:
		_, err = w.c.exec("INSERT INTO iso.txt (k, s, c) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE s = CONCAT(s, VALUES(s)), c = c + 1", key, text)
	}
	// A new slice: takenBack keeps the old one.
	w.x.Appends[key] = append(slices.Clone(w.x.Appends[key]), e)
	return err
}

// rewrite reads a list under its lock and writes it as a whole.
func (w *listWork) rewrite(key int, e histcheck.Element, text string) error {
	var old string
	found := false
	lock := []string{"FOR UPDATE", "FOR SHARE"}[w.c.rng.IntN(2)]
	err := w.c.query(func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&old)
	}, "SELECT s FROM iso.txt WHERE k = ? "+lock, key)
	if err != nil {
		return err
	}
	if !found {
		_, err = w.c.exec("INSERT INTO iso.txt (k, s, c) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE s = CONCAT(s, VALUES(s)), c = c + 1", key, text)
		return err
	}
	_, err = w.c.exec("UPDATE iso.txt SET s = ?, c = c + 1 WHERE k = ?", old+text, key)
	return err
}

// read reads one or several lists of one kind by one statement.
func (w *listWork) read() error {
	first := w.keys[w.c.rng.IntN(len(w.keys))]
	keys := []int{first}
	for len(keys) < 3 && w.c.rng.IntN(2) == 0 {
		if k := w.keys[w.c.rng.IntN(len(w.keys))]; k%2 == first%2 && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	in := strings.Trim(strings.ReplaceAll(fmt.Sprint(keys), " ", ","), "[]")
	r := histcheck.Read{Lists: map[int][]histcheck.Element{}, Own: map[int][]histcheck.Element{}, Asked: w.c.now()}
	for _, k := range keys {
		r.Lists[k] = nil
	}
	lock := ""
	if w.c.rng.IntN(4) == 0 {
		lock = []string{" FOR UPDATE", " FOR SHARE", " LOCK IN SHARE MODE"}[w.c.rng.IntN(3)]
	}
	var err error
	if first%2 == 0 {
		from := []string{"iso.txt", "iso.txt FORCE INDEX (by_c)", "iso.txt FORCE INDEX (by_s)"}[w.c.rng.IntN(3)]
		err = w.c.query(func(rows *sql.Rows) error { return w.scanText(rows, r.Lists) },
			"SELECT k, s FROM "+from+" WHERE c >= 0 AND s >= ',' AND k IN ("+in+")"+lock)
	} else {
		from := []string{"iso.elem", "iso.elem FORCE INDEX (by_k)", "iso.elem FORCE INDEX (by_val)"}[w.c.rng.IntN(3)]
		err = w.c.query(func(rows *sql.Rows) error { return scanElement(rows, r.Lists) },
			"SELECT k, val FROM "+from+" WHERE val > 0 AND k IN ("+in+") ORDER BY k, n"+lock)
	}
	if err != nil {
		return err
	}
	r.Given = w.c.now()
	w.keep(r, first%2 == 0, lock != "")
	return nil
}

// keep files the lists of a read by the state that they have to show.
func (w *listWork) keep(r histcheck.Read, text, locked bool) {
	kind := histcheck.View
	switch {
	case w.level == serializable, w.level == repeatableRead && locked:
		kind = histcheck.Locked // what was not there, too
	case w.level == readCommitted:
		kind = histcheck.Statement
	}
	parts := map[histcheck.Kind]*histcheck.Read{}
	for key, list := range r.Lists {
		k := kind
		own := w.x.Appends[key]
		if text && len(list) > 0 && (locked || len(own) > 0) {
			// One row: it is locked until the commit, and a row that this transaction
			// changed is seen in its latest state.
			k = histcheck.Locked
		}
		if !text && locked && len(own) > 0 {
			k = histcheck.Locked // the counter of the list is locked
		}
		if parts[k] == nil {
			parts[k] = &histcheck.Read{Kind: k, Lists: map[int][]histcheck.Element{}, Own: map[int][]histcheck.Element{}, Asked: r.Asked, Given: r.Given}
		}
		parts[k].Lists[key], parts[k].Own[key] = list, own
	}
	for _, p := range parts {
		w.x.Reads = append(w.x.Reads, *p)
	}
}
