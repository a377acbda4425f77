package parser

import (
	"errors"
	"testing"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

func TestNext(t *testing.T) {
	rest := "SELECT 1; ;SELECT ';' -- ;\n ; # x;\n /* ; */ SELECT `;`;/*!40101 SET x=1 */;"
	var got []string
	for {
		stmt, r, ok := Next(rest, types.DefaultSQLMode)
		if !ok {
			break
		}
		got = append(got, stmt)
		rest = r
	}
	want := []string{"SELECT 1", "SELECT ';' -- ;", "SELECT `;`", "/*!40101 SET x=1 */"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("statement %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		sql     string
		number  uint16
		message string
	}{
		{"", 1065, "Query was empty"},
		{" /* x */ ; ", 1065, "Query was empty"},
		{"SELECT\n1 FROM\nWHERE x", 1064, "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'WHERE x' at line 3"},
		{"SET NAMES nope", 1115, ""},
		{"SELECT 1 FROM", 1064, "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '' at line 1"},
		{"CREATE TABLE t (a INT) CHARSET nope", 1115, "Unknown character set: 'nope'"},
	} {
		_, err := New().Parse(c.sql, types.DefaultSQLMode)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Number != c.number || c.message != "" && e.Message != c.message {
			t.Errorf("%q: got %v", c.sql, err)
		}
	}
}

func TestCodeComments(t *testing.T) {
	for _, sql := range []string{
		"SELECT /*!80000 1 + */ 1",
		"SELECT 1 /*!99999 nonsense here */",
		"SELECT 1 /*M!100100 nonsense here */",
		"SELECT 1 /*T! nonsense here */",
		"SELECT 1 /*T![auto_rand] nonsense here */",
		"SELECT 1 /*!99999 it's nonsense */",
		"SELECT 1 # it's\n /*!80000 + 1 */ # it's",
		"LOCK TABLES t AS a # it's\n /*!80000 LOW_PRIORITY */ WRITE # it's",
		"/*!999999\\- enable the sandbox mode */ SELECT 1",
		"SELECT '/*!99999 x */'",
		"CREATE TABLE t (a INT, KEY (a) /*sqlots! INCLUDE (b) */, b INT)",
	} {
		if _, err := New().Parse(sql, types.DefaultSQLMode); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestParams(t *testing.T) {
	st, err := New().Parse("SELECT ?, a FROM t WHERE b = ? LIMIT ? OFFSET ?", types.DefaultSQLMode)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range st.Params {
		if p.Index != i || i > 0 && p.Offset <= st.Params[i-1].Offset {
			t.Errorf("parameter %d: %+v", i, p)
		}
	}
	if len(st.Params) != 4 {
		t.Errorf("%d parameters", len(st.Params))
	}
}

// FuzzParse: no text makes the parser or the scanners panic, and what
// Template accepts the parser reads with as many parameters as there are
// literals, or refuses.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"SELECT 1", "INSERT INTO t VALUES (1,'a') AS n ON DUPLICATE KEY UPDATE a=n.a", "/*!40101 SET x='a' */", "SELECT a INTO @x", "CREATE TABLE t (a INT DEFAULT (1+1), KEY (a) INCLUDE (b))", "SELECT 'a\\", "a SOUNDS LIKE b", "SET PERSIST a=1",
		"GRANT admin, 'r'@'h' TO u WITH ADMIN OPTION", "GRANT SELECT (a), 'X' ON *.* TO u AS a@h WITH ROLE ALL EXCEPT admin", "REVOKE IF EXISTS ALL, GRANT OPTION FROM u IGNORE UNKNOWN USER",
		"CREATE USER u IDENTIFIED BY RANDOM PASSWORD, v IDENTIFIED WITH p AS x'41' DEFAULT ROLE r PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD HISTORY 9", "ALTER USER USER() IDENTIFIED BY 'x' REPLACE 'y' RETAIN CURRENT PASSWORD", "SET PASSWORD := 'x' REPLACE 'y'", "SET PASSWORD FOR CURRENT_USER() TO RANDOM"} {
		f.Add(s, uint32(0))
	}
	p := New()
	f.Fuzz(func(t *testing.T, sql string, mode uint32) {
		m := types.SQLMode(mode)
		if _, err := p.Parse(sql, m); err != nil {
			var e *sqlerr.Error
			if !errors.As(err, &e) {
				t.Fatalf("not a MySQL error: %v", err)
			}
		}
		var tm Template
		if TemplateOf([]byte(sql), m, &tm) {
			if st, err := p.ParseTemplate(&tm, m); err == nil && len(st.Params) != len(tm.Vals) {
				t.Fatalf("%q: %d parameters, %d literals", tm.Text, len(st.Params), len(tm.Vals))
			}
		}
		for rest := sql; ; {
			_, x, ok := Next(rest, m)
			if !ok {
				break
			}
			if len(x) >= len(rest) {
				t.Fatal("Next does not advance")
			}
			rest = x
		}
	})
}
