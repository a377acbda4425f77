package main

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// client is one connection to a MySQL server with results as text. Single
// goroutine, but for interrupt.
type client struct {
	config *mysql.Config
	conn   driver.Conn
	id     uint64 // CONNECTION_ID(), for KILL QUERY
}

// outcome is what a statement gave: result sets, or a count of rows.
type outcome struct {
	sets     []*grid
	affected int64
	elapsed  time.Duration
}

// dial connects. Dates and times stay text.
func dial(ctx context.Context, config *mysql.Config) (*client, error) {
	c := &client{config: config}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *client) connect(ctx context.Context) error {
	config := c.config.Clone()
	config.ParseTime = false
	config.Logger = &mysql.NopLogger{} // lost connections are reported as errors
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	if c.conn, err = connector.Connect(ctx); err != nil {
		return err
	}
	c.id = 0
	if out, err := c.run(ctx, "SELECT CONNECTION_ID()"); err == nil && len(out.sets) == 1 && len(out.sets[0].rows) == 1 {
		c.id, _ = strconv.ParseUint(out.sets[0].rows[0][0].text, 10, 64) // 0: cannot be interrupted
	}
	return nil
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// interrupt ends the running statement through a second connection.
func (c *client) interrupt(ctx context.Context) error {
	if c.id == 0 {
		return errors.New("the connection's id is not known")
	}
	other := &client{config: c.config}
	if err := other.connect(ctx); err != nil {
		return err
	}
	defer other.close()
	_, err := other.run(ctx, fmt.Sprintf("KILL QUERY %d", c.id))
	return err
}

// run executes one statement. After a lost connection the next call connects
// again.
func (c *client) run(ctx context.Context, query string) (*outcome, error) {
	if c.conn == nil {
		if err := c.connect(ctx); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	out := &outcome{}
	var err error
	if returnsRows(query) {
		err = c.query(ctx, query, out)
	} else {
		err = c.exec(ctx, query, out)
	}
	out.elapsed = time.Since(start)
	var reply *mysql.MySQLError
	if err != nil && !errors.As(err, &reply) {
		c.close()
	}
	return out, err
}

// query collects the result sets.
func (c *client) query(ctx context.Context, query string, out *outcome) error {
	rows, err := c.conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return err
	}
	for {
		g, err := readGrid(rows)
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		if len(g.columns) > 0 {
			out.sets = append(out.sets, g)
		}
		more, ok := rows.(driver.RowsNextResultSet)
		if !ok || !more.HasNextResultSet() {
			return rows.Close()
		}
		if err := more.NextResultSet(); err != nil && err != io.EOF {
			return errors.Join(err, rows.Close())
		}
	}
}

func (c *client) exec(ctx context.Context, query string, out *outcome) error {
	if path, ok := localFile(query); ok {
		mysql.RegisterLocalFile(path)
		defer mysql.DeregisterLocalFile(path)
	}
	res, err := c.conn.(driver.ExecerContext).ExecContext(ctx, query, nil)
	if err != nil {
		return err
	}
	out.affected, err = res.RowsAffected()
	return err
}

func readGrid(rows driver.Rows) (*grid, error) {
	g := &grid{columns: rows.Columns()}
	n := len(g.columns)
	g.numeric = make([]bool, n)
	isBinary := make([]bool, n)
	if typed, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		for i := range g.columns {
			g.numeric[i], isBinary[i] = classify(typed.ColumnTypeDatabaseTypeName(i))
		}
	}
	dest := make([]driver.Value, n)
	for n > 0 {
		if err := rows.Next(dest); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		row := make([]cell, n)
		for i, v := range dest {
			row[i] = formatCell(v, isBinary[i])
		}
		g.rows = append(g.rows, row)
	}
	return g, nil
}

