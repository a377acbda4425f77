package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Query implements mysqlwire.Session: COM_QUERY with one statement, or with
// several when the client said so.
func (s *Session) Query(ctx context.Context, text string, w mysqlwire.ResultWriter) error {
	text = s.fromClient(text)
	ctx, done := s.enter(ctx, "Query", text)
	defer done()
	s.st.beginTrace(w)
	if handled, err := s.st.queryTemplate(ctx, text, w); handled {
		err = s.finish(err)
		s.st.endTrace(text, err, w)
		return err
	}
	rest := text
	for first := true; ; first = false {
		stmt, tail, ok := parser.Next(rest, s.vars.Mode)
		if !ok {
			if !first {
				return nil
			}
			s.diag.clearDiagnostics()
			if strings.Trim(rest, " \t\r\n\f\v;") == "" {
				return s.finish(sqlerr.EmptyQuery())
			}
			return s.finish(s.st.ok(w, mysqlwire.OK{}, false)) // a comment
		}
		_, _, more := parser.Next(tail, s.vars.Mode)
		if more && !s.multi {
			return s.finish(sqlerr.Parse("", clipNear(strings.TrimLeft(tail, "; \t\r\n")), 1+strings.Count(stmt, "\n")))
		}
		if !first {
			s.st.beginTrace(w)
		}
		err := s.finish(s.st.one(ctx, stmt, more, w))
		s.st.endTrace(stmt, err, w)
		if err != nil {
			return err
		}
		if s.tx.lost || !more {
			return nil
		}
		rest = tail
	}
}

func clipNear(text string) string {
	if len(text) > 80 {
		text = text[:80]
	}
	return text
}

// enter marks the start of a command; the returned function its end.
func (s *Session) enter(ctx context.Context, command, text string) (context.Context, func()) {
	s.engine.Counters.Questions.Add(1)
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	s.process.Begin(command, text, now, cancel)
	s.note(command, text)
	var timer *time.Timer
	if limit := s.maxTime(text); limit > 0 {
		timer = time.AfterFunc(limit, func() { cancel(sqlerr.QueryTimeout()) })
	}
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		end := time.Now()
		if end.Sub(now) > s.vars.LongQuery {
			s.engine.Counters.Slow.Add(1)
		}
		s.st.trace, s.tx.timed = nil, false
		s.process.End(end)
		cancel(nil)
		if s.tx.open != nil && s.vars.IdleTxn > 0 {
			s.idle = time.AfterFunc(s.vars.IdleTxn, s.process.KillConnection)
		}
	}
}

// maxTime is how long a statement may run, by its hint or max_execution_time; 0
// for no limit.
func (s *Session) maxTime(text string) time.Duration {
	if !isSelect(text) {
		return 0
	}
	if n, ok := parser.MaxExecutionTime(text); ok {
		return time.Duration(n) * time.Millisecond
	}
	return s.vars.MaxTime
}

