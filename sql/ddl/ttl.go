package ddl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// checkTTL: the column of the TTL stays one of times, and no row that another
// refers to expires. 8148, 8149, 8152, 1235.
func (a *alteration) checkTTL() error {
	t := a.t
	if t.TTL == nil {
		return nil
	}
	c := t.Column(t.TTL.Column)
	if c == nil {
		return sqlerr.TTLDropColumn(a.old.Column(t.TTL.Column).Name)
	}
	switch c.Type.ID {
	case schema.TypeDate, schema.TypeDatetime, schema.TypeTimestamp:
	default:
		return sqlerr.TTLColumnType(c.Name)
	}
	if a.c.r.temporary {
		return sqlerr.TTLOfTemporary()
	}
	if len(a.c.snapshot().Children(a.old.Database, a.old.Name)) > 0 {
		return sqlerr.TTLOfParent()
	}
	return nil
}

// Rows that have expired are seen by no statement, so that a schema change may
// not fail for one: it removes them. Those that it shows again, as it ends or
// changes the TTL, stay.

// expireRows is how many rows one transaction removes.
const expireRows = 500

// hides reports whether rows that have expired are hidden from a change of old
// to t, and from who comes after it.
func (c *change) hides(old, t *schema.Table) bool {
	if !old.Expires() || !t.Expires() || c.env.ShowExpired {
		return false
	}
	was, now := *old.TTL, *t.TTL
	was.JobInterval, now.JobInterval = 0, 0
	return was == now
}

// removeExpired removes the rows of a published table that have expired by now.
func (c *change) removeExpired(ctx context.Context, t *schema.Table) (removed int, err error) {
	c.state("removing expired rows")
	ctx = storage.FreeingSpace(ctx)
	r := c.r
	types := c.env.Types
	types.Now, types.Loc, types.Warn = r.now(), time.UTC, nil
	env := source.Env{Store: r.Store, Loc: time.UTC, Codecs: r.Codecs, Expr: &expr.Ctx{Env: types, Context: ctx}}
	var keys [][]byte
	flush := func() error {
		n, err := removeRows(ctx, env, t, keys)
		removed, keys = removed+n, keys[:0]
		if err != nil {
			return fmt.Errorf("removing expired rows of %s: %w", t.Name, err)
		}
		r.step("removed expired rows")
		return nil
	}
	snap, err := r.Store.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	view, err := r.Store.Begin(ctx, storage.TxnOptions{ReadOnly: true, Label: "schema change"})
	if err != nil {
		return 0, err
	}
	defer view.Rollback()
	env.View, env.Txn = snap, view
	err = source.New(env).Expired(ctx, t, func(key []byte) error {
		if keys = append(keys, bytes.Clone(key)); len(keys) < expireRows {
			return nil
		}
		return flush()
	})
	if err == nil && len(keys) > 0 {
		err = flush()
	}
	return removed, err
}

// expireRetries is how often a transaction that meets others is tried.
const expireRetries = 20

// removeRows removes those of the rows that have expired, in one transaction.
func removeRows(ctx context.Context, env source.Env, t *schema.Table, keys [][]byte) (removed int, err error) {
	try := func() error {
		txn, err := env.Store.Begin(ctx, storage.TxnOptions{Label: "schema change", Durability: storage.DurabilityWrite})
		if err != nil {
			return err
		}
		defer txn.Rollback()
		env.Txn = txn
		if removed, err = source.New(env).RemoveExpired(ctx, t, keys); err != nil {
			return err
		}
		_, err = txn.Commit(ctx)
		return err
	}
	for n := 0; ; n++ {
		err := try()
		if again := errors.Is(err, storage.ErrDeadlock) || errors.Is(err, storage.ErrConflict); !again || n == expireRetries {
			return removed, err
		}
	}
}

// withoutExpired runs do, which reads rows that may have expired, next to
// writers. When a row makes it fail, those that have expired are removed, and do
// is run again; if it then fails for the same reason, a row is that has not.
func (c *change) withoutExpired(ctx context.Context, t *schema.Table, do func() error) error {
	before := ""
	for {
		err := do()
		if !isOfRow(err) || err.Error() == before || ctx.Err() != nil {
			return err
		}
		before = err.Error()
		n, rerr := c.removeExpired(ctx, t)
		switch {
		case rerr != nil:
			return rerr
		case n == 0:
			return err
		}
	}
}

// isOfRow reports whether what is wrong may be a row.
func isOfRow(err error) bool {
	var dup *table.DuplicateError
	var bad *sqlerr.Error
	return errors.As(err, &dup) || errors.As(err, &bad)
}
