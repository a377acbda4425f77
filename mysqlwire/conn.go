package mysqlwire

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// conn is one connection. Its goroutine owns all but the atomics, raw, ctx
// and cancel.
type conn struct {
	wire
	srv *Server
	id  uint64
	raw net.Conn // the socket, below TLS and compression

	visitor
	entrance *entrance

	// Guarded by Server.mu: the place in a crowd until the login, nil without.
	crowd   *crowd
	place   *list.Element
	entered time.Time
	grace   time.Duration // for which the place is safe
	evicted bool

	ctx    context.Context
	cancel context.CancelCauseFunc

	scramble  []byte
	caps      capability
	collation schema.CollationID
	user      string
	offered   *tls.Config   // nil: no TLS
	loginTime time.Duration // for a login
	tls       *tls.ConnectionState
	tlsConn   *tls.Conn

	sess   Session
	result resultWriter
	stmts  map[uint32]*statement
	// Optional abilities of sess, nil without.
	collationer ResultCollationer
	databaser   Databaser
	tracker     StateTracker
	sandboxer   Sandboxer
	database    string // as last sent to a client that tracks it

	maxPacket int
	state     phaseWord
	// Limits of the phases, in ticks.
	readTicks             uint64
	waitTicks, writeTicks atomic.Uint64
	waitSecs, writeSecs   int // what the atomics were made of
	killed                atomic.Bool
	quit                  bool // the client has said that it ends
}

func newConn(s *Server, nc net.Conn, e *entrance) *conn {
	c := &conn{srv: s, id: s.lastID.Add(1), raw: nc, entrance: e}
	c.src, c.dst, c.pools, c.memory = nc, nc, &s.pools, s.cfg.Memory
	c.buf = make([]byte, readBufSize)
	c.phase = c.setPhase
	c.scramble = randomText(scrambleLen)
	c.readTicks = max(uint64(s.cfg.NetReadTimeout/tick), 1)
	c.writeTicks.Store(ticks(60))
	c.waitTicks.Store(ticks(0))
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	c.result.c = c
	c.setPhase(phaseHandshake)
	c.visitor = visitorOf(nc.RemoteAddr())
	return c
}

// visitorOf is the client of an address.
func visitorOf(addr net.Addr) visitor {
	var ip netip.Addr
	switch a := addr.(type) {
	case *net.UnixAddr:
		return visitor{host: "localhost", loopback: true, unix: true}
	case *net.TCPAddr:
		ip = a.AddrPort().Addr().Unmap().WithZone("")
	default:
		return visitor{host: addr.String()}
	}
	if ip.IsLoopback() {
		return visitor{host: "localhost", address: addressOf(ip), loopback: true}
	}
	return visitor{host: ip.String(), address: addressOf(ip)}
}

func (c *conn) setPhase(p phase) { c.state.set(p, c.srv.clock.Load()) }

// serve runs the connection to its end.
func (c *conn) serve() {
	defer c.shut()
	if !c.greet() {
		return
	}
	for c.next() {
	}
	c.countEnd()
}

// greet runs the handshake; false ends the connection. A panic of the backend is
// reported to the client.
func (c *conn) greet() (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			c.srv.logPanic(c, r)
			c.srv.count(ConnInternal)
			ok = false
			c.writeError(sqlerr.Bug())
			_ = c.flush()
		}
	}()
	err := c.handshake()
	c.countLogin(err)
	return err == nil
}

// shut ends the session and the connection.
func (c *conn) shut() {
	c.dropStatements()
	_ = c.hold(0)
	sess := c.sess
	c.sess = nil
	c.closeSession(sess)
	if c.tlsConn != nil {
		_ = c.raw.SetWriteDeadline(time.Now().Add(time.Second))
		_ = c.tlsConn.Close()
	}
	_ = c.raw.Close()
}

// closeSession closes a session; its panic must not take the server down.
func (c *conn) closeSession(sess Session) {
	if sess == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			c.srv.logPanic(c, r)
		}
	}()
	if t, ok := sess.(TrafficCounter); ok {
		t.Traffic(c.result.Traffic())
	}
	sess.Close()
}

