package metamorphic

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// player runs histories on a host.
type player struct {
	*host
	db      *sql.DB
	conn    *sql.Conn
	kept    map[string]*sql.Stmt
	queries int // queries so far, for hints
	// Each history has a database of its own: change logs outlive their tables.
	played   int
	database string
	mode     string
}

// quiet leaves connections that the server ended out of the log.
type quiet struct{}

// Print implements mysql.Logger.
func (quiet) Print(...any) {}

func (p *player) connect() {
	p.t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Logger, cfg.AllowAllFiles = "root", "tcp", p.addr, quiet{}, true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.db = sql.OpenDB(connector)
	if p.conn, err = p.db.Conn(context.Background()); err != nil {
		p.t.Fatalf("%s: %v", p.o.name, err)
	}
	p.kept = map[string]*sql.Stmt{}
	for _, s := range append([]string{"SET GLOBAL sqlots_ttl_job_enable = OFF", "SET GLOBAL local_infile = ON", "CREATE DATABASE IF NOT EXISTS " + p.database, "USE " + p.database, "SET time_zone = '+00:00'", "SET lock_wait_timeout = 20", p.mode}, p.o.settings...) {
		if _, err := p.conn.ExecContext(context.Background(), s); err != nil {
			p.t.Fatalf("%s: %s: %v", p.o.name, s, err)
		}
	}
}

func (p *player) disconnect() {
	_ = p.conn.Close()
	_ = p.db.Close()
}

// play runs a history and gives the outcomes of its steps, and what there is
// at its end.
func (p *player) play(steps []step) []string {
	p.played++
	p.database, p.queries, p.mode = fmt.Sprintf("metamorphic%d", p.played), 0, steps[0].text
	p.connect()
	defer func() {
		p.exec("DROP DATABASE " + p.database)
		p.disconnect()
	}()
	var out []string
	for i := range steps {
		out = append(out, p.step(&steps[i]))
	}
	p.exec("ROLLBACK")
	return append(out, p.state())
}

func (p *player) step(s *step) string {
	switch s.kind {
	case query:
		p.queries++
		return p.query(s.text, s.ordered)
	case crash:
		p.crash()
		return p.state()
	case load:
		return p.load(s)
	case expire:
		return p.expire()
	case analyze:
		p.exec("COMMIT")
		if !p.o.noStats {
			p.exec(s.text)
		}
		return ""
	case build:
		return p.build(s)
	}
	return p.exec(s.text)
}

func (p *player) crash() {
	p.disconnect()
	switch {
	case p.o.killed || p.o.restarts:
		p.stop()
		p.start()
	}
	p.connect()
}

// build makes an index during changes, or before them.
func (p *player) build(s *step) string {
	p.exec("COMMIT") // which another connection would wait for
	if !p.o.beside {
		out := p.exec(s.text)
		for _, x := range s.during {
			out += "; " + p.exec(x)
		}
		return out
	}
	done := make(chan string)
	go func() {
		c, err := p.db.Conn(context.Background())
		if err != nil {
			done <- err.Error()
			return
		}
		defer c.Close()
		if _, err = c.ExecContext(context.Background(), "USE "+p.database); err == nil {
			_, err = c.ExecContext(context.Background(), s.text)
		}
		done <- outcome(0, err)
	}()
	rest := ""
	for _, x := range s.during {
		rest += "; " + p.exec(x)
	}
	return <-done + rest
}

// load inserts rows, or loads them from a file; of a megabyte, which makes it a
// bulk load, when the option set says so.
func (p *player) load(s *step) string {
	var texts [][]string
	for _, row := range s.rows {
		var list []string
		for _, v := range row {
			list = append(list, strings.Trim(strings.ReplaceAll(v, literal, ""), "'"))
		}
		texts = append(texts, list)
	}
	if !p.o.bulk {
		var rows []string
		for _, row := range texts {
			for i, v := range row {
				if v != "NULL" {
					row[i] = "'" + v + "'"
				}
			}
			rows = append(rows, "("+strings.Join(row, ", ")+")")
		}
		return p.exec("INSERT IGNORE INTO " + s.table + " (" + s.columns + ") VALUES " + strings.Join(rows, ", "))
	}
	fill := strings.Repeat("f", 1<<20/len(texts)+1)
	var file strings.Builder
	for _, row := range texts {
		for _, v := range row {
			if v == "NULL" {
				v = `\N`
			}
			file.WriteString(v + "\t")
		}
		file.WriteString(fill + "\n")
	}
	mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader(file.String()) })
	defer mysql.DeregisterReaderHandler("rows")
	return p.exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE " + s.table + " (" + s.columns + ", @fill)")
}

// expired is the condition of rows that the TTL of any history has removed.
const expired = "d < '2020-01-01'"

