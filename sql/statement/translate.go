package statement

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// Translate gives errors of the layers below SQL their MySQL numbers.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	var known *sqlerr.Error
	if errors.As(err, &known) {
		return known
	}
	var limit *storage.LimitError
	var array *table.ArrayError
	var bug *guard.Panic
	var file *fs.PathError
	var number syscall.Errno
	switch {
	case errors.As(err, &limit):
		return limitError(limit)
	case errors.As(err, &array):
		return sqlerr.ArrayTooLong(array.Index.Name, array.Over)
	case errors.Is(err, storage.ErrLockTimeout), errors.Is(err, mdl.ErrTimeout):
		return sqlerr.LockWaitTimeout()
	case errors.Is(err, storage.ErrDeadlock), errors.Is(err, storage.ErrConflict):
		return sqlerr.Deadlock()
	case errors.Is(err, storage.ErrLockTableFull):
		return sqlerr.LockTableFull()
	case errors.Is(err, storage.ErrNoWait):
		return sqlerr.LockNoWait()
	case errors.Is(err, storage.ErrReadOnly):
		return sqlerr.ReadOnlyTransaction()
	case errors.Is(err, storage.ErrDiskFull):
		return sqlerr.DiskFull("data directory")
	case errors.Is(err, storage.ErrUndetermined):
		return sqlerr.CommitOutcomeUnknown()
	case errors.Is(err, storage.ErrCorruption):
		return sqlerr.CrashedOnUsage(err.Error())
	case errors.Is(err, storage.ErrClosed):
		return sqlerr.ServerShutdown()
	case errors.Is(err, storage.ErrUnreachable):
		return sqlerr.NoConnectionToStore(err.Error())
	case errors.Is(err, storage.ErrSnapshotTooOld):
		return sqlerr.TableChanged() // as InnoDB has it for a read view that it cannot serve
	case errors.Is(err, storage.ErrUnavailable):
		return sqlerr.ReadOnlyMode()
	case errors.Is(err, context.Canceled):
		return sqlerr.QueryInterrupted()
	case errors.Is(err, context.DeadlineExceeded):
		return sqlerr.QueryTimeout()
	case errors.As(err, &bug):
		return sqlerr.Bug()
	case errors.As(err, &file) && errors.As(file, &number):
		return sqlerr.EngineError(int(number), file.Error())
	}
	return err
}

func limitError(e *storage.LimitError) error {
	switch {
	case e.Setting != "" && errors.Is(e, storage.ErrKeyTooLarge):
		return sqlerr.KeyOverLimit(int(e.Limit), e.Setting)
	case e.Setting != "":
		return sqlerr.ValueOverLimit(int(e.Limit), e.Setting, e.Size)
	case errors.Is(e, storage.ErrKeyTooLarge):
		return sqlerr.KeyTooLong(int(e.Limit))
	case errors.Is(e, storage.ErrTxnTooLarge):
		return sqlerr.TransactionTooLarge(e.Size, e.Limit)
	}
	return sqlerr.RowOverLimit(e.Limit, e.Size)
}
