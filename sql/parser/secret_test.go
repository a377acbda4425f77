package parser

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// TestHideSecrets: hunter2 is a secret, shown is not.
func TestHideSecrets(t *testing.T) {
	const ansi, plain = types.ModeANSIQuotes, types.ModeNoBackslashEscapes
	for _, c := range []struct {
		mode      types.SQLMode
		sql, want string
	}{
		{0, "CREATE USER shown IDENTIFIED BY 'hunter2'", "CREATE USER shown IDENTIFIED BY <secret>"},
		{0, "create user 'shown'@'shown' identified by 'hunter2'", "create user 'shown'@'shown' identified by <secret>"},
		{0, "CREATE USER 'shown', 'shown' @ 'shown' IDENTIFIED BY 'hunter2', `shown`@`shown` IDENTIFIED BY \"hunter2\"", ""},
		{0, "CREATE USER IF NOT EXISTS 'shown' IDENTIFIED WITH shown BY'hunter2'REQUIRE SSL", ""},
		{0, "CREATE OR REPLACE USER 'shown' IDENTIFIED VIA shown USING 'hunter2'", ""},
		{0, "CREATE\n\tUSER shown\r\nIDENTIFIED\nBY\n'hunter2'", ""},
		{0, "CREATE/**/USER/* shown */shown/*!*/IDENTIFIED/**/BY/* shown */'hunter2'/**/", ""},
		{0, "CREATE USER shown IDENTIFIED BY -- shown\n'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED BY # shown\n'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED BY hunter2, shown", ""},
		{0, "CREATE USER shown IDENTIFIED BY hun@hunter2!hunter2 ACCOUNT LOCK", ""},
		{0, "CREATE USER shown IDENTIFIED BY 'a'hunter2", ""},
		{0, "CREATE USER shown IDENTIFIED BY @hunter2", ""},
		{0, "CREATE USER shown IDENTIFIED BY *hunter2", ""},
		{0, "CREATE USER shown IDENTIFIED BY `hunter2`", ""},
		{0, "CREATE USER shown IDENTIFIED BY 'a' 'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED BY 'it''s hunter2\\'hunter2'", ""},
		{plain, "CREATE USER shown IDENTIFIED BY 'hunter2\\', shown IDENTIFIED BY 'hunter2\\'", ""},
		{ansi, "CREATE USER \"shown\"@\"shown\" IDENTIFIED BY \"hunter2\"", ""},
		{0, "CREATE USER shown IDENTIFIED BY N'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED BY _utf8mb4 'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED WITH shown AS _binary'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED WITH shown AS 0x68756e74657232", "CREATE USER shown IDENTIFIED WITH shown AS <secret>"},
		{0, "CREATE USER shown IDENTIFIED WITH shown AS x'68756e74657232'", "CREATE USER shown IDENTIFIED WITH shown AS x<secret>"},
		{0, "CREATE USER shown IDENTIFIED BY PASSWORD 'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED BY RANDOM PASSWORD", "CREATE USER shown IDENTIFIED BY RANDOM PASSWORD"},
		{0, "CREATE USER shown IDENTIFED BI 'hunter2'", ""},
		{0, "CRATE USER shown IDENTIFIED BY 'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED 'hunter2'", ""},
		{0, "CREATE USER shown IDENTIFIED BY 'hunter2", ""},
		{0, "CREATE USER shown IDENTIFIED BY \"hunter2' WHERE shown", "CREATE USER shown IDENTIFIED BY <secret>"},
		{0, "CREATE USER shown IDENTIFIED BY 'hunter2' /* shown", ""},
		{0, "CREATE USER shown /*!50000 IDENTIFIED BY 'hunter2' */ ACCOUNT LOCK", ""},
		{0, "/*!80000 CREATE USER shown IDENTIFIED BY 'hunter2' */", ""},
		{0, "/*sqlots! CREATE USER shown IDENTIFIED BY 'hunter2' */", ""},
		{0, "/*!99999 CREATE USER shown IDENTIFIED BY 'hunter2' */ SELECT shown", ""},
		{0, "/* CREATE USER shown IDENTIFIED BY 'hunter2' */ SELECT 'shown'", ""},
		{0, "SELECT 'shown' -- CREATE USER shown IDENTIFIED BY 'hunter2'\n, 'shown'", ""},
		{0, "ALTER USER 'shown' IDENTIFIED BY 'hunter2' REPLACE 'hunter2' RETAIN CURRENT PASSWORD", ""},
		{0, "ALTER USER USER() IDENTIFIED BY 'hunter2'", ""},
		{0, "ALTER USER shown IDENTIFIED WITH shown BY 'hunter2' PASSWORD EXPIRE", ""},
		{0, "ALTER USER 'shown' IDENTIFIED WITH 'shown' BY 'hunter2' REPLACE 'hunter2', 'shown' DISCARD OLD PASSWORD, 'shown'@'shown' IDENTIFIED BY RANDOM PASSWORD REPLACE \"hunter2\" RETAIN CURRENT PASSWORD",
			"ALTER USER 'shown' IDENTIFIED WITH <secret> BY <secret> REPLACE <secret>, 'shown' DISCARD OLD PASSWORD, 'shown'@'shown' IDENTIFIED BY RANDOM PASSWORD REPLACE <secret> RETAIN CURRENT PASSWORD"},
		{0, "ALTER USER USER() IDENTIFIED BY RANDOM PASSWORD REPLACE hunter2", ""},
		{0, "ALTER USER IF EXISTS 'shown' IDENTIFIED WITH shown AS 'hunter2' RETAIN CURRENT PASSWORD", ""},
		{0, "ALTER USER 'shown' DEFAULT ROLE 'shown', 'shown'@'shown'", "ALTER USER 'shown' DEFAULT ROLE 'shown', 'shown'@'shown'"},
		{0, "CREATE USER 'shown' IDENTIFIED BY RANDOM PASSWORD, 'shown' IDENTIFIED WITH shown BY 'hunter2' DEFAULT ROLE 'shown', shown PASSWORD REQUIRE CURRENT", ""},
		{0, "CREATE USER 'shown' IDENTIFIED WITH shown INITIAL AUTHENTICATION IDENTIFIED BY 'hunter2'", ""},
		{0, "CREATE USER 'shown' IDENTIFIED BY 'hunter2' AND IDENTIFIED WITH shown AS 'hunter2'", ""},
		{0, "ALTER USER 'shown' ADD 2 FACTOR IDENTIFIED BY 'hunter2'", ""},
		{0, "SHOW CREATE USER 'shown'@'shown'", "SHOW CREATE USER 'shown'@'shown'"},
		{0, "SET PASSWORD = 'hunter2'", ""},
		{0, "SET PASSWORD='hunter2'", ""},
		{0, "SET PASSWORD FOR 'shown'@'shown' = 'hunter2' REPLACE 'hunter2'", ""},
		{0, "SET PASSWORD FOR 'shown' = 'hunter2'", ""},
		{0, "SET PASSWORD FOR shown TO 'hunter2'", ""},
		{0, "SET PASSWORD TO RANDOM", "SET PASSWORD TO RANDOM"},
		{0, "SET PASSWORD FOR shown TO RANDOM REPLACE 'hunter2'", ""},
		{0, "SET PASSWORD FOR 'shown'@'shown' TO RANDOM REPLACE 'hunter2' RETAIN CURRENT PASSWORD", ""},
		{0, "SET PASSWORD := 'hunter2' REPLACE \"hunter2\" RETAIN CURRENT PASSWORD", ""},
		{0, "SET PASSWORD FOR CURRENT_USER() = 'hunter2' REPLACE 'hunter2'", ""},
		{0, "SET PASSWORD = PASSWORD('hunter2')", ""},
		{0, "SET PASSWORD := OLD_PASSWORD ( 'hunter2' )", ""},
		{0, "SET PASSWORD = hunter2", ""},
		{0, "SET PASSWORD 'hunter2'", ""},
		{0, "SET @shown = 1, GLOBAL shown_password = 'hunter2', @shown = 'shown'", ""},
		{0, "SET @@global.shown_password := 'hunter2'", ""},
		{0, "GRANT ALL ON `shown`.`shown` TO 'shown'@'shown' IDENTIFIED BY 'hunter2' WITH GRANT OPTION", ""},
		{0, "GRANT 'shown', 'shown' TO 'shown', 'shown'", "GRANT 'shown', 'shown' TO 'shown', 'shown'"},
		{0, "GRANT ALL ON *.* TO 'shown' AS 'shown'@'shown' WITH ROLE ALL EXCEPT 'shown', 'shown'", "GRANT ALL ON *.* TO 'shown' AS 'shown'@'shown' WITH ROLE ALL EXCEPT 'shown', 'shown'"},
		{0, "GRANT ALL ON *.* TO shown AS shown WITH ROLE 'shown'@'shown', 'shown'", "GRANT ALL ON *.* TO shown AS shown WITH ROLE 'shown'@'shown', 'shown'"},
		{0, "REVOKE IF EXISTS 'shown'@'shown', 'shown' FROM 'shown' IGNORE UNKNOWN USER", "REVOKE IF EXISTS 'shown'@'shown', 'shown' FROM 'shown' IGNORE UNKNOWN USER"},
		{0, "GRANT 'shown'@'shown' TO 'shown' WITH ADMIN OPTION", "GRANT 'shown'@'shown' TO 'shown' WITH ADMIN OPTION"},
		{0, "SET DEFAULT ROLE 'shown' TO 'shown'", "SET DEFAULT ROLE 'shown' TO 'shown'"},
		{0, "SHOW GRANTS FOR 'shown'@'shown' USING 'shown'", "SHOW GRANTS FOR 'shown'@'shown' USING 'shown'"},
		{ansi, "GRANT ALL ON \"shown\".\"shown\" TO \"shown\" IDENTIFIED BY \"hunter2\"", ""},
		{0, "CHANGE MASTER TO MASTER_USER='shown', MASTER_PASSWORD='hunter2', MASTER_PORT = 1", ""},
		{0, "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'hunter2'", ""},
		{0, "START REPLICA USER='shown' PASSWORD='hunter2'", ""},
		{0, "CREATE SERVER shown FOREIGN DATA WRAPPER mysql OPTIONS (USER 'shown', PASSWORD 'hunter2', HOST 'shown')", ""},
		{0, "CLONE INSTANCE FROM 'shown'@'shown':1 IDENTIFIED BY 'hunter2'", "CLONE INSTANCE FROM 'shown'@'shown':1 IDENTIFIED BY <secret>"},
		{0, "PREPARE shown FROM 'CREATE USER a IDENTIFIED BY ''hunter2'''", "PREPARE shown FROM <secret>"},
		{0, "PREPARE shown FROM \"SET PASSWORD = 'hunter2'\"", "PREPARE shown FROM <secret>"},
		{0, "SET @shown = 'CREATE USER a IDENTIFIED BY \\'hunter2\\''", "SET @shown = <secret>"},
		{0, "SET @shown = 'PREPARE s FROM ''CREATE USER a IDENTIFIED BY \"hunter2\"'''", "SET @shown = <secret>"},
		{0, "SELECT 'CREATE USER a IDENTIFIED BY \"hunter2\"' INTO @shown", "SELECT <secret> INTO @shown"},
		{0, "SET @shown = CONCAT('CREATE USER shown IDENTIFIED BY ', QUOTE('hunter2'))", ""},
		{0, "SET @shown = CONCAT('CREATE USER a IDENTIFIED BY ''', 'hunter2', '''')", ""},
		{0, "SET @shown = 0x" + hex.EncodeToString([]byte("CREATE USER a IDENTIFIED BY 'hunter2'")), "SET @shown = <secret>"},
		{0, "SET @shown = X'" + hex.EncodeToString([]byte("CREATE USER a IDENTIFIED BY 'hunter2'")) + "'", "SET @shown = X<secret>"},
		{0, "SELECT 'shown'; CREATE USER shown IDENTIFIED BY 'hunter2'; SELECT 'shown'", "SELECT 'shown'; CREATE USER shown IDENTIFIED BY <secret>; SELECT 'shown'"},
		{0, "SELECT 'shown;';;\n set password = 'hunter2'; SELECT 'shown'", ""},
		{0, "CREATE PROCEDURE shown() BEGIN SET PASSWORD = 'hunter2'; CREATE USER shown IDENTIFIED BY 'hunter2'; END", ""},
		{0, "SELECT '" + strings.Repeat("x", 1<<17) + "'; ALTER USER shown IDENTIFIED BY 'hunter2'", "SELECT '" + strings.Repeat("x", 1<<17) + "'; ALTER USER shown IDENTIFIED BY <secret>"},
		{0, "ALTER USER shown IDENTIFIED BY 'hunter2" + strings.Repeat("x", 1<<17) + "'", "ALTER USER shown IDENTIFIED BY <secret>"},
	} {
		got := HideSecrets(c.sql, c.mode)
		shown := strings.Count(c.sql, "shown")
		if c.want == "" {
			if !strings.Contains(got, hidden) || strings.Contains(got, "hun") || strings.Count(got, "shown") != shown {
				t.Errorf("%s:\n got %s", c.sql, clip(got))
			}
		} else if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", clip(c.sql), clip(got), clip(c.want))
		}
	}
	for _, sql := range []string{
		"", "'", "SELECT 1", "SELECT password FROM a WHERE b = 'shown'", "INSERT INTO a VALUES ('create user identified by', 'shown')", "UPDATE a SET password = 'shown'",
		"INSERT INTO user SET password = 'shown', identified = 'shown'", "SELECT * FROM user WHERE user = 'shown' AND password = 'shown' ORDER BY identified",
		"SELECT identified, 'shown' FROM a GROUP BY b", "SELECT USER(), 'shown'", "CREATE TABLE user (password VARCHAR(10) DEFAULT 'shown', a INT COMMENT 'shown')",
		"CREATE VIEW v AS SELECT 'shown' FROM user", "SET @a = 'shown', sql_mode = 'ANSI'", "SET NAMES utf8mb4 COLLATE 'utf8mb4_bin'", "DROP USER 'shown'@'shown'", "RENAME USER 'shown' TO 'shown'",
		"/* user */ SELECT 'shown'", "SELECT 'it''s a user''s password'", "REVOKE ALL ON *.* FROM 'shown'", "SHOW GRANTS FOR 'shown'", "SELECT 'user", "/* user",
	} {
		if got := HideSecrets(sql, 0); got != sql {
			t.Errorf("%s: shown as %s", sql, got)
		}
	}
}

