package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/go-sql-driver/mysql"
)

var (
	dsn      = flag.String("dsn", "", "data source name of a running server, instead of one that the test builds and starts")
	collate  = flag.String("collate", "utf8mb4_0900_bin", "collation of databases, which the corpus takes as the default")
	outcomes = flag.String("outcomes", "", "write the outcome of every step as JSON lines to this file")
)

const corpusMode = "SET sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY'"

// leftOut are statements of set-up scripts that no query with an expected
// answer needs: vectors, and histograms in go-mysql-server's own form.
var leftOut = regexp.MustCompile(`(?i)comp_vector_index|update histogram on`)

// session is one connection.
type session struct {
	conn driver.Conn
}

func connect(ctx context.Context, dsn string) (*session, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	cfg.Logger = &mysql.NopLogger{}
	cfg.MultiStatements = false
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn}
	// The corpus was written under this mode, and for a binary collation.
	for _, set := range []string{
		corpusMode,
		"SET NAMES utf8mb4 COLLATE " + *collate,
		"SET collation_server = " + *collate,
	} {
		if _, _, err := s.exec(ctx, set, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", set, err)
		}
	}
	return s, nil
}

// collations are the nearest of a server that has none of version 9.0.0.
var collations = strings.NewReplacer("utf8mb4_0900_bin", "utf8mb4_bin", "utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_0900_as_cs", "utf8mb4_bin")

// textFor is the statement as the server can read it.
func textFor(q string) string {
	if strings.Contains(*collate, "0900") {
		return q
	}
	return collations.Replace(q)
}

func (s *session) exec(ctx context.Context, q string, args []driver.NamedValue) (affected, id int64, err error) {
	q = textFor(q)
	var res driver.Result
	if len(args) == 0 {
		res, err = s.conn.(driver.ExecerContext).ExecContext(ctx, q, nil)
	} else {
		err = s.prepared(ctx, q, func(st driver.Stmt) error {
			res, err = st.(driver.StmtExecContext).ExecContext(ctx, args)
			return err
		})
	}
	if err != nil {
		return 0, 0, err
	}
	affected, _ = res.RowsAffected()
	id, _ = res.LastInsertId()
	return affected, id, nil
}

func (s *session) prepared(ctx context.Context, q string, do func(driver.Stmt) error) error {
	st, err := s.conn.(driver.ConnPrepareContext).PrepareContext(ctx, q)
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

func (s *session) query(ctx context.Context, q string, args []driver.NamedValue) (out *rows, err error) {
	q = textFor(q)
	if len(args) > 0 {
		err = s.prepared(ctx, q, func(st driver.Stmt) error {
			r, err := st.(driver.StmtQueryContext).QueryContext(ctx, args)
			if err == nil {
				out, err = read(r)
			}
			return err
		})
		return out, err
	}
	r, err := s.conn.(driver.QueryerContext).QueryContext(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	return read(r)
}

// unknownTable is the text of errors 1146 and 1051.
var unknownTable = regexp.MustCompile(`[Tt]able '(?:[^.']*\.)?([^.']+)'`)

// inCase is q with the name of the table that err misses as the table is
// spelled: the corpus takes names of tables as equal whatever their case. ok is
// false if there is no such table.
func (s *session) inCase(ctx context.Context, q string, err error) (_ string, ok bool) {
	m := unknownTable.FindStringSubmatch(fmt.Sprint(err))
	if n := numberOfError(err); m == nil || n != 1146 && n != 1051 {
		return "", false
	}
	tables, err := s.query(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", nil)
	if err != nil {
		return "", false
	}
	for _, row := range tables.values {
		if name := textOf(row[0]); name != m[1] && strings.EqualFold(name, m[1]) {
			changed := regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(q, name)
			return changed, changed != q
		}
	}
	return "", false
}

func read(r driver.Rows) (_ *rows, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	out := &rows{names: r.Columns()}
	for i := range out.names {
		typ := r.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i)
		out.types = append(out.types, strings.TrimPrefix(typ, "UNSIGNED "))
	}
	for {
		row := make([]driver.Value, len(out.names))
		if err := r.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			return nil, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = slices.Clone(b)
			}
		}
		out.values = append(out.values, row)
	}
}

// difference is a step that did not do what the corpus says.
type difference struct {
	key string
	// number is the error of the server, 0 if it gave none.
	number    int
	want, got string
}

func (d difference) String() string {
	return fmt.Sprintf("%s\n  want: %s\n   got: %s", d.key,
		strings.ReplaceAll(d.want, "\n", "\n        "), strings.ReplaceAll(d.got, "\n", "\n        "))
}

// runner runs cases over one server.
type runner struct {
	dsn     string
	session *session
	observe func(key, outcome string)
	seen    map[string]int // keys, so that equal ones are numbered
}

func (r *runner) reconnect(ctx context.Context) error {
	if r.session != nil {
		_ = r.session.conn.Close() // may be lost
	}
	var err error
	r.session, err = connect(ctx, r.dsn)
	return err
}

var systemDatabases = []string{"information_schema", "mysql", "performance_schema", "sys"}

