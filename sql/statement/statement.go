package statement

import (
	"context"
	"errors"
	"strings"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Statement runs the statements of a connection, one after the other.
type Statement struct {
	*Connection
	event    event
	point    pointState
	template parser.Template
	key      []byte
	figures  figures
}

// begin starts the diagnostics and figures of a statement; keep: it shows the
// diagnostics of the one before.
func (s *Statement) begin(keep bool) {
	s.Functions.scores = nil
	s.Diagnostics.beginDiagnostics(keep)
}

// OK answers a statement without rows.
func (s *Statement) OK(w mysqlwire.ResultWriter, ok mysqlwire.OK, more bool) error {
	ok.More, ok.Warnings = more, s.Diagnostics.WarningCount
	return w.OK(ok)
}

// RunText runs one statement the long way.
func (s *Statement) RunText(ctx context.Context, text string, more bool, w mysqlwire.ResultWriter) error {
	if len(text) >= longText {
		release, err := s.reserveTree(text)
		if err != nil {
			s.begin(false)
			return err
		}
		defer release()
	}
	stmt, err := s.Engine.Parsers.ParseContext(ctx, text, s.Vars.Mode)
	s.parsed()
	command := metrics.Unparsed
	if err == nil {
		command = metrics.CommandOf(stmt.Command())
	}
	s.identify(command, s.digestOf(text, s.Vars.Mode))
	if err != nil {
		s.begin(false)
		if sqlerr.IsEmptyQuery(err) {
			return s.OK(w, mysqlwire.OK{}, more) // a comment of another version
		}
		return err
	}
	if len(stmt.Params) > 0 {
		s.begin(false)
		return sqlerr.Parse("", "?", 1)
	}
	s.watch(&stmt, s.Vars.Mode)
	if err := s.admit(&stmt); err != nil {
		s.begin(false)
		return err
	}
	return s.statement(ctx, stmt, nil, more, w)
}

// longText is the length from which on the trees and plans of a text are counted.
const longText = 64 << 10

// reserveTree counts the tree and the plan of a long text until release: 3170.
func (s *Statement) reserveTree(text string) (release func(), err error) {
	n := parser.TreeBytes(text)
	if err := s.Engine.Values.Reserve(n); err != nil {
		return nil, err
	}
	return func() { s.Engine.Values.Release(n) }, nil
}

// statement binds and runs a parsed statement with parameters.
func (s *Statement) statement(ctx context.Context, stmt parser.Statement, params []mysqlwire.Param, more bool, w mysqlwire.ResultWriter) error {
	vals, ptypes := splitParams(params)
	ctx, hintWarnings, restore := s.hintVars(ctx, &stmt)
	defer restore()
	bound, warnings, err := s.bindParams(ctx, stmt, ptypes)
	s.begin(stmt.ReadsDiagnostics)
	s.Diagnostics.warnAll(hintWarnings)
	s.Diagnostics.warnAll(warnings)
	if err != nil {
		return err
	}
	return s.dispatch(ctx, bound, rebindOwn(stmt, ptypes), vals, ptypes, more, w)
}

// dispatch runs a bound statement; where the schema changes before it has read
// anything, it is bound again.
func (s *Statement) dispatch(ctx context.Context, stmt logical.Statement, rebind rebinder, vals []value.Datum, ptypes []schema.Type, more bool, w mysqlwire.ResultWriter) error {
	for try := 0; ; try++ {
		err := s.tryDispatch(ctx, stmt, rebind, vals, ptypes, more, w)
		if !errors.Is(err, ErrStale) {
			return err
		}
		if try == maxReplans {
			return sqlerr.TableChanged()
		}
		if stmt, err = rebind(ctx, s.Connection); err != nil {
			return err
		}
	}
}

// tryDispatch is dispatch for the statement as it was bound. ErrStale: it has
// done nothing.
func (s *Statement) tryDispatch(ctx context.Context, stmt logical.Statement, rebind rebinder, vals []value.Datum, ptypes []schema.Type, more bool, w mysqlwire.ResultWriter) error {
	s.audit.bound = stmt
	switch x := stmt.(type) {
	case *logical.Query, *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete:
		c, err := s.MakePlan(ctx, stmt, vals, ptypes)
		if err != nil {
			return err
		}
		c.rebind = rebind
		s.planned()
		if q, ok := x.(*logical.Query); ok && q.File != nil {
			return s.Shared.commands.IntoFile(ctx, s, q, c, vals, more, w)
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
		if err := s.prepareNamed(ctx, x); err != nil {
			return err
		}
		return s.OK(w, mysqlwire.OK{Info: "Statement prepared"}, more)
	case *logical.ExecutePrepared:
		return s.executeNamed(ctx, x, more, w)
	case *logical.Deallocate:
		if s.Named[strings.ToLower(x.Name)] == nil {
			return sqlerr.UnknownStatementHandler(x.Name, "DEALLOCATE PREPARE")
		}
		s.Forget(s.Named[strings.ToLower(x.Name)])
		delete(s.Named, strings.ToLower(x.Name))
		s.Metrics.Prepared.Add(-1)
		return s.OK(w, mysqlwire.OK{}, more)
	}
	handled, err := s.control(ctx, stmt, vals)
	if !handled {
		return s.Shared.commands.Run(ctx, s, stmt, vals, more, w)
	}
	if err != nil {
		return err
	}
	s.Functions.Rows = 0
	return s.OK(w, mysqlwire.OK{}, more)
}

// control runs the statements that change the state of the connection: its
// transaction, locks and variables. handled is false for others.
func (s *Statement) control(ctx context.Context, stmt logical.Statement, vals []value.Datum) (handled bool, err error) {
	switch x := stmt.(type) {
	case *logical.Use:
		return true, s.UseDatabase(ctx, x.Database)
	case *logical.Begin:
		return true, s.Tx.runBegin(ctx, x)
	case *logical.Commit:
		return true, s.Tx.runCommit(ctx, x)
	case *logical.Rollback:
		return true, s.Tx.runRollback(ctx, x)
	case *logical.Savepoint:
		return true, s.Tx.runSavepoint(ctx, x.Name)
	case *logical.ReleaseSavepoint:
		return true, s.Tx.releaseSavepoint(x.Name)
	case *logical.LockTables:
		return true, s.Tx.RunLockTables(ctx, x)
	case *logical.UnlockTables:
		return true, s.Tx.runUnlockTables(ctx)
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
	IntoFile(ctx context.Context, s *Statement, q *logical.Query, c *Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error
}

// maxReplans bounds how often a statement is planned again because a schema
// change overtook it.
const maxReplans = 10

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
