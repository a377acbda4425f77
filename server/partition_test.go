package server_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
)

// partitionSchemes are ways to partition the table of TestPartitions, with a primary key
// that each allows.
var partitionSchemes = []struct{ key, by string }{
	{"PRIMARY KEY (id)", "HASH (id) PARTITIONS 7"},
	{"PRIMARY KEY (id)", "LINEAR HASH (id + 3) PARTITIONS 5"},
	{"PRIMARY KEY (id)", "KEY () PARTITIONS 4"},
	{"PRIMARY KEY (id)", "RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (25), PARTITION p2 VALUES LESS THAN (40), PARTITION pm VALUES LESS THAN MAXVALUE)"},
	{"PRIMARY KEY (id, d)", "RANGE (TO_DAYS(d)) (PARTITION p0 VALUES LESS THAN (TO_DAYS('2024-01-03')), PARTITION p1 VALUES LESS THAN (TO_DAYS('2024-01-06')), PARTITION pm VALUES LESS THAN MAXVALUE)"},
	{"PRIMARY KEY (d, id)", "RANGE (TO_SECONDS(d)) (PARTITION p0 VALUES LESS THAN (TO_SECONDS('2024-01-03 12:00:00')), PARTITION pm VALUES LESS THAN MAXVALUE)"},
	{"PRIMARY KEY (id, d)", "RANGE COLUMNS (d) (PARTITION p0 VALUES LESS THAN ('2024-01-03'), PARTITION p1 VALUES LESS THAN ('2024-01-05 06:00:00'), PARTITION pm VALUES LESS THAN (MAXVALUE))"},
	{"PRIMARY KEY (id, d)", "RANGE (YEAR(d) * 100 + DAY(d)) (PARTITION p0 VALUES LESS THAN (202404), PARTITION pm VALUES LESS THAN MAXVALUE)"},
	{"PRIMARY KEY (s, id)", "RANGE COLUMNS (s, id) (PARTITION p0 VALUES LESS THAN ('c', 10), PARTITION p1 VALUES LESS THAN ('c', MAXVALUE), PARTITION p2 VALUES LESS THAN ('d', 20), PARTITION pm VALUES LESS THAN (MAXVALUE, MAXVALUE))"},
	{"PRIMARY KEY (id, s)", "KEY (s) PARTITIONS 3"},
	{"KEY (id)", "LIST (a) (PARTITION p0 VALUES IN (NULL, 1, 2), PARTITION p1 VALUES IN (3, 5, 7, 9), PARTITION p2 VALUES IN (0, 4, 6, 8))"},
	{"KEY (id, a)", "HASH (a) PARTITIONS 3"},
	{"KEY (a, id)", "LIST COLUMNS (s) (PARTITION p0 VALUES IN ('a', 'b'), PARTITION p1 VALUES IN ('c', 'é1'), PARTITION p2 VALUES IN ('d', 'e'))"},
	{"KEY (a)", "RANGE (a) (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN (6), PARTITION pm VALUES LESS THAN MAXVALUE)"},
	{"KEY (d)", "RANGE (UNIX_TIMESTAMP(t)) (PARTITION p0 VALUES LESS THAN (UNIX_TIMESTAMP('2024-03-31 03:30:00')), PARTITION p1 VALUES LESS THAN (UNIX_TIMESTAMP('2024-10-27 02:30:00')), PARTITION pm VALUES LESS THAN (MAXVALUE))"},
	{"UNIQUE KEY (s, a, n)", "KEY (s, a) PARTITIONS 6"},
}

// partitionConds are conditions on the table; %d, %D, %s, %a and %t stand for values of
// its columns.
var partitionConds = []string{
	"id = %i", "id < %i", "id >= %i", "id BETWEEN %i AND %i", "id IN (%i, %i, %i)", "id = %i OR id = %i", "id = 4.0", "id < 7.5", "id > '12'",
	"d = %D", "d < %D", "d <= %D", "d >= %D", "d > %D", "d BETWEEN %D AND %D", "d IN (%D, %D)", "d >= %D AND d < %D", "DATE(d) = %D", "d < '2024-01-05'",
	"d = DATE '2024-01-04'", "NOT d < %D", "d <> %D",
	"a = %a", "a < %a", "a <= %a", "a > %a", "a IS NULL", "a IS NOT NULL", "a <=> %a", "a <=> NULL", "a IN (%a, %a)", "a BETWEEN %a AND %a", "a + 1 = %a",
	"s = %s", "s < %s", "s >= %s", "s IN (%s, %s)", "s LIKE 'c%'", "s LIKE CONCAT(%s, '%')", "s = 'C'", "s BETWEEN %s AND %s", "s IS NULL",
	"(s, id) > (%s, %i)", "(s, id) = (%s, %i)", "(s, a) IN ((%s, %a), (%s, %a))", "(id, d) < (%i, %D)",
	"t = %t", "t < %t", "t >= %t", "t BETWEEN %t AND %t", "t IS NULL",
	"s = %s AND a = %a", "s = %s AND id = %i", "id = %i AND d = %D", "id = %i AND s = %s",
	"n > 20", "n % 3 = 1", "id = a", "TRUE", "a = (SELECT MAX(a) - 3 FROM %T)",
}

