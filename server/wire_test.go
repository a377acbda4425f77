package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// allTypes is a table with a column of each type.
const allTypes = `CREATE TABLE types (id INT PRIMARY KEY,
	i8 TINYINT, u8 TINYINT UNSIGNED, i16 SMALLINT, u16 SMALLINT UNSIGNED, i24 MEDIUMINT, u24 MEDIUMINT UNSIGNED,
	i32 INT, u32 INT UNSIGNED, i64 BIGINT, u64 BIGINT UNSIGNED, z INT(6) ZEROFILL,
	f FLOAT, d DOUBLE, n DECIMAL(20,6), n0 DECIMAL(65,0), n30 DECIMAL(65,30),
	c CHAR(10), vc VARCHAR(50), tx TEXT, tt TINYTEXT, mt MEDIUMTEXT, lt LONGTEXT,
	bi BINARY(4), vb VARBINARY(20), bl BLOB, bt BIT(12), y YEAR,
	da DATE, dt DATETIME, dt6 DATETIME(6), ts TIMESTAMP NULL, ts3 TIMESTAMP(3) NULL, ti TIME, ti6 TIME(6),
	e ENUM('a','b','c''d'), s SET('x','y','z'), j JSON, bo BOOL)`

var typeRows = []string{
	`(1, -128,255,-32768,65535,-8388608,16777215,-2147483648,4294967295,-9223372036854775808,18446744073709551615,42,
	 1.5,2.2250738585072014e-308,-12345678901234.123456,99999999999999999999999999999999999999999999999999999999999999999,-0.000000000000000000000000000001,
	 'char  ','varchar äöü 漢字 😀','te''xt\\n\n','','m','l','ab','\0\1\2','blob',b'101010101010',1901,
	 '1000-01-01','9999-12-31 23:59:59','2024-02-29 12:34:56.789012','1970-01-01 00:00:01','2038-01-19 03:14:07.999','-838:59:59','838:59:58.999999',
	 'c''d','x,z','{"b": [1, 2.5, null, "x"], "a": {"k": true}}',true)`,
	`(2, 0,0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0, '','','','','','', '','','',0,0, '2000-01-01','2000-01-01 00:00:00','2000-01-01 00:00:00','2000-01-01 00:00:00','2000-01-01 00:00:00',
	 '00:00:00','00:00:00.000001','a','','[]',false)`,
	`(3, NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)`,
	`(4, 127,1,1,1,1,1,1,1,9223372036854775807,9223372036854775808,999999,
	 -3.4e38,1.7976931348623157e308,0.000001,-1,12345678901234567890123456789012345.123456789012345678901234567890,
	 'x','y','z','t','m','l','\0\0\0\0',0xff,0x00,4095,2155,
	 '2024-12-31','1999-12-31 23:59:59','1999-12-31 23:59:59.000001','2024-03-31 01:30:00','2024-10-27 02:30:00.5','00:00:01','-00:00:00.5',
	 'b','x,y,z','"s"',1)`,
}

// TestTextAndBinaryAreEqual reads all types over both protocols.
func TestTextAndBinaryAreEqual(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.exec(allTypes)
	for _, r := range typeRows {
		c.exec("INSERT INTO types VALUES " + r)
	}
	cols := strings.Split("i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 z f d n n0 n30 c vc tx tt mt lt bi vb bl bt y da dt dt6 ts ts3 ti ti6 e s j bo", " ")
	for _, col := range cols {
		text, err := c.query("SELECT " + col + " FROM types WHERE id>0 ORDER BY id")
		if err != nil {
			t.Fatal(col, err)
		}
		binary, err := c.query("SELECT "+col+" FROM types WHERE id>? ORDER BY id", 0)
		if err != nil {
			t.Fatal(col, err)
		}
		if text != binary && col != "f" { // the driver prints a float32 with more digits
			t.Errorf("%s:\n  text %q\nbinary %q", col, text, binary)
		}
		// The value that was read finds its row again, bound as a parameter.
		for id := range len(typeRows) {
			var v any
			if err := c.c.QueryRowContext(t.Context(), "SELECT "+col+" FROM types WHERE id=?", id+1).Scan(&v); err != nil {
				t.Fatal(err)
			}
			if v == nil || col == "j" || col == "f" || col == "bt" {
				continue
			}
			c.rows("1", "SELECT COUNT(*) FROM types WHERE id=? AND "+col+"=?", id+1, v)
		}
	}
}

