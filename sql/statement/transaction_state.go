package statement

import (
	"time"

	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// Transactions is the transaction of a connection with what comes before and
// beside it: characteristics, metadata locks, LOCK TABLES.
type Transactions struct {
	engine  *engine.Engine
	vars    *sysvar.Values
	process *engine.Process
	temps   *TemporaryTables

	Open          *transaction
	nextIsolation string // SET TRANSACTION for the next transaction
	nextReadOnly  *bool
	tableLocks    map[string]mdl.Mode // of LOCK TABLES, by mdl.Key
	Lost          bool                // the connection has to end after this command
	// timed: waits for metadata locks add to waited.
	timed  bool
	waited time.Duration
}

// IsOpen reports whether a transaction is open that lasts until COMMIT.
func (tx *Transactions) IsOpen() bool { return tx.Open != nil }

// Status is what clients are told of the open transaction.
func (tx *Transactions) Status() (open, readOnly bool) {
	return tx.Open != nil, tx.Open != nil && tx.Open.readOnly
}

// RefusesChanges: a change would be one of a read-only transaction (1792).
func (tx *Transactions) RefusesChanges() bool {
	if tx.Open != nil {
		return tx.Open.readOnly
	}
	return tx.startsReadOnly()
}
