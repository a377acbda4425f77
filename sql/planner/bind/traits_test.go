package bind_test

import (
	"testing"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/types"
)

func TestTraits(t *testing.T) {
	sandbox, changes, executes := bind.Traits{InSandbox: true}, bind.Traits{Changes: true}, bind.Traits{Executes: true}
	both := bind.Traits{InSandbox: true, Changes: true}
	for text, want := range map[string]bind.Traits{
		"SELECT 1": {}, "SHOW TABLES": {}, "SHOW WARNINGS": {}, "BEGIN": {}, "USE d": {}, "DO 1": {}, "ANALYZE TABLE t": {}, "PREPARE p FROM 'SET @a = 1'": {}, "SET ROLE NONE": {}, "CHECK TABLE t": {},
		"SET @a = 1, sql_mode = ''": sandbox, "SET NAMES utf8mb4": sandbox, "SET @a = (SELECT 1)": {}, "SET @a = 1 + EXISTS (SELECT 1)": {}, "SET @a = 1 IN (SELECT 1)": {},
		"SET PASSWORD = 'x'": both, "SET PASSWORD FOR a TO RANDOM": both, "ALTER USER a IDENTIFIED BY 'x' REPLACE 'y'": both, "ALTER USER USER() IDENTIFIED BY 'x'": both, "ALTER USER a DEFAULT ROLE NONE": both,
		"EXECUTE p":                executes,
		"INSERT INTO t VALUES (1)": changes, "REPLACE INTO t VALUES (1)": changes, "UPDATE t SET a = 1": changes, "DELETE FROM t": changes, "LOAD DATA INFILE 'x' INTO TABLE t": changes,
		"CREATE TABLE t (a INT)": changes, "CREATE VIEW v AS SELECT 1": changes, "DROP VIEW v": changes, "TRUNCATE t": changes, "ALTER TABLE t ADD b INT": changes, "CREATE DATABASE d": changes,
		"CREATE USER a": changes, "DROP USER a": changes, "RENAME USER a TO b": changes, "GRANT SELECT ON *.* TO a": changes, "GRANT r TO a": changes, "REVOKE r FROM a": changes, "CREATE ROLE r": changes, "DROP ROLE r": changes,
	} {
		st, err := parser.New().Parse(text, types.DefaultSQLMode)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := bind.TraitsOf(&st); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
