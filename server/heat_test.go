package server_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// heatOf are the accesses to table h, by the first key of a range: reads and writes.
func heatOf(c *client) (reads, writes map[int]float64) {
	c.t.Helper()
	rows, err := c.c.QueryContext(context.Background(), "SELECT FIRST_KEY, SUM(READS), SUM(WRITES) FROM information_schema.SQLOTS_KEY_HEAT WHERE TABLE_SCHEMA = 't' AND TABLE_NAME = 'h' GROUP BY FIRST_KEY")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	reads, writes = map[int]float64{}, map[int]float64{}
	for rows.Next() {
		var first int
		var r, w float64
		if err := rows.Scan(&first, &r, &w); err != nil {
			c.t.Fatal(err)
		}
		reads[first], writes[first] = r, w
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
	var first map[int]float64
	eventually(t, func() bool { // the ranges may have been chosen before the commit
		_, first = heatOf(c)
		return len(first) > 1
	})
	if n := sum(first); n < 10*1024 || n > 120*1024 { // 40,000 were written
		t.Errorf("%g writes of 40,000", n)
	}
	// reads are those of the runs, which write nothing. Where the ranges were chosen again
	// meanwhile, which also moves what was counted before, the runs are made again.
	reads := func(run func()) map[int]float64 {
		t.Helper()
		for {
			before, writes := heatOf(c)
			run()
			after, same := heatOf(c)
			if !maps.Equal(writes, same) {
				t.Log("the ranges have changed")
				continue
			}
			for first, v := range before {
				after[first] -= v
			}
			return after
		}
	}
	hot := func(what string, each int, run func()) {
		t.Helper()
		const all = 60_000
		got := reads(func() {
			for range all / each {
				run()
			}
		})
		best, at := 0.0, 0
		for first, v := range got {
			if v > best {
				best, at = v, first
			}
		}
		if total := sum(got); best < total/4 || total < all/2 || total > all*2 {
			t.Errorf("%s: %g of %g accesses are in the range from %d", what, best, total, at)
		}
		if at < 20_001-1000 || at > 20_500 {
			t.Errorf("%s: most accesses are in the range from %d", what, at)
		}
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
	n := sum(reads(func() {
		for i := range 30_000 {
			var v int
			if err := stmt.QueryRow(20_001 + i%100).Scan(&v); err != nil {
				t.Fatal(err)
			}
		}
	}))
	if n < 5*1024 || n > 90*1024 {
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
