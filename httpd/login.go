package httpd

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// A login by cookie lasts loginAge at most, and loginIdle without a request.
const (
	loginAge       = 12 * time.Hour
	loginIdle      = 30 * time.Minute
	maxLogins      = 10000
	maxLoginsOfOne = 100     // of one account
	maxLoginBody   = 4 << 10 // bytes
	tokenBytes     = 32
)

// identity is who sends a request.
type identity struct {
	caller  mysqlwire.Caller
	account mysqlwire.Account
}

// name names the account of an identity.
func (id *identity) name() accountName { return accountName{id.account.User, id.account.Host} }

type accountName struct{ user, host string }

// callerOf is a request's client, without its name.
func callerOf(r *http.Request) mysqlwire.Caller {
	c := mysqlwire.Caller{TLS: r.TLS, Protocol: "HTTP"}
	if r.TLS != nil {
		c.Protocol = "HTTPS"
	}
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.Addr = net.TCPAddrFromAddrPort(a)
	} else {
		c.Addr = &net.TCPAddr{IP: net.IPv4zero} // which is no loopback
	}
	return c
}

// fromHere reports whether a request comes from this machine.
func fromHere(r *http.Request) bool {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// identify authenticates a request by its password or cookie. Otherwise it has answered.
func (s *Server) identify(w http.ResponseWriter, r *http.Request, b *Backend) (*identity, bool) {
	id, err := s.identityOf(r, b)
	if err != nil {
		writeError(w, r, mysqlwire.ErrorOf(r.Context(), err))
		return nil, false
	}
	return id, true
}

func (s *Server) identityOf(r *http.Request, b *Backend) (*identity, error) {
	id := &identity{caller: callerOf(r)}
	if r.Header.Get("Authorization") != "" {
		user, password, ok := r.BasicAuth()
		if !ok {
			return nil, sqlerr.AccessDenied("", hostOf(id.caller.Addr), false)
		}
		id.caller.User, id.caller.Password = user, password
		var err error
		id.account, err = b.Wire.Authenticate(r.Context(), id.caller)
		return id, err
	}
	token, ok := tokenOf(r)
	l := s.logins.find(token, time.Now())
	if !ok || l == nil {
		return nil, sqlerr.AccessDenied("", hostOf(id.caller.Addr), false)
	}
	id.caller.User = l.user
	var err error
	if id.account, err = b.Wire.Renew(id.caller, &l.account); err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) && statusOf(e) == http.StatusUnauthorized {
			s.logins.drop(token)
		}
		return nil, err
	}
	return id, nil
}

// hostOf is a client's address in the words of accounts.
func hostOf(a net.Addr) string {
	t, ok := a.(*net.TCPAddr)
	switch {
	case !ok:
		return a.String()
	case t.IP.IsLoopback():
		return "localhost"
	}
	return t.IP.String()
}

// The name of the cookie. Browsers take one with the prefix only by TLS, for the host alone.
const (
	cookieName       = "sqlots"
	secureCookieName = "__Host-sqlots"
)

func cookieOf(r *http.Request) string {
	if r.TLS != nil {
		return secureCookieName
	}
	return cookieName
}

// digest is what is kept of a token.
type digest [sha256.Size]byte

func tokenOf(r *http.Request) (digest, bool) {
	c, err := r.Cookie(cookieOf(r))
	if err != nil {
		return digest{}, false
	}
	return sha256.Sum256([]byte(c.Value)), true
}

