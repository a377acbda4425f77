package source

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Rows that have expired are there until somebody removes them, but nobody sees
// them: a write that meets one removes it.

// aliveRow is the condition that a row of the table has not expired.
func (k *tableCodec) aliveRow() (expr.Expr, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.alive == nil {
		e, err := bind.AliveRow(k.Table)
		if err != nil {
			return nil, err
		}
		k.alive = e
	}
	return k.alive, nil
}

// hides reports whether rows of a table may be there that this statement does
// not see.
func (s *Source) hides(t *schema.Table) bool {
	return t.Expires() && !s.env.ShowExpired && s.env.Expr != nil
}

// expired reports whether a stored row has expired.
func (s *Source) expired(w *writer, row []value.Datum) (bool, error) {
	if !s.hides(w.codec.Table) {
		return false, nil
	}
	e, err := w.codec.aliveRow()
	if err != nil {
		return false, err
	}
	w.seen = append(w.seen[:0], row...)
	if err := w.local(w.seen); err != nil {
		return false, err
	}
	alive, err := expr.EvalRow(s.env.Expr, e, w.seen)
	return err == nil && (alive.IsNull() || alive.Bits() == 0), err
}

// overwrite is Writer.Update, for which expired rows make way.
func (s *Source) overwrite(ctx context.Context, w *writer, was, now []value.Datum, c chain) error {
	err := w.Writer.Update(ctx, was, now)
	if err == nil || !s.hides(w.codec.Table) {
		return err
	}
	for range maxRetries {
		dup, ok := errors.AsType[*table.DuplicateError](err)
		if !ok {
			return err
		}
		standing, cerr := w.Standing(ctx, dup)
		if cerr != nil {
			return cerr
		}
		if standing != nil {
			gone, xerr := s.expired(w, standing.Row)
			if xerr != nil {
				return xerr
			}
			if !gone {
				return err
			}
			if err := s.deleteRow(ctx, w, standing.Row, chain{depth: c.depth}); err != nil {
				return err
			}
		}
		if err = w.Writer.Update(ctx, was, now); err == nil {
			return nil
		}
	}
	return internal("updating %s meets the same conflict again and again", w.codec.Table.Name)
}
