package statement

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Connection is what the statements of one connection share.
type Connection struct {
	Shared      *Shared
	Engine      *engine.Engine
	Info        mysqlwire.ConnInfo
	Process     *engine.Process
	Vars        *sysvar.Values
	DB          string
	Tx          *Transactions
	Temps       *TemporaryTables
	Diagnostics *Diagnostics
	Functions   *Functions
	Named       map[string]*Prepared // PREPARE name FROM …
	// Held counts what the connection holds from one statement to the next: user
	// variables and prepared statements.
	Held *exec.Tracker
	// Metrics are the connection's numbers.
	Metrics *metrics.Session
	rights  rights
	audit   audited
	admission
}

// Open makes the state of a new connection and what runs its statements. The
// list of processes does not have it yet.
func Open(sh *Shared, info mysqlwire.ConnInfo) *Statement {
	host := ""
	if info.RemoteAddr != nil {
		host = info.RemoteAddr.String()
	}
	c := &Connection{Shared: sh, Engine: sh.Engine, Info: info, Diagnostics: &Diagnostics{errors: &sh.Engine.Metrics.Errors}, Temps: &TemporaryTables{engine: sh.Engine}, Metrics: sh.Engine.Metrics.Background}
	c.Process = &engine.Process{ID: info.ID, User: info.User, Account: priv.Name{User: info.Account.User, Host: info.Account.Host}, Host: host, Command: "Sleep", Since: time.Now(), Kill: info.Kill, Attributes: info.Attributes, TLS: info.TLS}
	c.Tx = &Transactions{engine: sh.Engine, process: c.Process, temps: c.Temps, Metrics: c.Metrics}
	s := &Statement{Connection: c}
	c.Functions = &Functions{Connection: c, figures: &s.figures}
	c.initialize()
	return s
}

// initialize gives the connection the state in which it begins.
func (cn *Connection) initialize() {
	cn.Vars = sysvar.NewValues(cn.Engine.Globals)
	cn.Vars.Warn, cn.Tx.vars, cn.Diagnostics.vars = cn.Diagnostics.Warn, cn.Vars, cn.Vars
	cn.Held = cn.Engine.Values.Child("connection", cn.Engine.Values.Limit()/heldShare)
	cn.Temps.held = 0
	cn.Functions.userVars = map[string]userVar{}
	cn.Named = map[string]*Prepared{}
	cn.login()
	cn.Diagnostics.Clear()
	cn.Functions.Rows, cn.Functions.foundRows, cn.Functions.lastInsertID = 0, 0, 0
}

// heldShare is the part of the memory of statements that one connection may hold from
// one statement to the next.
const heldShare = 4

// hold counts n more bytes that the connection holds, or fewer: 3170.
func (cn *Connection) hold(n int64, what string) error {
	if n <= 0 {
		cn.Held.Shrink(-n)
		return nil
	}
	return cn.Engine.Values.Grow(cn.Held, n, what)
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
	cn.Tx.Rollback()
	cn.Temps.dropAllTemporary()
	cn.Tx.unlockSession()
	cn.Functions.ReleaseAllLocks()
	cn.Held.Close()
}

// UseDatabase implements mysqlwire.Session.
func (cn *Connection) UseDatabase(_ context.Context, name string) error {
	if name == "" {
		return sqlerr.NoDatabaseSelected()
	}
	if !strings.EqualFold(name, "information_schema") {
		if err := cn.require(&priv.Needs{Databases: []priv.DatabaseNeed{{DB: name, Any: true}}}); err != nil {
			return err
		}
	}
	d, ok := cn.Engine.Catalog.Snapshot().Database(name)
	if !ok {
		if !cn.Shared.info.IsVirtual(name) {
			return sqlerr.UnknownDatabase(name)
		}
		cn.DB = strings.ToLower(name)
	} else {
		cn.DB = d.Name
	}
	cn.Process.SetDB(cn.DB)
	return nil
}