// twins are a partitioned table and one like it without partitions, to which the same
// happens.
type twins struct {
	t   *testing.T
	r   *rand.Rand
	db  *sql.DB
	n   int
	log []string
}

func (w *twins) value(kind byte) string {
	switch kind {
	case 'i':
		return fmt.Sprint(w.r.IntN(60))
	case 'a':
		return fmt.Sprint(w.r.IntN(10))
	case 'D':
		if w.r.IntN(12) == 0 {
			return []string{"'0000-00-00'", "'2024-00-00'", "'2024-01-00'", "'2023-12-00'"}[w.r.IntN(4)]
		}
		return fmt.Sprintf("'2024-01-%02d %s'", 1+w.r.IntN(8), []string{"00:00:00", "06:00:00", "23:59:59"}[w.r.IntN(3)])
	case 's':
		return []string{"'a'", "'B'", "'c'", "'D'", "'é'", "'e'"}[w.r.IntN(6)]
	}
	return []string{"'2024-03-31 01:59:59'", "'2024-03-31 03:30:00'", "'2024-10-27 01:30:00'", "'2024-10-27 02:15:00'", "'2024-10-27 02:45:00'", "'2024-10-27 03:00:00'", "'2024-06-01'"}[w.r.IntN(7)]
}

// cond is a random condition. With params some of its values are parameters.
func (w *twins) cond(params *[]any) string {
	one := func() string {
		text := partitionConds[w.r.IntN(len(partitionConds))]
		var b strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] != '%' || i+1 == len(text) || !strings.ContainsRune("iaDst", rune(text[i+1])) {
				b.WriteByte(text[i])
				continue
			}
			i++
			v := w.value(text[i])
			if params != nil && w.r.IntN(2) == 0 {
				*params = append(*params, strings.Trim(v, "'"))
				v = "?"
			}
			b.WriteString(v)
		}
		return b.String()
	}
	switch w.r.IntN(6) {
	case 0:
		return one() + " AND " + one()
	case 1:
		return "(" + one() + ") OR (" + one() + ")"
	case 2:
		return "(" + one() + " OR " + one() + ") AND " + one()
	}
	return one()
}

// run executes a statement, in which %T is the table, on both.
func (w *twins) run(stmt string) {
	w.t.Helper()
	counts := [2]int64{}
	var errs [2]error
	for i, table := range []string{"p", "q"} {
		text := strings.ReplaceAll(stmt, "%T", table)
		if i == 0 {
			w.log = append(w.log, text)
		}
		r, err := w.db.Exec(text)
		var e *mysql.MySQLError
		if i == 0 && errors.As(err, &e) && (e.Number == 1526 || e.Number == 1062) {
			return // the other table takes all values, and may have other unique keys
		}
		if errs[i] = err; err == nil {
			counts[i], _ = r.RowsAffected()
		}
	}
	if (errs[0] == nil) != (errs[1] == nil) || counts[0] != counts[1] {
		w.fail("%s: %d rows, %v; %d rows, %v", stmt, counts[0], errs[0], counts[1], errs[1])
	}
}

func (w *twins) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format+"\n%s", append(args, strings.Join(w.log, ";\n"))...)
}

// rows are those of a query, NULL as "NULL".
func (w *twins) rows(query string, args ...any) [][]string {
	w.t.Helper()
	rows, err := w.db.Query(query, args...)
	if err != nil {
		w.fail("%s: %v", query, err)
	}
	defer rows.Close()
	cols, _ := rows.Columns()
	var out [][]string
	for rows.Next() {
		vals, ptrs := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			w.fail("%s: %v", query, err)
		}
		line := make([]string, len(cols))
		for i, v := range vals {
			if line[i] = v.String; !v.Valid {
				line[i] = "NULL"
			}
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		w.fail("%s: %v", query, err)
	}
	return out
}

