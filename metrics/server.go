package metrics

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config bounds what a server keeps.
type Config struct {
	// Off is performance_schema = OFF: only the counters of status variables are kept.
	Off bool
	// Digests is performance_schema_digests_size.
	Digests int
	// Accounts is how many accounts have numbers of their own; more share those of the
	// account without a name.
	Accounts int
}

// Server has the numbers of a server. Its methods may be called concurrently.
type Server struct {
	Digests *Digests
	Errors  Errors
	Uses    Uses
	Heat    Heat
	// Background is the session of what the server does by itself.
	Background *Session
	// Connections is what becomes of clients outside of statements.
	Connections   Connections
	FlushCommands atomic.Int64

	off         bool
	maxAccounts int
	mu          sync.Mutex
	classes     [NumErrorClasses]atomic.Int64
	sessions    map[uint64]*Session
	accounts    map[accountKey]*account
	past        sums // of accounts that are forgotten
	flushed     time.Time
	most        int       // connections at a time
	mostAt      time.Time // when there were so many
}

type accountKey struct{ user, host string }

// account has the numbers of sessions that have ended.
type account struct {
	accountKey
	total    int64
	sessions map[uint64]*Session // that are open
	sums     sums
}

// NewServer makes the numbers of a server that begins.
func NewServer(cfg Config) *Server {
	if cfg.Digests == 0 {
		cfg.Digests = 10_000
	}
	if cfg.Accounts == 0 {
		cfg.Accounts = 10_000
	}
	s := &Server{Digests: newDigests(cfg.Digests), maxAccounts: cfg.Accounts, off: cfg.Off, sessions: map[uint64]*Session{},
		accounts: map[accountKey]*account{}, flushed: time.Now()}
	s.Background = &Session{server: s}
	s.Heat.off = cfg.Off
	return s
}

// Open begins the numbers of a session. user and host are as the client gave them,
// host without a port.
func (s *Server) Open(id uint64, user, host string) *Session {
	x := &Session{ID: id, User: user, Host: host, server: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := accountKey{user, host}
	a := s.accounts[k]
	if a == nil {
		if len(s.accounts) >= s.maxAccounts {
			k = accountKey{}
		}
		if a = s.accounts[k]; a == nil {
			a = &account{accountKey: k, sessions: map[uint64]*Session{}}
			s.accounts[k] = a
		}
	}
	a.sessions[id] = x
	a.total++
	x.account = a
	s.sessions[id] = x
	if n := len(s.sessions); n > s.most {
		s.most, s.mostAt = n, time.Now()
	}
	return x
}

func (s *Server) remove(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[x.ID] != x {
		return
	}
	delete(s.sessions, x.ID)
	delete(x.account.sessions, x.ID)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.account.sums.merge(&x.sums)
	x.sums = sums{}
}

// Session is the session of a connection; nil if none exists.
func (s *Server) Session(id uint64) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// Sessions are the sessions that are open, by id.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b *Session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Busy counts the open sessions that have ended statements since the last call, and these
// statements. Of a session that is new, all count.
func (s *Server) Busy() (sessions int, statements uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		x.mu.Lock()
		n := x.events - x.watched
		x.watched = x.events
		x.mu.Unlock()
		if n > 0 {
			sessions++
			statements += n
		}
	}
	return sessions, statements
}

// Account is a user and the host from which it connects.
type Account struct {
	User, Host  string
	Open, Total int64 // sessions
	key         *account
}

// Accounts are the accounts that have had sessions, by name and host.
func (s *Server) Accounts() []Account {
	s.mu.Lock()
	out := make([]Account, 0, len(s.accounts))
	for _, a := range s.accounts {
		out = append(out, Account{User: a.user, Host: a.host, Open: int64(len(a.sessions)), Total: a.total, key: a})
	}
	s.mu.Unlock()
	slices.SortFunc(out, func(a, b Account) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Host, b.Host))
	})
	return out
}

// Of are the sums over the sessions of some accounts: those that are open and those
// that have ended.
func (s *Server) Of(list ...Account) *Numbers {
	out := &Numbers{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		a := list[i].key
		out.sums.merge(&a.sums)
		for _, x := range a.sessions {
			x.mu.Lock()
			out.sums.merge(&x.sums)
			x.mu.Unlock()
		}
	}
	return out
}

// Off reports performance_schema = OFF.
func (s *Server) Off() bool { return s.off }

// Global are the sums over all sessions since the server began.
func (s *Server) Global() *Numbers {
	out := &Numbers{}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.sums.merge(&s.past)
	for _, a := range s.accounts {
		out.sums.merge(&a.sums)
	}
	for _, x := range s.sessions {
		x.mu.Lock()
		out.sums.merge(&x.sums)
		x.mu.Unlock()
	}
	s.Background.mu.Lock()
	defer s.Background.mu.Unlock()
	out.sums.merge(&s.Background.sums)
	return out
}

// Failed is how many statements have ended with an error of a class.
func (s *Server) Failed(c ErrorClass) int64 { return s.classes[c].Load() }

// Prepared is how many prepared statements the sessions have.
func (s *Server) Prepared() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		n += x.Prepared.Load()
	}
	return n
}

// MaxUsed is the most connections that there were at a time, and when; since the
// start or FlushStatus.
func (s *Server) MaxUsed() (int, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, s.mostAt
}

// Flushed is when the server began, or FlushStatus was last called.
func (s *Server) Flushed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flushed
}

// FlushStatus is FLUSH STATUS: sessions begin again from zero. What they had counted
// stays in the sums of the server.
func (s *Server) FlushStatus() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		x.mu.Lock()
		x.account.sums.merge(&x.sums)
		x.sums = sums{}
		x.mu.Unlock()
	}
	s.flushed = time.Now()
	s.most, s.mostAt = len(s.sessions), s.flushed
}

// ResetStatements forgets what statements have done, for all accounts: TRUNCATE of
// the summaries of performance_schema. Counters of status variables stay.
func (s *Server) ResetStatements() {
	s.mu.Lock()
	defer s.mu.Unlock()
	forget := func(x *sums) {
		for _, c := range x.commands {
			if c != nil {
				c.totals, c.times = Totals{}, Histogram{}
			}
		}
	}
	forget(&s.past)
	for _, a := range s.accounts {
		forget(&a.sums)
	}
	for _, x := range s.sessions {
		x.mu.Lock()
		forget(&x.sums)
		x.mu.Unlock()
	}
	s.Background.mu.Lock()
	defer s.Background.mu.Unlock()
	forget(&s.Background.sums)
}

// ResetHistory forgets the last statements of all sessions.
func (s *Server) ResetHistory() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		x.mu.Lock()
		x.forgetHistory()
		x.mu.Unlock()
	}
}

// ResetAccounts forgets accounts without open sessions, and of the others the sessions
// that have ended. The sums of the server stay.
func (s *Server) ResetAccounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, a := range s.accounts {
		s.past.merge(&a.sums)
		a.sums, a.total = sums{}, int64(len(a.sessions))
		if len(a.sessions) == 0 {
			delete(s.accounts, k)
		}
	}
}
