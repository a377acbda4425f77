package tikvkv_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// changeTables have foreign keys with all actions, by primary keys, unique and other indexes,
// to the table itself and in a chain, unique keys and versions.
const changeTables = `SET restrict_fk_on_non_standard_key = OFF; CREATE DATABASE d; USE d;
	CREATE TABLE p (id INT PRIMARY KEY, u INT, n INT, UNIQUE (u), KEY (n));
	CREATE TABLE cascades (id INT PRIMARY KEY, p INT, x INT UNIQUE, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE);
	CREATE TABLE nulls (id INT PRIMARY KEY, u INT, v VARCHAR(9), FOREIGN KEY (u) REFERENCES p (u) ON DELETE SET NULL ON UPDATE CASCADE);
	CREATE TABLE restricts (id INT PRIMARY KEY, n INT, FOREIGN KEY (n) REFERENCES p (n));
	CREATE TABLE deep (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES cascades (id) ON DELETE CASCADE ON UPDATE SET NULL);
	CREATE TABLE self (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES self (id) ON DELETE CASCADE);
	CREATE TABLE versions (id INT PRIMARY KEY, a INT, UNIQUE (a)) SECONDARY_ENGINE_ATTRIBUTE='{"max_versions": 2}';
	CREATE TABLE narrow (id INT PRIMARY KEY, a INT UNIQUE, b TINYINT NOT NULL)`

// changeServer opens a server with a connection.
func changeServer(t *testing.T, store func() storage.Store) *sql.DB {
	t.Helper()
	s := servertest.Open(t, server.Config{InMemory: true, Listen: "127.0.0.1:0", Memory: 256 << 20, MemoryStore: store})
	t.Cleanup(func() { must(t, s.Stop(5*time.Second)) })
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/?multiStatements=true")
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	exec(t, db, "SET GLOBAL sqlots_ttl_job_enable = OFF; "+changeTables)
	return db
}

// outcome is what a client sees of a statement, with its warnings.
func outcome(db *sql.DB, q string) string {
	r, err := db.Exec(q)
	var no *mysql.MySQLError
	if errors.As(err, &no) {
		return no.Error()
	}
	if err != nil {
		return err.Error()
	}
	n, _ := r.RowsAffected()
	id, _ := r.LastInsertId()
	return fmt.Sprintf("%d rows, id %d%s", n, id, textOf(db, "SHOW WARNINGS"))
}

// textOf are the rows of a query.
func textOf(db *sql.DB, q string) string {
	rows, err := db.Query(q)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	cols, _ := rows.Columns()
	vals, to := make([]sql.NullString, len(cols)), make([]any, len(cols))
	for i := range vals {
		to[i] = &vals[i]
	}
	var out strings.Builder
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&out, "\n%v", vals)
	}
	return out.String()
}

