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
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Session is one connection: what the wire calls. It implements
// mysqlwire.Session. Its statements are run by Statement.
type Session struct {
	*Connection
	st    *Statement
	multi bool
	idle  *time.Timer // ends the connection, which is idle in a transaction; nil otherwise

	prepared     map[uint32]*prepared
	nextPrepared uint32
}

// Connection is what the statements of one connection share.
type Connection struct {
	shared   *Shared
	engine   *engine.Engine
	info     mysqlwire.ConnInfo
	process  *engine.Process
	vars     *sysvar.Values
	database string
	tx       *transactions
	temps    *temporaryTables
	diag     *diagnostics
	fn       *functions
	named    map[string]*prepared // PREPARE name FROM …
	// preparedCount is how many statements the client has prepared.
	preparedCount func() int
}

// Statement runs the statements of a connection, one after the other.
type Statement struct {
	*Connection
	trace    *trace // nil while the slow query log is off
	point    pointState
	template parser.Template
	key      []byte
}

// diagnostics are the errors, warnings and notes of a statement.
type diagnostics struct {
	vars *sysvar.Values

	diagMu       sync.Mutex // warnings may come from parallel workers
	warnings     []sqlerr.Warning
	warningCount int
	shownCount   int // of them belong to the statement before
	errorCount   int
}

// functions is what SQL functions see of a connection and change in it. It
// implements expr.Session.
type functions struct {
	*Connection
	snapshot storage.Snapshot // that an autocommit query reads, nil for none

	mu           sync.Mutex // guards what functions may touch from parallel workers
	userVars     map[string]userVar
	lastInsertID uint64
	// newInsertID is what LAST_INSERT_ID(expr) set during this statement.
	newInsertID *uint64
	rowCount    int64
	foundRows   int64
	scores      []scoreFigures // of the statement
}

// transactions is the transaction of a connection with what comes before and
// beside it: characteristics, metadata locks, LOCK TABLES.
type transactions struct {
	engine  *engine.Engine
	vars    *sysvar.Values
	process *engine.Process
	temps   *temporaryTables

	open          *transaction
	nextIsolation string // SET TRANSACTION for the next transaction
	nextReadOnly  *bool
	tableLocks    map[string]mdl.Mode // of LOCK TABLES, by mdl.Key
	lost          bool                // the connection has to end after this command
	// timed: waits for metadata locks add to waited.
	timed  bool
	waited time.Duration
}

type userVar struct {
	d value.Datum
	t schema.Type
}

var (
	_ mysqlwire.Session = (*Session)(nil)
	_ expr.Session      = (*functions)(nil)
	_ expr.UserLocks    = (*functions)(nil)
)

// newConnection makes the state of a connection, without variables.
func newConnection(sh *Shared, info mysqlwire.ConnInfo) *Connection {
	host := ""
	if info.RemoteAddr != nil {
		host = info.RemoteAddr.String()
	}
	c := &Connection{shared: sh, engine: sh.engine, info: info, diag: &diagnostics{}, temps: &temporaryTables{engine: sh.engine}}
	c.process = &engine.Process{ID: info.ID, User: info.User, Host: host, Command: "Sleep", Since: time.Now(), Kill: info.Kill}
	c.tx = &transactions{engine: sh.engine, process: c.process, temps: c.temps}
	c.fn = &functions{Connection: c}
	return c
}

// NewSession makes the session of an authenticated connection.
func (sh *Shared) NewSession(ctx context.Context, info mysqlwire.ConnInfo) (*Session, error) {
	e := sh.engine
	s := &Session{Connection: newConnection(sh, info), multi: info.MultiStatements}
	s.st = &Statement{Connection: s.Connection}
	s.preparedCount = func() int { return len(s.prepared) + len(s.named) }
	s.init()
	if info.Interactive {
		s.vars.Override(map[string]value.Datum{"wait_timeout": value.Uint(s.vars.Number("interactive_timeout"))})
	}
	if info.Collation != schema.CollationNone {
		s.vars.SetConnectionCollation(info.Collation)
	}
	if info.Database != "" {
		if err := s.UseDatabase(ctx, info.Database); err != nil {
			return nil, err
		}
	}
	e.Processes.Add(s.process)
	e.Counters.Connections.Add(1)
	s.note("Connect", s.info.User+"@"+s.clientHost()+" on "+s.database+" using "+transport(info))
	return s, nil
}