// TestInsertSelectedValues writes each type back through parameters.
func TestInsertSelectedValues(t *testing.T) {
	_, dsn := startServer(t)
	for _, options := range []string{"", "?parseTime=true", "?interpolateParams=true", "?interpolateParams=true&parseTime=true&loc=UTC&time_zone=%27%2B00%3A00%27", "?maxAllowedPacket=0&compress=true"} {
		t.Run(options, func(t *testing.T) {
			c := dial(t, dsn+options)
			c.exec("DROP TABLE IF EXISTS types, types2")
			c.exec(allTypes)
			c.exec("CREATE TABLE types2 LIKE types")
			for _, r := range typeRows {
				c.exec("INSERT INTO types VALUES " + r)
			}
			rows, err := c.c.QueryContext(t.Context(), "SELECT * FROM types WHERE id>?", 0)
			if err != nil {
				t.Fatal(err)
			}
			var all [][]any
			names, _ := rows.Columns()
			for rows.Next() {
				cells, ptrs := make([]any, len(names)), make([]any, len(names))
				for i := range cells {
					ptrs[i] = &cells[i]
				}
				if err := rows.Scan(ptrs...); err != nil {
					t.Fatal(err)
				}
				for i := range cells {
					if b, ok := cells[i].([]byte); ok && names[i] == "j" {
						cells[i] = string(b) // the driver would mark bytes as _binary
					}
				}
				all = append(all, cells)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			marks := strings.TrimSuffix(strings.Repeat("?,", len(names)), ",")
			for _, cells := range all {
				c.exec("INSERT INTO types2 VALUES ("+marks+")", cells...)
			}
			for _, n := range names {
				if n == "f" {
					continue
				}
				c.rows("4", "SELECT COUNT(*) FROM types a JOIN types2 b ON a.id=b.id AND a."+n+" <=> b."+n)
			}
		})
	}
}

func TestMultiStatements(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn+"?multiStatements=true")
	rows, err := c.c.QueryContext(t.Context(), "CREATE TABLE m (x INT PRIMARY KEY); INSERT INTO m VALUES (1),(2); SELECT x FROM m; UPDATE m SET x=x+10; SELECT x, 'y' FROM m ORDER BY x DESC;")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		r, err := readRows(rows)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
		if !rows.NextResultSet() {
			break
		}
	}
	rows.Close()
	if s := strings.Join(got, ";"); !strings.Contains(s, "1|2") || !strings.Contains(s, "12,y|11,y") {
		t.Errorf("got %q", s)
	}
	// The first error ends the text; what came before it stays.
	if _, err := c.c.ExecContext(t.Context(), "INSERT INTO m VALUES (20); INSERT INTO m VALUES (20); INSERT INTO m VALUES (21)"); errorNumber(err) != 1062 {
		t.Errorf("error %v", err)
	}
	c.rows("11|12|20", "SELECT x FROM m")
	// A syntax error shows the text up to the end of all statements, but for secrets.
	for text, near := range map[string]string{
		"BAR; FOO;": "BAR; FOO", "SELECT 1; BAR x; FOO ; \n": "BAR x; FOO", "SELECT 1 +; SELECT 2;;": "; SELECT 2", "FOO": "FOO", "SELECT 1; FOO;": "FOO",
		"FOO; SELECT '" + strings.Repeat("x", 100) + "'": "FOO; SELECT '" + strings.Repeat("x", 67),
		"FOO; ALTER USER a IDENTIFIED BY 'tiger'":        "FOO; ALTER USER a IDENTIFIED BY <secret>",
	} {
		if _, err := c.c.ExecContext(t.Context(), text); errorNumber(err) != 1064 || !strings.Contains(err.Error(), " near '"+near+"' at line 1") {
			t.Errorf("%s: %v", text, err)
		}
	}
	single := dial(t, dsn)
	single.fails(1064, "SELECT 1; SELECT 2")
	single.rows("1", "SELECT 1;  ")
}

func TestPreparedStatements(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.exec("CREATE TABLE p (id INT PRIMARY KEY, s VARCHAR(20), n DECIMAL(10,2))")
	st, err := c.c.PrepareContext(t.Context(), "INSERT INTO p VALUES (?,?,?)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := st.Exec(i, fmt.Sprint("s", i), fmt.Sprint(i, ".25")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Exec(1, "dup", nil); errorNumber(err) != 1062 {
		t.Errorf("error %v", err)
	}
	if _, err := st.Exec(100, strings.Repeat("x", 30), nil); errorNumber(err) != 1406 {
		t.Errorf("error %v", err)
	}
	q, err := c.c.PrepareContext(t.Context(), "SELECT s FROM p WHERE id IN (?,?) OR n>? ORDER BY id LIMIT ?")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][5]any{{1, 2, 48.5, 10, "s1|s2|s49"}, {"3", "4", nil, 1, "s3"}, {int64(7), 7.0, "49", 5, "s7|s49"}} {
		rows, err := q.Query(x[0], x[1], x[2], x[3])
		if err != nil {
			t.Fatal(err)
		}
		got, err := readRows(rows)
		rows.Close()
		if err != nil || got != x[4] {
			t.Errorf("%v: got %q, %v", x, got, err)
		}
	}
	for _, limit := range []any{2, "2", 2.0, uint64(2)} {
		c.rows("3|4", "SELECT id FROM p ORDER BY id LIMIT ? OFFSET ?", limit, 3.0)
	}
	for _, limit := range []any{-1, "x", 1.5, nil} {
		c.fails(1210, "SELECT id FROM p ORDER BY id LIMIT ?", limit)
	}
	// A prepared statement follows the schema.
	all, err := c.c.PrepareContext(t.Context(), "SELECT * FROM p WHERE id=?")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"ALTER TABLE p ADD COLUMN extra INT DEFAULT 9", "CREATE INDEX by_s ON p (s)", "ALTER TABLE p DROP COLUMN n"} {
		c.exec(change)
		rows, err := all.Query(5)
		if err != nil {
			t.Fatal(change, err)
		}
		got, err := readRows(rows)
		rows.Close()
		if err != nil || !strings.HasPrefix(got, "5,s5") || !strings.HasSuffix(got, ",9") {
			t.Errorf("after %s: %q, %v", change, got, err)
		}
	}
	c.exec("DROP TABLE p")
	if _, err := all.Query(5); errorNumber(err) != 1146 {
		t.Errorf("error %v", err)
	}
	if _, err := c.c.PrepareContext(t.Context(), "SELECT * FROM nope"); errorNumber(err) != 1146 {
		t.Errorf("error %v", err)
	}
	c.exec("PREPARE st FROM 'SELECT ? + ?, ?'")
	c.exec("SET @a=1, @b=2.5, @c='x'")
	c.rows("3.5,x", "EXECUTE st USING @a, @b, @c")
	c.fails(1210, "EXECUTE st USING @a")
	c.exec("DEALLOCATE PREPARE st")
	c.fails(1243, "EXECUTE st USING @a, @b, @c")
	c.exec("SET @q = 'SELECT 7'")
	c.exec("PREPARE st FROM @q")
	c.rows("7", "EXECUTE st")
}

