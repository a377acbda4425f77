package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tikverr "github.com/tikv/client-go/v2/error"

	"github.com/sqlots/sqlots/storage"
)

// errLease is the reason why a node that is cut off does not commit or read.
var errLease = fmt.Errorf("%w: the lease of this node is over", storage.ErrUnreachable)

// classes are the errors of client-go that have a name, and their classes.
var classes = []struct{ of, class error }{
	{tikverr.ErrResultUndetermined, storage.ErrUndetermined},
	{tikverr.ErrLockWaitTimeout, storage.ErrLockTimeout},
	{tikverr.ErrLockAcquireFailAndNoWaitSet, storage.ErrNoWait},
	{tikverr.ErrTiKVDiskFull, storage.ErrDiskFull},
	{tikverr.ErrNotExist, storage.ErrNotFound},
}

// class gives an error of client-go its class, with its text. An error that is not known
// says that the cluster does not answer as it should: storage.ErrUnavailable.
func class(err error) error {
	if err == nil || known(err) {
		return err
	}
	for _, c := range classes {
		if errors.Is(err, c.of) {
			return fmt.Errorf("%w: %v", c.class, err)
		}
	}
	return fmt.Errorf("%w: %v", classOfType(err), err)
}

// known reports whether an error has a class already.
func known(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrClosed) || errors.Is(err, storage.ErrUndetermined) ||
		errors.Is(err, context.Canceled)
}

// untimedText is in the error of client-go, which has no type, when a server does not know
// kvrpcpb.GetRequest.NeedCommitTs: that is of 2026.
const untimedText = "commit timestamp is required but not returned"

func isUntimed(err error) bool { return err != nil && strings.Contains(err.Error(), untimedText) }

// abortText begins the errors of transactions that TiKV refused: they have no type.
const abortText = "tikv aborts txn"

func classOfType(err error) error {
	var (
		deadlock *tikverr.ErrDeadlock
		retry    *tikverr.ErrRetryable
		latch    *tikverr.ErrWriteConflictInLatch
		old      *tikverr.ErrTxnAbortedByGC
		large    *tikverr.ErrTxnTooLarge
		entry    *tikverr.ErrEntryTooLarge
		key      *tikverr.ErrKeyTooLarge
	)
	switch {
	case tikverr.IsErrWriteConflict(err), errors.As(err, &retry), errors.As(err, &latch), strings.Contains(err.Error(), abortText):
		return storage.ErrConflict
	case errors.As(err, &deadlock):
		return storage.ErrDeadlock
	case errors.As(err, &old):
		return storage.ErrSnapshotTooOld
	case errors.As(err, &large):
		return storage.ErrTxnTooLarge
	case errors.As(err, &entry):
		return storage.ErrValueTooLarge
	case errors.As(err, &key):
		return storage.ErrKeyTooLarge
	}
	return storage.ErrUnreachable
}
