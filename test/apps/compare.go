package main

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// check loads and compares one schema.
type check struct {
	app          app
	ours, maria  *srv
	db           string
	tables, rows int
	found        []string // the differences
}

func (c *check) differs(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *check) run(files [][]byte) error {
	for _, s := range []*srv{c.ours, c.maria} {
		if err := s.create(c.db); err != nil {
			return err
		}
	}
	for _, text := range files {
		text = ownDatabase.ReplaceAll(text, nil)
		if err := c.loadBoth(text); err != nil {
			return err
		}
	}
	want, err := describe(c.maria, c.db)
	if err != nil {
		return err
	}
	got, err := describe(c.ours, c.db)
	if err != nil {
		return err
	}
	c.tables, c.rows = got.tables, got.rows
	c.compare("", want, got)
	return c.dumps(want, got)
}

// ownDatabase is a line by which a file goes to a database of its own.
var ownDatabase = regexp.MustCompile(`(?im)^\s*(CREATE\s+DATABASE|USE)\s[^;\n]*(;|$)`)

// loadBoth runs a file on both servers. Its errors have to be the same ones.
func (c *check) loadBoth(text []byte) error {
	want, err := c.maria.load(c.db, text)
	if err != nil {
		return err
	}
	got, err := c.ours.load(c.db, text)
	if err != nil {
		return err
	}
	at := func(list []string, line string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return errorPlace(s) == errorPlace(line) })
	}
	for _, line := range got {
		if !at(want, line) {
			c.differs("sqlots: %s", line)
		}
	}
	for _, line := range want {
		if !at(got, line) {
			c.differs("only MariaDB: %s", line)
		}
	}
	return nil
}

var place = regexp.MustCompile(` at line \d+`)

func errorPlace(line string) string { return place.FindString(line) }

