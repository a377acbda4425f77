package statement

import (
	"context"
	"errors"
	"math"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// errEnough ends a query whose writer has a method Enough that says to take no more rows.
var errEnough = errors.New("enough rows")

// sendRows runs a query and writes its rows.
func (s *Statement) sendRows(ctx context.Context, env *exec.Env, c *Plan, more bool, w mysqlwire.ResultWriter) error {
	var sent int64
	started := false
	limit := s.Vars.SelectLimit
	if c.limited {
		limit = math.MaxUint64
	}
	var flags mysqlwire.Status
	header := func() error {
		started = true
		if c.readsAll {
			flags = mysqlwire.StatusNoIndexUsed
			w.ColumnFlags(flags)
		}
		return w.Header(c.header)
	}
	enough, _ := w.(interface{ Enough() bool })
	err := exec.RunQuery(ctx, env, c.Plan, func(b *vec.Batch) error {
		if !started {
			if err := header(); err != nil {
				return err
			}
		}
		if uint64(sent)+uint64(b.Live()) > limit {
			b.Truncate(int(limit - uint64(sent)))
		}
		sent += int64(b.Live())
		if err := w.Batch(b); err != nil || enough == nil || !enough.Enough() {
			return err
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if !started {
		if err := header(); err != nil {
			return err
		}
	}
	s.Functions.foundRows, s.Functions.Rows = sent, -1
	if env.FoundRowsTotal > 0 {
		s.Functions.foundRows = env.FoundRowsTotal
	}
	s.Functions.applyInsertID()
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount - s.Diagnostics.shownCount, More: more, Flags: flags})
}

// sendChange runs INSERT, UPDATE and DELETE and writes the result.
func (s *Statement) sendChange(ctx context.Context, c *Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	result, err := s.Change(ctx, c, vals)
	if err != nil {
		return err
	}
	if result.Returned != nil {
		return s.sendReturned(ctx, c, result.Returned, more, w)
	}
	return s.OK(w, mysqlwire.OK{AffectedRows: result.Affected, LastInsertID: result.InsertID, Info: result.Info}, more)
}

// sendReturned writes the rows of RETURNING.
func (s *Statement) sendReturned(ctx context.Context, c *Plan, r *exec.Returned, more bool, w mysqlwire.ResultWriter) error {
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
	s.Functions.Rows = -1
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}