// begin gives fresh databases with the suite's data.
func (r *runner) begin(ctx context.Context, s *suite) error {
	if err := r.reconnect(ctx); err != nil {
		return err
	}
	dbs, err := r.session.query(ctx, "SHOW DATABASES", nil)
	if err != nil {
		return err
	}
	// Set-up data has values that need a mode without strictness, and foreign
	// keys to columns that are not unique.
	statements := []string{"SET foreign_key_checks = 0, sql_mode = ''", "SET restrict_fk_on_non_standard_key = OFF"}
	for _, row := range dbs.values {
		if name := textOf(row[0]); !slices.Contains(systemDatabases, name) {
			statements = append(statements, "DROP DATABASE `"+strings.ReplaceAll(name, "`", "``")+"`")
		}
	}
	if s.accounts {
		if err := r.onlyRoot(ctx); err != nil {
			return err
		}
	}
	statements = append(statements, "SET foreign_key_checks = 1",
		"CREATE DATABASE mydb COLLATE "+*collate, "CREATE DATABASE foo COLLATE "+*collate, "USE mydb")
	for _, scripts := range s.setUp {
		for _, script := range scripts {
			statements = append(statements, script...)
		}
	}
	statements = append(statements, corpusMode)
	for _, q := range statements {
		if leftOut.MatchString(q) {
			continue
		}
		if _, _, err := r.session.exec(ctx, q, nil); err != nil && !errors.Is(err, driver.ErrBadConn) {
			// Set-up scripts may make again what the harness makes here. What a
			// foreign key lacks to be made, or another server, shows in the cases.
			if n := numberOfError(err); n != 1007 && n != 6125 && *dsn == "" {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
	}
	return nil
}

var globals = regexp.MustCompile(`(?is)\bset\s+(?:@@)?(?:global|persist)[ .]+(\w+)`)

// run runs the suite and returns its differences.
func (r *runner) run(ctx context.Context, s *suite) ([]difference, int, error) {
	var out []difference
	steps := 0
	for i := range s.cases {
		c := &s.cases[i]
		if i == 0 || !s.shared {
			if err := r.begin(ctx, s); err != nil {
				return out, steps, fmt.Errorf("%s: setting up: %w", s.name, err)
			}
		}
		ds, n := r.runCase(ctx, s, c)
		out, steps = append(out, ds...), steps+n
		if err := r.resetGlobals(ctx, c); err != nil {
			return out, steps, err
		}
	}
	return out, steps, nil
}

func (r *runner) resetGlobals(ctx context.Context, c *testCase) error {
	texts := slices.Clone(c.setUp)
	for _, st := range c.steps {
		texts = append(texts, st.sql)
	}
	found := globals.FindAllStringSubmatch(strings.Join(texts, ";\n"), -1)
	if len(found) == 0 {
		return nil
	}
	if err := r.reconnect(ctx); err != nil {
		return err
	}
	for _, m := range found {
		_, _, _ = r.session.exec(ctx, "SET GLOBAL "+m[1]+" = DEFAULT", nil) // some have none
	}
	return nil
}

// keyOf names a step: on one line, short, and unlike others of the suite.
func (r *runner) keyOf(s *suite, c *testCase, what string) string {
	line := func(text string, n int) string {
		text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
		if runes := []rune(text); len(runes) > n {
			text = string(runes[:n]) + "…"
		}
		return text
	}
	key := s.name + " | " + line(c.name, 160)
	if what != c.name {
		key += " | " + line(what, 160)
	}
	r.seen[key]++
	if n := r.seen[key]; n > 1 {
		key += fmt.Sprintf(" #%d", n)
	}
	return key
}

func (r *runner) runCase(ctx context.Context, s *suite, c *testCase) (out []difference, steps int) {
	for _, q := range c.setUp {
		drop := r.lendTable(ctx, s, q)
		_, _, err := r.session.exec(ctx, q, nil)
		drop()
		for again, ok := r.session.inCase(ctx, q, err); ok; again, ok = r.session.inCase(ctx, again, err) {
			_, _, err = r.session.exec(ctx, again, nil)
		}
		if err != nil {
			key := r.keyOf(s, c, "set-up: "+q)
			r.observe(key, err.Error())
			return []difference{{key: key, number: numberOfError(err), want: "the set-up succeeds", got: err.Error()}}, 1
		}
	}
	for i := range c.steps {
		st := &c.steps[i]
		if st.newSession {
			if err := r.reconnect(ctx); err != nil {
				return append(out, difference{key: r.keyOf(s, c, st.sql), got: err.Error()}), steps
			}
			_, _, _ = r.session.exec(ctx, "USE mydb", nil)
		}
		if st.sql == "" {
			continue
		}
		steps++
		key := r.keyOf(s, c, st.sql)
		drop := r.lendTable(ctx, s, st.sql)
		if d := r.stepAs(ctx, st, key); d != nil {
			out = append(out, *d)
		}
		drop()
	}
	return out, steps
}

// step returns nil if the statement does what it must.
func (r *runner) step(ctx context.Context, st *step, key string) *difference {
	args, err := arguments(st.bindings)
	if err != nil {
		return &difference{key: key, got: err.Error()}
	}
	want, ok := okResult(st)
	got, actual := &rows{}, ""
	for text, again := st.sql, true; again; text, again = r.session.inCase(ctx, text, err) {
		if ok {
			var affected, id int64
			affected, id, err = r.session.exec(ctx, text, args)
			actual = fmt.Sprintf("ok: %d rows affected, insert id %d", affected, id)
			got.values = [][]driver.Value{{affected, id}}
		} else if got, err = r.session.query(ctx, text, args); err == nil {
			actual = got.describe()
		}
	}
	number := numberOfError(err)
	if err != nil {
		actual = err.Error()
		if number == 0 {
			_ = r.reconnect(ctx) // the connection is lost
			_, _, _ = r.session.exec(ctx, "USE mydb", nil)
		}
	}
	r.observe(key, actual)
	d := &difference{key: key, number: number, got: actual}
	if st.fails || err != nil {
		if d.want = st.failsBut(err); d.want != "" {
			return d
		}
		return nil
	}
	if ok {
		if int64(want.RowsAffected) != got.values[0][0] || want.InsertID != 0 && int64(want.InsertID) != got.values[0][1] {
			d.want = fmt.Sprintf("ok: %d rows affected, insert id %d", want.RowsAffected, want.InsertID)
			return d
		}
	} else if st.check && !isEmptyResult(st, got) {
		if !equalRows(st.expected, got, strings.Contains(strings.ToUpper(st.sql), "ORDER BY ")) {
			d.want = describeExpected(st.expected)
			return d
		}
		if names := columnNames(st.columns); st.columns != nil && !slices.Equal(names, got.names) {
			d.want, d.got = "columns "+strings.Join(names, ", "), "columns "+strings.Join(got.names, ", ")
			r.observe(key, d.got)
			return d
		}
	}
	return r.warnings(ctx, st, d)
}

// failsBut says what an outcome is not, and nothing if it is the expected failure.
func (st *step) failsBut(err error) string {
	number := numberOfError(err)
	switch {
	case !st.fails:
		return "success"
	case err == nil:
		return "an error"
	case st.denied && !slices.Contains(denials, number):
		return "an error about a privilege"
	case st.number != 0 && st.number != number:
		return fmt.Sprintf("error %d", st.number)
	}
	return ""
}

// isEmptyResult reports that the corpus says "one row without columns", which is its
// word for a statement that gives no result.
func isEmptyResult(st *step, got *rows) bool {
	return len(got.names) == 0 && len(got.values) == 0 &&
		(len(st.expected) == 0 || len(st.expected) == 1 && len(st.expected[0]) == 0)
}

func (r *runner) warnings(ctx context.Context, st *step, d *difference) *difference {
	if st.warning == 0 {
		return nil
	}
	w, err := r.session.query(ctx, "SHOW WARNINGS", nil)
	if err != nil {
		d.got = err.Error()
		return d
	}
	n := 0
	for _, row := range w.values {
		if textOf(row[1]) == fmt.Sprint(st.warning) {
			n++
		}
	}
	if n == 0 || st.warnings > 0 && n != st.warnings {
		d.want, d.got = fmt.Sprintf("%d warnings %d", st.warnings, st.warning), "warnings:\n"+w.describe()
		r.observe(d.key, d.got)
		return d
	}
	return nil
}

func columnNames(sch gms.Schema) []string {
	var out []string
	for _, c := range sch {
		out = append(out, c.Name)
	}
	return out
}

// okResult is the expected outcome of a statement without rows.
func okResult(st *step) (types.OkResult, bool) {
	if st.check && len(st.expected) == 1 && len(st.expected[0]) == 1 {
		res, ok := st.expected[0][0].(types.OkResult)
		return res, ok
	}
	return types.OkResult{}, false
}

func numberOfError(err error) int {
	var me *mysql.MySQLError
	if errors.As(err, &me) {
		return int(me.Number)
	}
	return 0
}

// arguments gives the values of v1, v2, … in this order.
func arguments(bindings map[string]sqlparser.Expr) ([]driver.NamedValue, error) {
	var out []driver.NamedValue
	for i := 1; i <= len(bindings); i++ {
		v, ok := bindings[fmt.Sprintf("v%d", i)]
		if !ok {
			return nil, fmt.Errorf("the corpus binds by name: %v", bindings)
		}
		arg := driver.NamedValue{Ordinal: i}
		switch v := v.(type) {
		case *sqlparser.SQLVal:
			if v.Type == sqlparser.IntVal {
				var n int64
				if _, err := fmt.Sscan(string(v.Val), &n); err != nil {
					return nil, err
				}
				arg.Value = n
			} else {
				arg.Value = string(v.Val)
			}
		case *sqlparser.NullVal:
		case sqlparser.BoolVal:
			arg.Value = bool(v)
		default:
			return nil, fmt.Errorf("the corpus binds a %T", v)
		}
		out = append(out, arg)
	}
	return out, nil
}
