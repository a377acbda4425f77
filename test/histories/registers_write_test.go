package histories

import (
	"database/sql"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// newText sets t after new values of n and w.
const newText = "t=CONCAT('k',k,' n',n,' w',w,' every')"

// singleWrites change one row, and return its version by LAST_INSERT_ID.
var singleWrites = []path{
	{name: "primary key", sql: "UPDATE reg SET n=LAST_INSERT_ID(n+1), w={by}, b=b+{d}, " + newText + " WHERE k={k}"},
	{name: "unique index", sql: "UPDATE reg FORCE INDEX (by_u) SET n=LAST_INSERT_ID(n+1), w={by}, b=b+{d}, " + newText + " WHERE u={u}"},
	{name: "search index", sql: "UPDATE reg FORCE INDEX (s) SET n=LAST_INSERT_ID(n+1), w={by}, b=b+{d}, " + newText + " WHERE k={k}"},
	{name: "primary key and index", sql: "UPDATE reg FORCE INDEX (by_n) SET n=LAST_INSERT_ID(n+1), w={by}, b=b+{d}, " + newText + " WHERE n>=0 AND k={k}"},
}

// wrote notes a write. It is done before the statement runs: one whose answer is
// an error may have been committed all the same.
func (w *registerWork) wrote(k int, by, n int64) *histcheck.Write {
	x := w.c.x
	x.Writes = append(x.Writes, histcheck.Write{Key: k, By: histcheck.Element(by), N: n})
	w.own[k] = len(x.Writes) - 1
	return &x.Writes[len(x.Writes)-1]
}

// changed compares the number of rows that a statement has changed.
func (w *registerWork) changed(res sql.Result, want int64) error {
	n, err := res.RowsAffected()
	if err == nil && n != want {
		w.wrong("%d rows were changed instead of %d", n, want)
	}
	return err
}

// single writes one register and adds d to its balance.
func (w *registerWork) single(k int, d int64) error {
	by, p := w.r.fresh(1), singleWrites[w.c.rng.IntN(len(singleWrites))]
	write := w.wrote(k, by, 0)
	res, err := w.c.exec(p.name, values{"k": {int64(k)}, "u": {int64(k) + 100}, "by": {by}, "d": {d}}.fill(p.sql, w.c.prepared))
	if err != nil {
		return err
	}
	if write.N, err = res.LastInsertId(); err != nil {
		return err
	}
	return w.changed(res, 1)
}

// someKeys are n registers, mostly in ascending order, in which they do not block
// one another for good.
func (w *registerWork) someKeys(n int) []int {
	keys := make([]int, registerCount)
	for i := range keys {
		keys[i] = i
	}
	keys = some(w.c.rng, keys, n)
	if !w.c.chance(8) {
		slices.Sort(keys)
	}
	return keys
}

// transfer writes two registers or more, and moves some of the balance from the
// first to the last.
func (w *registerWork) transfer() error {
	keys, d := w.someKeys(2+w.c.rng.IntN(2)), w.c.rng.Int64N(100)
	for i, k := range keys {
		move := int64(0)
		switch i {
		case 0:
			move = -d
		case len(keys) - 1:
			move = d
		}
		if err := w.single(k, move); err != nil {
			return err
		}
	}
	return nil
}

// several writes several registers by one statement.
func (w *registerWork) several() error {
	const set = "SET n=n+1, w={by}+k, b=b+IF(k={first},{d},0)-IF(k={last},{d},0), " + newText
	keys, g := w.someKeys(2+w.c.rng.IntN(3)), w.c.rng.IntN(groups)
	template, name := "UPDATE reg "+set+" WHERE k IN ({ks})", "primary key"
	switch w.c.rng.IntN(4) {
	case 0:
		template, name = "UPDATE reg FORCE INDEX (s) "+set+" WHERE k IN ({ks})", "search index"
	case 1:
		template, name, keys = "UPDATE reg FORCE INDEX (s) "+set+" WHERE g={g}", "search index", groupOf(g)
	}
	by := w.r.fresh(registerCount)
	v := values{"by": {by}, "first": {int64(keys[0])}, "last": {int64(keys[len(keys)-1])}, "d": {w.c.rng.Int64N(100)}, "g": {int64(g)}}
	for _, k := range keys {
		w.wrote(k, by+int64(k), 0)
		v["ks"] = append(v["ks"], int64(k))
	}
	res, err := w.c.exec(name, v.fill(template, w.c.prepared))
	if err != nil {
		return err
	}
	return w.changed(res, int64(len(keys)))
}

// groupOf are the registers of a group.
func groupOf(g int) (keys []int) {
	for k := g; k < registerCount; k += groups {
		keys = append(keys, k)
	}
	return keys
}

// rewrite reads a register under its lock, and writes what it makes of it.
func (w *registerWork) rewrite() error {
	k := int64(w.c.rng.IntN(registerCount))
	v := values{"k": {k}, "g": {k % groups}, "u": {k + 100}}
	var b int64
	var got []histcheck.Version
	from := []string{"reg", "reg FORCE INDEX (s)"}[w.c.rng.IntN(2)]
	_, err := w.c.query("locked", v.fill("SELECT k,n,w,b FROM "+from+" WHERE k={k} FOR UPDATE", w.c.prepared), func(rows *sql.Rows) error {
		var old histcheck.Version
		err := rows.Scan(&old.Key, &old.N, &old.By, &b)
		got = append(got, old)
		return err
	})
	if err != nil {
		return err
	}
	w.keep(got, histcheck.Locked, []int64{k}, 1)
	if len(got) != 1 {
		return errRetry
	}
	n, by := got[0].N+1, w.r.fresh(1)
	v["n"], v["by"], v["b"] = []int64{n}, []int64{by}, []int64{b}
	insert := "(k,n,w,g,u,b,t) VALUES ({k},{n},{by},{g},{u},{b},'" + fmt.Sprintf("k%d n%d w%d every", k, n, by) + "')"
	queries := [][]string{
		{"UPDATE reg SET n={n}, w={by}, " + newText + " WHERE k={k}"},
		{"REPLACE INTO reg " + insert},
		{"DELETE FROM reg WHERE k={k}", "INSERT INTO reg " + insert},
		{"INSERT INTO reg " + insert + " ON DUPLICATE KEY UPDATE n=VALUES(n), w=VALUES(w), t=VALUES(t)"},
	}[w.c.rng.IntN(4)]
	w.wrote(int(k), by, n)
	for _, q := range queries {
		if _, err := w.c.exec("", v.fill(q, w.c.prepared)); err != nil {
			return err
		}
	}
	return nil
}