func (w *twins) list(query string, args ...any) []string {
	w.t.Helper()
	var out []string
	for _, line := range w.rows(query, args...) {
		out = append(out, strings.Join(line, " "))
	}
	return out
}

// compare asks both tables.
func (w *twins) compare(query string, sorted bool, args ...any) {
	w.t.Helper()
	got := w.list(strings.ReplaceAll(query, "%T", "p"), args...)
	want := w.list(strings.ReplaceAll(query, "%T", "q"), args...)
	if !sorted {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		w.fail("%s %v\n%v\nwithout partitions\n%v", query, args, got, want)
	}
}

func (w *twins) query() {
	w.t.Helper()
	var params []any
	var p *[]any
	if w.r.IntN(3) == 0 {
		p = &params
	}
	cond := w.cond(p)
	where := " FROM %T WHERE " + cond
	switch w.r.IntN(12) {
	case 0:
		w.compare("SELECT COUNT(*), MIN(id), MAX(id), SUM(n), MIN(d), MAX(a)"+where, true, params...)
	case 1:
		w.compare("SELECT n, id"+where+" ORDER BY id, n LIMIT 5", true, params...)
	case 2:
		w.compare("SELECT n, id"+where+" ORDER BY id DESC, n LIMIT 3", true, params...)
	case 3:
		w.compare("SELECT n, d"+where+" ORDER BY d, id, n", true, params...)
	case 4:
		w.compare("SELECT a, COUNT(*)"+where+" GROUP BY a ORDER BY a", true, params...)
	case 5:
		key := []string{"x.id = y.id", "x.id = y.id AND x.d = y.d", "x.s = y.s AND x.id = y.id", "x.a = y.a", "x.a = y.id", "x.s = y.s AND x.a = y.a", "x.t = y.t"}[w.r.IntN(7)]
		join := []string{"JOIN", "LEFT JOIN"}[w.r.IntN(2)]
		w.compare("SELECT x.n, y.n FROM (SELECT *"+where+") x "+join+" %T y ON "+key, false, params...)
	case 6:
		w.compare("SELECT n FROM %T x WHERE EXISTS (SELECT 1 FROM %T y WHERE y.id = x.id AND y.d = x.d AND y.n >= x.n AND y.a > 3)", false)
	case 7:
		w.compare("SELECT DISTINCT id"+where, false, params...)
	case 8:
		if strings.Contains(cond, "SELECT") {
			return
		}
		w.compare("SELECT n, id, d, s, a, t"+where+" FOR UPDATE", false, params...)
	default:
		w.compare("SELECT n, id, d, s, a, t"+where, false, params...)
	}
}

// change is a random change of rows.
func (w *twins) change() {
	w.t.Helper()
	null := func(v string) string {
		if w.r.IntN(8) == 0 {
			return "NULL"
		}
		return v
	}
	switch w.r.IntN(8) {
	case 7:
		// Without hash joins rows are looked up.
		if _, err := w.db.Exec("SET time_zone = ?, optimizer_switch = ?", []string{"UTC", "Europe/Berlin"}[w.r.IntN(2)],
			[]string{"block_nested_loop=on", "block_nested_loop=off"}[w.r.IntN(2)]); err != nil {
			w.fail("%v", err)
		}
	case 0:
		w.run("DELETE FROM %T WHERE " + strings.ReplaceAll(w.cond(nil), "(SELECT MAX(a) - 3 FROM %T)", "3"))
	case 1:
		set := []string{"d = " + w.value('D'), "a = " + null(w.value('a')), "s = " + w.value('s'), "id = id + 1", "t = " + null(w.value('t')), "id = " + w.value('i') + ", d = " + w.value('D')}[w.r.IntN(6)]
		w.run("UPDATE %T SET " + set + " WHERE n % 4 = " + fmt.Sprint(w.r.IntN(4)) + " AND (" +
			strings.ReplaceAll(w.cond(nil), "(SELECT MAX(a) - 3 FROM %T)", "3") + ") ORDER BY id DESC, n") // the order decides on duplicates
	default:
		var rows []string
		for range 1 + w.r.IntN(4) {
			w.n++
			rows = append(rows, fmt.Sprintf("(%d, %s, %s, %s, %s, %s)", w.n, w.value('i'), w.value('D'), w.value('s'), null(w.value('a')), null(w.value('t'))))
		}
		w.run("INSERT INTO %T (n, id, d, s, a, t) VALUES " + strings.Join(rows, ", "))
	}
}

