package session

import (
	"context"
	"math"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// sendRows runs a query and writes its rows.
func (s *Statement) sendRows(ctx context.Context, env *exec.Env, c *cachedPlan, more bool, w mysqlwire.ResultWriter) error {
	var sent int64
	started := false
	limit := s.vars.SelectLimit
	if c.limited {
		limit = math.MaxUint64
	}
	err := exec.RunQuery(ctx, env, c.plan, func(b *vec.Batch) error {
		if !started {
			started = true
			if err := w.Header(c.header); err != nil {
				return err
			}
		}
		if uint64(sent)+uint64(b.Live()) > limit {
			b.Truncate(int(limit - uint64(sent)))
		}
		sent += int64(b.Live())
		return w.Batch(b)
	})
	if err != nil {
		return err
	}
	if !started {
		if err := w.Header(c.header); err != nil {
			return err
		}
	}
	s.fn.foundRows, s.fn.rowCount = sent, -1
	if env.FoundRowsTotal > 0 {
		s.fn.foundRows = env.FoundRowsTotal
	}
	s.fn.applyInsertID()
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.diag.warningCount - s.diag.shownCount, More: more})
}

// sendChange runs INSERT, UPDATE and DELETE and writes the result.
func (s *Statement) sendChange(ctx context.Context, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	result, err := s.change(ctx, c, vals)
	if err != nil {
		return err
	}
	if result.Returned != nil {
		return s.sendReturned(ctx, c, result.Returned, more, w)
	}
	return s.ok(w, mysqlwire.OK{AffectedRows: result.Affected, LastInsertID: result.InsertID, Info: result.Info}, more)
}

// sendReturned writes the rows of RETURNING.
func (s *Statement) sendReturned(ctx context.Context, c *cachedPlan, r *exec.Returned, more bool, w mysqlwire.ResultWriter) error {
	defer r.Close()
	if err := w.Header(c.header); err != nil {
		return err
	}
	var sent int64
	err := r.Send(ctx, func(b *vec.Batch) error {
		sent += int64(b.Live())
		return w.Batch(b)
	})
	if err != nil {
		return err
	}
	s.fn.rowCount = -1
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.diag.warningCount, More: more})
}
