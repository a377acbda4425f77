package session

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Session is the state of one connection. It implements mysqlwire.Session and
// expr.Session.
type Session struct {
	engine   *Engine
	info     mysqlwire.ConnInfo
	process  *Process
	database string
	vars     *vars
	multi    bool

	mu       sync.Mutex // guards what functions may touch from parallel workers
	userVars map[string]userVar

	open          *transaction
	snapshot      storage.Snapshot // that an autocommit query reads, nil for none
	nextIsolation string           // SET TRANSACTION for the next transaction
	nextReadOnly  *bool
	tableLocks    map[string]mdl.Mode // of LOCK TABLES, by mdl.Key
	lost          bool                // the connection has to end after this command
	idle          *time.Timer         // ends the connection, which is idle in a transaction; nil otherwise

	temps temporaryTables

	prepared     map[uint32]*prepared
	named        map[string]*prepared
	nextPrepared uint32

	warnings     []sqlerr.Warning
	scores       []scoreFigures // of the statement
	warningCount int
	shownCount   int // of them belong to the statement before
	errorCount   int
	rowCount     int64
	foundRows    int64
	lastInsertID uint64
	// newInsertID is what LAST_INSERT_ID(expr) set during this statement.
	newInsertID *uint64

	trace    *trace // nil while the slow query log is off
	point    pointState
	template parser.Template
	key      []byte
}

type userVar struct {
	d value.Datum
	t schema.Type
}

var (
	_ mysqlwire.Session = (*Session)(nil)
	_ expr.Session      = (*Session)(nil)
	_ expr.UserLocks    = (*Session)(nil)
)

// NewSession makes the session of an authenticated connection.
func (e *Engine) NewSession(ctx context.Context, info mysqlwire.ConnInfo) (*Session, error) {
	s := &Session{engine: e, info: info, multi: info.MultiStatements}
	host := ""
	if info.RemoteAddr != nil {
		host = info.RemoteAddr.String()
	}
	s.process = &Process{ID: info.ID, User: info.User, Host: host, command: "Sleep", since: time.Now(), kill: info.Kill}
	s.init()
	if info.Interactive {
		s.vars.vals["wait_timeout"] = value.Uint(s.vars.number("interactive_timeout"))
	}
	if info.Collation != schema.CollationNone {
		s.setConnectionCollation(info.Collation)
	}
	if info.Database != "" {
		if err := s.UseDatabase(ctx, info.Database); err != nil {
			return nil, err
		}
	}
	e.processes.add(s.process)
	e.counters.connections.Add(1)
	s.note("Connect", s.info.User+"@"+s.clientHost()+" on "+s.database+" using "+transport(info))
	return s, nil
}

// init gives the session its initial state.
func (s *Session) init() {
	s.vars = newVars(s.engine.globals)
	s.vars.warn = s.warn
	s.userVars = map[string]userVar{}
	s.prepared = map[uint32]*prepared{}
	s.named = map[string]*prepared{}
	s.clearDiagnostics()
	s.rowCount, s.foundRows, s.lastInsertID = 0, 0, 0
}

func (s *Session) clearDiagnostics() {
	s.warnings, s.warningCount, s.errorCount, s.shownCount = s.warnings[:0], 0, 0, 0
}

// beginDiagnostics starts those of a statement; keep says that it shows the
// ones of the statement before, which are not its own.
func (s *Session) beginDiagnostics(keep bool) {
	s.scores = nil
	if !keep {
		s.clearDiagnostics()
		return
	}
	s.shownCount = s.warningCount
}

// warn adds to the diagnostics. It may be called by parallel workers.
func (s *Session) warn(w sqlerr.Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warningCount++
	if w.Level == sqlerr.LevelError {
		s.errorCount++
	}
	if uint64(len(s.warnings)) < s.vars.number("max_error_count") {
		s.warnings = append(s.warnings, w)
	}
}

// UseDatabase implements mysqlwire.Session.
func (s *Session) UseDatabase(_ context.Context, name string) error {
	if name == "" {
		return sqlerr.NoDatabaseSelected()
	}
	d, ok := s.engine.catalog.Snapshot().Database(name)
	if !ok {
		if !s.engine.info.IsVirtual(name) {
			return sqlerr.UnknownDatabase(name)
		}
		s.database = strings.ToLower(name)
	} else {
		s.database = d.Name
	}
	s.process.setDB(s.database)
	return nil
}

