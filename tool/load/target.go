package load

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// column is a column of the table.
type column struct {
	name                  string
	nullable, auto, given bool // given: it has a default of its own
}

// target is the server with the table.
type target struct {
	db      *sql.DB
	tokens  bool // the server keeps tokens and rejects: sqlots
	columns []column
}

func openTarget(ctx context.Context, o *options) (*target, error) {
	cfg, err := mysql.ParseDSN(o.dsn)
	if err != nil {
		return nil, err
	}
	cfg.DBName, cfg.InterpolateParams = "", true
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	for _, s := range o.set {
		name, v, _ := strings.Cut(s, "=")
		cfg.Params[name] = v
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	t := &target{db: sql.OpenDB(connector)}
	t.db.SetMaxIdleConns(o.jobs)
	err = again(ctx, true, func() error {
		t.columns = nil
		return t.ask(ctx, o)
	})
	if err != nil {
		return nil, errors.Join(err, t.db.Close())
	}
	return t, nil
}

func (t *target) ask(ctx context.Context, o *options) error {
	var n int
	err := t.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = 'SQLOTS_LOADS'").Scan(&n)
	if err != nil {
		return err
	}
	t.tokens = n > 0
	rows, err := t.db.QueryContext(ctx, "SELECT COLUMN_NAME, IS_NULLABLE, COALESCE(COLUMN_DEFAULT, ''), COLUMN_DEFAULT IS NOT NULL, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION", o.database, o.table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		var nullable, text, extra string
		if err := rows.Scan(&c.name, &nullable, &text, &c.given, &extra); err != nil {
			return err
		}
		c.nullable = nullable == "YES"
		c.auto = strings.Contains(extra, "auto_increment")
		if strings.Contains(extra, "VIRTUAL GENERATED") || strings.Contains(extra, "STORED GENERATED") {
			continue
		}
		t.columns = append(t.columns, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(t.columns) == 0 {
		return fmt.Errorf("there is no table %s.%s", o.database, o.table)
	}
	return nil
}

// find is the column of a name, as MySQL compares names, or nil.
func (t *target) find(name string) *column {
	for i := range t.columns {
		if strings.EqualFold(t.columns[i].name, name) {
			return &t.columns[i]
		}
	}
	return nil
}

// record is what the server keeps of a piece.
type record struct {
	rows    int64
	rejects []reject
}

// reject is a record that was left out; line counts the records of its piece.
type reject struct {
	Line    int    `json:"line"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// loaded are the records of a job, by token, or that of one piece.
func (t *target) loaded(ctx context.Context, where string, arg string) (map[string]record, error) {
	rows, err := t.db.QueryContext(ctx, "SELECT TOKEN, ROWS_LOADED, REJECTS FROM information_schema.SQLOTS_LOADS WHERE TOKEN "+where, arg)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]record{}
	for rows.Next() {
		var token string
		var rejects []byte
		var r record
		if err := rows.Scan(&token, &r.rows, &rejects); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(rejects, &r.rejects); err != nil {
			return nil, fmt.Errorf("the rejects of %s: %w", token, err)
		}
		all[token] = r
	}
	return all, rows.Err()
}

var readerNames atomic.Int64

// send loads the text of one piece; statement has %s for the file's name.
func (t *target) send(ctx context.Context, statement, token string, rejects int, text []byte) (record, error) {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return record{}, err
	}
	defer conn.Close()
	if t.tokens {
		if _, err := conn.ExecContext(ctx, "SET SESSION sqlots_load_strict = ON, sqlots_load_token = ?, sqlots_load_rejects = ?", token, rejects); err != nil {
			return record{}, err
		}
	}
	name := fmt.Sprintf("sqlots-load-%d", readerNames.Add(1))
	mysql.RegisterReaderHandler(name, func() io.Reader { return bytes.NewReader(text) })
	defer mysql.DeregisterReaderHandler(name)
	res, err := conn.ExecContext(ctx, fmt.Sprintf(statement, "Reader::"+name))
	if err != nil {
		return record{}, err
	}
	if !t.tokens {
		n, err := res.RowsAffected()
		return record{rows: n}, err
	}
	all, err := t.loaded(ctx, "= ?", token)
	if err != nil {
		return record{}, err
	}
	r, ok := all[token]
	if !ok {
		return record{}, fmt.Errorf("the server has not kept the token %s", token)
	}
	return r, nil
}

// statement is the LOAD DATA of all pieces; fields are the names of the
// fields' columns, "" for one that is left out.
func (t *target) statement(o *options, fields []string, newline string) string {
	var b strings.Builder
	b.WriteString("LOAD DATA LOCAL INFILE '%s' ")
	if o.replace {
		b.WriteString("REPLACE ")
	}
	fmt.Fprintf(&b, "INTO TABLE %s.%s CHARACTER SET utf8mb4 ", quoteName(o.database), quoteName(o.table))
	if o.format == "csv" {
		fmt.Fprintf(&b, "FIELDS TERMINATED BY %s OPTIONALLY ENCLOSED BY %s ESCAPED BY '' ", quoteText(o.delimiter), quoteText(o.quote))
	} else {
		fmt.Fprintf(&b, `FIELDS TERMINATED BY %s ESCAPED BY '\\' `, quoteText(o.delimiter))
	}
	fmt.Fprintf(&b, "LINES TERMINATED BY %s (", quoteText(newline))
	var set []string
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		c := t.find(f)
		v := fmt.Sprintf("@sqlots_field_%d", i)
		switch {
		case f == "":
			b.WriteString(v)
		case o.format == "jsonl" && c != nil && !c.nullable && !c.auto && c.given:
			b.WriteString(v)
			set = append(set, fmt.Sprintf("%s = IFNULL(%s, DEFAULT(%s))", quoteName(f), v, quoteName(f)))
		case o.hasNull && o.format != "jsonl":
			b.WriteString(v)
			set = append(set, fmt.Sprintf("%s = NULLIF(%s, %s)", quoteName(f), v, quoteText(o.null)))
		default:
			b.WriteString(quoteName(f))
		}
	}
	b.WriteString(")")
	if len(set) > 0 {
		b.WriteString(" SET " + strings.Join(set, ", "))
	}
	return b.String()
}

// quoteName and quoteText write names and literals for a statement that goes
// through fmt.
func quoteName(s string) string {
	return strings.ReplaceAll("`"+strings.ReplaceAll(s, "`", "``")+"`", "%", "%%")
}

func quoteText(s string) string {
	r := strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`, "%", "%%")
	return "'" + r.Replace(s) + "'"
}
