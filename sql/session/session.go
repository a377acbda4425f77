package session

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Session is one connection: what the wire calls. It implements
// mysqlwire.Session. Its statements are run by Statement.
type Session struct {
	*Connection
	st    *Statement
	multi bool
	idle  *time.Timer // ends the connection, which is idle in a transaction; nil otherwise

	prepared     map[uint32]*prepared
	nextPrepared uint32
}

var (
	_ mysqlwire.Session = (*Session)(nil)
	_ expr.Session      = (*functions)(nil)
	_ expr.UserLocks    = (*functions)(nil)
)

// New makes the session of an authenticated connection.
func New(ctx context.Context, sh *Shared, info mysqlwire.ConnInfo) (*Session, error) {
	e := sh.engine
	st := Open(sh, info)
	s := &Session{Connection: st.Connection, st: st, multi: info.MultiStatements, prepared: map[uint32]*prepared{}}
	s.preparedCount = func() int { return len(s.prepared) + len(s.named) }
	if info.Interactive {
		s.vars.Override(map[string]value.Datum{"wait_timeout": value.Uint(s.vars.Number("interactive_timeout"))})
	}
	if info.Collation != schema.CollationNone {
		s.vars.SetConnectionCollation(info.Collation)
	}
	if info.Database != "" {
		if err := s.UseDatabase(ctx, info.Database); err != nil {
			return nil, err
		}
	}
	e.Processes.Add(s.process)
	e.Counters.Connections.Add(1)
	s.note("Connect", s.info.User+"@"+s.clientHost()+" on "+s.database+" using "+transport(info))
	return s, nil
}

// Reset implements mysqlwire.Session: COM_RESET_CONNECTION.
func (s *Session) Reset(context.Context) error {
	s.Connection.Reset()
	s.prepared = map[uint32]*prepared{}
	if s.info.Collation != schema.CollationNone {
		s.vars.SetConnectionCollation(s.info.Collation)
	}
	return nil
}

// transport is how a client is connected, in the words of the general log.
func transport(info mysqlwire.ConnInfo) string {
	switch {
	case info.TLS != nil:
		return "SSL/TLS"
	case info.RemoteAddr != nil && info.RemoteAddr.Network() == "unix":
		return "Socket"
	}
	return "TCP/IP"
}

// Close implements mysqlwire.Session.
func (s *Session) Close() {
	s.note("Quit", "")
	if s.idle != nil {
		s.idle.Stop()
	}
	s.End()
	s.engine.Processes.Remove(s.process.ID)
}

// Status implements mysqlwire.Session.
func (s *Session) Status() mysqlwire.Status {
	var st mysqlwire.Status
	if open, readOnly := s.tx.status(); open {
		st |= mysqlwire.StatusInTransaction
		if readOnly {
			st |= mysqlwire.StatusInReadOnlyTxn
		}
	}
	if s.vars.Autocommit {
		st |= mysqlwire.StatusAutocommit
	}
	if s.vars.Mode&types.ModeNoBackslashEscapes != 0 {
		st |= mysqlwire.StatusNoBackslashEscapes
	}
	return st
}

// MaxAllowedPacket implements mysqlwire.Session.
func (s *Session) MaxAllowedPacket() int { return int(s.vars.Number("max_allowed_packet")) }

// WaitTimeout implements mysqlwire.Session.
func (s *Session) WaitTimeout() int { return int(s.vars.Number("wait_timeout")) }

// NetWriteTimeout implements mysqlwire.Session.
func (s *Session) NetWriteTimeout() int { return int(s.vars.Number("net_write_timeout")) }

// Statistics implements mysqlwire.Session.
func (s *Session) Statistics() string {
	c := &s.engine.Counters
	up := time.Since(s.engine.Started).Seconds()
	q := c.Questions.Load()
	return fmt.Sprintf("Uptime: %.0f  Threads: %d  Questions: %d  Slow queries: %d  Opens: %d  Queries per second avg: %.3f",
		up, s.engine.Processes.Len(), q, c.Slow.Load(), c.Connections.Load(), float64(q)/max(up, 1))
}

// KillConnection implements mysqlwire.Session.
func (s *Session) KillConnection(_ context.Context, id uint64) error { return s.kill(id, false) }

// SetMultiStatements implements mysqlwire.MultiStatementer.
func (s *Session) SetMultiStatements(on bool) { s.multi = on }