// Reset implements mysqlwire.Session: COM_RESET_CONNECTION.
func (s *Session) Reset(context.Context) error {
	s.rollback()
	s.dropAllTemporary()
	s.unlockSession()
	s.ReleaseAllLocks()
	s.init()
	if s.info.Collation != schema.CollationNone {
		s.setConnectionCollation(s.info.Collation)
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
	s.rollback()
	s.dropAllTemporary()
	s.unlockSession()
	s.ReleaseAllLocks()
	s.engine.processes.remove(s.process.ID)
}

// Status implements mysqlwire.Session.
func (s *Session) Status() mysqlwire.Status {
	var st mysqlwire.Status
	if s.open != nil {
		st |= mysqlwire.StatusInTransaction
		if s.open.readOnly {
			st |= mysqlwire.StatusInReadOnlyTxn
		}
	}
	if s.vars.autocommit {
		st |= mysqlwire.StatusAutocommit
	}
	if s.vars.mode&types.ModeNoBackslashEscapes != 0 {
		st |= mysqlwire.StatusNoBackslashEscapes
	}
	return st
}

// MaxAllowedPacket implements mysqlwire.Session.
func (s *Session) MaxAllowedPacket() int { return int(s.vars.number("max_allowed_packet")) }

// WaitTimeout implements mysqlwire.Session.
func (s *Session) WaitTimeout() int { return int(s.vars.number("wait_timeout")) }

// NetWriteTimeout implements mysqlwire.Session.
func (s *Session) NetWriteTimeout() int { return int(s.vars.number("net_write_timeout")) }

// Statistics implements mysqlwire.Session.
func (s *Session) Statistics() string {
	c := &s.engine.counters
	up := time.Since(s.engine.started).Seconds()
	q := c.questions.Load()
	return fmt.Sprintf("Uptime: %.0f  Threads: %d  Questions: %d  Slow queries: %d  Opens: %d  Queries per second avg: %.3f",
		up, s.engine.processes.Len(), q, c.slow.Load(), c.connections.Load(), float64(q)/max(up, 1))
}

// KillConnection implements mysqlwire.Session.
func (s *Session) KillConnection(_ context.Context, id uint64) error { return s.kill(id, false) }

func (s *Session) kill(id uint64, queryOnly bool) error {
	p := s.engine.processes.Get(id)
	if p == nil {
		return sqlerr.NoSuchThread(id)
	}
	if queryOnly {
		p.KillQuery()
	} else {
		p.KillConnection()
	}
	if p == s.process {
		return sqlerr.QueryInterrupted()
	}
	return nil
}

// The methods below implement expr.Session.

// ConnectionID implements expr.Session.
func (s *Session) ConnectionID() uint64 { return s.process.ID }

// User implements expr.Session.
func (s *Session) User() string { return s.info.User + "@" + s.clientHost() }

// CurrentUser implements expr.Session.
func (s *Session) CurrentUser() string { return s.info.Account.User + "@" + s.info.Account.Host }

func (s *Session) clientHost() string {
	if s.info.RemoteAddr == nil {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(s.info.RemoteAddr.String())
	if err != nil {
		return "localhost"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return "localhost"
	}
	return host
}

// Database implements expr.Session and mysqlwire.Session.
func (s *Session) Database() string { return s.database }

// LastInsertID implements expr.Session.
func (s *Session) LastInsertID() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newInsertID != nil {
		return *s.newInsertID
	}
	return s.lastInsertID
}

// SetLastInsertID implements expr.Session: LAST_INSERT_ID(expr).
func (s *Session) SetLastInsertID(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newInsertID = &id
}

// RowCount implements expr.Session.
func (s *Session) RowCount() int64 { return s.rowCount }

// FoundRows implements expr.Session.
func (s *Session) FoundRows() int64 { return s.foundRows }

// UserVar implements expr.Session.
func (s *Session) UserVar(name string) (value.Datum, schema.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.userVars[strings.ToLower(name)]
	if !ok {
		return value.Null, types.Null
	}
	return v.d, v.t
}

// SetUserVar implements expr.Session.
func (s *Session) SetUserVar(name string, d value.Datum, t schema.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.userVars[strings.ToLower(name)] = userVar{d: d.Clone(), t: t}
}

// SysVar implements expr.Session.
func (s *Session) SysVar(scope, name string) (value.Datum, schema.Type, error) {
	own := strings.ToLower(name)
	if scope == "global" {
		own = "" // those below have no global value
	}
	switch own {
	case "last_insert_id", "identity":
		return value.Uint(s.LastInsertID()), types.UBigInt, nil
	case "warning_count":
		return value.Int(int64(s.warningCount)), types.BigInt, nil
	case "error_count":
		return value.Int(int64(s.errorCount)), types.BigInt, nil
	case "pseudo_thread_id":
		return value.Uint(s.process.ID), types.UBigInt, nil
	case "timestamp":
		return value.Float(float64(s.now().UnixMicro()) / 1e6), types.Double, nil
	}
	d, def, err := s.vars.get(scope, name)
	if err != nil {
		return value.Null, types.Null, err
	}
	return d, def.Type, nil
}

// now is the time of a statement that starts.
func (s *Session) now() time.Time {
	if !s.vars.fixedTime.IsZero() {
		return s.vars.fixedTime
	}
	return time.Now()
}

// SetMultiStatements implements mysqlwire.MultiStatementer.
func (s *Session) SetMultiStatements(on bool) { s.multi = on }
