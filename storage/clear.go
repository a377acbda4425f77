package storage

import (
	"bytes"
	"context"
	"errors"
)

// clearKeys and clearBytes bound a transaction of Clear.
const (
	clearKeys  = 2000
	clearBytes = 1 << 20
)

// Clear removes all keys of a span, which may be used again afterwards. Where Discard
// leaves them for a while it takes transactions of bounded size: an error leaves the
// rest. The caller excludes writers of the span.
func Clear(ctx context.Context, s Store, span Span) error {
	if !s.Caps().Remote {
		return s.Discard(ctx, span)
	}
	for {
		next, err := clearSome(ctx, s, span)
		if err != nil || next == nil {
			return err
		}
		span.Start = next
	}
}

// clearSome removes the first keys of a span and returns where to go on; nil at the end.
func clearSome(ctx context.Context, s Store, span Span) (next []byte, err error) {
	keys, done, err := firstKeys(ctx, s, span)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	txn, err := s.Begin(ctx, TxnOptions{Label: "removal of a range"})
	if err != nil {
		return nil, err
	}
	defer txn.Rollback()
	if _, err := txn.Lock(ctx, keys, LockOptions{}); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if err := txn.Delete(ctx, key); err != nil {
			return nil, err
		}
	}
	if _, err := txn.Commit(ctx); err != nil || done {
		return nil, err
	}
	return append(keys[len(keys)-1], 0), nil
}

func firstKeys(ctx context.Context, s Store, span Span) (keys [][]byte, done bool, err error) {
	scan, err := s.Latest().Scan(ctx, span, ScanOptions{KeyOnly: true, Limit: clearKeys, Cold: true})
	if err != nil {
		return nil, false, err
	}
	size := 0
	done, err = scan.Visit(ctx, func(key, _ []byte) bool {
		keys = append(keys, bytes.Clone(key))
		size += len(key)
		return len(keys) < clearKeys && size < clearBytes
	})
	return keys, done, errors.Join(err, scan.Close())
}
