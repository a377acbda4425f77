package httpd

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxSessionsOfOne is how many sessions an account may have open by POST /v1/session.
const maxSessionsOfOne = 64

// sessionHeader names a session in a request, as the parameter "session" does.
const sessionHeader = "X-Sqlots-Session"

// session is a guest that lasts for more than a request.
type session struct {
	guest *mysqlwire.Guest
	owner accountName
	token digest

	mu     sync.Mutex // held while a request uses the guest
	closed bool
	idle   *time.Timer
}

// sessions are those of POST /v1/session. The zero value is empty.
type sessions struct {
	mu    sync.Mutex
	m     map[digest]*session
	ofOne map[accountName]int
}

var (
	errTooManySessions = errors.New("the account has as many sessions as it may have: end one with DELETE /v1/session/{id}")
	errNoSession       = errors.New("no such session: it has ended, or is of another account")
	errBusySession     = errors.New("the session runs another statement")
)

// reserve counts one more session of an account.
func (l *sessions) reserve(n accountName) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ofOne == nil {
		l.m, l.ofOne = map[digest]*session{}, map[accountName]int{}
	}
	if l.ofOne[n] >= maxSessionsOfOne {
		return errTooManySessions
	}
	l.ofOne[n]++
	return nil
}

func (l *sessions) release(n accountName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ofOne[n]--; l.ofOne[n] == 0 {
		delete(l.ofOne, n)
	}
}

func (l *sessions) add(x *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.m[x.token] = x
}

// find is the session of a token that belongs to an account, nil if none exists.
func (l *sessions) find(token digest, n accountName) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[token]; x != nil && x.owner == n {
		return x
	}
	return nil
}

// end closes the guest of x, whose mutex is held, and forgets x.
func (l *sessions) end(x *session) {
	if x.closed {
		return
	}
	x.closed = true
	x.idle.Stop()
	l.mu.Lock()
	delete(l.m, x.token)
	l.mu.Unlock()
	l.release(x.owner)
	_ = guard.Run(func() error { x.guest.Close(); return nil })
}

// endIfIdle ends x, unless a request uses it: that one ends it if it has to.
func (l *sessions) endIfIdle(x *session) {
	if x.mu.TryLock() {
		defer x.mu.Unlock()
		l.end(x)
	}
}

// closeIdle ends the sessions that no request uses.
func (l *sessions) closeIdle() {
	l.mu.Lock()
	list := make([]*session, 0, len(l.m))
	for _, x := range l.m {
		list = append(list, x)
	}
	l.mu.Unlock()
	for _, x := range list {
		l.endIfIdle(x)
	}
}

// use is what a request does with a session: free gives the session back.
func (s *Server) use(token digest, id *identity) (x *session, free func(), err error) {
	x = s.sessions.find(token, id.name())
	if x == nil {
		return nil, nil, errNoSession
	}
	if !x.mu.TryLock() {
		return nil, nil, errBusySession
	}
	if x.closed {
		x.mu.Unlock()
		return nil, nil, errNoSession
	}
	x.idle.Stop()
	return x, func() {
		if x.guest.Context().Err() != nil || s.draining.Load() {
			s.sessions.end(x)
		} else if !x.closed {
			x.idle.Reset(s.cfg.SessionIdle)
		}
		x.mu.Unlock()
	}, nil
}

// enter makes a guest for a request.
func (s *Server) enter(ctx context.Context, b *Backend, r *http.Request, id *identity, db, queryID string, kill func()) (*mysqlwire.Guest, error) {
	attrs := [][2]string{{"_client_name", "http"}, {"program_name", clip(r.UserAgent(), 128)}}
	if queryID != "" {
		attrs = append(attrs, [2]string{"query_id", queryID})
	}
	return b.Wire.Enter(ctx, mysqlwire.Visit{Caller: id.caller, Account: id.account, Database: db, Attributes: attrs, Kill: kill})
}

func clip(s string, n int) string { return s[:min(len(s), n)] }

// openSession is POST /v1/session.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request) {
	b, ok := s.backend(w)
	if !ok {
		return
	}
	id, ok := s.identify(w, r, b)
	if !ok {
		return
	}
	var body struct {
		DB string `json:"db"`
	}
	if !readObject(w, r, &body) {
		return
	}
	if err := s.sessions.reserve(id.name()); err != nil {
		writeProblem(w, http.StatusTooManyRequests, err.Error())
		return
	}
	text := newToken()
	x := &session{owner: id.name(), token: sha256.Sum256([]byte(text))}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.idle = time.AfterFunc(s.cfg.SessionIdle, func() { s.sessions.endIfIdle(x) })
	var err error
	x.guest, err = s.enter(r.Context(), b, r, id, body.DB, "", func() { s.sessions.endIfIdle(x) })
	if err != nil {
		x.idle.Stop()
		s.sessions.release(x.owner)
		writeError(w, r, mysqlwire.ErrorOf(r.Context(), err))
		return
	}
	s.sessions.add(x)
	writeObject(w, http.StatusCreated, map[string]any{"session": text, "connection_id": x.guest.ID, "idle_timeout_s": s.cfg.SessionIdle.Seconds()})
}

// closeSession is DELETE /v1/session/{id}. A statement that runs in it is cancelled.
func (s *Server) closeSession(w http.ResponseWriter, r *http.Request) {
	b, ok := s.backend(w)
	if !ok {
		return
	}
	id, ok := s.identify(w, r, b)
	if !ok {
		return
	}
	token := sha256.Sum256([]byte(r.PathValue("id")))
	x := s.sessions.find(token, id.name())
	if x == nil {
		writeProblem(w, http.StatusNotFound, errNoSession.Error())
		return
	}
	s.running.cancelGuest(x.guest, sqlerr.QueryInterrupted())
	x.mu.Lock()
	s.sessions.end(x)
	x.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}