// expire removes the expired rows of all tables: the job does, or a DELETE that
// sees them.
func (p *player) expire() string {
	p.exec("COMMIT") // the server may be restarted
	var tables []string
	for _, t := range p.column("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()") {
		var name, ddl string
		if err := p.conn.QueryRowContext(context.Background(), "SHOW CREATE TABLE "+t).Scan(&name, &ddl); err != nil {
			return outcome(0, err)
		}
		if strings.Contains(ddl, "TTL") && !strings.Contains(ddl, "'OFF'") {
			tables = append(tables, t)
		}
	}
	if p.o.job {
		p.crash() // a server that has just started runs the job at once
		p.exec("SET GLOBAL sqlots_ttl_job_enable = ON")
	}
	p.exec("SET sqlots_show_expired = ON")
	for _, t := range tables {
		if !p.o.job {
			p.exec("DELETE FROM " + t + " WHERE " + expired)
		}
		for end := time.Now().Add(time.Minute); !slices.Equal(p.column("SELECT COUNT(*) FROM "+t+" WHERE "+expired), []string{"0"}); {
			if time.Now().After(end) {
				return "broken: expired rows stay in " + t
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if p.o.job {
		p.exec("SET GLOBAL sqlots_ttl_job_enable = OFF")
	}
	p.exec("SET sqlots_show_expired = OFF")
	return strings.Join(tables, " ")
}

// column is the result of a query that has one.
func (p *player) column(text string) []string {
	rows, err := p.conn.QueryContext(context.Background(), text)
	if err != nil {
		return []string{outcome(0, err)}
	}
	list, err := read(rows)
	if err != nil {
		return []string{outcome(0, err)}
	}
	slices.Sort(list)
	return list
}

// outcome is what a change did.
func outcome(affected int64, err error) string {
	var m *mysql.MySQLError
	switch {
	case errors.As(err, &m):
		if m.Number == 1105 || m.Number == 1815 {
			return "broken: " + m.Error()
		}
		return "error " + strconv.Itoa(int(m.Number))
	case err != nil:
		return "broken: " + err.Error()
	}
	return strconv.FormatInt(affected, 10)
}

func (p *player) exec(text string) string {
	text, args := p.render(text)
	var r sql.Result
	st, err := p.prepare(text)
	switch {
	case err != nil:
	case st != nil:
		r, err = st.ExecContext(context.Background(), args...)
	default:
		r, err = p.conn.ExecContext(context.Background(), text)
	}
	if err != nil {
		return outcome(0, err)
	}
	n, err := r.RowsAffected()
	return outcome(n, err)
}

// prepare is nil for texts that are sent without changes.
func (p *player) prepare(text string) (*sql.Stmt, error) {
	verb, _, _ := strings.Cut(text, " ")
	if p.o.protocol == asText || !slices.Contains([]string{"SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "ALTER", "CREATE"}, verb) {
		return nil, nil
	}
	if st := p.kept[text]; st != nil {
		return st, nil
	}
	st, err := p.conn.PrepareContext(context.Background(), text)
	if err == nil {
		p.kept[text] = st
	}
	return st, err
}

func (p *player) query(text string, ordered bool) string {
	text, args := p.render(text)
	var rows *sql.Rows
	st, err := p.prepare(text)
	switch {
	case err != nil:
	case st != nil:
		rows, err = st.QueryContext(context.Background(), args...)
	default:
		rows, err = p.conn.QueryContext(context.Background(), text)
	}
	if err != nil {
		return outcome(0, err)
	}
	list, err := read(rows)
	if err != nil {
		return outcome(0, err)
	}
	if !ordered {
		slices.Sort(list)
	}
	return strings.Join(list, "\n")
}

func read(rows *sql.Rows) (list []string, err error) {
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells, dest := make([]sql.NullString, len(cols)), make([]any, len(cols))
	for i := range cells {
		dest[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		var row []string
		for _, c := range cells {
			if !c.Valid {
				c.String = "NULL"
			}
			row = append(row, c.String)
		}
		list = append(list, strings.Join(row, "|"))
	}
	return list, rows.Err()
}

// render puts hints and literals into a text, or takes the literals out.
func (p *player) render(s string) (string, []any) {
	parts := strings.Split(s, hint)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = p.hint(parts[i])
	}
	s = strings.Join(parts, "")
	if p.o.protocol != parameters || strings.HasPrefix(s, "ALTER") || strings.HasPrefix(s, "CREATE") {
		return strings.ReplaceAll(s, literal, ""), nil
	}
	parts = strings.Split(s, literal)
	var args []any
	for i := 1; i < len(parts); i += 2 {
		if n, err := strconv.ParseInt(parts[i], 10, 64); err == nil {
			args = append(args, n)
		} else {
			args = append(args, strings.Trim(parts[i], "'"))
		}
		parts[i] = "?"
	}
	return strings.Join(parts, ""), args
}

// hint names one of the indexes that the table has now.
func (p *player) hint(table string) string {
	if p.o.hint == nil {
		return ""
	}
	list := p.column("SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" + table + "'")
	if len(list) == 0 {
		return ""
	}
	return p.o.hint(list, p.queries)
}

// awaitIndexes waits for indexes that are built in the background, after a crash.
func (p *player) awaitIndexes() {
	for range 2000 {
		if n := p.column("SELECT COUNT(*) FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE STATE <> 'ready'"); len(n) == 1 && n[0] == "0" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// state is all that the tables hold.
func (p *player) state() string {
	p.awaitIndexes()
	tables := p.column("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
	var out strings.Builder
	for _, t := range tables {
		for _, q := range []string{
			"SELECT * FROM " + t,
			"CHECK TABLE " + t,
			"SELECT _attributes FROM " + t,
			"SELECT kind, pk, before_image, after_image FROM stream('" + t + "')",
			"SELECT * FROM versions('" + t + "')",
		} {
			rows := p.column(q)
			for i := range rows {
				rows[i] = passing.ReplaceAllString(rows[i], "…")
			}
			slices.Sort(rows)
			fmt.Fprintf(&out, "%s:\n%s\n", q, strings.Join(rows, "\n"))
		}
	}
	return strings.ReplaceAll(out.String(), p.database, "metamorphic")
}

// passing are times of this run (DATETIME columns have no microseconds), and
// hidden keys, which a crash leaves out.
var passing = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\b|"_row_id": \d+`)
