package abuse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/variants"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/tool/slt"
)

const scripts = "../../testdata/sqllogic"

// TestScripts runs scripts of testdata/sqllogic, each statement after random changes of
// it: no change may be answered by a fault, or leave a table whose entries differ from
// its rows.
//
//	go test ./test/abuse -run TestScripts -timeout 2h -args -rounds 1000 -seed 7
func TestScripts(t *testing.T) {
	testflag.Normal(t)
	files := scriptFiles(t)
	seed := testflag.Seed(1)
	v := startWith(t, settings{Memory: budget, CheckPlans: true})
	admin := v.connect("")
	for i := range testflag.Rounds(1, 8, 36) {
		rnd := rand.New(rand.NewPCG(seed+uint64(i), 11))
		file := files[rnd.IntN(len(files))]
		s := &script{v: v, t: t, admin: admin, rnd: rnd, Changer: variants.New(rnd, funcNames()), name: fmt.Sprintf("-rounds 1 -seed %d: %s", seed+uint64(i), strings.TrimPrefix(file, scripts+"/"))}
		s.run(file)
		t.Logf("%s: %d statements answered, %d refused", s.name, s.answered, s.refused)
	}
	if o := v.attack(attack{text: "SELECT LENGTH(REPEAT('x', 60000000))", runs: time.Minute}); len(o.errs) > 0 {
		t.Errorf("a large value after all scripts: %v", o.errs)
	}
}

func scriptFiles(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir(scripts, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".test") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func funcNames() []string {
	names := expr.FuncNames()
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return !expr.IsFunc(n) || n == "SLEEP" })
}

// script is one run of a script.
type script struct {
	v     *victim
	t     *testing.T
	admin *sql.DB
	rnd   *rand.Rand
	*variants.Changer
	name  string
	conns map[string]*session
	done  []string // statements so far, of all sessions

	answered, refused int
}

// session is a connection of a script.
type session struct {
	conn *sql.Conn
	id   int64
}

func (s *script) run(file string) {
	in, err := os.Open(file)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Close()
	s.conns = map[string]*session{}
	db := s.v.connect("")
	defer db.Close()
	s.v.exec(s.admin, "CREATE DATABASE IF NOT EXISTS scripts")
	s.v.report()
	at := "default"
	for p := slt.NewParser(file, in); ; {
		rec, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.t.Fatal(err)
		}
		switch rec.Kind {
		case slt.KindConnection:
			at = rec.Arg
		case slt.KindStatement, slt.KindQuery:
			for range s.rnd.IntN(4) {
				if text := s.Change(rec.SQL); isHarmless(text) {
					s.statement(db, at, text)
				}
			}
			s.Learn(rec.SQL)
			if isHarmless(rec.SQL) {
				s.statement(db, at, rec.SQL)
			}
		}
	}
	for _, c := range s.conns {
		_ = c.conn.Close()
	}
	db.Close()
	s.check()
}

// dangerous are words of statements that would stop the server, the other client, or end
// the connection.
var dangerous = regexp.MustCompile(`(?i)\b(KILL|SHUTDOWN|RESTART|GLOBAL|PERSIST|PERSIST_ONLY|PASSWORD|FLUSH|BACKUP|INSTANCE|OUTFILE|DUMPFILE|abuse)\b|@@|\broot\b|CURRENT_USER|\bUSER\b|\b(COMMIT|ROLLBACK)\b.*\bRELEASE\b`)

func isHarmless(text string) bool { return !dangerous.MatchString(text) }

// statement runs a statement in a session.
func (s *script) statement(db *sql.DB, at, text string) {
	c := s.conns[at]
	if c == nil {
		c = s.connect(db)
		s.conns[at] = c
	}
	s.done = append(s.done, at+": "+text)
	var err error
	_, slow := killAfter(c.id, s.admin, 300*time.Millisecond, func() {
		if s.rnd.IntN(4) == 0 {
			err = prepared(c.conn, text)
		} else {
			err = drain(context.Background(), c.conn, text)
		}
	})
	s.count(err)
	_, _, wrong := s.v.report()
	switch {
	case s.v.c.Memory("VmRSS") == 0:
		s.t.Fatalf("%s: the server has ended after %q\n%s", s.name, text, tail(s.v.c.Log.String()))
	case err != nil && isFault(shortError(err)):
		s.t.Errorf("%s: after %q: %q: %v\n%s", s.name, s.done[max(0, len(s.done)-4):len(s.done)-1], text, err, tail(s.v.c.Log.String()))
		delete(s.conns, at)
	case slow > mostKill():
		s.t.Errorf("%s: %q ended %v after KILL", s.name, text, slow)
	case wrong != nil:
		s.t.Errorf("%s: %q: %v", s.name, text, wrong)
	}
}

// count keeps how many statements were answered, and how many refused.
func (s *script) count(err error) {
	if err == nil {
		s.answered++
	} else {
		s.refused++
	}
}

func prepared(conn *sql.Conn, text string) error {
	ctx := context.Background()
	st, err := conn.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := st.QueryContext(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

func (s *script) connect(db *sql.DB) *session {
	s.t.Helper()
	ctx := s.t.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, text := range []string{"USE scripts", "SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			s.t.Fatal(err)
		}
	}
	out := &session{conn: conn}
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&out.id); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// check proves rows and entries of all tables against each other, and removes what the
// script has made.
func (s *script) check() {
	for _, table := range s.column("SELECT CONCAT('`', TABLE_SCHEMA, '`.`', REPLACE(TABLE_NAME, '`', '``'), '`') FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')", 0) {
		if got := s.column("CHECK TABLE "+table, 3); !slices.Equal(got, []string{"OK"}) {
			s.t.Errorf("%s: table %s is damaged: %s; after\n%s", s.name, table, strings.Join(got, "; "), strings.Join(s.done, "\n"))
		}
	}
	for _, name := range s.column("SHOW DATABASES", 0) {
		if !slices.Contains([]string{"mysql", "sys", "performance_schema", "information_schema", "abuse"}, name) {
			s.v.exec(s.admin, "DROP DATABASE `"+strings.ReplaceAll(name, "`", "``")+"`")
		}
	}
	if log := s.v.c.Log.String(); strings.Contains(log, "panic") {
		s.t.Errorf("%s: %s", s.name, tail(log))
	}
}

// column is a column of a query's result.
func (s *script) column(query string, col int) (out []string) {
	s.t.Helper()
	rows, err := s.admin.QueryContext(s.t.Context(), query)
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.name, query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		s.t.Fatal(err)
	}
	vals := make([]sql.RawBytes, len(names))
	to := make([]any, len(names))
	for i := range vals {
		to[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, string(vals[col]))
	}
	if err := rows.Err(); err != nil {
		s.t.Fatalf("%s: %s: %v", s.name, query, err)
	}
	return out
}
