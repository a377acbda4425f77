package session

import (
	"context"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
)

// inTxn runs a change of the session's own as a statement: in the open
// transaction, or in one of its own.
func (tx *transactions) inTxn(ctx context.Context, fn func(txn storage.Txn) error) error {
	if tx.open == nil && !tx.vars.Autocommit {
		if err := tx.begin(tx.startsReadOnly()); err != nil {
			return err
		}
	}
	if tx.open == nil {
		if tx.startsReadOnly() {
			return sqlerr.ReadOnlyTransaction()
		}
		txn, err := tx.newTxn(false)
		if err != nil {
			return err
		}
		defer txn.Rollback()
		if err := fn(txn); err != nil {
			return translate(err)
		}
		if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
			return tx.commitFailed(err)
		}
		return nil
	}
	if tx.open.readOnly {
		return sqlerr.ReadOnlyTransaction()
	}
	sp := tx.open.txn.Savepoint()
	if err := fn(tx.open.txn); err != nil {
		if rerr := tx.open.txn.RollbackTo(sp); rerr != nil {
			tx.rollback() // a deadlock: nothing is left to go back to
		} else {
			tx.open.txn.Release(sp)
		}
		return translate(err)
	}
	tx.open.txn.Release(sp)
	return nil
}

// streamNamed is findStream of 'table' or 'database.table'.
func (cn *Connection) streamNamed(ctx context.Context, name, current string) (id schema.StreamID, full string, err error) {
	db, table, ok := strings.Cut(name, ".")
	if !ok {
		if db, table = current, name; db == "" {
			return 0, "", sqlerr.NoDatabaseSelected()
		}
	}
	id, err = cn.engine.FindStream(ctx, db, table)
	return id, db + "." + table, err
}