func TestSizeLimits(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	c := dial(t, dsn+"?maxAllowedPacket=0")
	c.exec("CREATE TABLE big (id INT PRIMARY KEY, v LONGTEXT, k VARCHAR(700), KEY (id, k))")
	big := strings.Repeat("x", 5<<20)
	c.exec("INSERT INTO big (id,v) VALUES (1,?)", big)
	var got string
	if err := c.c.QueryRowContext(t.Context(), "SELECT v FROM big WHERE id=1").Scan(&got); err != nil || got != big {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	huge := strings.Repeat("y", 20<<20)
	for _, query := range []string{"INSERT INTO big (id,v) VALUES (2,?)", "INSERT INTO big (id,v) VALUES (3,'z'),(4,?)"} {
		_, err := c.c.ExecContext(t.Context(), query, huge)
		if n := errorNumber(err); n != 1118 && n != 1406 {
			t.Errorf("%s: %v", query, err)
		}
	}
	c.rows("1", "SELECT id FROM big")
	// 16 MiB and more go over the wire both ways.
	var n int
	if err := c.c.QueryRowContext(t.Context(), "SELECT LENGTH(?)", huge).Scan(&n); err != nil || n != len(huge) {
		t.Errorf("%d, %v", n, err)
	}
	for _, size := range []int{1<<24 - 5, 1<<24 - 1, 1 << 24, 1<<24 + 1} {
		if err := c.c.QueryRowContext(t.Context(), "SELECT REPEAT('x', ?)", size).Scan(&got); err != nil || len(got) != size {
			t.Errorf("%d: %d bytes, %v", size, len(got), err)
		}
	}
	c.exec("SET GLOBAL max_allowed_packet=1048576")
	limited := dial(t, dsn+"?maxAllowedPacket=100000000")
	_, err := limited.c.ExecContext(t.Context(), "SELECT LENGTH(?)", big)
	if n := errorNumber(err); n != 1153 && err == nil {
		t.Errorf("error %v, want 1153", err)
	}
	c.exec("SET GLOBAL max_allowed_packet=DEFAULT")
	c.fails(1071, "CREATE TABLE k (a VARCHAR(5000), PRIMARY KEY (a))")
}

func TestContextCancellation(t *testing.T) {
	_, dsn := startServer(t)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("CREATE TABLE x (id INT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	tx.Rollback()
	tx, err = db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO x VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, func() bool { return tx.Commit() != nil })
	if _, err := db.Exec("INSERT INTO x VALUES (1)"); err != nil {
		t.Errorf("the cancelled transaction left its row: %v", err)
	}
	if _, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}); err != nil {
		t.Error(err)
	}
}

func TestOtherCharacterSets(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.exec("CREATE TABLE l (id INT PRIMARY KEY, v VARCHAR(20), KEY (v)) DEFAULT CHARSET=latin1")
	c.exec("INSERT INTO l VALUES (1,'äöü'),(2,?)", "ß€")
	c.fails(1366, "INSERT INTO l VALUES (3,'漢')")
	for _, id := range []any{1, "1"} {
		c.rows("äöü,E4F6FC,3,äöüx", "SELECT v, HEX(v), LENGTH(v), CONCAT(v,'x') FROM l WHERE v='äöü' AND v LIKE 'ä%' AND id=?", id)
	}
	c.rows("äöü|ß€", "SELECT v FROM l")
	c.fails(1366, "INSERT INTO l VALUES (4, 0xE4E4), (5, ?)", "漢")
}