// TestErrorsHideSecrets: messages quote a text as it may be shown.
func TestErrorsHideSecrets(t *testing.T) {
	p := New()
	for _, sql := range []string{
		"CREATE USER a IDENTIFIED BY 'hunter2' nonsense", "CREATE USER a IDENTIFIED BI 'hunter2'", "CREATE USER a IDENTIFIED BY hunter2", "CREATE USER a IDENTIFIED BY 'hunter2",
		"CREATE USER a IDENTIFIED BY 'x' 'hunter2'", "SET PASSWORD 'hunter2'", "SET PASSWORD = = 'hunter2'", "ALTER USER a IDENTIFIED BY 'hunter2' REPLACE REPLACE 'hunter2'",
		"SELECT 1; ALTER USER a IDENTIFIED BY 'hunter2'", "PREPARE s FROM FROM 'CREATE USER a IDENTIFIED BY ''hunter2'''", "CHANGE MASTER TOO MASTER_PASSWORD='hunter2'",
		"/*!80000 CREATE USER a IDENTIFIED BY BY 'hunter2' */", "GRANT ALL ON *.* TO a IDENTIFIED BY BY 'hunter2'", "CREATE USER a IDENTIFIED WITH x AS _utf8'hunter2' x",
		"CREATE USER a IDENTIFIED WITH x AS AS 'hunter2'", "SET @a = @@ 'CREATE USER a IDENTIFIED BY \"hunter2\"'",
	} {
		_, err := p.Parse(sql, 0)
		if err == nil {
			continue
		}
		if strings.Contains(err.Error(), "hun") {
			t.Errorf("%s: %v", sql, err)
		}
		var e *sqlerr.Error
		if errors.As(err, &e) && e.Number == 1064 && !strings.Contains(e.Message, "near '") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := p.Parse("SELECT 'shown' FROM FROM user WHERE password = 'shown'", 0); err == nil || !strings.Contains(err.Error(), "near 'FROM user WHERE password = 'shown''") {
		t.Error(err)
	}
}

// FuzzHideSecrets: a secret in quotes after BY is hidden whatever is around it, and
// the rest of a text stays.
func FuzzHideSecrets(f *testing.F) {
	f.Add("CREATE USER a ", " REQUIRE SSL; SELECT 'x'")
	f.Add("/*!50000 ", " */ -- x")
	f.Add("'a' \"b\" `c` # x\n", "/* x")
	f.Fuzz(func(t *testing.T, before, after string) {
		HideSecrets(before+after, 0)
		HideSecrets(after, types.ModeANSIQuotes|types.ModeNoBackslashEscapes)
		if strings.ContainsAny(before, "'\"`/#-") {
			return
		}
		sql := before + " ; CREATE USER a IDENTIFIED BY 'hunter2' " + after
		if got := HideSecrets(sql, 0); strings.Contains(strings.ReplaceAll(got, after, ""), "hunter2") {
			t.Errorf("%q: %q", sql, got)
		}
	})
}

// TestHideSecretsDeep: no text needs more than a few times its length, nor a deep
// stack.
func TestHideSecretsDeep(t *testing.T) {
	for _, piece := range []string{"/*", "/* ", "# ", "-- ", "/*!", "'", "\"", "`", "''\"", "/*'", "@'", "(", "'user' 1 ", "IDENTIFIED BY ", "SET PASSWORD ", "'\\''", "PREPARE s FROM '", "x ", "; "} {
		for _, start := range []string{"CREATE USER a ", "SET PASSWORD = ", "SELECT 'user", "SET @a = "} {
			sql := start + strings.Repeat(piece, testflag.Pick(1<<17, 1<<17, 1<<20)/len(piece))
			began := time.Now()
			HideSecrets(sql, 0)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s%s…: %s", start, piece, took)
			}
		}
	}
}

func BenchmarkHideSecrets(b *testing.B) {
	row := "(1, 'some text of a row', 2.5),"
	sql := "INSERT INTO t VALUES " + strings.Repeat(row, 1<<15)
	b.SetBytes(int64(len(sql)))
	for b.Loop() {
		HideSecrets(sql, 0)
	}
}