func (c *conn) setSession(sess Session, coll schema.CollationID) {
	c.sess = sess
	c.collation = coll
	c.collationer, _ = sess.(ResultCollationer)
	c.databaser, _ = sess.(Databaser)
	c.tracker, _ = sess.(StateTracker)
	c.sandboxer, _ = sess.(Sandboxer)
	if c.databaser != nil {
		c.database = c.databaser.Database()
	}
	c.waitSecs, c.writeSecs = -1, -1
	c.refreshLimits()
}

// refreshLimits takes over the session's variables, after each command.
func (c *conn) refreshLimits() {
	c.maxPacket = c.sess.MaxAllowedPacket()
	if s := c.sess.WaitTimeout(); s != c.waitSecs {
		c.waitSecs = s
		c.waitTicks.Store(ticks(s))
	}
	if s := c.sess.NetWriteTimeout(); s != c.writeSecs {
		c.writeSecs = s
		c.writeTicks.Store(ticks(s))
	}
}

// next reads and runs one command; false ends the connection.
func (c *conn) next() bool {
	c.seq = 0
	if c.r == c.w {
		c.release()
	}
	c.setPhase(phaseIdle)
	if c.killed.Load() || c.srv.draining.Load() || c.ctx.Err() != nil {
		return false
	}
	b, err := c.readPacket(c.maxPacket)
	c.setPhase(phaseBusy)
	if err == nil {
		return c.command(b) && c.flush() == nil
	}
	var refused *refusedPacket
	if errors.As(err, &refused) {
		return c.refusePacket(b, refused.error) && c.flush() == nil
	}
	_ = c.fail(err)
	return false
}

// refusePacket answers a command of which only the first bytes are known, where there was
// no memory for the rest.
func (c *conn) refusePacket(b []byte, err error) (keep bool) {
	c.result.reset(false)
	if len(b) > 0 && b[0] == comStmtSendLongData { // has no answer
		p := payload{b: b[1:]}
		if _, s, e := c.statement(&p, "mysqld_stmt_send_long_data"); e == nil {
			s.dropLong()
			s.longErr = err
		}
		return true
	}
	return c.finish(err)
}

// fail sends the client an error that ends the connection and returns it.
func (c *conn) fail(err error) error {
	if errors.Is(err, errClientGone) {
		return err
	}
	c.writeError(errorOf(c.ctx, err))
	if c.flush() == nil {
		c.linger()
	}
	return err
}

// lingerBytes and lingerTime bound the wait for a client that is still
// sending; for one that has not logged in, maxHandshakePacket and loginLinger.
const (
	lingerBytes = 1 << 30
	lingerTime  = 3 * time.Second
	loginLinger = time.Second
)

// linger reads away what the client is sending: closing a socket with unread bytes
// would reset it, and the client would lose the error that was sent.
func (c *conn) linger() {
	if c.killed.Load() || c.srv.draining.Load() {
		return
	}
	if cw, ok := c.raw.(interface{ CloseWrite() error }); ok {
		_ = cw.CloseWrite()
	}
	n, d := int64(lingerBytes), lingerTime
	if c.sess == nil {
		n, d = maxHandshakePacket, loginLinger
	}
	_ = c.raw.SetReadDeadline(time.Now().Add(d))
	_, _ = io.CopyN(io.Discard, onlyReader{c.raw}, n)
}

// onlyReader hides what else a connection can do from io.Copy.
type onlyReader struct{ io.Reader }

// kill ends the connection: a running command is cancelled and answered with
// an error, an idle connection is closed. It may be called from anywhere.
func (c *conn) kill() {
	c.killed.Store(true)
	c.cancel(sqlerr.QueryInterrupted())
	_ = c.raw.SetWriteDeadline(time.Now().Add(forceAfter))
	c.interruptIdle()
}

// interruptIdle ends the wait of a connection for a command, so that it sees why. One
// that runs a command looks by itself before it waits again.
func (c *conn) interruptIdle() {
	if p, _ := c.state.get(); p == phaseIdle || p == phaseHandshake || p == phaseReading && c.killed.Load() {
		_ = c.raw.SetReadDeadline(time.Unix(1, 0))
	}
}
