package slt

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/go-sql-driver/mysql"
)

// Protocol is the way in which statements reach the server.
type Protocol int

const (
	// Text sends COM_QUERY.
	Text Protocol = iota
	// Binary prepares each statement without parameters, executes and closes
	// it. Statements that cannot be prepared (error 1295) go as text.
	Binary
)

// String gives "text" or "binary".
func (p Protocol) String() string {
	if p == Binary {
		return "binary"
	}
	return "text"
}

// ParseProtocol reads what String prints.
func ParseProtocol(s string) (Protocol, error) {
	switch s {
	case "text":
		return Text, nil
	case "binary":
		return Binary, nil
	}
	return Text, fmt.Errorf("unknown protocol %q (text or binary)", s)
}

// notPreparable is ER_UNSUPPORTED_PS.
const notPreparable = 1295

// Opener makes connections to the server whose data source name it gets, in
// the form of github.com/go-sql-driver/mysql. Times are left as text.
func Opener(dsn string) (func(context.Context) (driver.Conn, error), error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parsing the data source name: %w", err)
	}
	cfg.ParseTime = false
	cfg.Logger = &mysql.NopLogger{} // lost connections are reported as failures
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("parsing the data source name: %w", err)
	}
	return connector.Connect, nil
}

// session is one connection of a file. Single goroutine.
type session struct {
	utf8     bool // text is read as UTF-8
	conn     driver.Conn
	protocol Protocol
	buf      []byte // formatted values of the current result, end to end
	ends     []int
	dest     []driver.Value
}

// exec runs a statement and returns the number of affected rows.
func (s *session) exec(ctx context.Context, sql string) (int64, error) {
	if s.protocol == Binary {
		n, err := s.execPrepared(ctx, sql)
		if !isNotPreparable(err) {
			return n, err
		}
	}
	ex, ok := s.conn.(driver.ExecerContext)
	if !ok {
		return 0, errors.New("the driver's connection does not execute text")
	}
	res, err := ex.ExecContext(ctx, sql, nil)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (s *session) execPrepared(ctx context.Context, sql string) (n int64, err error) {
	st, err := s.prepare(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	ex, ok := st.(driver.StmtExecContext)
	if !ok {
		return 0, errors.New("the driver's statement does not take a context")
	}
	res, err := ex.ExecContext(ctx, nil)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (s *session) prepare(ctx context.Context, sql string) (driver.Stmt, error) {
	p, ok := s.conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, errors.New("the driver's connection does not prepare statements")
	}
	return p.PrepareContext(ctx, sql)
}

// query runs a query and formats its result by types. An error may come after
// rows have been read.
func (s *session) query(ctx context.Context, sql, types string) (*result, error) {
	if s.protocol == Binary {
		res, err := s.queryPrepared(ctx, sql, types)
		if !isNotPreparable(err) {
			return res, err
		}
	}
	q, ok := s.conn.(driver.QueryerContext)
	if !ok {
		return nil, errors.New("the driver's connection does not query text")
	}
	rows, err := q.QueryContext(ctx, sql, nil)
	if err != nil {
		return nil, err
	}
	return s.read(rows, types)
}

func (s *session) queryPrepared(ctx context.Context, sql, types string) (res *result, err error) {
	st, err := s.prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	q, ok := st.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.New("the driver's statement does not take a context")
	}
	rows, err := q.QueryContext(ctx, nil)
	if err != nil {
		return nil, err
	}
	return s.read(rows, types)
}

// read drains and closes rows. With types of another length than the columns
// all are read as text; the caller reports the mismatch.
func (s *session) read(rows driver.Rows, types string) (res *result, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	n := len(rows.Columns())
	if cap(s.dest) < n {
		s.dest = make([]driver.Value, n)
	}
	dest := s.dest[:n]
	s.buf, s.ends = s.buf[:0], s.ends[:0]
	for {
		if err := rows.Next(dest); err != nil {
			if errors.Is(err, io.EOF) {
				return s.result(n), nil
			}
			return nil, err
		}
		for i, v := range dest {
			typ := byte('T')
			if len(types) == n {
				typ = types[i]
			}
			if typ == 'T' && s.utf8 {
				typ = typeUTF8
			}
			s.buf = appendValue(s.buf, typ, v)
			s.ends = append(s.ends, len(s.buf))
		}
	}
}

func (s *session) result(cols int) *result {
	res := &result{cols: cols, values: make([]string, len(s.ends))}
	all, from := string(s.buf), 0
	for i, end := range s.ends {
		res.values[i] = all[from:end]
		from = end
	}
	return res
}

func isNotPreparable(err error) bool {
	number, _ := errorNumber(err)
	return number == notPreparable
}

// errorNumber gives the MySQL number and message of a server's answer; number
// is 0 when err did not come from the server.
func errorNumber(err error) (int, string) {
	var me *mysql.MySQLError
	if errors.As(err, &me) {
		return int(me.Number), me.Message
	}
	if err == nil {
		return 0, ""
	}
	return 0, err.Error()
}

// isLost reports that the connection cannot be used any more.
func isLost(err error) bool {
	number, _ := errorNumber(err)
	return err != nil && number == 0
}
