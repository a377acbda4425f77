package storage

import "context"

// LockOutside locks keys against other processes that write to the store, until txn ends.
// It is for what a mutex protects within this one; with Caps.Sole it does nothing.
func LockOutside(ctx context.Context, s Store, txn Txn, keys ...[]byte) error {
	if s.Caps().Sole {
		return nil
	}
	_, err := txn.Lock(ctx, keys, LockOptions{})
	return err
}
