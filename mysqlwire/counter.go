package mysqlwire

import (
	"errors"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// ConnEvent is what becomes of a client.
type ConnEvent uint8

// The events of connections. Each attempt ends with one of the three that follow it, or is
// logged in.
const (
	// ConnAttempt: a client has connected.
	ConnAttempt ConnEvent = iota
	// ConnFull: it was refused since all connections are taken.
	ConnFull
	// ConnDenied: its login was refused for another reason.
	ConnDenied
	// ConnUnfinished: it has left, or was too slow, before it had logged in.
	ConnUnfinished
	// ConnAborted: it had logged in and did not say that it ends.
	ConnAborted
	// ConnInternal: a fault of the server has ended a login.
	ConnInternal
	// ConnNotAccepted: the system could not accept a client.
	ConnNotAccepted
	// TLSBegun and TLSMade: a handshake of TLS.
	TLSBegun
	TLSMade
)

// Counter learns what becomes of clients. It is called by many goroutines.
type Counter interface{ Count(e ConnEvent) }

// TrafficCounter is a session that learns how many bytes its connection has received and
// sent in all, before it is closed.
type TrafficCounter interface{ Traffic(received, sent uint64) }

func (s *Server) count(e ConnEvent) {
	if s.cfg.Counter != nil {
		s.cfg.Counter.Count(e)
	}
}

// countLogin counts a login that ended with err.
func (c *conn) countLogin(err error) {
	switch {
	case err == nil || c.srv.draining.Load():
	case !isReply(err) || sqlerr.IsHandshake(err):
		c.srv.count(ConnUnfinished)
	case sqlerr.IsTooManyConnections(err):
		c.srv.count(ConnFull)
	default:
		c.srv.count(ConnDenied)
	}
}

// isReply reports an error that the client was sent.
func isReply(err error) bool {
	_, ok := errors.AsType[*sqlerr.Error](err)
	return ok
}

// countEnd counts a connection that had logged in and ends.
func (c *conn) countEnd() {
	if !c.quit && !c.killed.Load() && !c.srv.draining.Load() {
		c.srv.count(ConnAborted)
	}
}
