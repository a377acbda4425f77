package histories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// level is an isolation level.
type level string

const (
	readCommitted  level = "READ COMMITTED"
	repeatableRead level = "REPEATABLE READ"
	serializable   level = "SERIALIZABLE"
)

// conn is a connection with the transaction that it is in.
type conn struct {
	*run
	name  string
	rng   *rand.Rand
	c     *sql.Conn
	id    int64 // for KILL QUERY
	level level
	// prepared: statements have their values as arguments.
	prepared bool
	work     workload
	x        *histcheck.Txn
	explicit bool // x began by START TRANSACTION
	number   int  // of transactions so far
	reported *histcheck.Step
}

// errRetry ends a transaction that is to be rolled back.
var errRetry = errors.New("rolled back")

// number is that of an error of the server, 0 for another one.
func number(err error) uint16 {
	var reply *mysql.MySQLError
	if errors.As(err, &reply) {
		return reply.Number
	}
	return 0
}

// interrupted is the number of the error of a statement that was killed.
const interrupted = 1317

// explained reports errors that concurrency, KILL QUERY and changes of the schema
// explain.
func explained(err error) bool {
	return errors.Is(err, errRetry) || slices.Contains([]uint16{1205, 1213, interrupted, 1412, 3572}, number(err))
}

// chance is true once in n times.
func (c *conn) chance(n int) bool { return c.rng.IntN(n) == 0 }

// step notes a statement.
func (c *conn) step(sent time.Duration, path, query string, err error) *histcheck.Step {
	s := histcheck.Step{Asked: sent, Given: c.now(), Path: path, SQL: query}
	if err != nil {
		s.Answer = err.Error()
	}
	c.statements.Add(1)
	c.x.Steps = append(c.x.Steps, s)
	return &c.x.Steps[len(c.x.Steps)-1]
}

// exec runs a statement that has no rows for an answer.
func (c *conn) exec(path string, q question) (sql.Result, error) {
	sent := c.now()
	res, err := c.c.ExecContext(context.Background(), q.sql, q.args...)
	c.step(sent, path, q.text(), err)
	return res, err
}

func (c *conn) do(query string) error {
	_, err := c.exec("", question{sql: query})
	return err
}

// query runs a statement, calls scan with each row, and returns the statement in the
// form of the history.
func (c *conn) query(path string, q question, scan func(rows *sql.Rows) error) (*histcheck.Step, error) {
	sent := c.now()
	rows, err := c.c.QueryContext(context.Background(), q.sql, q.args...)
	if err == nil {
		for err == nil && rows.Next() {
			err = scan(rows)
		}
		err = errors.Join(err, rows.Err(), rows.Close())
	}
	return c.step(sent, path, q.text(), err), err
}

// begin makes a transaction, of one statement or of several.
func (c *conn) begin(explicit bool) error {
	c.explicit, c.number = explicit, c.number+1
	c.x = &histcheck.Txn{Name: fmt.Sprintf("%s-T%d", c.name, c.number), Level: string(c.level), Began: c.now()}
	if !explicit {
		return nil
	}
	if c.level == repeatableRead && c.chance(4) {
		return c.do("START TRANSACTION WITH CONSISTENT SNAPSHOT")
	}
	return c.do("START TRANSACTION")
}

// end commits the transaction, or rolls it back after an error, and now and then
// without one. It returns errors that nothing explains.
func (c *conn) end(err error) error {
	x := c.x
	defer func() { x.Ended = c.now() }()
	x.Ending = c.now()
	if !c.explicit {
		x.Ending = x.Began
	}
	switch {
	case err != nil && !explained(err):
		return err
	case !c.explicit && number(err) == interrupted:
		x.Outcome = histcheck.Unknown
	case !c.explicit && err == nil:
		x.Outcome = histcheck.Committed
	case !c.explicit:
	case err != nil || c.chance(20):
		return c.rollback()
	default:
		return c.commit()
	}
	return nil
}

func (c *conn) rollback() error {
	c.rollbacks.Add(1)
	err := c.do("ROLLBACK")
	if number(err) == interrupted {
		err = c.do("ROLLBACK")
	}
	return err
}

func (c *conn) commit() error {
	err := c.do("COMMIT")
	if err == nil {
		c.x.Outcome = histcheck.Committed
		return nil
	}
	c.x.Outcome = histcheck.Unknown
	if !explained(err) {
		return err
	}
	return c.rollback()
}

// kind is that of a plain read.
func (c *conn) kind() histcheck.Kind {
	switch {
	case c.explicit && c.level == repeatableRead:
		return histcheck.View
	case c.explicit && c.level == serializable:
		return histcheck.Locked
	}
	return histcheck.Statement
}

// wrong reports, once, that the last answer is wrong by itself.
func (c *conn) wrong(format string, args ...any) {
	s := &c.x.Steps[len(c.x.Steps)-1]
	if c.reported == s {
		return
	}
	c.reported = s
	x := *c.x
	x.Ended = c.now()
	c.report(histcheck.Finding{Text: fmt.Sprintf("%s: %s: %s", x.Name, s.SQL, fmt.Sprintf(format, args...)), Txns: []*histcheck.Txn{&x}})
}
