package session

import (
	"time"

	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// transactions is the transaction of a connection with what comes before and
// beside it: characteristics, metadata locks, LOCK TABLES.
type transactions struct {
	engine  *engine.Engine
	vars    *sysvar.Values
	process *engine.Process
	temps   *temporaryTables

	open          *transaction
	nextIsolation string // SET TRANSACTION for the next transaction
	nextReadOnly  *bool
	tableLocks    map[string]mdl.Mode // of LOCK TABLES, by mdl.Key
	lost          bool                // the connection has to end after this command
	// timed: waits for metadata locks add to waited.
	timed  bool
	waited time.Duration
}

// isOpen reports whether a transaction is open that lasts until COMMIT.
func (tx *transactions) isOpen() bool { return tx.open != nil }

// status is what clients are told of the open transaction.
func (tx *transactions) status() (open, readOnly bool) {
	return tx.open != nil, tx.open != nil && tx.open.readOnly
}

// refusesChanges: a change would be one of a read-only transaction (1792).
func (tx *transactions) refusesChanges() bool {
	if tx.open != nil {
		return tx.open.readOnly
	}
	return tx.startsReadOnly()
}
