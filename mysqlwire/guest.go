package mysqlwire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Caller is a client of another protocol, over which its password comes in clear text.
type Caller struct {
	Addr           net.Addr
	TLS            *tls.ConnectionState // nil without TLS
	User, Password string
	// Protocol is how the caller is connected, such as "HTTP".
	Protocol string
}

// Authenticate checks the identity of a caller, as a handshake does: with the same
// accounts, delays and counts of failures. It takes no seat. An account whose password has
// expired is let in, since callers can change it. The error is a *sqlerr.Error, or that of
// ctx: 1045, 3118, 3159, 3955, and 1040 while too many other logins wait.
func (s *Server) Authenticate(ctx context.Context, c Caller) (Account, error) {
	acct, reason, err := s.identify(ctx, &c)
	if err != nil {
		s.count(ConnAttempt)
		s.refuse(ctx, &ConnInfo{User: c.User, Account: acct, RemoteAddr: c.Addr, TLS: c.TLS, Protocol: c.Protocol}, reason, err)
		return Account{}, err
	}
	return acct, nil
}

// refuse counts a caller who was not let in, and makes it known. Reason is as in
// RefusedLogin.
func (s *Server) refuse(ctx context.Context, info *ConnInfo, reason string, err error) {
	r := RefusedLogin{Info: *info, Reason: reason}
	switch e, ok := errors.AsType[*sqlerr.Error](err); {
	case ctx.Err() != nil:
		r.Reason = "the client has gone"
		s.count(ConnUnfinished)
	case s.draining.Load():
		r.Err = errorOf(ctx, err)
	case ok && sqlerr.IsTooManyConnections(err):
		r.Err = e
		s.count(ConnFull)
	default:
		r.Err = errorOf(ctx, err)
		s.count(ConnDenied)
	}
	if s.cfg.LoginRefused != nil {
		s.cfg.LoginRefused(r)
	}
}

// identify is Authenticate without its consequences. After an error, the account is the one
// that was asked for, if it is known, and the reason says more than the error.
func (s *Server) identify(ctx context.Context, c *Caller) (acct Account, reason string, err error) {
	v := visitorOf(c.Addr)
	if len(c.User) > maxUserLen {
		return Account{}, "unknown user", sqlerr.AccessDenied(c.User[:maxUserLen], v.host, c.Password != "")
	}
	if c.TLS == nil && !v.unix && s.requiresSecure() {
		return Account{}, "", sqlerr.InsecureTransport()
	}
	acct, known := s.backend.Account(c.User, v.host)
	asked := acct
	if acct.Open && v.loopback {
		return acct, "", nil
	}
	reason = v.refusalOf(&acct)
	if !known {
		reason = "unknown user"
	}
	if s.fake[acct.Plugin] == "" {
		acct.Plugin = s.cfg.DefaultPlugin
	}
	if reason != "" {
		acct.AuthString, acct.SecondAuth = s.fake[acct.Plugin], ""
	}
	key := s.failed.key(v.address, c.User)
	right, err := s.rightPassword(ctx, &v, &acct, c.Password, s.failed.delay(key))
	if err != nil {
		return asked, reason, err
	}
	if right = right && reason == ""; reason == "" {
		if !right {
			reason = "wrong password"
		}
		if err = s.backend.LoginTried(&acct, v.host, right); err != nil {
			reason = "account is blocked"
		}
	}
	if right && err == nil {
		s.failed.forget(key)
		if reason, err = acct.admits(c.User, v.host, c.TLS, true); err == nil {
			return acct, "", nil
		}
	} else {
		s.failed.add(key)
	}
	if err == nil {
		err = sqlerr.AccessDenied(c.User, v.host, c.Password != "")
	}
	if reason != "" {
		s.log.warn("access denied", "user", c.User, "host", v.host, "reason", reason)
	}
	return asked, reason, err
}

// rightPassword reports whether a password is that of an account, after a delay. What
// needs no wait takes no place among the logins that do.
func (s *Server) rightPassword(ctx context.Context, v *visitor, a *Account, password string, delay time.Duration) (bool, error) {
	stored := []string{a.AuthString}
	if a.SecondAuth != "" && password != "" {
		stored = append(stored, a.SecondAuth)
	}
	quick := func(st string) bool {
		switch {
		case a.Plugin == PluginNative:
			return VerifyNative(st, password)
		case st == "" || password == "":
			return st == password
		}
		digest, cached := s.cache.get(st)
		return cached && digest == sha2Digest(password)
	}
	right := slices.ContainsFunc(stored, quick)
	costly := !right && a.Plugin != PluginNative && password != "" && len(password) <= maxPasswordLen
	if delay == 0 && !costly {
		return right, nil
	}
	if !s.queue(v) {
		return false, sqlerr.TooManyConnections()
	}
	defer s.unqueue(v)
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-s.ctx.Done():
			return false, sqlerr.ServerShutdown()
		}
	}
	if !costly {
		return right, nil
	}
	err := s.turns.run(ctx, func() {
		for i, st := range stored {
			if st == "" { // costs what another account does
				stored[i] = s.fake[a.Plugin]
			}
		}
		right = slices.ContainsFunc(stored, func(st string) bool { return s.cache.verify(st, password) })
	})
	if err != nil {
		return false, context.Cause(ctx)
	}
	return right, nil
}

