package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// heatOf are the accesses to table h, by range: reads and writes.
func heatOf(c *client) (reads, writes map[int]float64) {
	c.t.Helper()
	rows, err := c.c.QueryContext(context.Background(), "SELECT RANGE_NO, SUM(READS), SUM(WRITES) FROM information_schema.SQLOTS_KEY_HEAT WHERE TABLE_SCHEMA = 't' AND TABLE_NAME = 'h' GROUP BY RANGE_NO")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	reads, writes = map[int]float64{}, map[int]float64{}
	for rows.Next() {
		var n int
		var r, w float64
		if err := rows.Scan(&n, &r, &w); err != nil {
			c.t.Fatal(err)
		}
		reads[n], writes[n] = r, w
	}
	return reads, writes
}

func sum(m map[int]float64) (n float64) {
	for _, v := range m {
		n += v
	}
	return n
}

// TestHotRange: reads of one key range among reads of all rows are seen, by each way to
// read a row by its key, and writes.
func TestHotRange(t *testing.T) {
	t.Parallel()
	testflag.Normal(t) // statistics need many reads
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.exec("CREATE TABLE h (id INT PRIMARY KEY, k INT, v INT, KEY (k))")
	c.exec("SET cte_max_recursion_depth = 1000000")
	c.exec("INSERT INTO h WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT i, i, 0 FROM n")
	_, first := heatOf(c)
	if n := sum(first); n < 10*1024 || n > 120*1024 { // 40,000 were written
		t.Errorf("%g writes of 40,000", n)
	}
	hot := func(what string, each int, run func()) {
		t.Helper()
		before, _ := heatOf(c)
		const all = 60_000
		for range all / each {
			run()
		}
		after, _ := heatOf(c)
		for n, v := range before {
			after[n] -= v
		}
		best, at := 0.0, 0
		for n, v := range after {
			if v > best {
				best, at = v, n
			}
		}
		if total := sum(after); best < total/4 || total < all/2 || total > all*2 {
			t.Errorf("%s: %g of %g accesses are in range %d", what, best, total, at)
		}
		c.rows("1", "SELECT CAST(FIRST_KEY AS SIGNED) BETWEEN 20001 - 1000 AND 20500 FROM information_schema.SQLOTS_KEY_RANGES WHERE TABLE_SCHEMA = 't' AND TABLE_NAME = 'h' AND INDEX_NAME = 'PRIMARY' AND RANGE_NO = ?", at)
	}
	var keys []string // three quarters are neighbours
	for i := range 80 {
		if i < 60 {
			keys = append(keys, fmt.Sprint(20_001+i))
		} else {
			keys = append(keys, fmt.Sprint((i-60)*2000+7))
		}
	}
	list := strings.Join(keys, ",")
	hot("points", 80, func() { c.exec("SELECT SUM(v) FROM h WHERE id IN (" + list + ")") })
	hot("by an index", 80, func() { c.exec("SELECT SUM(v) FROM h FORCE INDEX (k) WHERE k IN (" + list + ")") })
	hot("a range", 500, func() { c.exec("SELECT SUM(v) FROM h WHERE id BETWEEN 20001 AND 20500") })
	hot("the inner side of a join", 160, func() {
		c.exec("SELECT /*+ JOIN_ORDER(x, h) */ SUM(h.v) FROM h x JOIN h ON h.id = x.v + x.id WHERE x.id IN (" + list + ")")
	})
	hot("locking reads", 80, func() { c.exec("SELECT v FROM h WHERE id IN (" + list + ") FOR SHARE") })
	stmt, err := c.c.PrepareContext(context.Background(), "SELECT v FROM h WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if testing.Short() {
		return
	}
	before, _ := heatOf(c)
	for i := range 30_000 {
		var v int
		if err := stmt.QueryRow(20_001 + i%100).Scan(&v); err != nil {
			t.Fatal(err)
		}
	}
	after, _ := heatOf(c)
	if n := sum(after) - sum(before); n < 5*1024 || n > 90*1024 {
		t.Errorf("%g of 30,000 point reads", n)
	}
}

// TestHeatOfGone: what was counted of a table that is gone is forgotten.
func TestHeatOfGone(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.exec("CREATE TABLE h (id INT PRIMARY KEY)")
	c.exec("SET cte_max_recursion_depth = 1000000")
	c.exec("INSERT INTO h WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n")
	if _, w := heatOf(c); sum(w) == 0 {
		t.Error("nothing was noted")
	}
	c.exec("TRUNCATE TABLE h")
	if _, w := heatOf(c); sum(w) != 0 {
		t.Errorf("%v", w)
	}
	c.rows("0", "SELECT COUNT(*) FROM information_schema.SQLOTS_KEY_RANGES WHERE TABLE_SCHEMA = 't' AND TABLE_NAME = 'h'")
}

// TestKeysAreOfReaders: keys of rows are shown to accounts that may read the table.
func TestKeysAreOfReaders(t *testing.T) {
	_, dsn := startServer(t)
	root := dial(t, dsn)
	root.exec("CREATE TABLE h (id INT PRIMARY KEY, v INT)")
	root.exec("INSERT INTO h VALUES (1, 1)")
	root.exec("CREATE USER u")
	const q = "SELECT COUNT(*) FROM information_schema.SQLOTS_KEY_RANGES WHERE TABLE_SCHEMA = 't'"
	for _, g := range []struct{ grant, want string }{{"INSERT ON t.h", "0"}, {"SELECT (v) ON t.h", "0"}, {"SELECT ON t.h", "1"}} {
		root.exec("GRANT " + g.grant + " TO u")
		c := dial(t, strings.Replace(dsn, "root", "u", 1))
		c.rows(g.want, q)
		c.close()
	}
}
