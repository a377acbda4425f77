package session

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/memkv"
)

// Whichever write or commit of a statement fails, rows, change log and versions
// agree.
func TestLogUnderFaults(t *testing.T) {
	testflag.Normal(t)
	lost := errors.New("lost")
	statements := []string{
		"INSERT INTO t VALUES (10, 10, REPEAT('x', 6000)), (11, 11, NULL)",
		"UPDATE t SET v = v + 100, b = REPEAT('y', 5000)",
		"UPDATE t SET id = id + 50 WHERE id = 2",
		"DELETE FROM t WHERE id IN (1, 3)",
		"REPLACE INTO t VALUES (1, 77, 'r')",
		"INSERT INTO t VALUES (1, 1, 'd') ON DUPLICATE KEY UPDATE v = 5",
	}
	for op, calls := range map[errkv.Op]int64{errkv.OpPut: 12, errkv.OpCommit: 1, errkv.OpLock: 4, errkv.OpVisit: 4} {
		for i, sql := range statements {
			for n := int64(1); n <= calls; n++ {
				for _, open := range []bool{false, true} {
					store := errkv.Wrap(memkv.New(memkv.Options{}))
					e, err := engine.New(context.Background(), engine.Config{Store: store})
					if err != nil {
						t.Fatal(err)
					}
					s, err := New(context.Background(), sharedOf(t, e), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
					if err != nil {
						t.Fatal(err)
					}
					s.rowsOf(t, "CREATE DATABASE d")
					s.rowsOf(t, "USE d")
					s.rowsOf(t, `CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE, b TEXT) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "max_versions": 5}'`)
					s.rowsOf(t, "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, REPEAT('z', 5000)), (3, 3, NULL)")
					if open {
						s.rowsOf(t, "BEGIN")
						s.rowsOf(t, "UPDATE t SET b = 'own' WHERE id = 3")
					}
					store.Fail(op, n, lost)
					failed := s.errorOf(sql) != 0
					store.Reset()
					if open {
						s.rowsOf(t, "COMMIT")
					}
					name := fmt.Sprintf("statement %d, call %d of %d, open %v, failed %v", i, n, op, open, failed)
					logged := s.rowsOf(t, `SELECT j->'$.id', j->'$.v', IF(JSON_TYPE(j->'$.b') = 'NULL', NULL, LENGTH(j->>'$.b')) FROM (SELECT kind, after_image j, ROW_NUMBER() OVER (PARTITION BY pk ORDER BY seq DESC, ordinal DESC) n
						FROM stream('t') WHERE kind IN ('insert', 'update', 'delete')) x WHERE n = 1 AND kind <> 'delete' AND j->'$.id' NOT IN
						(SELECT y.before_image->'$.id' FROM stream('t') y WHERE y.before_image->'$.id' <> y.after_image->'$.id') ORDER BY 1`)
					rows := s.rowsOf(t, "SELECT id, v, LENGTH(b) FROM t ORDER BY 1")
					if logged != rows {
						t.Fatalf("%s:\nlog  %s\nrows %s", name, logged, rows)
					}
					if got := s.rowsOf(t, "SELECT id, v, LENGTH(b) FROM versions('t') WHERE _until IS NULL ORDER BY 1"); got != rows {
						t.Fatalf("%s:\nversions %s\nrows     %s", name, got, rows)
					}
					if got := s.rowsOf(t, "SELECT id, v, LENGTH(b) FROM t AS OF TIMESTAMP NOW(6) ORDER BY 1"); got != rows {
						t.Fatalf("%s:\nas of now %s\nrows      %s", name, got, rows)
					}
					s.Close()
				}
			}
		}
	}
}