// newToken is an unguessable text.
func newToken() string {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// loggedIn is a login by cookie.
type loggedIn struct {
	token      digest
	user       string
	account    mysqlwire.Account
	since, at  time.Time
	all, ofOne *list.Element
}

// logins are those by cookie. The zero value is empty.
type logins struct {
	mu    sync.Mutex
	m     map[digest]*loggedIn
	all   list.List // the one that was used least recently first
	ofOne map[accountName]*list.List
}

func (l *logins) add(x *loggedIn, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m, l.ofOne = map[digest]*loggedIn{}, map[accountName]*list.List{}
	}
	for e := l.all.Front(); e != nil && (len(l.m) >= maxLogins || e.Value.(*loggedIn).ended(now)); e = l.all.Front() {
		l.remove(e.Value.(*loggedIn))
	}
	name := accountName{x.account.User, x.account.Host}
	if of := l.ofOne[name]; of != nil && of.Len() >= maxLoginsOfOne {
		l.remove(of.Front().Value.(*loggedIn))
	}
	of := l.ofOne[name]
	if of == nil {
		of = list.New()
		l.ofOne[name] = of
	}
	x.since, x.at = now, now
	x.all, x.ofOne = l.all.PushBack(x), of.PushBack(x)
	l.m[x.token] = x
}

// remove forgets a login; l.mu is held.
func (l *logins) remove(x *loggedIn) {
	delete(l.m, x.token)
	l.all.Remove(x.all)
	name := accountName{x.account.User, x.account.Host}
	of := l.ofOne[name]
	of.Remove(x.ofOne)
	if of.Len() == 0 {
		delete(l.ofOne, name)
	}
}

func (x *loggedIn) ended(now time.Time) bool {
	return now.Sub(x.since) >= loginAge || now.Sub(x.at) >= loginIdle
}

// find is a login that has not ended, nil if none exists, and begins its idle time again.
func (l *logins) find(token digest, now time.Time) *loggedIn {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.m[token]
	if x == nil {
		return nil
	}
	if x.ended(now) {
		l.remove(x)
		return nil
	}
	x.at = now
	l.all.MoveToBack(x.all)
	l.ofOne[accountName{x.account.User, x.account.Host}].MoveToBack(x.ofOne)
	return x
}

func (l *logins) drop(token digest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[token]; x != nil {
		l.remove(x)
	}
}

// login is POST /v1/login.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	b, ok := s.backend(w)
	if !ok {
		return
	}
	var body struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	if !readObject(w, r, &body) {
		return
	}
	c := callerOf(r)
	c.User, c.Password = body.User, body.Password
	a, err := b.Wire.Authenticate(r.Context(), c)
	if err != nil {
		writeError(w, r, mysqlwire.ErrorOf(r.Context(), err))
		return
	}
	token := newToken()
	s.logins.add(&loggedIn{token: sha256.Sum256([]byte(token)), user: c.User, account: a}, time.Now())
	http.SetCookie(w, &http.Cookie{Name: cookieOf(r), Value: token, Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode, MaxAge: int(loginAge.Seconds())})
	writeObject(w, http.StatusOK, map[string]any{"user": a.User + "@" + a.Host, "password_expired": a.Expired, "max_age_s": int(loginAge.Seconds())})
}

// logout is POST /v1/logout. It is done also where there was no login.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if token, ok := tokenOf(r); ok {
		s.logins.drop(token)
	}
	http.SetCookie(w, &http.Cookie{Name: cookieOf(r), Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode, MaxAge: -1})
	w.WriteHeader(http.StatusNoContent)
}

// readObject reads a small body of JSON, which may be empty. False: it has answered.
func readObject(w http.ResponseWriter, r *http.Request, to any) bool {
	if t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); t != "application/json" && (t != "" || r.ContentLength != 0) {
		writeProblem(w, http.StatusUnsupportedMediaType, "the body has to be application/json")
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxLoginBody))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		writeProblem(w, http.StatusRequestEntityTooLarge, "the body is too large")
		return false
	}
	if err != nil && !errors.Is(err, io.EOF) {
		writeProblem(w, http.StatusBadRequest, "the body is no object of JSON as expected: "+err.Error())
		return false
	}
	return true
}

func writeObject(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

// hash is what is kept of a token.
func hash(token string) digest { return sha256.Sum256([]byte(token)) }
