package histories

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// lists appends to lists and reads them. Those with even keys are texts in one row,
// those with odd keys rows of a table, numbered by a counter in a row of their own.
type lists struct {
	r    *run
	keys []int // of this epoch
	mu   sync.Mutex
	h    *histcheck.Lists
}

// epochKeys are the lists of an epoch, which has new ones: they stay short.
const epochKeys = 16

func newLists(r *run) *lists { return &lists{r: r} }

func (l *lists) paths() [][]path { return [][]path{textPaths, elementPaths} }

func (l *lists) create() {
	for _, q := range listTables {
		l.r.must(q)
	}
}

func (l *lists) begin() {
	for _, table := range []string{"txt", "head", "elem"} {
		l.r.must("DELETE FROM " + table)
	}
	l.keys = nil
	for i := range epochKeys {
		k := (l.r.epoch+1)*100 + i
		l.keys = append(l.keys, k)
		if k%2 == 1 {
			l.r.must(fmt.Sprintf("INSERT INTO head VALUES (%d, 0)", k))
		}
	}
	l.h = &histcheck.Lists{}
}

func (l *lists) end() func() []histcheck.Finding {
	h := l.h
	h.After = map[int][]histcheck.Element{}
	for _, paths := range l.paths() {
		scan := scanList(paths[0].sql)
		for i, p := range paths {
			got := map[int][]histcheck.Element{}
			v := values{}
			for _, k := range l.keys {
				v["ks"], v["rests"] = append(v["ks"], int64(k)), append(v["rests"], int64(k%100))
			}
			l.r.all(v.fill(p.sql, false).sql, func() { clear(got) }, func(rows *sql.Rows) error { return scan(rows, got) })
			if i == 0 {
				maps.Copy(h.After, got)
			}
			for k, list := range got {
				if !slices.Equal(list, h.After[k]) {
					l.r.report(histcheck.Finding{Text: fmt.Sprintf("while nothing changes, list %d by %s: %v, want %v", k, p.name, list, h.After[k])})
				}
			}
		}
	}
	return h.Check
}

// scanList is what reads the rows of a query.
func scanList(query string) func(rows *sql.Rows, into map[int][]histcheck.Element) error {
	if strings.Contains(query, "FROM txt") {
		return scanText
	}
	return scanElement
}

func scanText(rows *sql.Rows, into map[int][]histcheck.Element) error {
	var key int
	var s string
	if err := rows.Scan(&key, &s); err != nil {
		return err
	}
	list := []histcheck.Element{}
	for _, part := range strings.Split(s, ",")[1:] {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return fmt.Errorf("list %d holds %q", key, part)
		}
		list = append(list, histcheck.Element(n))
	}
	into[key] = append(into[key], list...)
	return nil
}

func scanElement(rows *sql.Rows, into map[int][]histcheck.Element) error {
	var key int
	var e int64
	err := rows.Scan(&key, &e)
	into[key] = append(into[key], histcheck.Element(e))
	return err
}

// listWork is one transaction being made.
type listWork struct {
	*lists
	c *conn
}

func (l *lists) work(c *conn) error {
	w := &listWork{l, c}
	explicit := c.chance(2)
	err := c.begin(explicit)
	c.x.Appends = map[int][]histcheck.Element{}
	if err == nil && !explicit {
		err = w.one()
	} else if err == nil {
		err = w.steps()
	}
	err = c.end(err)
	l.mu.Lock()
	l.h.Txns = append(l.h.Txns, c.x)
	l.mu.Unlock()
	return err
}

// one is a transaction of one statement.
func (w *listWork) one() error {
	if w.c.chance(4) {
		return w.appendText(w.keys[w.c.rng.IntN(len(w.keys)/2)*2])
	}
	return w.read("")
}

