package server_test

import (
	"fmt"
	"testing"
)

// TestStalePlanOfAnotherSession: a statement that finds the table changed, by
// the plan that another connection made, is bound for its own connection.
func TestStalePlanOfAnotherSession(t *testing.T) {
	_, dsn := startServer(t)
	holder, altering, watch := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	holder.exec("CREATE DATABASE r1")
	holder.exec("CREATE DATABASE r2")
	for _, db := range []string{"r1", "r2"} {
		holder.exec("CREATE TABLE " + db + ".q (id INT PRIMARY KEY, v INT)")
		holder.exec("INSERT INTO " + db + ".q VALUES (1,1),(2,2),(3,3),(4,4),(5,5),(6,6)")
	}
	for i, kind := range []string{"text", "prepared"} {
		maker, runner := dial(t, dsn), dial(t, dsn)
		maker.exec("USE r1")
		runner.exec("USE r1")
		doomed := 5 + i
		remove := fmt.Sprintf("DELETE FROM q WHERE id = %d", doomed)
		if kind == "text" {
			maker.exec("DELETE FROM q WHERE id = 99")
		} else {
			for _, c := range []*client{maker, runner} {
				c.exec("PREPARE p FROM 'DELETE FROM q WHERE id = ? AND v > 0'")
			}
			maker.exec("SET @id = 99")
			maker.exec("EXECUTE p USING @id")
			runner.exec(fmt.Sprintf("SET @id = %d", doomed))
			remove = "EXECUTE p USING @id"
		}
		maker.exec("USE r2")
		maker.exec("CREATE TEMPORARY TABLE q (id INT PRIMARY KEY, v INT)")

		holder.exec("BEGIN")
		holder.rows("1", "SELECT v FROM r1.q WHERE id = 1")
		waits := func(c *client) {
			t.Helper()
			eventually(t, func() bool {
				got, err := watch.query("SELECT state FROM information_schema.processlist WHERE id = ?", c.id)
				return err == nil && got == "Waiting for table metadata lock"
			})
		}
		change := altering.start(watch, fmt.Sprintf("ALTER TABLE r1.q ADD COLUMN %s INT FIRST", kind))
		waits(altering)
		deletion := runner.start(watch, remove)
		waits(runner)
		holder.exec("COMMIT")
		change.ok()
		deletion.ok()
		watch.rows("0,1", fmt.Sprintf("SELECT (SELECT COUNT(*) FROM r1.q WHERE id = %d), (SELECT COUNT(*) FROM r2.q WHERE id = %d)", doomed, doomed))
	}
}

// TestPlansOfSQLModes: a text that was prepared in one SQL mode is not the
// statement that it is in another.
func TestPlansOfSQLModes(t *testing.T) {
	_, dsn := startServer(t)
	a, b := dial(t, dsn), dial(t, dsn)
	a.exec("CREATE TABLE q (id INT PRIMARY KEY)")
	a.exec("INSERT INTO q VALUES (7)")
	const prepare = `PREPARE p FROM 'SELECT "id" FROM q WHERE id = ?'`
	a.exec(prepare)
	a.exec("SET sql_mode = 'ANSI_QUOTES', @id = 7")
	b.exec("SET sql_mode = 'ANSI_QUOTES', @id = 7")
	a.rows("id", "EXECUTE p USING @id")
	b.exec(prepare)
	b.rows("7", "EXECUTE p USING @id")
	a.rows("id", "EXECUTE p USING @id")
}
