package mysqlwire

import (
	"net/netip"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Limits bound connections and logins. They may change while the server runs; the
// zero value of a field is its default.
type Limits struct {
	// Connections is the number of connections that have logged in, 1000 if 0. One
	// more is admitted for administrators.
	Connections int
	// AddressShare is how many percent of them may come from one address (of IPv6:
	// from one network of 64 bits), 100 if 0. Loopback and unix sockets are free of
	// it: there an address does not name a client.
	AddressShare int
	// UserConnections is the number of connections of one account, 0 for no limit.
	UserConnections int
	// ConnectTimeout is the time for a login, 10 s if 0.
	ConnectTimeout time.Duration
	// SecureTransport refuses logins without TLS (3159), but on unix sockets.
	SecureTransport bool
}

// accountName names an account.
type accountName struct{ user, host string }

func (l Limits) withDefaults() Limits {
	if l.Connections == 0 {
		l.Connections = 1000
	}
	if l.AddressShare == 0 {
		l.AddressShare = 100
	}
	if l.ConnectTimeout == 0 {
		l.ConnectTimeout = 10 * time.Second
	}
	return l
}

// pending is how many connections may be in a crowd.
func (l *Limits) pending() int { return max(64, l.Connections/8) }

// perAddress is how many connections one address may have.
func (l *Limits) perAddress() int { return (l.Connections*l.AddressShare + 99) / 100 }

func (s *Server) requiresSecure() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits.SecureTransport
}

// SetLimits changes the limits. Connections that exceed the new ones stay.
func (s *Server) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l.withDefaults()
}

// visitor is a client whose connection counts among the limits.
type visitor struct {
	host     string // its address without port, "localhost" for loopback
	loopback bool
	unix     bool
	address  netip.Prefix

	// Guarded by Server.mu: whether there is a seat, of which account.
	seated  bool
	account accountName
}

// seat gives a connection that has authenticated as a its place among those that
// are logged in, or says why there is none. A connection that changes its user
// has a seat already.
func (s *Server) seat(c *conn, a *Account) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.evicted {
		return errClientGone
	}
	if err := s.seatVisitor(&c.visitor, a, c.entrance.admin); err != nil {
		return err
	}
	if c.crowd != nil {
		c.crowd.remove(c)
	}
	return nil
}

// seatVisitor is seat for any client, admin at the administrative address; s.mu is held.
func (s *Server) seatVisitor(v *visitor, a *Account, admin bool) error {
	s.unseat(v)
	account := accountName{a.User, a.Host}
	switch l := &s.limits; {
	case a.Administrator:
		if !admin && s.seated > l.Connections {
			return sqlerr.TooManyConnections()
		}
	case admin:
		return sqlerr.PrivilegeNeeded("SERVICE_CONNECTION_ADMIN")
	case s.seated >= l.Connections:
		return sqlerr.TooManyConnections()
	case !v.loopback && s.ofAddress[v.address] >= l.perAddress():
		return sqlerr.TooManyConnectionsFrom(v.host)
	case a.MaxConnections == 0 && l.UserConnections > 0 && s.ofAccount[account] >= l.UserConnections:
		return sqlerr.TooManyUserConnections(a.User)
	}
	if a.MaxConnections > 0 && !admin && s.ofAccount[account] >= a.MaxConnections {
		return sqlerr.UserLimitReached(a.User, "max_user_connections", a.MaxConnections)
	}
	if !admin {
		v.seated, v.account = true, account
		s.seated++
		s.ofAddress[v.address]++
		s.ofAccount[account]++
	}
	return nil
}

// unseat gives a seat back, if v has one; s.mu is held.
func (s *Server) unseat(v *visitor) {
	if !v.seated {
		return
	}
	v.seated = false
	s.seated--
	if s.ofAddress[v.address]--; s.ofAddress[v.address] == 0 {
		delete(s.ofAddress, v.address)
	}
	if s.ofAccount[v.account]--; s.ofAccount[v.account] == 0 {
		delete(s.ofAccount, v.account)
	}
}
