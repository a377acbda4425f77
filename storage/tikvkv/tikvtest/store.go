package tikvtest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// Variable is the environment variable that names a real cluster, as the address of a
// store: tikv://HOST:PORT,…/NAME. Stores of tests are NAME and more.
const Variable = "SQLOTS_TIKV"

// Stores makes stores in a cluster. All methods may be called concurrently.
type Stores interface {
	// Join opens a store as a server does, by a node of its own. It says nothing in a
	// log.
	Join(ctx context.Context, name string) (*tikvkv.Store, error)
	// Close ends the cluster, or removes what the stores of a real one hold. They are
	// closed.
	Close()
}

// Open is the cluster that Variable names, or else a new one in the process.
func Open() (Stores, error) {
	text := os.Getenv(Variable)
	if text == "" {
		return New()
	}
	a, err := tikvkv.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	a.Name = fmt.Sprintf("%s-%08x", a.Name, rand.Uint32())
	return &realCluster{address: a}, nil
}

// Join implements Stores.
func (c *Cluster) Join(ctx context.Context, name string) (*tikvkv.Store, error) {
	kv, err := c.Node().Connect()
	if err != nil {
		return nil, err
	}
	return tikvkv.Join(ctx, kv, name, tikvkv.Node{}, quiet)
}

var quiet = tikvkv.Options{Log: slog.New(slog.DiscardHandler)}

// realCluster implements Stores in a cluster that has an address.
type realCluster struct {
	address tikvkv.Address // Name begins the names of stores

	mu    sync.Mutex
	names []string
}

// Join implements Stores.
func (c *realCluster) Join(ctx context.Context, name string) (*tikvkv.Store, error) {
	c.mu.Lock()
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
	c.mu.Unlock()
	return c.open(ctx, name)
}

func (c *realCluster) open(ctx context.Context, name string) (*tikvkv.Store, error) {
	a := c.address
	a.Name += "-" + name
	return tikvkv.Open(ctx, a, tikvkv.TLS{}, tikvkv.Node{}, quiet)
}

// Close implements Stores. What it cannot remove stays.
func (c *realCluster) Close() {
	ctx := context.Background()
	for _, name := range c.names {
		s, err := c.open(ctx, name)
		if err != nil {
			continue
		}
		_ = storage.Clear(ctx, s, storage.Span{})
		_ = s.Close()
	}
}
