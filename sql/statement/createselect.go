package statement

import (
	"context"
	"fmt"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// createSelect is CREATE TABLE … SELECT. The rows are written before the table
// is published, so that a failure leaves nothing; a schema change of what is
// read makes it begin again.
func (s *Statement) createSelect(ctx context.Context, x *logical.CreateTable, rebind rebinder, vals []value.Datum, ptypes []schema.Type, more bool, w mysqlwire.ResultWriter) error {
	runner := s.Engine.DDL
	if x.Temporary {
		runner = s.Temps.Runner()
		if err := s.HoldTemporary(x.Table); err != nil {
			return err
		}
		defer func() { _ = s.HoldTemporary(nil) }() // it only gives back
	} else {
		if s.Tx.RefusesChanges() {
			return sqlerr.ReadOnlyTransaction()
		}
		if err := s.Tx.Commit(ctx); err != nil {
			return err
		}
	}
	for try := 0; ; try++ {
		r, stale, err := s.tryCreateSelect(ctx, runner, x, vals, ptypes)
		if err != nil {
			return err
		}
		if !stale {
			s.Functions.Rows = int64(r.Affected)
			info := fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", r.Matched, r.Matched-r.Changed, s.Diagnostics.WarningCount)
			if r.Info != "" {
				info = r.Info
			}
			return s.OK(w, mysqlwire.OK{AffectedRows: r.Affected, Info: info}, more)
		}
		if try == maxReplans {
			return sqlerr.TableChanged()
		}
		bound, err := rebind(ctx, s.Connection)
		if err != nil {
			return err
		}
		x = bound.(*logical.CreateTable)
	}
}

func (s *Statement) tryCreateSelect(ctx context.Context, runner *ddl.Runner, x *logical.CreateTable, vals []value.Datum, ptypes []schema.Type) (r exec.Result, stale bool, err error) {
	n, err := runner.PrepareTable(ctx, x, s.DDLEnv())
	if err != nil || n == nil {
		return r, false, err
	}
	published := false
	defer func() {
		if !published {
			n.Abort(context.WithoutCancel(ctx))
		}
	}()
	ins := *x.Source
	ins.Table = n.Table
	c, err := s.MakePlan(ctx, &ins, vals, ptypes)
	if err != nil {
		return r, false, err
	}
	var reads []*schema.Table
	for _, t := range c.Plan.Tables {
		if t != n.Table {
			reads = append(reads, t)
		}
	}
	if err := s.Tx.checkLocked(reads, nil); err != nil {
		return r, false, err
	}
	release, err := s.Tx.lockStatement(ctx, reads, nil)
	if err != nil {
		return r, false, err
	}
	defer release()
	if !s.Tx.currentTables(reads) || !s.currentViews(c.Plan.Views) {
		return r, true, nil
	}
	if x.Temporary && s.Tx.open != nil {
		r, err = s.changeWithSavepoint(ctx, c, vals)
	} else {
		r, err = s.changeAndCommit(ctx, c, vals)
	}
	if err != nil {
		return r, false, err
	}
	published = true
	return r, false, n.Publish(ctx)
}
