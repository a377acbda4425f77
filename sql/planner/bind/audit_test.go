package bind_test

import (
	"testing"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/types"
)

func TestSubjects(t *testing.T) {
	for subject, list := range map[bind.Subject]map[string]string{
		bind.OfRows: {
			"SELECT 1": "", "INSERT INTO t VALUES (1)": "", "UPDATE t SET a = 1": "", "DELETE FROM t": "", "SHOW TABLES": "", "SHOW ENGINE INNODB STATUS": "", "BEGIN": "", "COMMIT": "", "USE d": "", "DO 1": "",
			"START TRANSACTION WITH CONSISTENT SNAPSHOT": "", "SET @a = 1, sql_mode = ''": "", "SET SESSION sql_mode = ''": "", "SET NAMES utf8mb4": "", "SET TRANSACTION READ ONLY": "",
			"PREPARE p FROM 'DROP TABLE t'": "", "EXECUTE p": "", "LOCK TABLES t READ": "", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t": "", "CREATE TEMPORARY TABLE t (a INT)": "", "DROP TEMPORARY TABLE t": "",
			"DROP PROCEDURE IF EXISTS p": "", "EXPLAIN SELECT 1": "",
		},
		bind.OfAccounts: {
			"CREATE USER a IDENTIFIED BY 'x'": "CREATE USER", "ALTER USER a ACCOUNT LOCK": "ALTER USER", "ALTER USER USER() IDENTIFIED BY 'x'": "ALTER USER", "ALTER USER a DEFAULT ROLE NONE": "ALTER USER", "DROP USER a": "DROP USER", "RENAME USER a TO b": "RENAME USER",
			"CREATE ROLE r": "CREATE ROLE", "DROP ROLE r": "DROP ROLE", "SET PASSWORD = 'x'": "SET PASSWORD", "SET PASSWORD FOR a TO RANDOM": "SET PASSWORD", "GRANT SELECT ON *.* TO a": "GRANT", "GRANT r TO a": "GRANT", "REVOKE r FROM a": "REVOKE",
			"REVOKE ALL PRIVILEGES, GRANT OPTION FROM a": "REVOKE", "REVOKE SELECT ON *.* FROM a": "REVOKE", "SET ROLE r": "SET ROLE", "SET DEFAULT ROLE ALL TO a": "SET DEFAULT ROLE",
		},
		bind.OfSchema: {
			"CREATE DATABASE d": "CREATE DATABASE", "ALTER DATABASE d CHARACTER SET utf8mb4": "ALTER DATABASE", "DROP DATABASE d": "DROP DATABASE", "CREATE TABLE t (a INT)": "CREATE TABLE", "CREATE TABLE t LIKE s": "CREATE TABLE", "CREATE TABLE t AS SELECT 1": "CREATE TABLE",
			"ALTER TABLE t ADD b INT": "ALTER TABLE", "DROP TABLE t": "DROP TABLE", "TRUNCATE t": "TRUNCATE TABLE", "RENAME TABLE a TO b": "RENAME TABLE", "CREATE INDEX i ON t (a)": "CREATE INDEX", "DROP INDEX i ON t": "DROP INDEX",
			"CREATE SEARCH INDEX i ON t (a)": "CREATE INDEX", "CREATE VIEW v AS SELECT 1": "CREATE VIEW", "CREATE OR REPLACE VIEW v AS SELECT 1": "CREATE VIEW", "ALTER VIEW v AS SELECT 1": "ALTER VIEW", "DROP VIEW v": "DROP VIEW", "CREATE SEQUENCE s": "DDL",
		},
		bind.OfSettings: {
			"SET GLOBAL a = 1": "SET", "SET @@global.a = 1": "SET", "SET sql_mode = '', GLOBAL a = 1": "SET", "SET PERSIST a = 1": "SET", "SET PERSIST_ONLY a = 1": "SET", "SET @@persist.a = 1": "SET", "SET @@PERSIST_ONLY.a = 1": "SET", "SET GLOBAL TRANSACTION READ ONLY": "SET",
			"RESET PERSIST": "RESET PERSIST", "RESET PERSIST IF EXISTS a": "RESET PERSIST",
		},
		bind.OfServer: {
			"FLUSH LOGS": "FLUSH", "FLUSH PRIVILEGES, LOGS": "FLUSH", "FLUSH TABLES WITH READ LOCK": "FLUSH", "KILL 5": "KILL", "KILL QUERY 5": "KILL", "BACKUP DATABASE * TO 'x'": "BACKUP", "SHUTDOWN": "SHUTDOWN", "ALTER INSTANCE RELOAD TLS": "ALTER INSTANCE", "CALL sqlots.x('a')": "CALL",
			"ANALYZE TABLE t": "ANALYZE TABLE", "CHECK TABLE t": "CHECK TABLE", "OPTIMIZE TABLE t": "OPTIMIZE TABLE", "REPAIR TABLE t": "REPAIR TABLE", "LOAD DATA INFILE 'x' INTO TABLE t": "LOAD DATA", "SELECT 1 INTO OUTFILE '/x'": "SELECT INTO FILE", "SELECT 1 INTO DUMPFILE '/x'": "SELECT INTO FILE",
		},
	} {
		for text, want := range list {
			st, err := parser.New().Parse(text, types.DefaultSQLMode)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if got, kind := bind.SubjectOf(&st); got != subject || kind != want {
				t.Errorf("%s: %d %s, want %d %s", text, got, kind, subject, want)
			}
		}
	}
}
