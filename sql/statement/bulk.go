package statement

import (
	"context"
	"errors"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/write"
	"github.com/sqlots/sqlots/storage/table"
)

// CanBulk reports whether ChangeInBulk may add rows to a table now. Sorted runs are
// made before their commit, so they have no place for its records: tables with
// a change log or versions are loaded row by row, and so are those with counters
// in their keys. A store that cannot show all at once gets the rows of a transaction.
func (s *Statement) CanBulk(t *schema.Table, replace bool) bool {
	if !s.Engine.Store.Caps().AtomicBulk || s.Tx.open != nil || t.IsLogged() || t.AutoInKey() > 0 || s.Tx.startsReadOnly() || replace || len(t.ForeignKeys) > 0 && s.foreignKeyChecks() {
		return false
	}
	for _, ix := range t.Indexes {
		if ix.State != schema.IndexPublic {
			return false
		}
	}
	return true
}

// A bulk load waits for the table to be free of transactions for bulkLockWait,
// in which others that come have to wait too, and so often.
const (
	bulkLockWait  = time.Second
	bulkLockTries = 10
	bulkLockPause = bulkLockWait / 4
)

// lockOut keeps writers off a table, or fails with table.ErrBulkDuplicate when
// it is in use for long.
func (s *Statement) lockOut(ctx context.Context, t *schema.Table) (release func(), err error) {
	end, err := s.Engine.BulkTurn(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	key := mdl.Key(t.Database, t.Name)
	for try := 1; ; try++ {
		err := s.Engine.Locks.Exclusive(ctx, s.Tx.owner(), key, bulkLockWait)
		if err == nil {
			break
		}
		if !errors.Is(err, mdl.ErrTimeout) {
			end()
			return nil, err
		}
		if try == bulkLockTries {
			end()
			return nil, table.ErrBulkDuplicate
		}
		select {
		case <-ctx.Done():
		case <-time.After(bulkLockPause):
		}
	}
	return func() {
		s.Engine.Locks.ReleaseExclusive(s.Tx.owner(), key)
		end()
	}, nil
}

// ChangeInBulk runs an INSERT by sorted runs: it collects and sorts the rows
// without a lock, and locks writers out when it looks for existing keys and hands
// the runs over. also, nil for nothing, gives a pair for the same commit when no
// writer of the table can come between. It fails with table.ErrBulkDuplicate,
// nothing written, where rows have to be looked at one by one or the table is in
// use.
func (s *Statement) ChangeInBulk(ctx context.Context, c *Plan, also func() (key, val []byte, err error)) (exec.Result, error) {
	if err := s.Admit(ctx, c.Plan); err != nil {
		return exec.Result{}, err
	}
	insert := c.Plan.Change.(*physical.Insert)
	txn, err := s.Tx.newTxn(ctx, false)
	if err != nil {
		return exec.Result{}, err
	}
	defer txn.Rollback()
	env := s.execEnv(ctx, view{Reader: txn, Txn: txn}, nil)
	defer env.Memory.Close()
	env.Ctx.Write, env.Ctx.Ignore = true, insert.Ignore
	env.Reject = c.Reject
	opts := table.BulkOptions{Memory: s.bulkMemory(), TempDir: s.Engine.TempDir, Budget: s.Engine.SortBudget()}
	sink, err := env.Source.(bulkSource).Bulk(insert.Table, opts)
	if err != nil {
		return exec.Result{}, err
	}
	defer sink.Bulk.Close()
	env.Sink = sink
	r, err := exec.RunChange(ctx, env, c.Plan)
	if err != nil {
		return exec.Result{}, err
	}
	if err := s.finishBulk(ctx, c, sink.Bulk, also); err != nil {
		return exec.Result{}, err
	}
	s.changed(c, r)
	s.endAutocommit(c.Plan, nil)
	return r, nil
}

// finishBulk hands the runs over.
func (s *Statement) finishBulk(ctx context.Context, c *Plan, b *table.Bulk, also func() (key, val []byte, err error)) error {
	s.Process.SetState("waiting for the table")
	end, err := s.lockOut(ctx, c.Plan.Writes[0])
	if err != nil {
		return err
	}
	defer end()
	if !s.current(c.Plan) {
		return table.ErrBulkDuplicate
	}
	s.Process.SetState("loading sorted runs")
	if also != nil {
		key, val, err := also()
		if err != nil {
			return err
		}
		b.Also(key, val)
	}
	if err := b.Finish(ctx); err != nil {
		return s.Tx.commitFailed(err)
	}
	return nil
}

// bulkSource is the ability of the source to load in bulk.
type bulkSource interface {
	Bulk(t *schema.Table, opts table.BulkOptions) (*write.BulkSink, error)
}

// bulkMemory is the most memory of one bulk load: half of what a query may have.
func (s *Statement) bulkMemory() int64 { return min(s.Vars.MemoryLimit/2, s.Engine.SortMemory()) }
