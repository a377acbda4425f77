package statement

import (
	"context"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
)

// InTxn runs a change of the session's own as a statement: in the open
// transaction, or in one of its own.
func (tx *Transactions) InTxn(ctx context.Context, fn func(txn storage.Txn) error) error {
	if tx.Open == nil && !tx.vars.Autocommit {
		if err := tx.Begin(tx.startsReadOnly()); err != nil {
			return err
		}
	}
	if tx.Open == nil {
		if tx.startsReadOnly() {
			return sqlerr.ReadOnlyTransaction()
		}
		txn, err := tx.newTxn(false)
		if err != nil {
			return err
		}
		defer txn.Rollback()
		if err := fn(txn); err != nil {
			return Translate(err)
		}
		if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
			return tx.commitFailed(err)
		}
		return nil
	}
	if tx.Open.readOnly {
		return sqlerr.ReadOnlyTransaction()
	}
	sp := tx.Open.txn.Savepoint()
	if err := fn(tx.Open.txn); err != nil {
		if rerr := tx.Open.txn.RollbackTo(sp); rerr != nil {
			tx.Rollback() // a deadlock: nothing is left to go back to
		} else {
			tx.Open.txn.Release(sp)
		}
		return Translate(err)
	}
	tx.Open.txn.Release(sp)
	return nil
}

// StreamNamed is findStream of 'table' or 'database.table'.
func (cn *Connection) StreamNamed(ctx context.Context, name, current string) (id schema.StreamID, full string, err error) {
	db, table, ok := strings.Cut(name, ".")
	if !ok {
		if db, table = current, name; db == "" {
			return 0, "", sqlerr.NoDatabaseSelected()
		}
	}
	id, err = cn.Engine.FindStream(ctx, db, table)
	return id, db + "." + table, err
}