func (w *listWork) steps() error {
	writes := w.c.chance(2)
	for range 1 + w.c.rng.IntN(4) {
		if err := w.step(writes); err != nil {
			return err
		}
		if writes && w.c.chance(20) {
			if err := w.takenBack(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *listWork) step(writes bool) error {
	switch {
	case writes && w.c.chance(2):
		return w.append(w.keys[w.c.rng.IntN(len(w.keys))])
	case w.c.chance(8):
		return w.read([]string{" FOR UPDATE", " FOR SHARE"}[w.c.rng.IntN(2)])
	}
	return w.read("")
}

// takenBack appends and goes back to a savepoint.
func (w *listWork) takenBack() error {
	if err := w.c.do("SAVEPOINT sp"); err != nil {
		return err
	}
	was := maps.Clone(w.c.x.Appends)
	if err := w.append(w.keys[w.c.rng.IntN(len(w.keys))]); err != nil {
		return err
	}
	w.c.x.Appends = was
	return w.c.do("ROLLBACK TO sp")
}

// append adds one element to a list.
func (w *listWork) append(key int) error {
	if key%2 == 0 {
		return w.appendText(key)
	}
	v := w.added(key)
	if _, err := w.c.exec("", v.fill("UPDATE head SET n = LAST_INSERT_ID(n + 1) WHERE l = {k}", w.c.prepared)); err != nil {
		return err
	}
	_, err := w.c.exec("", v.fill("INSERT INTO elem VALUES ({k}, LAST_INSERT_ID(), {e})", w.c.prepared))
	return err
}

func (w *listWork) appendText(key int) error {
	queries := []string{
		"INSERT INTO txt (k, c, s) VALUES ({k}, 1, ',{e}') ON DUPLICATE KEY UPDATE s = CONCAT(s, VALUES(s)), c = c + 1",
		"INSERT INTO txt (k, c, s) VALUES ({k}, 1, ',{e}') ON DUPLICATE KEY UPDATE c = c + 1, s = CONCAT(s, ',{e}')",
	}
	_, err := w.c.exec("", w.added(key).fill(queries[w.c.rng.IntN(2)], false))
	return err
}

// added notes a new element of a list, before the statement that appends it.
func (w *listWork) added(key int) values {
	e, x := histcheck.Element(w.r.fresh(1)), w.c.x
	x.Appends[key] = append(slices.Clone(x.Appends[key]), e) // a new slice: takenBack keeps the old one
	return values{"k": {int64(key)}, "e": {int64(e)}}
}

// read reads one or several lists of one kind by one statement.
func (w *listWork) read(lock string) error {
	kind := w.c.rng.IntN(2)
	paths := [][]path{textPaths, elementPaths}[kind]
	var keys []int
	for _, k := range some(w.c.rng, w.keys, 6) {
		if k%2 == kind && len(keys) < 3 {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	v, got := values{}, map[int][]histcheck.Element{}
	for _, k := range keys {
		v["ks"], v["rests"] = append(v["ks"], int64(k)), append(v["rests"], int64(k%100))
		got[k] = nil
	}
	p := paths[w.c.rng.IntN(len(paths))]
	scan := scanList(p.sql)
	s, err := w.c.query(p.name, v.fill(p.sql+lock, w.c.prepared), func(rows *sql.Rows) error { return scan(rows, got) })
	if err != nil {
		return err
	}
	s.Answer = fmt.Sprint(got)
	w.r.reads.Add(1)
	w.keep(got, s.Asked, s.Given, kind == 0, lock != "")
	return nil
}

// keep files the lists of a read by the state that they have to show.
func (w *listWork) keep(got map[int][]histcheck.Element, sent, given time.Duration, text, locked bool) {
	plain := w.c.kind()
	if locked && plain != histcheck.Locked {
		plain = histcheck.Statement
	}
	parts := map[histcheck.Kind]*histcheck.Read{}
	for key, list := range got {
		kind, own := plain, w.c.x.Appends[key]
		switch {
		case text && len(list) > 0 && (locked || len(own) > 0):
			// One row: it is locked until the commit, and a row that this transaction
			// changed is seen in its latest state.
			kind = histcheck.Locked
		case !text && locked && len(own) > 0:
			kind = histcheck.Locked // the counter of the list is locked
		}
		if parts[kind] == nil {
			parts[kind] = &histcheck.Read{Kind: kind, Lists: map[int][]histcheck.Element{}, Own: map[int][]histcheck.Element{}, Asked: sent, Given: given}
		}
		parts[kind].Lists[key], parts[kind].Own[key] = list, own
	}
	for _, p := range parts {
		w.c.x.Reads = append(w.c.x.Reads, *p)
	}
}