// classify reports whether the values of the type of that name are numbers, and whether
// they are bytes without a character set.
func classify(name string) (isNumber, isBinary bool) {
	name = strings.TrimPrefix(name, "UNSIGNED ")
	switch name {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR":
		return true, false
	case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "BIT", "GEOMETRY":
		return false, true
	}
	return false, false
}

func formatCell(v driver.Value, isBinary bool) cell {
	switch v := v.(type) {
	case nil:
		return cell{isNull: true}
	case []byte:
		if isBinary {
			return cell{text: "0x" + strings.ToUpper(hex.EncodeToString(v))}
		}
		return cell{text: string(v)}
	case float32:
		return cell{text: formatFloat(float64(v), 32)}
	case float64:
		return cell{text: formatFloat(v, 64)}
	}
	return cell{text: fmt.Sprint(v)}
}

// formatFloat prints as MySQL does: plain digits for exponents from -15 to 14.
func formatFloat(f float64, bits int) string {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-15 && abs < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	s := strconv.FormatFloat(f, 'e', -1, bits)
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(exponent) // it is a number, see FormatFloat
	return mantissa + "e" + strconv.Itoa(n)
}

var firstWord = regexp.MustCompile(`^(?:\s+|--[^\n]*\n|#[^\n]*\n|/\*[^!+][^*]*\*+(?:[^/*][^*]*\*+)*/|\()*([A-Za-z]+)`)

// quoted are texts, quoted names and comments, in which a word is no keyword.
var (
	quoted    = regexp.MustCompile(`(?s)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `|/\*.*?\*/|(?:--\s|#)[^\n]*`)
	returning = regexp.MustCompile(`(?i)\bRETURNING\b`)
)

// returnsRows reports whether a statement may return rows. The driver has
// different calls for the two, and only the one for statements without rows
// reports how many rows were affected.
func returnsRows(query string) bool {
	m := firstWord.FindStringSubmatch(query)
	if m == nil {
		return true
	}
	switch strings.ToUpper(m[1]) {
	case "INSERT", "REPLACE", "DELETE":
		return returning.MatchString(quoted.ReplaceAllString(query, " "))
	case "SELECT", "SHOW", "DESC", "DESCRIBE", "EXPLAIN", "WITH", "VALUES", "TABLE", "ANALYZE", "CHECK", "CHECKSUM",
		"OPTIMIZE", "REPAIR", "EXECUTE", "CALL", "HELP", "BACKUP", "ADMIN":
		return true
	}
	return false
}

var localInfile = regexp.MustCompile(`(?is)^\s*LOAD\s+DATA\s+(?:LOW_PRIORITY\s+|CONCURRENT\s+)?LOCAL\s+INFILE\s+('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")`)

// localFile is the file that a LOAD DATA LOCAL names. Only that file may be read while
// the statement runs, whatever the server requests.
func localFile(query string) (string, bool) {
	m := localInfile.FindStringSubmatch(query)
	if m == nil {
		return "", false
	}
	quote, body := m[1][:1], m[1][1:len(m[1])-1]
	body = strings.ReplaceAll(body, quote+quote, quote)
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`).Replace(body), true
}

// errorText prints an error as MySQL's client does. line is added when it is
// not 0.
func errorText(err error, line int) string {
	at := ""
	if line > 0 {
		at = fmt.Sprintf(" at line %d", line)
	}
	var reply *mysql.MySQLError
	if errors.As(err, &reply) {
		state := string(reply.SQLState[:])
		if reply.SQLState == [5]byte{} {
			state = "HY000"
		}
		return fmt.Sprintf("ERROR %d (%s)%s: %s", reply.Number, state, at, reply.Message)
	}
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "dial" {
		return fmt.Sprintf("ERROR 2003 (HY000)%s: Can't connect to server: %v", at, operation.Err)
	}
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) {
		return fmt.Sprintf("ERROR 2013 (HY000)%s: Lost connection to server during query", at)
	}
	return fmt.Sprintf("ERROR%s: %v", at, err)
}
