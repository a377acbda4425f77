package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/storage"
)

// secretLen is the length of the secret in bytes.
const secretLen = 32

// Secret is random, made at the first call for a store and kept in it. It never
// leaves the server.
func (c *Catalog) Secret(ctx context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := []byte{system, keySecret}
	secret, err := c.store.Latest().Get(ctx, key, nil)
	if !errors.Is(err, storage.ErrNotFound) {
		return secret, err
	}
	secret = make([]byte, secretLen)
	_, _ = rand.Read(secret) // never fails
	txn, err := c.store.Begin(ctx, storage.TxnOptions{Label: "secret"})
	if err != nil {
		return nil, err
	}
	defer txn.Rollback()
	if err := txn.Put(ctx, key, secret); err != nil {
		return nil, err
	}
	if _, err := txn.Commit(ctx); err != nil {
		return nil, fmt.Errorf("making the store's secret: %w", err)
	}
	return secret, nil
}
