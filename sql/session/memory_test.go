package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// beyondMemory are queries over ten times the memory that they may hold: by
// operator, what the operator must keep. Rows of a table take about 150 bytes.
var beyondMemory = []struct {
	name, sql string
}{
	{"sort", "SELECT id, s FROM t ORDER BY s, id"},
	{"top-k of wide rows", "SELECT id, RPAD(s, 900, s) w FROM t ORDER BY k, id LIMIT 15000"},
	{"hash join", "SELECT COUNT(*), SUM(a.id * b.k) FROM t a JOIN t b ON a.s = b.s"},
	{"anti join", "SELECT COUNT(*), SUM(a.id) FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.s = a.s AND b.k > a.k)"},
	{"outer join on one key", "SELECT COUNT(*), SUM(b.id) FROM t a LEFT JOIN t b ON a.one = b.one AND b.k > a.k WHERE a.id % 3000 = 0"},
	{"nested loop", "SELECT COUNT(*), SUM(b.id) FROM t a STRAIGHT_JOIN t b ON a.id > b.k AND a.id < 20"},
	{"look-up of one key", "SELECT COUNT(*), SUM(LENGTH(b.s)), MAX(b.id) FROM u a LEFT JOIN t b FORCE INDEX (one) ON b.one = a.one AND b.k > a.id AND a.id < 2"},
	{"LATERAL", "SELECT a.id, q.n, MD5(q.m) FROM u a, LATERAL (SELECT b.id n, b.s m FROM t b WHERE b.id % 3 = a.id % 3 ORDER BY b.k DESC, b.id LIMIT 30000) q WHERE a.id < 3 ORDER BY a.id, q.n"},
	{"group", "SELECT s, COUNT(*), SUM(id) FROM t GROUP BY s ORDER BY s"},
	{"COUNT(DISTINCT)", "SELECT COUNT(DISTINCT s), COUNT(DISTINCT k, id) FROM t"},
	{"DISTINCT of each group", "SELECT one, COUNT(DISTINCT s) FROM t GROUP BY one"},
	{"GROUP_CONCAT", "SELECT s, GROUP_CONCAT(id ORDER BY k) FROM t GROUP BY s ORDER BY s"},
	{"GROUP_CONCAT of all rows", "SELECT MD5(GROUP_CONCAT(DISTINCT s ORDER BY s DESC)) FROM t"},
	{"JSON_ARRAYAGG", "SELECT s, JSON_LENGTH(JSON_ARRAYAGG(s)) FROM t GROUP BY s ORDER BY s"},
	{"ROLLUP", "SELECT k, s, COUNT(*) FROM t GROUP BY k, s WITH ROLLUP"},
	{"ROLLUP with DISTINCT", "SELECT one, COUNT(DISTINCT s), COUNT(DISTINCT id) FROM t GROUP BY one WITH ROLLUP"},
	{"DISTINCT", "SELECT DISTINCT s FROM t"},
	{"UNION", "SELECT s FROM t UNION SELECT CONCAT(s, 'x') FROM t"},
	{"INTERSECT", "SELECT s, id FROM t INTERSECT SELECT s, id FROM t WHERE id % 3 > 0"},
	{"EXCEPT ALL", "SELECT s FROM t EXCEPT ALL SELECT s FROM t WHERE id % 3 > 0"},
	{"CTE", "WITH c AS (SELECT id, s, k + 1 n FROM t) SELECT COUNT(*), SUM(a.id) FROM c a JOIN c b ON a.n = b.id"},
	{"recursive CTE", "WITH RECURSIVE c (i, s) AS (SELECT 1, REPEAT('a', 90) UNION SELECT i + 1, s FROM c WHERE i < 60000) SELECT COUNT(*), SUM(i) FROM c"},
	{"IN with NULLs", "SELECT COUNT(*), SUM(id) FROM t WHERE s NOT IN (SELECT CONCAT(s, IF(id % 2, '', 'x')) FROM t)"},
	{"IN of pairs", "SELECT COUNT(*), SUM(id) FROM t WHERE (k, s) IN (SELECT k, s FROM t WHERE id % 2 = 0) OR id < 10"},
	{"run of IN", "SELECT a.id, CONCAT('text ', a.id) IN (SELECT CONCAT(b.s, a.id) FROM t b WHERE b.id % 9 <> a.id) FROM u a"},
	{"run of ANY", "SELECT a.id, a.id > ANY (SELECT b.k + LENGTH(b.s) FROM t b WHERE b.id % 9 <> a.id) FROM u a"},
	{"locking read of ranges", "SELECT COUNT(*), SUM(id), SUM(k) FROM t FORCE INDEX (one) WHERE one IN (1, 2) FOR UPDATE SKIP LOCKED"},
	{"locking read by an array", "SELECT COUNT(*), SUM(id) FROM m FORCE INDEX (a) WHERE JSON_OVERLAPS(j, '[1, 2]') FOR UPDATE"},
	{"elements of arrays", "SELECT COUNT(*), SUM(id), COUNT(DISTINCT id) FROM m FORCE INDEX (a) WHERE JSON_OVERLAPS(j, '[1, 2]')"},
	{"ALL", "SELECT COUNT(*) FROM u WHERE id > ALL (SELECT IF(id = 5, 3, -id) FROM t)"},
	{"window of one partition", "SELECT id, ROW_NUMBER() OVER w, SUM(k) OVER w, LAG(s, 3) OVER w FROM t WINDOW w AS (ORDER BY s, id)"},
	{"window frames", "SELECT id, MAX(s) OVER (ORDER BY k ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING), AVG(id) OVER (ORDER BY k, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), COUNT(*) OVER (ORDER BY k RANGE BETWEEN 9 PRECEDING AND 9 FOLLOWING) FROM t"},
	{"window partitions", "SELECT id, RANK() OVER (PARTITION BY id % 3 ORDER BY s), FIRST_VALUE(s) OVER (PARTITION BY id % 3 ORDER BY s), NTH_VALUE(s, 7) OVER (PARTITION BY id % 3 ORDER BY s) FROM t"},
}

