package slt

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func parseAll(t *testing.T, text string) []*Record {
	t.Helper()
	p := NewParser("x.test", strings.NewReader(text))
	var out []*Record
	for {
		rec, err := p.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec)
	}
}

func TestParse(t *testing.T) {
	recs := parseAll(t, "# comment\r\nhash-threshold 8 # eight\r\n\r\nskipif mssql\r\nonlyif mysql, sqlots # only these\r\n"+
		"query IRT rowsort lab\r\nSELECT 1,\r\n 2, 3\r\n----\r\n1\r\n2.000  \r\nx\r\n\r\n\r\n"+
		"statement error 1062|1586 /for key/\nINSERT\n\nstatement count 3\nUPDATE\n\n"+
		"connection two\ninclude other.test\nquery I\nSELECT 5\n\nhalt\nquery I nosort\nSELECT 6\n----")
	if len(recs) != 9 {
		t.Fatalf("got %d records", len(recs))
	}
	q := recs[1]
	if q.Types != "IRT" || q.Sort != RowSort || q.Label != "lab" || q.SQL != "SELECT 1,\n 2, 3" || q.Line != 6 ||
		!slices.Equal(q.Expected, []string{"1", "2.000", "x"}) {
		t.Errorf("query: %+v", q)
	}
	if !q.runs([]string{"mysql"}) || !q.runs([]string{"sqlots"}) || q.runs([]string{"mssql"}) || q.runs([]string{"x"}) {
		t.Errorf("conditions: %+v", q.Conditions)
	}
	if e := recs[2].Error; e == nil || e.check(1586, "dup for key 1") != "" || e.check(1, "for key") == "" || e.check(1062, "no") == "" {
		t.Errorf("error: %+v", e)
	}
	if recs[0].N != 8 || recs[3].Count != 3 || recs[4].Arg != "two" || recs[5].Arg != "other.test" ||
		recs[6].HasResult || recs[7].Kind != KindHalt || !recs[8].HasResult || len(recs[8].Expected) != 0 {
		t.Errorf("records: %+v", recs)
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{
		"mode standard\n", "statement maybe\nx\n", "query X\nx\n", "query\nx\n", "query I sorted\nx\n",
		"statement ok\n\n", "statement ok\nx\n----\n1\n", "skipif\nhalt\n", "skipif mysql\n\nhalt\n", "onlyif x",
		"hash-threshold x\n", "connection\n", "encoding latin1\n", "statement error /(/\nx\n", "query error\nx\n----\n1\n", "query I nosort a b\nx\n",
	} {
		p := NewParser("x.test", strings.NewReader(text))
		_, err := p.Next()
		var pe *ParseError
		if !errors.As(err, &pe) || pe.Line == 0 {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		typ  byte
		v    driver.Value
		want string
	}{
		{'I', nil, "NULL"}, {'I', int64(-5), "-5"}, {'I', []byte("52.5000"), "52"}, {'I', []byte("-0.5"), "0"},
		{'I', uint64(math.MaxUint64), "18446744073709551615"}, {'I', []byte("18446744073709551616"), "18446744073709551616"},
		{'I', []byte("abc"), "0"}, {'I', []byte("007"), "7"}, {'I', -2.7, "-2"}, {'I', 1e20, "100000000000000000000"},
		{'R', int64(3), "3.000"}, {'R', []byte("1.0005"), "1.000"}, {'R', []byte("2.5x"), "2.500"}, {'R', []byte("x"), "0.000"},
		{'T', []byte(""), "(empty)"}, {'T', []byte("a\tb\x7fä"), "a@b@@@"}, {'T', []byte("1.50"), "1.50"},
		{typeUTF8, []byte("a\tb\x7fä电\xff\xe7"), "a@b@ä电@@"}, {typeUTF8, []byte("\u00a0\u3000😀"), "@@@@@😀"}, {typeUTF8, nil, "NULL"},
		{'T', 1e15, "1e15"}, {'T', 1e14, "100000000000000"}, {'T', 1e-5, "0.00001"}, {'T', 0.30000000000000004, "0.30000000000000004"},
		{'T', 1.7976931348623157e308, "1.7976931348623157e308"}, {'T', -1e-300, "-1e-300"}, {'T', math.Copysign(0, -1), "-0"},
		{'T', float32(123456.789), "123457"}, {'T', float32(0.1), "0.1"}, {'T', float32(1e38), "1e38"},
	} {
		if got := string(appendValue(nil, c.typ, c.v)); got != c.want {
			t.Errorf("%c of %v: got %q, want %q", c.typ, c.v, got, c.want)
		}
	}
}

func TestHash(t *testing.T) {
	// Ten values "14": a line of SQLite's index/random/10/slt_good_10.test.
	values := slices.Repeat([]string{"14"}, 10)
	if got := hashLine(values); got != "10 values hashing to 3c076781b3160dd15286b17c66813ba3" {
		t.Error(got)
	}
	if got := hashValues(nil); got != "d41d8cd98f00b204e9800998ecf8427e" {
		t.Error(got)
	}
	long := slices.Repeat([]string{strings.Repeat("x", 3000)}, 5)
	all := result{cols: 1, values: long}
	if all.compare(&Record{Expected: []string{hashLine(long)}}) != "" {
		t.Error("hash of long values")
	}
}

func TestCompare(t *testing.T) {
	res := result{cols: 2, values: []string{"b c", "1", "a", "2"}}
	res.sortBy(RowSort)
	for _, c := range []struct {
		expected []string
		equal    bool
	}{
		{[]string{"a", "2", "b c", "1"}, true},
		{[]string{"a\t2", "b c\t1"}, true},
		{[]string{"b c\t1", "a\t2"}, true}, // row-wise: sorted too
		{[]string{"a\t2"}, false},
		{[]string{"a", "2", "b c", "2"}, false},
		{nil, false},
	} {
		rec := &Record{Sort: RowSort, Expected: c.expected}
		if reason := res.compare(rec); (reason == "") != c.equal {
			t.Errorf("%q: %s", c.expected, reason)
		}
	}
	res.sortBy(ValueSort)
	if !slices.Equal(res.values, []string{"1", "2", "a", "b c"}) {
		t.Error(res.values)
	}
	plain := result{cols: 2, values: []string{"1", "x", "NULL", "y"}}
	if reason := plain.compare(&Record{Expected: []string{"1  x", "NULL y"}}); reason != "" {
		t.Error(reason)
	}
}

// fake is a server of a few canned answers.
type fake struct {
	log      []string
	answers  map[string][][]driver.Value
	noBinary bool
	opened   int
}

type fakeConn struct {
	f    *fake
	name int
}

type fakeStmt struct {
	c   *fakeConn
	sql string
}

type fakeRows struct {
	rows [][]driver.Value
	n    int
}

func (f *fake) open(context.Context) (driver.Conn, error) {
	f.opened++
	return &fakeConn{f, f.opened}, nil
}

func (c *fakeConn) Prepare(sql string) (driver.Stmt, error) { return &fakeStmt{c, sql}, nil }
func (c *fakeConn) Close() error                            { return nil }
func (c *fakeConn) Begin() (driver.Tx, error)               { return nil, errors.New("not supported") }
func (c *fakeConn) PrepareContext(_ context.Context, sql string) (driver.Stmt, error) {
	if strings.HasPrefix(sql, "USE") || c.f.noBinary {
		return nil, &mysql.MySQLError{Number: notPreparable, Message: "not preparable"}
	}
	c.f.log = append(c.f.log, "prepare")
	return c.Prepare(sql)
}

func (c *fakeConn) ExecContext(_ context.Context, sql string, _ []driver.NamedValue) (driver.Result, error) {
	c.f.log = append(c.f.log, sql)
	if strings.HasPrefix(sql, "BAD") {
		return nil, &mysql.MySQLError{Number: 1064, Message: "syntax near BAD"}
	}
	if strings.HasPrefix(sql, "LOST") {
		return nil, io.ErrUnexpectedEOF
	}
	return driver.RowsAffected(2), nil
}

func (c *fakeConn) QueryContext(_ context.Context, sql string, _ []driver.NamedValue) (driver.Rows, error) {
	if rows, ok := c.f.answers[sql]; ok {
		return &fakeRows{rows: rows}, nil
	}
	return nil, &mysql.MySQLError{Number: 1146, Message: "no table"}
}

func (s *fakeStmt) Close() error  { return nil }
func (s *fakeStmt) NumInput() int { return 0 }
func (s *fakeStmt) Exec([]driver.Value) (driver.Result, error) {
	return nil, errors.New("not supported")
}
func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	return nil, errors.New("not supported")
}
func (s *fakeStmt) ExecContext(ctx context.Context, a []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.sql, a)
}
func (s *fakeStmt) QueryContext(ctx context.Context, a []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.sql, a)
}

