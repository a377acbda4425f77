package session

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Session is one connection: what the wire calls. It implements
// mysqlwire.Session. Its statements are run by Statement.
type Session struct {
	*statement.Connection
	st    *statement.Statement
	multi bool
	idle  *time.Timer // ends the connection, which is idle in a transaction; nil otherwise

	prepared     map[uint32]*statement.Prepared
	nextPrepared uint32
}

var (
	_ mysqlwire.Session = (*Session)(nil)
)

// New makes the session of an authenticated connection.
func New(ctx context.Context, sh *statement.Shared, info mysqlwire.ConnInfo) (*Session, error) {
	e := sh.Engine
	st := statement.Open(sh, info)
	s := &Session{Connection: st.Connection, st: st, multi: info.MultiStatements, prepared: map[uint32]*statement.Prepared{}}
	if err := st.Accept(); err != nil {
		return nil, err
	}
	if info.Interactive {
		s.Vars.Override(map[string]value.Datum{"wait_timeout": value.Uint(s.Vars.Number("interactive_timeout"))})
	}
	if info.Collation != schema.CollationNone {
		s.Vars.SetConnectionCollation(info.Collation)
	}
	if info.Database != "" {
		if err := s.Connection.UseDatabase(ctx, info.Database); err != nil {
			return nil, err
		}
	}
	e.Processes.Add(s.Process)
	s.Metrics = e.Metrics.Open(info.ID, info.User, s.ClientHost())
	s.Tx.Metrics = s.Metrics
	s.Note("Connect", s.Info.User+"@"+s.ClientHost()+" on "+s.DB+" using "+transport(info))
	st.Connected()
	return s, nil
}

// Reset implements mysqlwire.Session: COM_RESET_CONNECTION.
func (s *Session) Reset(context.Context) error {
	s.Connection.Reset()
	s.Process.Prepared.Clear()
	s.prepared = map[uint32]*statement.Prepared{}
	s.Metrics.Prepared.Store(0)
	if s.Info.Collation != schema.CollationNone {
		s.Vars.SetConnectionCollation(s.Info.Collation)
	}
	return nil
}

// transport is how a client is connected, in the words of the general log.
func transport(info mysqlwire.ConnInfo) string {
	switch {
	case info.Protocol != "":
		return info.Protocol
	case info.TLS != nil:
		return "SSL/TLS"
	case info.RemoteAddr != nil && info.RemoteAddr.Network() == "unix":
		return "Socket"
	}
	return "TCP/IP"
}

// Traffic implements mysqlwire.TrafficCounter.
func (s *Session) Traffic(received, sent uint64) { s.st.CountTraffic(received, sent) }

// Close implements mysqlwire.Session.
func (s *Session) Close() {
	s.Note("Quit", "")
	s.st.Disconnected()
	if s.idle != nil {
		s.idle.Stop()
	}
	s.End()
	s.Engine.Processes.Remove(s.Process.ID)
	s.Metrics.Close()
}

// Status implements mysqlwire.Session.
func (s *Session) Status() mysqlwire.Status {
	var st mysqlwire.Status
	if open, readOnly := s.Tx.Status(); open {
		st |= mysqlwire.StatusInTransaction
		if readOnly {
			st |= mysqlwire.StatusInReadOnlyTxn
		}
	}
	if s.Vars.Autocommit {
		st |= mysqlwire.StatusAutocommit
	}
	if s.Vars.Mode&types.ModeNoBackslashEscapes != 0 {
		st |= mysqlwire.StatusNoBackslashEscapes
	}
	return st
}

// MaxAllowedPacket implements mysqlwire.Session.
func (s *Session) MaxAllowedPacket() int { return int(s.Vars.Number("max_allowed_packet")) }

// WaitTimeout implements mysqlwire.Session.
func (s *Session) WaitTimeout() int { return int(s.Vars.Number("wait_timeout")) }

// NetWriteTimeout implements mysqlwire.Session.
func (s *Session) NetWriteTimeout() int { return int(s.Vars.Number("net_write_timeout")) }

// Sandboxed implements mysqlwire.Sandboxer.
func (s *Session) Sandboxed() bool { return s.Sandbox }

// Statistics implements mysqlwire.Session.
func (s *Session) Statistics() string {
	n := s.Engine.Metrics.Global()
	up := time.Since(s.Engine.Started).Seconds()
	q := n.Counter(metrics.Questions)
	return fmt.Sprintf("Uptime: %.0f  Threads: %d  Questions: %d  Slow queries: %d  Opens: %d  Queries per second avg: %.3f",
		up, s.Engine.Processes.Len(), q, n.Counter(metrics.SlowQueries), s.Engine.Codecs.Opened(), float64(q)/max(up, 1))
}

// KillConnection implements mysqlwire.Session.
func (s *Session) KillConnection(_ context.Context, id uint64) error {
	return s.st.Audited("Kill", "KILL", fmt.Sprint("KILL ", id), s.Kill(id, false))
}

// UseDatabase implements mysqlwire.Session: COM_INIT_DB.
func (s *Session) UseDatabase(ctx context.Context, name string) error {
	return s.st.Audited("Init DB", "", name, s.Connection.UseDatabase(ctx, name))
}

// SetMultiStatements implements mysqlwire.MultiStatementer.
func (s *Session) SetMultiStatements(on bool) { s.multi = on }
