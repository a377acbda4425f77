package write

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Rows that have expired are stored until they are removed, but no statement sees
// them: a write that meets one removes it.

// hides reports whether rows of a table may be there that this statement does
// not see.
func (s *Sink) hides(t *schema.Table) bool {
	return t.Expires() && !s.env.ShowExpired && s.env.Expr != nil
}

// expired reports whether a stored row has expired.
func (s *Sink) expired(w *writer, row []value.Datum) (bool, error) {
	if !s.hides(w.codec.Table) {
		return false, nil
	}
	e, err := w.codec.AliveRow(s.env.Codecs.Binder)
	if err != nil {
		return false, err
	}
	w.seen = append(w.seen[:0], row...)
	if t := w.codec.Table; t.Column(t.TTL.Column).IsVirtual() {
		err = w.local(w.seen)
	} else {
		w.localTimes(w.seen)
	}
	if err != nil {
		return false, err
	}
	alive, err := expr.EvalRow(s.env.Expr, e, w.seen)
	return err == nil && (alive.IsNull() || alive.Bits() == 0), err
}

// overwrite is Writer.Update, for which expired rows make way.
func (s *Sink) overwrite(ctx context.Context, w *writer, was, now []value.Datum, c chain) error {
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
	return sqlerr.Internal("updating %s meets the same conflict again and again", w.codec.Table.Name)
}

// Expired calls fn with the keys of the rows of a table that have expired in
// the reader's view, until fn fails. A key is valid until fn returns.
func (s *Sink) Expired(ctx context.Context, t *schema.Table, fn func(key []byte) error) error {
	w, err := s.writer(t)
	if err != nil {
		return err
	}
	scan, err := s.env.Reader.Scan(ctx, table.IndexSpan(t.ID, schema.PrimaryIndexID), storage.ScanOptions{Cold: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	rd := w.codec.NewEntryReader()
	row := make([]value.Datum, len(t.Columns))
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		gone := false
		if bad = rd.Fetch(ctx, s.env.Reader, key, val, row); bad == nil {
			gone, bad = s.expired(w, row)
		}
		if gone && bad == nil {
			bad = fn(key)
		}
		return bad == nil
	})
	return errors.Join(bad, err)
}

// RemoveExpired locks the rows with the given keys and removes those that have
// expired.
func (s *Sink) RemoveExpired(ctx context.Context, t *schema.Table, keys [][]byte) (removed int, err error) {
	w, err := s.writer(t)
	if err != nil {
		return 0, err
	}
	rd := w.codec.NewEntryReader()
	row := make([]value.Datum, len(t.Columns))
	for _, key := range keys {
		locked, err := s.env.Txn.Lock(ctx, [][]byte{key}, storage.LockOptions{Mode: storage.LockExclusive})
		if err != nil {
			return 0, err
		}
		if locked[0].Value == nil {
			continue
		}
		if err := rd.Fetch(ctx, s.env.Txn.Latest(), key, locked[0].Value, row); err != nil {
			return 0, err
		}
		gone, err := s.expired(w, row)
		if err != nil {
			return 0, err
		}
		if gone {
			if err := s.deleteRow(ctx, w, row, chain{}); err != nil {
				return 0, err
			}
			removed++
		}
	}
	return removed, nil
}