func (r *fakeRows) Columns() []string { return make([]string, len(r.rows[0])) }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(dest []driver.Value) error {
	if r.n == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.n])
	r.n++
	return nil
}

func newFake() *fake {
	return &fake{answers: map[string][][]driver.Value{
		"one":  {{int64(1)}},
		"two":  {{int64(2), []byte("b")}, {int64(1), []byte("a")}},
		"many": {{int64(1)}, {int64(2)}, {int64(3)}},
	}}
}

const script = `statement ok
CREATE

statement error 1064 /near BAD/
BAD

statement count 2
UPDATE

skipif mysql
statement error
CREATE

query I nosort l
one
----
1

query IT rowsort
two
----
1	a
2	b

query error 1146
nosuch

hash-threshold 2

connection other
statement ok
SET

query I nosort l
many

onlyif sqlots
halt

query I
one
----
7

query II
one
----

statement ok
BAD

statement error
CREATE

statement error 1
BAD
`

func TestRun(t *testing.T) {
	for _, protocol := range []Protocol{Text, Binary} {
		f := newFake()
		report, err := RunReader(t.Context(), "s.test", strings.NewReader(script), Options{Open: f.open, Protocol: protocol})
		if err != nil {
			t.Fatal(err)
		}
		if report.OK != 7 || report.Failed != 6 || report.Skipped != 1 || report.Passed() {
			t.Errorf("%s: %+v", protocol, report)
		}
		if prepared := slices.Contains(f.log, "prepare"); prepared != (protocol == Binary) {
			t.Errorf("%s: prepared is %v", protocol, prepared)
		}
		if f.opened != 3 || !strings.HasPrefix(f.log[0], "CREATE DATABASE slt_") ||
			!strings.HasPrefix(f.log[len(f.log)-1], "DROP DATABASE IF EXISTS slt_") {
			t.Errorf("%s: opened %d, %v", protocol, f.opened, f.log)
		}
		halted, err := RunReader(t.Context(), "s.test", strings.NewReader(script),
			Options{Open: newFake().open, Engines: []string{"mysql", "sqlots"}, CurrentDatabase: true, Protocol: protocol})
		if err != nil || halted.Failed != 1 {
			t.Errorf("%s: %+v %v", protocol, halted, err)
		}
		f.noBinary = true
		again, err := RunReader(t.Context(), "s.test", strings.NewReader(script), Options{Open: f.open, Protocol: Binary, MaxErrors: 2})
		if err != nil || again.Failed != 2 || !again.Stopped {
			t.Errorf("%s: %+v %v", protocol, again, err)
		}
	}
}

