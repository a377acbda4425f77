package mysqlwire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// ErrServerClosed is what Serve returns after Shutdown.
var ErrServerClosed = errors.New("mysqlwire: server closed")

// forceAfter is how long Shutdown waits for cancelled commands to send their
// error before it closes the sockets.
const forceAfter = 2 * time.Second

// Server accepts connections and serves them. Its methods may be called
// concurrently.
type Server struct {
	cfg     Config
	backend Backend
	pools   bufferPools
	cache   passwordCache
	fake    map[string]string // by plugin a stored hash that no password fits, for unknown users
	tls     atomic.Pointer[tls.Config]
	failed  failures
	turns   turns
	log     sparseLog // of what happens before a login

	ctx    context.Context
	cancel context.CancelCauseFunc

	lastID   atomic.Uint64
	clock    atomic.Uint64 // ticks of the monitor
	draining atomic.Bool

	mu        sync.Mutex
	limits    Limits
	conns     map[*conn]struct{}
	guests    map[*Guest]struct{}
	waiting   waiters
	leaving   int                  // of conns: evicted, and not ended yet
	seated    int                  // of conns: logged in by an entrance that is not for administrators
	ofAddress map[netip.Prefix]int // of the seated
	ofAccount map[accountName]int
	listeners map[net.Listener]struct{}
	changed   chan struct{} // closed and replaced when a connection ends
	monitor   *monitor
}

// NewServer makes a server over a backend.
func NewServer(cfg Config, backend Backend) *Server {
	s := &Server{
		cfg: cfg.withDefaults(), backend: backend,
		limits:    cfg.Limits.withDefaults(),
		conns:     map[*conn]struct{}{},
		guests:    map[*Guest]struct{}{},
		ofAddress: map[netip.Prefix]int{},
		ofAccount: map[accountName]int{},
		listeners: map[net.Listener]struct{}{},
		changed:   make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.fake = fakeAuthStrings()
	s.tls.Store(cfg.TLS)
	s.failed.init()
	s.turns = newTurns()
	s.log.log = s.cfg.Logger
	return s
}

// Serve accepts connections from l until Shutdown, then returns
// ErrServerClosed. It may be called for several listeners (TCP, unix socket).
// It closes l.
func (s *Server) Serve(l net.Listener) error { return s.accept(l, newEntrance(false)) }

// ServeAdmin is Serve for connections of administrators, which are admitted
// however many connections there are.
func (s *Server) ServeAdmin(l net.Listener) error { return s.accept(l, newEntrance(true)) }

// PrepareLoginKey makes the key for passwords that come without TLS, which the first
// such login would have to wait for.
func PrepareLoginKey() { _, _ = loginKey() } // a login shows the error

// SetTLS changes the certificates of later connections; nil offers them no TLS.
func (s *Server) SetTLS(cfg *tls.Config) { s.tls.Store(cfg) }

func (s *Server) accept(l net.Listener, e *entrance) error {
	if !s.addListener(l) {
		_ = l.Close()
		return ErrServerClosed
	}
	defer s.removeListener(l)
	var delay time.Duration
	for {
		nc, err := l.Accept()
		if err == nil {
			delay = 0
			s.start(nc, e)
			continue
		}
		if s.draining.Load() {
			return ErrServerClosed
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accepting connections: %w", err)
		}
		// Out of file descriptors, most likely: connections will end.
		delay = min(max(2*delay, 5*time.Millisecond), time.Second)
		s.count(ConnNotAccepted)
		s.cfg.Logger.Warn("accepting a connection", "event", "listener.accept", "error", err, "retry", delay)
		select {
		case <-time.After(delay):
		case <-s.ctx.Done():
			return ErrServerClosed
		}
	}
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	_ = l.Close()
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
}

// Connections is the number of open connections, with guests.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns) + len(s.guests)
}

// start serves a connection in its own goroutine, when there is room for it.
func (s *Server) start(nc net.Conn, e *entrance) {
	c := newConn(s, nc, e)
	s.count(ConnAttempt)
	if !s.enter(&e.silent, c) {
		c.cancel(errClientGone)
		_ = nc.Close()
		return
	}
	go func() {
		debug.SetPanicOnFault(true) // files are mapped
		defer s.ended(c)
		defer func() {
			if r := recover(); r != nil {
				s.logPanic(c, r)
			}
		}()
		c.serve()
	}()
}

func (s *Server) logPanic(c *conn, r any) {
	s.cfg.Logger.Error("panic in a connection", "event", "panic", "connection", c.id, "user", c.user, "panic", r, "stack", string(debug.Stack()))
}

// ended removes a connection, after its session is closed.
func (s *Server) ended(c *conn) {
	_ = c.raw.Close()
	c.cancel(errClientGone)
	s.mu.Lock()
	delete(s.conns, c)
	s.unseat(&c.visitor)
	switch {
	case c.evicted:
		s.leaving--
		c.entrance.silent.signal()
		c.entrance.talking.signal()
	case c.crowd != nil:
		c.crowd.remove(c)
	}
	crowded := c.evicted && !s.draining.Load()
	if len(s.conns) == 0 && s.monitor != nil {
		s.monitor.stop()
		s.monitor = nil
	}
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if crowded {
		s.log.warn("closed a connection that had not logged in, to make room for others", "event", "login.evicted", "connection", c.id, "host", c.host)
	}
}

// Shutdown stops accepting, closes connections that are idle or have not logged
// in, lets running commands
// end until ctx does, and then cancels them with 1053. It returns when all
// connections are closed, and all guests have left; the error is ctx's if commands
// were cancelled.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining.Store(true)
	for l := range s.listeners {
		_ = l.Close()
	}
	for c := range s.conns {
		if c.crowd != nil {
			s.evict(c)
		}
		c.interruptIdle()
	}
	s.mu.Unlock()
	if s.waitEmpty(ctx.Done()) {
		s.cancel(sqlerr.ServerShutdown())
		return nil
	}
	s.cancel(sqlerr.ServerShutdown())
	force := make(chan struct{})
	t := time.AfterFunc(forceAfter, func() { close(force) })
	defer t.Stop()
	if !s.waitEmpty(force) {
		s.mu.Lock()
		for c := range s.conns {
			_ = c.raw.Close()
		}
		s.mu.Unlock()
		s.waitEmpty(nil)
	}
	return ctx.Err()
}

// waitEmpty waits until no connection is left (true) or stop is closed.
func (s *Server) waitEmpty(stop <-chan struct{}) bool {
	for {
		s.mu.Lock()
		n, changed := len(s.conns)+len(s.guests), s.changed
		s.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-changed:
		case <-stop:
			return false
		}
	}
}