// randomChange is a statement of several rows, many of which are wrong.
func randomChange(r *rand.Rand) string {
	span := func() string { a := r.IntN(60); return fmt.Sprintf("BETWEEN %d AND %d", a, a+r.IntN(30)) }
	values := func(row func() string) string {
		list := make([]string, 1+r.IntN(12))
		for i := range list {
			list[i] = row()
		}
		return strings.Join(list, ", ")
	}
	n := func() int { return r.IntN(70) }
	null := func() string {
		if r.IntN(6) == 0 {
			return "NULL"
		}
		return fmt.Sprint(n())
	}
	insert := []string{"INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"}[r.IntN(4)]
	update := []string{"UPDATE", "UPDATE", "UPDATE IGNORE"}[r.IntN(3)]
	remove := []string{"DELETE FROM", "DELETE FROM", "DELETE IGNORE FROM"}[r.IntN(3)]
	two := func() string { return fmt.Sprintf("(%d, %s)", n(), null()) }
	table := func(names ...string) string { return names[r.IntN(len(names))] }
	switch r.IntN(22) {
	case 0, 1, 2:
		return insert + " p VALUES " + values(func() string { return fmt.Sprintf("(%d, %s, %s)", n(), null(), null()) })
	case 3, 4:
		return insert + " cascades VALUES " + values(func() string { return fmt.Sprintf("(%d, %s, %s)", n(), null(), null()) })
	case 5:
		return insert + " nulls (id, u) VALUES " + values(two)
	case 6:
		return insert + " " + table("restricts", "deep", "self") + " VALUES " + values(two)
	case 7:
		return insert + " versions VALUES " + values(two)
	case 8:
		return insert + " narrow VALUES " + values(func() string {
			return fmt.Sprintf("(%d, %s, %d)", n(), null(), r.IntN(140))
		})
	case 9:
		return "INSERT INTO narrow VALUES " + values(func() string { return fmt.Sprintf("(%d, %s, %d)", n(), null(), r.IntN(130)) }) +
			" ON DUPLICATE KEY UPDATE b = b + VALUES(b), a = a + 1"
	case 20:
		return fmt.Sprintf("%s narrow SELECT id, n, 2 * u FROM p WHERE id %s ORDER BY id", insert, span())
	case 21:
		return "LOAD DATA LOCAL INFILE 'Reader::rows' " + table("REPLACE ", "") + "INTO TABLE " + table("narrow", "cascades") + loaded(r)
	case 10:
		return fmt.Sprintf("%s p SET id = id + %d WHERE id %s", update, r.IntN(9)-4, span())
	case 11:
		return fmt.Sprintf("%s p SET u = u + %d WHERE id %s ORDER BY u", update, 1+r.IntN(40), span())
	case 12:
		return fmt.Sprintf("%s p SET n = %s WHERE n %s ORDER BY id", update, null(), span())
	case 13:
		return fmt.Sprintf("%s %s SET id = id + %d WHERE id %s ORDER BY id", update, table("cascades", "versions", "self", "nulls"), r.IntN(9)-4, span())
	case 14:
		return fmt.Sprintf("%s cascades SET p = %s, x = x + 1 WHERE p %s ORDER BY id", update, null(), span())
	case 15:
		return fmt.Sprintf("%s versions SET a = a + %d WHERE id %s ORDER BY a DESC", update, 1+r.IntN(3), span())
	case 16:
		return fmt.Sprintf("UPDATE p JOIN cascades c ON c.p = p.id SET p.n = p.n + 1, c.x = NULL WHERE p.id %s", span())
	case 17:
		return fmt.Sprintf("DELETE p, versions FROM p LEFT JOIN versions ON versions.id = p.id WHERE p.id %s", span())
	case 18:
		return fmt.Sprintf("%s %s WHERE id %s ORDER BY id DESC LIMIT %d", remove, table("p", "restricts", "deep"), span(), 1+r.IntN(20))
	}
	return fmt.Sprintf("%s %s WHERE id %s", remove, table("p", "p", "cascades", "self", "versions", "narrow", "restricts"), span())
}

// loaded registers a file for LOAD DATA, of which some lines are wrong.
func loaded(r *rand.Rand) string {
	var text strings.Builder
	for range 1 + r.IntN(12) {
		fmt.Fprintf(&text, "%d\t%d\t%d", r.IntN(70), r.IntN(70), r.IntN(140))
		text.WriteString([]string{"\n", "\n", "x\n", "\t1\n"}[r.IntN(4)])
	}
	mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader(text.String()) })
	return ""
}

// TestChanges runs random changes of many rows in a cluster, where what they need is taken and
// read ahead of them, and in memory: a client sees the same.
func TestChanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testflag.AnySeed(t), 1))
	kv, err := cluster(t).Node().Connect()
	must(t, err)
	store, err := tikvkv.Join(bg, kv, "changes", tikvkv.Node{}, tikvkv.Options{}.WithLease(3*time.Hour, time.Hour))
	must(t, err)
	far, near := changeServer(t, func() storage.Store { return store }), changeServer(t, nil)
	both := func(q string, of func(*sql.DB, string) string) {
		t.Helper()
		if a, b := of(far, q), of(near, q); a != b {
			t.Fatalf("%s:\nin a cluster: %s\nin memory: %s", q, a, b)
		}
	}
	open := false
	for range testflag.Rounds(150, 400, 3000) {
		switch {
		case r.IntN(10) == 0 && !open:
			both("BEGIN", outcome)
			open = true
		case r.IntN(5) == 0 && open:
			both([]string{"COMMIT", "ROLLBACK", "SAVEPOINT s"}[r.IntN(3)], func(db *sql.DB, q string) string {
				_, err := db.Exec(q)
				return fmt.Sprint(err)
			})
			open = false
		}
		both(randomChange(r), outcome)
		for _, table := range []string{"p", "cascades", "nulls", "restricts", "deep", "self", "versions", "narrow"} {
			both("SELECT * FROM "+table+" ORDER BY id", textOf)
		}
	}
	both("SELECT id, a, _until IS NULL FROM versions('versions') ORDER BY id, _until IS NULL, _until", textOf)
}
