package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

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

// Open makes the state of a new connection and what runs its statements. The
// list of processes does not have it yet.
func Open(sh *Shared, info mysqlwire.ConnInfo) *Statement {
	host := ""
	if info.RemoteAddr != nil {
		host = info.RemoteAddr.String()
	}
	c := &Connection{shared: sh, engine: sh.engine, info: info, diag: &diagnostics{}, temps: &temporaryTables{engine: sh.engine}}
	c.process = &engine.Process{ID: info.ID, User: info.User, Host: host, Command: "Sleep", Since: time.Now(), Kill: info.Kill}
	c.tx = &transactions{engine: sh.engine, process: c.process, temps: c.temps}
	s := &Statement{Connection: c}
	c.fn = &functions{Connection: c, figures: &s.figures}
	c.preparedCount = func() int { return len(c.named) }
	c.initialize()
	return s
}

// initialize gives the connection the state in which it begins.
func (cn *Connection) initialize() {
	cn.vars = sysvar.NewValues(cn.engine.Globals)
	cn.vars.Warn, cn.tx.vars, cn.diag.vars = cn.diag.warn, cn.vars, cn.vars
	cn.fn.userVars = map[string]userVar{}
	cn.named = map[string]*prepared{}
	cn.diag.clearDiagnostics()
	cn.fn.rowCount, cn.fn.foundRows, cn.fn.lastInsertID = 0, 0, 0
}

// Reset gives up all that the connection holds and its state:
// COM_RESET_CONNECTION.
func (cn *Connection) Reset() {
	cn.End()
	cn.initialize()
}

// End gives up what the connection holds: its transaction, temporary tables and
// locks.
func (cn *Connection) End() {
	cn.tx.rollback()
	cn.temps.dropAllTemporary()
	cn.tx.unlockSession()
	cn.fn.ReleaseAllLocks()
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

// now is the time of a statement that starts.
func (cn *Connection) now() time.Time {
	if !cn.vars.FixedTime.IsZero() {
		return cn.vars.FixedTime
	}
	return time.Now()
}

func (cn *Connection) typesEnv() types.Env {
	return types.Env{Mode: cn.vars.Mode, Loc: cn.vars.Location, Now: cn.now(), Warn: cn.diag.warn,
		MaxAttributes: cn.vars.MaxAttributes, MaxAttributeSize: cn.vars.MaxAttributeSize}
}

// exprCtx is the evaluation state of a statement.
func (cn *Connection) exprCtx(ctx context.Context, vals []value.Datum) *expr.Ctx {
	return &expr.Ctx{Env: cn.typesEnv(), Context: ctx, Params: vals, Session: cn.fn}
}

func (cn *Connection) hostAndAddress() (host, ip string) {
	host = cn.clientHost()
	if cn.info.RemoteAddr != nil {
		if h, _, err := net.SplitHostPort(cn.info.RemoteAddr.String()); err == nil {
			ip = h
		}
	}
	if host == ip {
		host = ""
	}
	return host, ip
}

// note is for the general log.
func (cn *Connection) note(command, text string) {
	if !cn.engine.Logs.GeneralOn.Load() || cn.vars.Number("sql_log_off") != 0 {
		return
	}
	host, ip := cn.hostAndAddress()
	if host == "" {
		host = ip
	}
	cn.engine.Logs.Note(querylog.Command{At: time.Now(), ID: cn.process.ID, User: cn.info.User, Host: host, Name: command, Text: text})
}

// finish turns the outcome of a statement into the session's diagnostics and
// the error that the client gets.
func (cn *Connection) finish(err error) error {
	if err == nil {
		if cn.tx.lost {
			cn.info.Kill()
		}
		return nil
	}
	guard.Log(cn.engine.Log, fmt.Sprint("a worker of a statement of connection ", cn.process.ID), err)
	timedOut := errors.Is(err, storage.ErrLockTimeout)
	err = translate(err)
	cn.fn.applyInsertID() // it stays when the statement fails
	cn.engine.Counters.Errors.Add(1)
	cn.fn.rowCount = -1
	if e, ok := err.(*sqlerr.Error); ok {
		cn.diag.warn(sqlerr.Warning{Level: sqlerr.LevelError, Err: e})
		if sqlerr.IsCrashedOnUsage(e) {
			cn.engine.Log.Error("a statement has met damage: restore a backup", "connection", cn.process.ID, "error", e.Message)
		}
		if sqlerr.IsDeadlock(e) {
			cn.tx.rollback() // the victim of a deadlock loses its transaction
		}
		if timedOut && cn.vars.Number("innodb_rollback_on_timeout") != 0 {
			cn.tx.rollback()
		}
	}
	if cn.tx.lost {
		cn.info.Kill()
	}
	return err
}

// clientCollation is that of character_set_client, CollationNone for UTF-8.
func (cn *Connection) clientCollation() schema.CollationID {
	if c := cn.vars.Charsets.Client; c != nil {
		return c.ID
	}
	return schema.CollationNone
}