// dumps takes the database from each server to the other, and to sqlots itself.
func (c *check) dumps(maria, ours *contents) error {
	for _, d := range []struct {
		what     string
		from, to *srv
		want     *contents
	}{
		{"dump sqlots to sqlots: ", c.ours, c.ours, ours},
		{"dump sqlots to MariaDB: ", c.ours, c.maria, ours},
		{"dump MariaDB to sqlots: ", c.maria, c.ours, maria},
	} {
		text, err := d.from.dump(c.db)
		if err != nil {
			return err
		}
		if d.to == c.maria { // which does not know MySQL's default collation before 11.4
			text = bytes.ReplaceAll(text, []byte("utf8mb4_0900_ai_ci"), []byte("utf8mb4_general_ci"))
		}
		copied := c.db + "copy"
		if err := d.to.create(copied); err != nil {
			return err
		}
		failures, err := d.to.load(copied, text)
		if err != nil {
			return err
		}
		for _, f := range failures {
			c.differs("%s%s", d.what, f)
		}
		got, err := describe(d.to, copied)
		if err != nil {
			return err
		}
		c.compare(d.what, d.want, got)
		if _, err := d.to.db.Exec("DROP DATABASE " + copied); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) compare(what string, want, got *contents) {
	for _, d := range differences(want.lines, got.lines) {
		c.differs("%s%s", what, d)
	}
}

// differences are the lines that one list has more often than the other: "+ " and those
// of got, then "- " and those of want, each in its order.
func differences(want, got []string) (found []string) {
	more := func(mark string, list, than []string) {
		n := make(map[string]int, len(than))
		for _, line := range than {
			n[line]++
		}
		for _, line := range list {
			if n[line]--; n[line] < 0 {
				found = append(found, mark+line)
			}
		}
	}
	more("+ ", got, want)
	more("- ", want, got)
	return found
}

// contents is a database as lines of text, in which two databases are equal.
type contents struct {
	lines        []string
	tables, rows int
}

// queries are what information_schema says of a database.
var queries = []struct{ what, text string }{
	{"table", "SELECT TABLE_NAME, TABLE_TYPE, ENGINE IS NULL, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?"},
	{"column", `SELECT TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, EXTRA, CHARACTER_SET_NAME, COLLATION_NAME, COLUMN_DEFAULT,
		COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ?`},
	{"key", "SELECT TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, NULLABLE FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ?"},
	{"foreign key", `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, UPDATE_RULE, DELETE_RULE
		FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
		ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME WHERE k.TABLE_SCHEMA = ? AND k.REFERENCED_TABLE_NAME IS NOT NULL`},
}

func describe(s *srv, db string) (*contents, error) {
	out := &contents{}
	for _, q := range queries {
		rows, err := s.rows(q.text, db)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, r := range rows {
			if q.what == "column" {
				plainColumn(r)
			}
			if q.what == "key" && r[6].String == "HASH" {
				r[6].String = "BTREE"
			}
			if q.what == "foreign key" {
				plainRule(&r[6])
				plainRule(&r[7])
			}
			if q.what == "table" && r[1].String == "VIEW" {
				r[2].String, r[3].String = "", ""
			}
			out.lines = append(out.lines, q.what+" "+text(r))
		}
	}
	tables, err := s.rows("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? ORDER BY 1", db)
	if err != nil {
		return nil, err
	}
	out.tables = len(tables)
	for _, t := range tables {
		rows, err := s.rows("SELECT * FROM " + db + ".`" + t[0].String + "`")
		if err != nil {
			out.lines = append(out.lines, "rows of "+t[0].String+": "+err.Error())
			continue
		}
		out.rows += len(rows)
		for _, r := range rows {
			out.lines = append(out.lines, "row "+t[0].String+" "+text(r))
		}
	}
	return out, nil
}

func (s *srv) rows(query string, args ...any) (list [][]sql.NullString, err error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		r := make([]sql.NullString, len(names))
		to := make([]any, len(r))
		for i := range r {
			to[i] = &r[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

func text(r []sql.NullString) string {
	var b strings.Builder
	for i, v := range r {
		if i > 0 {
			b.WriteString(" | ")
		}
		if v.Valid {
			fmt.Fprintf(&b, "%.200q", plainNow(v.String))
		} else {
			b.WriteString("NULL")
		}
	}
	return b.String()
}

// plainNow makes one of the times at which a script was loaded.
func plainNow(s string) string {
	t, err := time.ParseInLocation(time.DateTime, s, time.Local)
	if err == nil && time.Since(t).Abs() < time.Hour {
		return "now"
	}
	return s
}

// plainRule makes one of the two names of the rule that refuses a change.
func plainRule(rule *sql.NullString) {
	if rule.String == "NO ACTION" {
		rule.String = "RESTRICT"
	}
}

// plainBinary is a default of bytes: sqlots shows its digits where it is no text,
// as MySQL does, MariaDB escapes.
func plainBinary(s string) string {
	digits, ok := strings.CutPrefix(s, "0x")
	b, err := hex.DecodeString(digits)
	if ok && err == nil {
		return string(b)
	}
	return strings.ReplaceAll(s, `\0`, "\x00")
}

var (
	intWidth  = regexp.MustCompile(`^((?:tiny|small|medium|big)?int)\(\d+\)(.*)$`)
	yearWidth = regexp.MustCompile(`^year\(4\)$`)
	nowCall   = regexp.MustCompile(`(?i)current_timestamp\(\)`)
	nowDigits = regexp.MustCompile(`(?i)current_timestamp`)
)

// plainColumn makes a column of information_schema.COLUMNS the same text on both
// servers: MariaDB shows the widths of integers, quotes defaults, says NULL for none, and
// has LONGTEXT for JSON; only MySQL marks defaults that are expressions.
func plainColumn(r []sql.NullString) {
	kind, extra, charset, collation, def := &r[3], &r[6], &r[7], &r[8], &r[9]
	if m := intWidth.FindStringSubmatch(kind.String); m != nil && !strings.Contains(kind.String, "zerofill") {
		kind.String = m[1] + m[2]
	}
	kind.String = yearWidth.ReplaceAllString(kind.String, "year")
	if kind.String == "json" {
		kind.String = "longtext"
		*charset, *collation = sql.NullString{String: "utf8mb4", Valid: true}, sql.NullString{String: "utf8mb4_bin", Valid: true}
	}
	if d := def.String; def.Valid {
		switch {
		case d == "NULL":
			*def = sql.NullString{}
		case len(d) >= 2 && d[0] == '\'' && d[len(d)-1] == '\'':
			def.String = strings.NewReplacer("''", "'", `\\`, `\`).Replace(d[1 : len(d)-1])
		default:
			def.String = nowDigits.ReplaceAllString(nowCall.ReplaceAllString(d, "CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP")
		}
	}
	if strings.Contains(kind.String, "binary") {
		def.String = plainBinary(def.String)
	}
	e := nowDigits.ReplaceAllString(nowCall.ReplaceAllString(extra.String, "CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP")
	extra.String = strings.TrimSpace(strings.ReplaceAll(e, "DEFAULT_GENERATED", ""))
	if collation.String == "utf8mb4_0900_ai_ci" { // the default of the character set
		collation.String = "utf8mb4_general_ci"
	}
}