// isSelect reports whether max_execution_time is for a statement: a query.
func isSelect(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(")
	if len(text) >= 4 && strings.EqualFold(text[:4], "with") {
		return parser.AfterWith(text) == "SELECT"
	}
	return len(text) >= 6 && strings.EqualFold(text[:6], "select")
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

// queryTemplate runs a statement by its template: the plan comes from the
// cache, the literals become parameters. handled is false when the text has to
// go the long way.
func (s *Statement) queryTemplate(ctx context.Context, text string, w mysqlwire.ResultWriter) (handled bool, err error) {
	s.fn.scores = nil
	t := &s.template
	if len(text) > 1<<16 {
		return false, nil
	}
	// The text is not changed while the template shares its bytes.
	if !parser.TemplateOf(unsafe.Slice(unsafe.StringData(text), len(text)), s.vars.Mode, t) {
		return false, nil
	}
	s.convertLiterals(t)
	s.key = s.planKey(s.key[:0], t.Text)
	s.key = t.AppendKey(s.key)
	c := s.shared.plans.get(s.key)
	if c != nil && s.usable(c) {
		c = s.variantOf(ctx, c, t.Vals)
	} else {
		c = nil
	}
	if c == nil {
		for i := range t.Types {
			if t.Types[i].IsString() {
				t.Types[i].Collation = s.vars.Collation
			}
		}
		if c, err = s.planTemplate(ctx, t); err != nil || c == nil {
			return false, err // the long way makes errors: they quote the text
		}
		s.shared.plans.put(s.key, c)
		s.engine.Counters.PlanMisses.Add(1)
	} else {
		s.engine.Counters.PlanHits.Add(1)
	}
	s.begin(false)
	s.diag.warnAll(c.warnings) // of a prepared statement without parameters
	return true, s.runPlan(ctx, c, t.Vals, false, w)
}

// planKey starts the cache key of a text with what its meaning depends on.
func (cn *Connection) planKey(dst, text []byte) []byte {
	dst = append(dst, text...)
	dst = append(dst, 0)
	dst = append(dst, cn.database...)
	dst = append(dst, 0, byte(cn.vars.Mode), byte(cn.vars.Mode>>8), byte(cn.vars.Mode>>16), byte(cn.vars.Mode>>24),
		byte(cn.vars.Collation), byte(cn.vars.Collation>>8), byte(cn.vars.Parallelism), byte(cn.vars.Parallelism>>8), byte(cn.vars.DivDigits))
	dst = append(dst, cn.vars.Switches...)
	if cn.vars.Disabled != nil {
		dst = append(dst, cn.vars.Text("sqlots_disabled_rules")...)
	}
	if cn.vars.ShowExpired {
		dst = append(dst, 'x')
	}
	if cn.temps.snapshot() != nil {
		dst = binary.BigEndian.AppendUint64(append(dst, 't'), cn.process.ID)
		dst = binary.BigEndian.AppendUint64(dst, cn.temps.version)
	}
	return append(dst, 0)
}

// usable reports whether a cached plan may run: its tables are unchanged and
// its estimates not too old.
func (cn *Connection) usable(c *cachedPlan) bool {
	if !cn.current(c.plan) {
		return false
	}
	return time.Since(c.made) < planMaxAge
}

// planTemplate makes the plan of a template; nil when the statement is none
// that plans are kept of.
func (s *Statement) planTemplate(ctx context.Context, t *parser.Template) (*cachedPlan, error) {
	stmt, err := s.engine.Parsers.ParseTemplate(t, s.vars.Mode)
	if err != nil {
		return nil, err
	}
	bound, warnings, err := s.bindParams(stmt, t.Types)
	if err != nil {
		return nil, err
	}
	if len(warnings) > 0 || !cacheable(bound) { // they may quote the text
		return nil, nil
	}
	ptypes := append([]schema.Type(nil), t.Types...)
	c, err := s.plan(ctx, bound, t.Vals, ptypes)
	if err != nil {
		return nil, err
	}
	if s.literalsMatter(c) {
		return nil, nil
	}
	c.rebind = rebindShared(stmt.Text, s.vars.Mode, ptypes)
	return c, nil
}

// literalsMatter reports whether another plan might be better if literals were
// known: an index may be on an expression that has one, such as
// JSON_VALUE(doc, '$.id').
func (cn *Connection) literalsMatter(c *cachedPlan) bool {
	if c.plan.Root == nil || c.plan.ValuesMatter {
		return c.plan.ValuesMatter
	}
	for _, t := range c.plan.Tables {
		if rewrite.ReplacesLiterals(t, cn.engine.Codecs.TableExprs) {
			return true
		}
	}
	return false
}

// cacheable reports whether runPlan runs the statement and its plan may be
// kept.
func cacheable(stmt logical.Statement) bool {
	switch q := stmt.(type) {
	case *logical.Query:
		return len(q.Into) == 0 && q.File == nil
	case *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete:
		return true
	}
	return false
}

// bindStatement binds a statement without parameters.
func (cn *Connection) bindStatement(stmt parser.Statement) (logical.Statement, error) {
	return bind.Bind(cn.bindEnv(nil), stmt)
}

// bindParams binds a statement with parameters of the given types; what it
// warns of is returned.
func (cn *Connection) bindParams(stmt parser.Statement, ptypes []schema.Type) (bound logical.Statement, warnings []sqlerr.Warning, err error) {
	env := cn.bindEnv(ptypes)
	env.Warn = func(x sqlerr.Warning) { warnings = append(warnings, x) }
	bound, err = bind.Bind(env, stmt)
	return bound, warnings, err
}

// bindEnv is what binding sees of the session.
func (cn *Connection) bindEnv(params []schema.Type) *bind.Env {
	digits := cn.vars.DivDigits
	return &bind.Env{
		Catalog: cn.temps.visible(), Virtual: cn.shared.info.For((*introspected)(cn)), Database: cn.database, Mode: cn.vars.Mode,
		Collation: cn.vars.Collation, ServerCollation: cn.vars.ServerCollation(), ParamTypes: params,
		SysVar: func(scope, name string) (schema.Type, error) {
			_, t, err := cn.fn.SysVar(scope, name)
			return t, err
		},
		UserVar: func(name string) schema.Type {
			_, t := cn.fn.UserVar(name)
			return t
		},
		Parser:       cn.engine.Parsers,
		ShowExpired:  cn.vars.ShowExpired,
		Warn:         cn.diag.warn,
		DivIncrement: &digits,
		Client:       cn.clientCollation(),
	}
}

// one runs one statement the long way.
func (s *Statement) one(ctx context.Context, text string, more bool, w mysqlwire.ResultWriter) error {
	stmt, err := s.engine.Parsers.Parse(text, s.vars.Mode)
	if err != nil {
		s.begin(false)
		if sqlerr.IsEmptyQuery(err) {
			return s.ok(w, mysqlwire.OK{}, more) // a comment of another version
		}
		return err
	}
	if len(stmt.Params) > 0 {
		s.begin(false)
		return sqlerr.Parse("", "?", 1)
	}
	return s.statement(ctx, stmt, nil, more, w)
}

// begin starts the diagnostics and figures of a statement; keep: it shows the
// diagnostics of the one before.
func (s *Statement) begin(keep bool) {
	s.fn.scores = nil
	s.diag.beginDiagnostics(keep)
}

// statement binds and runs a parsed statement with parameters.
func (s *Statement) statement(ctx context.Context, stmt parser.Statement, params []mysqlwire.Param, more bool, w mysqlwire.ResultWriter) error {
	vals, ptypes := splitParams(params)
	keep := readsDiagnostics(stmt.Text)
	ctx, hintWarnings, restore := s.hintVars(ctx, &stmt)
	defer restore()
	bound, warnings, err := s.bindParams(stmt, ptypes)
	s.begin(keep)
	s.diag.warnAll(hintWarnings)
	s.diag.warnAll(warnings)
	if err != nil {
		return err
	}
	return s.dispatch(ctx, bound, rebindOwn(stmt, ptypes), vals, ptypes, more, w)
}

func (d *diagnostics) warnAll(list []sqlerr.Warning) {
	for _, x := range list {
		d.warn(x)
	}
}

func splitParams(params []mysqlwire.Param) ([]value.Datum, []schema.Type) {
	if len(params) == 0 {
		return nil, nil
	}
	vals, ts := make([]value.Datum, len(params)), make([]schema.Type, len(params))
	for i, p := range params {
		vals[i], ts[i] = p.D, p.Type
	}
	return vals, ts
}

// readsDiagnostics reports whether a statement shows the diagnostics of the
// one before, which it must not clear.
func readsDiagnostics(text string) bool {
	t := strings.ToLower(strings.TrimSpace(text))
	if strings.HasPrefix(t, "show") {
		return strings.Contains(t, "warnings") || strings.Contains(t, "errors")
	}
	return strings.HasPrefix(t, "get diagnostics") ||
		strings.HasPrefix(t, "select") && (strings.Contains(t, "@@warning_count") || strings.Contains(t, "@@error_count"))
}

// dispatch runs a bound statement; where the schema changes before it has read
// anything, it is bound again.
func (s *Statement) dispatch(ctx context.Context, stmt logical.Statement, rebind rebinder, vals []value.Datum, ptypes []schema.Type, more bool, w mysqlwire.ResultWriter) error {
	for try := 0; ; try++ {
		err := s.tryDispatch(ctx, stmt, rebind, vals, ptypes, more, w)
		if !errors.Is(err, errStale) {
			return err
		}
		if try == maxReplans {
			return sqlerr.TableChanged()
		}
		if stmt, err = rebind(s.Connection); err != nil {
			return err
		}
	}
}

// tryDispatch is dispatch for the statement as it was bound. errStale: it has
// done nothing.
func (s *Statement) tryDispatch(ctx context.Context, stmt logical.Statement, rebind rebinder, vals []value.Datum, ptypes []schema.Type, more bool, w mysqlwire.ResultWriter) error {
	switch x := stmt.(type) {
	case *logical.Query, *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete:
		c, err := s.plan(ctx, stmt, vals, ptypes)
		if err != nil {
			return err
		}
		c.rebind = rebind
		if q, ok := x.(*logical.Query); ok && q.File != nil {
			return s.shared.commands.IntoFile(ctx, s, q, c, vals, more, w)
		}
		if q, ok := x.(*logical.Query); ok && len(q.Into) > 0 {
			return s.selectInto(ctx, q, c, vals, more, w)
		}
		return s.runPlan(ctx, c, vals, more, w)
	case *logical.CreateTable:
		if x.Source != nil {
			return s.createSelect(ctx, x, rebind, vals, ptypes, more, w)
		}
	case *logical.Explain:
		return s.explain(ctx, x, vals, ptypes, more, w)
	case *logical.ExplainConnection:
		return s.explainConnection(x, more, w)
	case *logical.Prepare:
		if err := s.prepareNamed(x); err != nil {
			return err
		}
		return s.ok(w, mysqlwire.OK{Info: "Statement prepared"}, more)
	case *logical.ExecutePrepared:
		return s.executeNamed(ctx, x, more, w)
	case *logical.Deallocate:
		if s.named[strings.ToLower(x.Name)] == nil {
			return sqlerr.UnknownStatementHandler(x.Name, "DEALLOCATE PREPARE")
		}
		delete(s.named, strings.ToLower(x.Name))
		return s.ok(w, mysqlwire.OK{}, more)
	}
	handled, err := s.control(ctx, stmt, vals)
	if !handled {
		return s.shared.commands.Run(ctx, s, stmt, vals, more, w)
	}
	if err != nil {
		return err
	}
	s.fn.rowCount = 0
	return s.ok(w, mysqlwire.OK{}, more)
}

// control runs the statements that change the state of the connection: its
// transaction, locks and variables. handled is false for others.
func (s *Statement) control(ctx context.Context, stmt logical.Statement, vals []value.Datum) (handled bool, err error) {
	switch x := stmt.(type) {
	case *logical.Use:
		return true, s.UseDatabase(ctx, x.Database)
	case *logical.Begin:
		return true, s.tx.runBegin(ctx, x)
	case *logical.Commit:
		return true, s.tx.runCommit(ctx, x)
	case *logical.Rollback:
		return true, s.tx.runRollback(x)
	case *logical.Savepoint:
		return true, s.tx.runSavepoint(x.Name)
	case *logical.ReleaseSavepoint:
		return true, s.tx.releaseSavepoint(x.Name)
	case *logical.LockTables:
		return true, s.tx.runLockTables(ctx, x)
	case *logical.UnlockTables:
		return true, s.tx.runUnlockTables(ctx)
	case *logical.Set:
		return true, s.runSet(ctx, x, vals)
	case *logical.ResetPersist:
		return true, s.resetPersist(ctx, x)
	case *logical.Do:
		return true, s.runDo(ctx, x, vals)
	}
	return false, nil
}

// Commands run the statements that are neither queries, changes nor control of
// the connection.
type Commands interface {
	// Run executes any other statement and answers it.
	Run(ctx context.Context, s *Statement, stmt logical.Statement, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error
	// IntoFile is SELECT … INTO OUTFILE and DUMPFILE of the plan c.
	IntoFile(ctx context.Context, s *Statement, q *logical.Query, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error
}

// command runs the statements that answer with OK and nothing else.
func (s *commands) command(ctx context.Context, stmt logical.Statement, vals []value.Datum) (uint64, error) {
	switch x := stmt.(type) {
	case *logical.Kill:
		return 0, s.runKill(ctx, x, vals)
	case *logical.Call:
		return 0, s.runCall(ctx, x, vals)
	case *logical.SetPassword:
		return 0, s.setPassword(ctx, x)
	case *logical.Flush:
		if x.What == "tables with read lock" {
			return 0, s.tx.runLockTables(ctx, s.tx.allTables())
		}
		s.flushLogs(ctx, x.What)
		return 0, s.tx.commit(ctx)
	case *logical.CreateUser:
		return 0, s.createUser(ctx, x)
	case *logical.AlterUser:
		return 0, s.alterUser(ctx, x)
	case *logical.DropUser:
		return 0, s.dropUser(ctx, x)
	case *logical.RenameUser:
		return 0, s.renameUser(ctx, x)
	case *logical.Grant:
		return 0, s.grant(x)
	case *logical.Shutdown:
		return 0, sqlerr.NotSupported("SHUTDOWN")
	}
	return s.schemaChange(ctx, stmt)
}

// schemaChange runs DDL: it ends the open transaction before, as MySQL does.
func (s *commands) schemaChange(ctx context.Context, stmt logical.Statement) (uint64, error) {
	n, stmt, err := s.temporaryChange(ctx, stmt)
	if stmt == nil || err != nil {
		return n, err
	}
	if s.tx.open != nil && s.tx.open.readOnly || s.tx.open == nil && s.tx.startsReadOnly() {
		return 0, sqlerr.ReadOnlyTransaction()
	}
	if err := s.tx.checkLockedChange(stmt); err != nil {
		return 0, err
	}
	if err := s.tx.commit(ctx); err != nil {
		return 0, err
	}
	if v, ok := stmt.(*logical.CreateView); ok && v.View.DefinerUser == "" && v.View.DefinerHost == "" {
		owned := *v.View
		owned.DefinerUser, owned.DefinerHost = s.info.Account.User, s.info.Account.Host
		stmt = &logical.CreateView{View: &owned, Replace: v.Replace, Alter: v.Alter}
	}
	n, err = s.engine.DDL.Run(freeing(ctx, stmt), stmt, s.ddlEnv())
	if err == nil {
		err = s.tx.relock(ctx, stmt)
	}
	if d, ok := stmt.(*logical.DropDatabase); ok && err == nil && d.Name == s.database {
		s.database = ""
		s.process.SetDB("")
	}
	return n, err
}

// freeing is the context of a statement that may use the reserve of the disk if
// it makes room.
func freeing(ctx context.Context, stmt logical.Statement) context.Context {
	switch stmt.(type) {
	case *logical.DropTable, *logical.DropView, *logical.DropDatabase, *logical.TruncateTable:
		return storage.FreeingSpace(ctx)
	}
	return ctx
}

// ok answers a statement without rows.
func (s *Statement) ok(w mysqlwire.ResultWriter, ok mysqlwire.OK, more bool) error {
	ok.More, ok.Warnings = more, s.diag.warningCount
	return w.OK(ok)
}

// runKill is KILL.
func (s *commands) runKill(ctx context.Context, k *logical.Kill, vals []value.Datum) error {
	d, err := s.evalOne(ctx, k.ID, vals)
	if err != nil {
		return err
	}
	env := s.typesEnv()
	id, err := types.ToUint(&env, d, k.ID.Type())
	if err != nil {
		return err
	}
	return s.kill(id, k.Query)
}