func TestLostConnection(t *testing.T) {
	f := newFake()
	report, err := RunReader(t.Context(), "s.test", strings.NewReader("statement error\nLOST\n\nstatement ok\nCREATE\n"),
		Options{Open: f.open, CurrentDatabase: true})
	if err != nil || report.OK != 1 || report.Failed != 1 || f.opened != 2 {
		t.Errorf("%+v %v, opened %d", report, err, f.opened)
	}
}

func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.test")
	in := "# head\nquery I\none\n----\n9\n\nonlyif x\nquery I\nnosuch\n----\n5\n\nquery IT rowsort\ntwo\n\nquery IT\ntwo\n----\n2\nb\n3\na\n\n" +
		"hash-threshold 2\nquery I\nmany\n\nstatement error\nBAD\n\nstatement count 0\nUPDATE\n\nhalt\n\nrest\n"
	want := "# head\nquery I\none\n----\n1\n\nonlyif x\nquery I\nnosuch\n----\n5\n\nquery IT rowsort\ntwo\n----\n1\ta\n2\tb\n\nquery IT\ntwo\n----\n2\nb\n1\na\n\n" +
		"hash-threshold 2\nquery I\nmany\n----\n" + hashLine([]string{"1", "2", "3"}) + "\n\nstatement error 1064\nBAD\n\nstatement count 2\nUPDATE\n\nhalt\n\nrest\n"
	if err := os.WriteFile(path, []byte(in), 0o644); err != nil {
		t.Fatal(err)
	}
	if report, err := RunFile(t.Context(), path, Options{Open: newFake().open, Rewrite: true}); err != nil || !report.Passed() {
		t.Fatalf("%+v %v", report, err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestInclude(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("sub.inc", "query I\none\n----\n2\n")
	path := write("a.test", "include sub.inc\n\ninclude sub.inc\n")
	report, err := RunFile(t.Context(), path, Options{Open: newFake().open})
	if err != nil || report.Failed != 2 || !strings.HasSuffix(report.Failures[0].File, "sub.inc") || report.Failures[0].Line != 1 {
		t.Errorf("%+v %v", report, err)
	}
	loop := write("loop.test", "include loop.test\n")
	if _, err := RunFile(t.Context(), loop, Options{Open: newFake().open}); err == nil {
		t.Error("a loop of includes must fail")
	}
}

func TestFlagsAfterFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.test")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := &command{stdout: io.Discard, stderr: io.Discard}
	if err := c.parse([]string{"-v", path, "-j", "3", path, "--dsn", "x"}); err != nil {
		t.Fatal(err)
	}
	if !c.verbose || c.jobs != 3 || c.dsn != "x" || len(c.named) != 2 {
		t.Errorf("%+v", c)
	}
}

func TestMainUsage(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main([]string{"-h"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "-protocol") {
		t.Errorf("%d %s", code, &out)
	}
	for _, args := range [][]string{nil, {"-j", "0", "x"}, {"/nonexistent/file.test"}, {"-nosuch"}} {
		if code := Main(args, &out, &errs); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