// TestBeyondMemory: a query over data ten times its memory limit finishes with
// the answer that it gives with all memory. Without -long it is each third query, from one
// that the seed chooses.
func TestBeyondMemory(t *testing.T) {
	testflag.Normal(t) // large tables
	s := testSession(t)
	disk, err := spill.Open(spill.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Engine.Spill = disk
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 1000000",
		"CREATE TABLE n (i INT PRIMARY KEY)", "INSERT INTO n WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 299) SELECT i FROM c",
		"CREATE TABLE t (id INT PRIMARY KEY, k INT, one INT, s VARCHAR(120), KEY one (one))",
		"INSERT INTO t SELECT a.i * 300 + b.i, (a.i * 300 + b.i) * 7919 % 59999, 1, CONCAT(REPEAT('text ', 15), (a.i * 300 + b.i) * 31 % 40000) FROM n a, n b WHERE a.i < 200",
		"CREATE TABLE m (id INT PRIMARY KEY, j JSON, KEY a ((CAST(j AS UNSIGNED ARRAY))))", "INSERT INTO m SELECT id, JSON_ARRAY(1 + id % 2, 2, 3 + id) FROM t WHERE id < 40000",
		"CREATE TABLE u (id INT PRIMARY KEY, one INT)", "INSERT INTO u SELECT i, 1 FROM n WHERE i < 7",
	} {
		s.mustQuery(t, sql, &sink{})
	}
	run := func(t *testing.T, sql string) []string {
		t.Helper()
		w := &textSink{}
		if err := s.Query(t.Context(), sql, w); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(sql, "ORDER BY") || strings.Contains(sql, "OVER") {
			slices.Sort(w.lines)
		}
		return w.lines
	}
	take := testflag.Share(t, 3, 3, 1)
	for i, q := range beyondMemory {
		if !take(i) {
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			s.mustQuery(t, "SET sqlots_query_memory_limit = DEFAULT", &sink{})
			want := run(t, q.sql)
			s.mustQuery(t, "SET sqlots_query_memory_limit = 1048576", &sink{})
			_, before := disk.Total()
			got := run(t, q.sql)
			if !slices.Equal(got, want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			if _, after := disk.Total(); after == before {
				t.Error("nothing was put aside")
			}
			disk.Wait()
			if bytes, files := disk.Used(); bytes != 0 || files != 0 {
				t.Errorf("%d bytes in %d files are left", bytes, files)
			}
		})
	}
}