// alter changes the partitions, and nothing for the other table but the rows that go.
func (w *twins) alter() {
	w.t.Helper()
	parts := w.rows("SELECT PARTITION_NAME, PARTITION_METHOD, PARTITION_DESCRIPTION FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'p' ORDER BY PARTITION_ORDINAL_POSITION")
	i := w.r.IntN(len(parts))
	name, method := parts[i][0], parts[i][1]
	remove := func() {
		if gone := w.list("SELECT n FROM p PARTITION (" + name + ")"); len(gone) > 0 {
			if _, err := w.db.Exec("DELETE FROM q WHERE n IN (" + strings.Join(gone, ",") + ")"); err != nil {
				w.fail("%v", err)
			}
		}
	}
	exec := func(text string) {
		w.log = append(w.log, text)
		if _, err := w.db.Exec(text); err != nil {
			w.fail("%s: %v", text, err)
		}
	}
	ranged, listed := strings.HasPrefix(method, "RANGE"), strings.HasPrefix(method, "LIST")
	next := "x" + fmt.Sprint(len(w.log))
	switch k := w.r.IntN(4); {
	case k == 0:
		remove()
		exec("ALTER TABLE p TRUNCATE PARTITION " + name)
	case ranged && k == 1 && i < len(parts)-1:
		exec("ALTER TABLE p REORGANIZE PARTITION " + name + ", " + parts[i+1][0] + " INTO (PARTITION " + next + " VALUES LESS THAN (" + parts[i+1][2] + "))")
	case ranged && k == 2:
		exec("ALTER TABLE p REORGANIZE PARTITION " + name + " INTO (PARTITION " + next + " VALUES LESS THAN (" + parts[i][2] + "))")
	case listed && k == 1 && i < len(parts)-1:
		exec("ALTER TABLE p REORGANIZE PARTITION " + name + ", " + parts[i+1][0] + " INTO (PARTITION " + next + " VALUES IN (" + parts[i][2] + "," + parts[i+1][2] + "))")
	case (ranged || listed) && len(parts) > 2 && i < len(parts)-1:
		remove()
		exec("ALTER TABLE p DROP PARTITION " + name)
	case ranged, listed:
		exec("ALTER TABLE p ADD COLUMN " + next + " INT, FORCE")
	case k < 3 && len(parts) > 2:
		exec("ALTER TABLE p COALESCE PARTITION 1")
	default:
		exec("ALTER TABLE p ADD PARTITION PARTITIONS 3")
	}
}