// waiters are callers whose login waits, by address.
type waiters struct {
	n  int
	of map[netip.Prefix]int
}

// addressWaiters is the part of the places that one address may take, unless it is loopback.
const addressWaiters = 4

// queue takes a place among the logins that wait; false: all are taken.
func (s *Server) queue(v *visitor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, most := &s.waiting, s.limits.pending()
	if w.n >= most || !v.loopback && w.of[v.address] >= most/addressWaiters {
		return false
	}
	if w.of == nil {
		w.of = map[netip.Prefix]int{}
	}
	w.n++
	w.of[v.address]++
	return true
}

func (s *Server) unqueue(v *visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.n--
	if s.waiting.of[v.address]--; s.waiting.of[v.address] == 0 {
		delete(s.waiting.of, v.address)
	}
}

// Renew is what an account is now that c has authenticated as earlier. It is 1045 if
// another account serves c meanwhile, or if one of its passwords has changed, and else what
// Authenticate would refuse.
func (s *Server) Renew(c Caller, was *Account) (Account, error) {
	v := visitorOf(c.Addr)
	if c.TLS == nil && !v.unix && s.requiresSecure() {
		return Account{}, sqlerr.InsecureTransport()
	}
	a, known := s.backend.Account(c.User, v.host)
	if a.Open && v.loopback {
		return a, nil
	}
	if !known || a.User != was.User || a.Host != was.Host || a.Plugin != was.Plugin || a.AuthString != was.AuthString || a.SecondAuth != was.SecondAuth || v.refusalOf(&a) != "" {
		return Account{}, sqlerr.AccessDenied(c.User, v.host, true)
	}
	_, err := a.admits(c.User, v.host, c.TLS, true)
	return a, err
}

// Visit is what a guest comes with.
type Visit struct {
	Caller // authenticated as Account; Password is not used
	Account
	Database   string // initial database, may be empty
	Attributes [][2]string
	// Kill is called when a statement ends the guest's connection, from anywhere.
	Kill func()
}

// Guest is the session of a client of another protocol. It counts as a connection. Its
// methods, but for Context, are called by one goroutine at a time.
type Guest struct {
	Session
	ID  uint64 // of the connection
	srv *Server
	visitor
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Enter gives an authenticated caller a seat and a session. Errors: 1040, 1053, 1203, 1226,
// and those of Backend.Connect.
func (s *Server) Enter(ctx context.Context, v Visit) (*Guest, error) {
	g := &Guest{ID: s.lastID.Add(1), srv: s, visitor: visitorOf(v.Addr)}
	g.ctx, g.cancel = context.WithCancelCause(s.ctx)
	s.count(ConnAttempt)
	info := ConnInfo{
		ID: g.ID, User: v.Caller.User, Account: v.Account, RemoteAddr: v.Addr, TLS: v.TLS, Protocol: v.Protocol,
		Database: v.Database, Collation: schema.CollationUTF8MB40900AICI, Attributes: v.Attributes,
		LocalFiles: !s.cfg.DisableLocalInfile,
		Kill: func() {
			g.cancel(sqlerr.QueryInterrupted())
			v.Kill()
		},
	}
	if err := s.admit(g, &v.Account); err != nil {
		g.cancel(err)
		s.refuse(ctx, &info, "", err)
		return nil, err
	}
	sess, err := s.backend.Connect(ctx, info)
	if err != nil {
		g.leave()
		s.refuse(ctx, &info, "", err)
		return nil, err
	}
	g.Session = sess
	return g, nil
}

func (s *Server) admit(g *Guest, a *Account) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return sqlerr.ServerShutdown()
	}
	if err := s.seatVisitor(&g.visitor, a, false); err != nil {
		return err
	}
	s.guests[g] = struct{}{}
	return nil
}

// Context ends when the guest has to leave, with the error for the client as its cause.
func (g *Guest) Context() context.Context { return g.ctx }

// Close ends the session, and gives its seat back.
func (g *Guest) Close() {
	defer g.leave()
	g.Session.Close()
}

func (g *Guest) leave() {
	s := g.srv
	g.cancel(errClientGone)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.guests, g)
	s.unseat(&g.visitor)
	close(s.changed)
	s.changed = make(chan struct{})
}

// ErrorOf is the error for a client whose statement ended with err; ctx is that of the
// statement. It is what a connection of this protocol would be sent.
func ErrorOf(ctx context.Context, err error) *sqlerr.Error { return errorOf(ctx, err) }