// init gives the session its initial state.
func (s *Session) init() {
	s.vars = sysvar.NewValues(s.engine.Globals)
	s.vars.Warn, s.tx.vars, s.diag.vars = s.diag.warn, s.vars, s.vars
	s.fn.userVars = map[string]userVar{}
	s.prepared = map[uint32]*prepared{}
	s.named = map[string]*prepared{}
	s.diag.clearDiagnostics()
	s.fn.rowCount, s.fn.foundRows, s.fn.lastInsertID = 0, 0, 0
}

func (d *diagnostics) clearDiagnostics() {
	d.warnings, d.warningCount, d.errorCount, d.shownCount = d.warnings[:0], 0, 0, 0
}

// beginDiagnostics starts those of a statement; keep says that it shows the
// ones of the statement before, which are not its own.
func (d *diagnostics) beginDiagnostics(keep bool) {
	if !keep {
		d.clearDiagnostics()
		return
	}
	d.shownCount = d.warningCount
}

// warn adds to the diagnostics. It may be called by parallel workers.
func (d *diagnostics) warn(w sqlerr.Warning) {
	d.diagMu.Lock()
	defer d.diagMu.Unlock()
	d.warningCount++
	if w.Level == sqlerr.LevelError {
		d.errorCount++
	}
	if uint64(len(d.warnings)) < d.vars.Number("max_error_count") {
		d.warnings = append(d.warnings, w)
	}
}

// UseDatabase implements mysqlwire.Session.
func (cn *Connection) UseDatabase(_ context.Context, name string) error {
	if name == "" {
		return sqlerr.NoDatabaseSelected()
	}
	d, ok := cn.engine.Catalog.Snapshot().Database(name)
	if !ok {
		if !cn.shared.info.IsVirtual(name) {
			return sqlerr.UnknownDatabase(name)
		}
		cn.database = strings.ToLower(name)
	} else {
		cn.database = d.Name
	}
	cn.process.SetDB(cn.database)
	return nil
}

