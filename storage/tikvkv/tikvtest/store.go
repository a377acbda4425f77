package tikvtest

import (
	"context"
	"log/slog"

	"github.com/sqlots/sqlots/storage/tikvkv"
)

// Join opens a store of the cluster as a server does, by a node of its own. It says nothing
// in a log.
func (c *Cluster) Join(ctx context.Context, name string) (*tikvkv.Store, error) {
	kv, err := c.Node().Connect()
	if err != nil {
		return nil, err
	}
	return tikvkv.Join(ctx, kv, name, tikvkv.Node{}, tikvkv.Options{Log: slog.New(slog.DiscardHandler)})
}