// TestPartitions compares partitioned tables with such as are not.
func TestPartitions(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	seed := testflag.AnySeed(t)
	for k, scheme := range partitionSchemes {
		if every := testflag.InShort[uint64](2, 1); uint64(k)%every != seed%every {
			continue
		}
		t.Run(scheme.by, func(t *testing.T) {
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			columns := "(n INT NOT NULL, id INT NOT NULL, d DATETIME NOT NULL, s VARCHAR(9) NOT NULL, a INT, t TIMESTAMP NULL, " + scheme.key + ", KEY ks (s, a), KEY kt (t)"
			searched := k%3 == int(seed%3)
			if searched {
				columns += ", SEARCH INDEX sx (n, id, d, s, a, t)"
			}
			columns += ")"
			w := &twins{t: t, r: rand.New(rand.NewPCG(seed, uint64(k))), db: db}
			for _, text := range []string{
				fmt.Sprintf("CREATE DATABASE part%d", k), fmt.Sprintf("USE part%d", k), "SET time_zone = 'Europe/Berlin', sql_mode = ''",
				"CREATE TABLE p " + columns + " PARTITION BY " + scheme.by,
				"CREATE TABLE q " + columns,
			} {
				if _, err := db.Exec(text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				w.log = append(w.log, text)
			}
			for round := range testflag.Rounds(20, 40, 300) {
				w.change()
				for range 4 {
					w.query()
				}
				if searched {
					w.compare("SELECT n, id FROM %T FORCE INDEX (sx) WHERE "+w.cond(nil), false)
				}
				if round%20 == 19 {
					w.alter()
					w.compare("SELECT n, id, d, s, a, t FROM %T", false)
					w.compare("SELECT n FROM %T FORCE INDEX (ks) WHERE s >= 'a'", false)
				}
			}
			if got := w.list("ADMIN CHECK TABLE p"); !strings.Contains(strings.Join(got, ""), "OK") {
				t.Fatal(got)
			}
		})
	}
}

// TestPartitionsNextToOthers drops, empties and splits partitions while others read and
// write. All access paths of a transaction give the same answer.
func TestPartitionsNextToOthers(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	for _, key := range []string{"KEY kd (d)", "UNIQUE KEY kd (d, id)"} {
		t.Run(key, func(t *testing.T) {
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			exec := func(text string, allowed ...uint16) {
				var e *mysql.MySQLError
				if _, err := db.Exec(text); err != nil && !(errors.As(err, &e) && slices.Contains(allowed, e.Number)) {
					t.Errorf("%s: %v", text, err)
				}
			}
			exec("CREATE DATABASE IF NOT EXISTS others")
			exec("DROP TABLE IF EXISTS others.t")
			exec("CREATE TABLE others.t (id INT AUTO_INCREMENT, d INT NOT NULL, PRIMARY KEY (id, d), " + key + ") PARTITION BY RANGE (d) (PARTITION p0 VALUES LESS THAN (10), PARTITION pm VALUES LESS THAN MAXVALUE)")
			done := make(chan struct{})
			var group sync.WaitGroup
			start := func(seed uint64, f func(r *rand.Rand)) {
				group.Go(func() {
					r := rand.New(rand.NewPCG(seed, 1))
					for {
						select {
						case <-done:
							return
						default:
							f(r)
						}
					}
				})
			}
			for i := range 2 {
				start(uint64(i), func(r *rand.Rand) {
					var rows []string
					for range 1 + r.IntN(50) {
						rows = append(rows, fmt.Sprintf("(%d)", r.IntN(100)))
					}
					exec("INSERT INTO others.t (d) VALUES "+strings.Join(rows, ","), 1213, 1205)
					exec(fmt.Sprintf("UPDATE others.t SET d = d + 1 WHERE d = %d", r.IntN(100)), 1213, 1205)
				})
				start(uint64(i)+10, func(r *rand.Rand) {
					tx, err := db.Begin()
					if err != nil {
						t.Error(err)
						return
					}
					defer tx.Rollback()
					var counts [4]int
					for k, text := range []string{"SELECT COUNT(*) FROM others.t FORCE INDEX (kd)", "SELECT COUNT(*) FROM others.t FORCE INDEX (PRIMARY) WHERE id + 0 > 0",
						"SELECT COUNT(*) FROM others.t WHERE d < 50 OR d >= 50", "SELECT COUNT(*) FROM others.t FORCE INDEX (kd) WHERE d >= 0 AND id > 0"} {
						var e *mysql.MySQLError
						if err := tx.QueryRow(text).Scan(&counts[k]); errors.As(err, &e) && e.Number == 1412 {
							return
						} else if err != nil {
							t.Errorf("%s: %v", text, err)
						}
					}
					if counts[0] != counts[1] || counts[0] != counts[2] || counts[0] != counts[3] {
						t.Errorf("rows %v", counts)
					}
				})
			}
			r := rand.New(rand.NewPCG(testflag.AnySeed(t), 2))
			for k := range testflag.Rounds(6, 6, 60) {
				limit := 10 + r.IntN(80)
				exec(fmt.Sprintf("ALTER TABLE others.t REORGANIZE PARTITION p0, pm INTO (PARTITION p0 VALUES LESS THAN (%d), PARTITION pm VALUES LESS THAN MAXVALUE)", limit))
				switch k % 3 {
				case 0:
					exec("ALTER TABLE others.t TRUNCATE PARTITION p0")
				case 1:
					exec(fmt.Sprintf("ALTER TABLE others.t REORGANIZE PARTITION p0 INTO (PARTITION q VALUES LESS THAN (%d), PARTITION p0 VALUES LESS THAN (%d))", limit/2, limit))
					exec("ALTER TABLE others.t DROP PARTITION q")
				}
			}
			close(done)
			group.Wait()
			rows, err := db.Query("ADMIN CHECK TABLE others.t")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var table, op, kind, text string
				if err := rows.Scan(&table, &op, &kind, &text); err != nil || text != "OK" {
					t.Error(table, op, kind, text, err)
				}
			}
		})
	}
}