// Reset implements mysqlwire.Session: COM_RESET_CONNECTION.
func (s *Session) Reset(context.Context) error {
	s.tx.rollback()
	s.temps.dropAllTemporary()
	s.tx.unlockSession()
	s.fn.ReleaseAllLocks()
	s.init()
	if s.info.Collation != schema.CollationNone {
		s.vars.SetConnectionCollation(s.info.Collation)
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
	s.tx.rollback()
	s.temps.dropAllTemporary()
	s.tx.unlockSession()
	s.fn.ReleaseAllLocks()
	s.engine.Processes.Remove(s.process.ID)
}

// Status implements mysqlwire.Session.
func (s *Session) Status() mysqlwire.Status {
	var st mysqlwire.Status
	if s.tx.open != nil {
		st |= mysqlwire.StatusInTransaction
		if s.tx.open.readOnly {
			st |= mysqlwire.StatusInReadOnlyTxn
		}
	}
	if s.vars.Autocommit {
		st |= mysqlwire.StatusAutocommit
	}
	if s.vars.Mode&types.ModeNoBackslashEscapes != 0 {
		st |= mysqlwire.StatusNoBackslashEscapes
	}
	return st
}

// MaxAllowedPacket implements mysqlwire.Session.
func (s *Session) MaxAllowedPacket() int { return int(s.vars.Number("max_allowed_packet")) }

// WaitTimeout implements mysqlwire.Session.
func (s *Session) WaitTimeout() int { return int(s.vars.Number("wait_timeout")) }

// NetWriteTimeout implements mysqlwire.Session.
func (s *Session) NetWriteTimeout() int { return int(s.vars.Number("net_write_timeout")) }

// Statistics implements mysqlwire.Session.
func (s *Session) Statistics() string {
	c := &s.engine.Counters
	up := time.Since(s.engine.Started).Seconds()
	q := c.Questions.Load()
	return fmt.Sprintf("Uptime: %.0f  Threads: %d  Questions: %d  Slow queries: %d  Opens: %d  Queries per second avg: %.3f",
		up, s.engine.Processes.Len(), q, c.Slow.Load(), c.Connections.Load(), float64(q)/max(up, 1))
}

// KillConnection implements mysqlwire.Session.
func (s *Session) KillConnection(_ context.Context, id uint64) error { return s.kill(id, false) }

func (cn *Connection) kill(id uint64, queryOnly bool) error {
	p := cn.engine.Processes.Get(id)
	if p == nil {
		if cn.engine.Jobs.Kill(id) {
			return nil
		}
		return sqlerr.NoSuchThread(id)
	}
	if queryOnly {
		p.KillQuery()
	} else {
		p.KillConnection()
	}
	if p == cn.process {
		return sqlerr.QueryInterrupted()
	}
	return nil
}

// The methods below implement expr.Session.

// ConnectionID implements expr.Session.
func (f *functions) ConnectionID() uint64 { return f.process.ID }

// User implements expr.Session.
func (f *functions) User() string { return f.info.User + "@" + f.clientHost() }

// CurrentUser implements expr.Session.
func (f *functions) CurrentUser() string { return f.info.Account.User + "@" + f.info.Account.Host }

func (cn *Connection) clientHost() string {
	if cn.info.RemoteAddr == nil {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(cn.info.RemoteAddr.String())
	if err != nil {
		return "localhost"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return "localhost"
	}
	return host
}

// Database implements expr.Session and mysqlwire.Session.
func (f *functions) Database() string { return f.database }

// LastInsertID implements expr.Session.
func (f *functions) LastInsertID() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newInsertID != nil {
		return *f.newInsertID
	}
	return f.lastInsertID
}

// SetLastInsertID implements expr.Session: LAST_INSERT_ID(expr).
func (f *functions) SetLastInsertID(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newInsertID = &id
}

// RowCount implements expr.Session.
func (f *functions) RowCount() int64 { return f.rowCount }

// FoundRows implements expr.Session.
func (f *functions) FoundRows() int64 { return f.foundRows }

// UserVar implements expr.Session.
func (f *functions) UserVar(name string) (value.Datum, schema.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.userVars[strings.ToLower(name)]
	if !ok {
		return value.Null, types.Null
	}
	return v.d, v.t
}

// SetUserVar implements expr.Session.
func (f *functions) SetUserVar(name string, d value.Datum, t schema.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.userVars[strings.ToLower(name)] = userVar{d: d.Clone(), t: t}
}

// SysVar implements expr.Session.
func (f *functions) SysVar(scope, name string) (value.Datum, schema.Type, error) {
	own := strings.ToLower(name)
	if scope == "global" {
		own = "" // those below have no global value
	}
	switch own {
	case "last_insert_id", "identity":
		return value.Uint(f.LastInsertID()), types.UBigInt, nil
	case "warning_count":
		return value.Int(int64(f.diag.warningCount)), types.BigInt, nil
	case "error_count":
		return value.Int(int64(f.diag.errorCount)), types.BigInt, nil
	case "pseudo_thread_id":
		return value.Uint(f.process.ID), types.UBigInt, nil
	case "timestamp":
		return value.Float(float64(f.now().UnixMicro()) / 1e6), types.Double, nil
	}
	d, def, err := f.vars.Get(scope, name)
	if err != nil {
		return value.Null, types.Null, err
	}
	return d, def.Type, nil
}

// now is the time of a statement that starts.
func (cn *Connection) now() time.Time {
	if !cn.vars.FixedTime.IsZero() {
		return cn.vars.FixedTime
	}
	return time.Now()
}

// SetMultiStatements implements mysqlwire.MultiStatementer.
func (s *Session) SetMultiStatements(on bool) { s.multi = on }