// Kill ends what a connection or job runs, or the connection itself: 1094, 1317.
func (cn *Connection) Kill(id uint64, queryOnly bool) error {
	admin := cn.Privileges().Has(priv.Super, priv.ConnectionAdmin)
	p := cn.Engine.Processes.Get(id)
	if p == nil {
		if admin && cn.Engine.Jobs.Kill(id) {
			return nil
		}
		return sqlerr.NoSuchThread(id)
	}
	// SYSTEM_USER protects an account, and by a role the connections in which that is active.
	system := p.System.Load() || cn.Privileges().State().IsSystem(p.Account)
	if p.Account != cn.AccountName() && !admin || system && !cn.Privileges().Has(0, priv.SystemUser) {
		return sqlerr.NotThreadOwner(id)
	}
	if queryOnly {
		p.KillQuery()
	} else {
		p.KillConnection()
	}
	if p == cn.Process {
		return sqlerr.QueryInterrupted()
	}
	return nil
}

// ClientHost is the client's address without port, or localhost.
func (cn *Connection) ClientHost() string {
	if cn.Info.RemoteAddr == nil {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(cn.Info.RemoteAddr.String())
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
	if !cn.Vars.FixedTime.IsZero() {
		return cn.Vars.FixedTime
	}
	return time.Now()
}

// TypesEnv is what conversions of values depend on.
func (cn *Connection) TypesEnv() types.Env {
	return types.Env{Mode: cn.Vars.Mode, Loc: cn.Vars.Location, Now: cn.now(), Warn: cn.Diagnostics.Warn,
		MaxAttributes: cn.Vars.MaxAttributes, MaxAttributeSize: cn.Vars.MaxAttributeSize}
}

// exprCtx is the evaluation state of a statement.
func (cn *Connection) exprCtx(ctx context.Context, vals []value.Datum) *expr.Ctx {
	return &expr.Ctx{Env: cn.TypesEnv(), Context: ctx, Params: vals, Session: cn.Functions, Memory: cn.Engine.Values}
}

func (cn *Connection) hostAndAddress() (host, ip string) {
	host = cn.ClientHost()
	if cn.Info.RemoteAddr != nil {
		if h, _, err := net.SplitHostPort(cn.Info.RemoteAddr.String()); err == nil {
			ip = h
		}
	}
	if host == ip {
		host = ""
	}
	return host, ip
}

// Note is for the general log.
func (cn *Connection) Note(command, text string) {
	if !cn.Engine.Logs.GeneralOn.Load() || cn.Vars.Number("sql_log_off") != 0 {
		return
	}
	host, ip := cn.hostAndAddress()
	if host == "" {
		host = ip
	}
	cn.Engine.Logs.Note(querylog.Command{At: time.Now(), ID: cn.Process.ID, User: cn.Info.User, Host: host, Name: command, Text: parser.HideSecrets(text, cn.Vars.Mode)})
}

// Finish turns the outcome of a statement into the session's diagnostics and
// the error that the client gets.
func (cn *Connection) Finish(err error) error {
	if err == nil {
		if cn.Tx.Lost {
			cn.Info.Kill()
		}
		return nil
	}
	guard.Log(cn.Engine.Log, fmt.Sprint("a worker of a statement of connection ", cn.Process.ID), err)
	timedOut := errors.Is(err, storage.ErrLockTimeout)
	err = Translate(err)
	cn.Functions.applyInsertID() // it stays when the statement fails
	cn.Functions.Rows = -1
	if e, ok := err.(*sqlerr.Error); ok {
		cn.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelError, Err: e})
		switch {
		case sqlerr.IsCrashedOnUsage(e):
			cn.Engine.Damaged.Store(true)
			cn.Engine.Log.Error("a statement has met damage: restore a backup", "event", "statement.damage", "connection", cn.Process.ID, "error", e.Message)
		case sqlerr.IsEngineError(e):
			cn.Engine.Log.Error("a statement has met an error of a file: look at the disk", "event", "statement.file_error", "connection", cn.Process.ID, "error", e.Message)
		}
		if sqlerr.EndsTransaction(e) {
			cn.Tx.Rollback() // as InnoDB does
		}
		if timedOut && cn.Vars.Number("innodb_rollback_on_timeout") != 0 {
			cn.Tx.Rollback()
		}
	}
	if cn.Tx.Lost {
		cn.Info.Kill()
	}
	return err
}

// clientCollation is that of character_set_client, CollationNone for UTF-8.
func (cn *Connection) clientCollation() schema.CollationID {
	if c := cn.Vars.Charsets.Client; c != nil {
		return c.ID
	}
	return schema.CollationNone
}