// TestWritesMemory: what transactions write and does not fit in memory is 3170, which
// leaves no trace of its statement.
func TestWritesMemory(t *testing.T) {
	s := testSession(t)
	s.Engine.Writes = exec.NewTracker("transactions", 4<<20)
	const fill = "INSERT INTO w WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 49999) SELECT i, REPEAT('x', 100) FROM c"
	for _, sql := range []string{"CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 1000000", "CREATE TABLE w (id INT PRIMARY KEY, s VARCHAR(100))"} {
		s.mustQuery(t, sql, &sink{})
	}
	refused := func(sql string) {
		t.Helper()
		var e *sqlerr.Error
		if err := s.Query(t.Context(), sql, &sink{}); !errors.As(err, &e) || e.Number != 3170 {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	refused(fill)
	if held := s.Engine.Writes.Used(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
	s.mustQuery(t, "BEGIN", &sink{})
	s.mustQuery(t, "INSERT INTO w VALUES (-1, 'a'), (-2, 'b')", &sink{})
	refused(fill)
	if held := s.Engine.Writes.Used(); held > 1<<20 {
		t.Errorf("%d bytes are held by two rows", held)
	}
	s.mustQuery(t, strings.Replace(fill, "49999", "4999", 1), &sink{})
	s.mustQuery(t, "COMMIT", &sink{})
	s.mustQuery(t, "UPDATE w SET s = 'c' WHERE id < 1000", &sink{})
	w := &textSink{}
	if err := s.Query(t.Context(), "SELECT COUNT(*), SUM(s = 'c') FROM w", w); err != nil || !slices.Equal(w.lines, []string{"5002 1002"}) {
		t.Errorf("%q, %v", w.lines, err)
	}
	if held := s.Engine.Writes.Used(); held != 0 {
		t.Errorf("%d bytes are held in the end", held)
	}
}

// TestLocksMemory: locks that do not fit in memory end the transaction, 1206, as in
// InnoDB. Savepoints and locks of GET_LOCK are 3170.
func TestLocksMemory(t *testing.T) {
	s := testSession(t)
	for _, sql := range []string{"CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 1000000", "CREATE TABLE w (id INT PRIMARY KEY, n INT)",
		"INSERT INTO w WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 39999) SELECT i, 0 FROM c"} {
		s.mustQuery(t, sql, &sink{})
	}
	s.Engine.Writes = exec.NewTracker("transactions", 2<<20)
	refused := func(number uint16, format string, upTo int) {
		t.Helper()
		for i := range upTo {
			err := s.Query(t.Context(), strings.ReplaceAll(format, "#", fmt.Sprint(i)), &sink{})
			var e *sqlerr.Error
			if errors.As(err, &e) && e.Number == number {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
		}
		t.Fatalf("%s: %d times", format, upTo)
	}
	free := func() {
		t.Helper()
		if held, locks := s.Engine.Writes.Used()+s.Held.Used(), len(s.Engine.Store.Locks()); held != 0 || locks != 0 {
			t.Errorf("%d bytes and %d locks are held", held, locks)
		}
	}
	s.mustQuery(t, "BEGIN", &sink{})
	s.mustQuery(t, "INSERT INTO w VALUES (-1, 0)", &sink{})
	refused(1206, "SELECT * FROM w FOR UPDATE", 1)
	free()
	w := &textSink{}
	if err := s.Query(t.Context(), "SELECT COUNT(*) FROM w WHERE id < 0", w); err != nil || !slices.Equal(w.lines, []string{"0"}) {
		t.Errorf("%q, %v", w.lines, err)
	}
	refused(1206, "SELECT * FROM w FOR SHARE", 1)
	free()
	s.mustQuery(t, "BEGIN", &sink{})
	refused(3170, "SAVEPOINT s#", 50_000)
	s.mustQuery(t, "ROLLBACK TO s100", &sink{})
	for range 5_000 {
		s.mustQuery(t, "SAVEPOINT x", &sink{})
		s.mustQuery(t, "RELEASE SAVEPOINT x", &sink{})
	}
	s.mustQuery(t, "COMMIT", &sink{})
	free()
	s.Held = exec.NewTracker("connection", 1<<20)
	refused(3170, "DO GET_LOCK('lock #', 0)", 10_000)
	s.mustQuery(t, "DO RELEASE_ALL_LOCKS()", &sink{})
	free()
	refused(3170, "CREATE TEMPORARY TABLE x# (a INT PRIMARY KEY, b INT, KEY (b))", 1000)
	refused(3170, "CREATE TEMPORARY TABLE y# AS SELECT 1 a", 10)
	refused(3170, "CREATE TEMPORARY TABLE y# LIKE x1", 10)
	s.mustQuery(t, "ALTER TABLE x1 DROP COLUMN b", &sink{})
	s.mustQuery(t, "DROP TABLE x1, x2", &sink{})
	s.mustQuery(t, "CREATE TEMPORARY TABLE y AS SELECT 1 a", &sink{})
	for i := range 300 {
		s.mustQuery(t, fmt.Sprintf("DROP TEMPORARY TABLE IF EXISTS x%d, y", i), &sink{})
	}
	free()
	for range 2_000 {
		s.mustQuery(t, "DO GET_LOCK('x', 0), RELEASE_LOCK('x')", &sink{})
	}
	free()
}

// TestKeysWithoutDisk: keys that are too many for memory, without a disk to put
// them aside, end the statement with 3170, which leaves no trace.
func TestKeysWithoutDisk(t *testing.T) {
	testflag.Normal(t)
	s := testSession(t)
	s.Engine.Spill = nil
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d", "SET cte_max_recursion_depth = 1000000",
		"CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1), (2)",
		"CREATE TABLE t (id INT PRIMARY KEY, p INT, j JSON, FOREIGN KEY p (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE, KEY a ((CAST(j AS UNSIGNED ARRAY))))",
		"INSERT INTO t WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 60000) SELECT i, 1, JSON_ARRAY(1 + i % 2, 2) FROM c",
		"SET sqlots_query_memory_limit = 1048576",
	} {
		s.mustQuery(t, sql, &sink{})
	}
	for _, sql := range []string{
		"UPDATE t FORCE INDEX (p) SET j = NULL WHERE p IN (1, 2)",
		"SELECT COUNT(*) FROM t FORCE INDEX (p) WHERE p IN (1, 2) FOR UPDATE SKIP LOCKED",
		"SELECT COUNT(*) FROM t FORCE INDEX (a) WHERE JSON_OVERLAPS(j, '[1, 2]')",
		"DELETE FROM p WHERE id = 1",
		"UPDATE p SET id = 3 WHERE id = 1",
		"SELECT id, id IN (SELECT b.id FROM t b WHERE b.id % 9 <> a.id) FROM p a",
	} {
		var e *sqlerr.Error
		if err := s.Query(t.Context(), sql, &sink{}); !errors.As(err, &e) || e.Number != 3170 {
			t.Errorf("%s: %v", sql, err)
		}
		if held := s.Engine.Memory.Used(); held != 0 {
			t.Errorf("%s: %d bytes are held", sql, held)
		}
	}
	s.mustQuery(t, "SET sqlots_query_memory_limit = DEFAULT", &sink{})
	w := &textSink{}
	if err := s.Query(t.Context(), "SELECT COUNT(*), SUM(p), COUNT(j) FROM t", w); err != nil || !slices.Equal(w.lines, []string{"60001 60001 60001"}) {
		t.Errorf("%q, %v", w.lines, err)
	}
}
