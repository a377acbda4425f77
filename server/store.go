package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/sqlots/sqlots/internal/datadir"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// Cluster is a store in a cluster. The server does not import the client of one: what links
// this package is smaller by a third without it, most of all tests.
type Cluster struct {
	// Address names the store, tikv://HOST:PORT,…/NAME.
	Address string
	// Open opens it. The data directory is locked meanwhile.
	Open func(context.Context) (ClusterStore, error)
}

// ClusterStore is the store of a Cluster.
type ClusterStore interface {
	storage.Store
	// ID is that of the store in the cluster, which it keeps when servers come and go.
	ID() string
}

// checkStore refuses flags that do not go with a store in a cluster.
func checkStore(cfg Config) error {
	switch {
	case cfg.Cluster != nil && cfg.BackupDir != "":
		return errors.New("--backup-dir: a store in a cluster has no files to copy; the cluster is backed up by its own tools")
	case cfg.Cluster != nil && cfg.AcceptLogDamage:
		return errors.New("--accept-log-damage: a store in a cluster has no log in the data directory")
	}
	return nil
}

// openStore opens the store: in memory, in a cluster, or in the data directory. The
// pressure is nil where the store takes no memory of the process.
func (s *Server) openStore(ctx context.Context) (*pressure, error) {
	cfg := s.cfg
	switch {
	case cfg.InMemory && cfg.MemoryStore != nil:
		s.store = cfg.MemoryStore()
		return nil, nil
	case cfg.InMemory:
		s.store = memkv.New(memkv.Options{})
		return nil, nil
	}
	if err := os.MkdirAll(cfg.DataDir, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if cfg.Cluster != nil {
		return nil, s.openCluster(ctx)
	}
	return s.openDirectory()
}

// openDirectory opens the store in the data directory.
func (s *Server) openDirectory() (*pressure, error) {
	cfg := s.cfg
	switch o, ok, err := datadir.ReadOwner(cfg.DataDir); {
	case err != nil:
		return nil, fmt.Errorf("data directory: %w", err)
	case ok:
		return nil, fmt.Errorf("data directory %s: it has local files of the store %s: use --store, or another directory", cfg.DataDir, o.Address)
	}
	limit := s.limitHeap()
	opts := pebblekv.Options{Dir: cfg.DataDir, CacheBytes: divided(cfg.Memory) * dataShare / 16, AcceptLogDamage: cfg.AcceptLogDamage, Logger: cfg.Log, Steps: cfg.Steps}
	if !pebblekv.BlocksInHeap {
		limit -= opts.CacheBytes * 3 / 4
	}
	debug.SetMemoryLimit(limit)
	if cfg.Tune != nil {
		cfg.Tune(&opts)
	}
	store, err := pebblekv.Open(opts)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", filepath.Clean(cfg.DataDir), err)
	}
	s.store = store
	return &pressure{store: store, target: limit * 11 / 16, most: opts.CacheBytes * 3 / 4}, nil
}

// limitHeap gives the collector the budget; blocks and write buffers count where they live
// in its heap.
func (s *Server) limitHeap() int64 {
	ballast = make([]byte, s.cfg.Memory/ballastShare)
	return divided(s.cfg.Memory)*(16-spareShare)/16 + int64(len(ballast))
}

// openCluster opens the store in a cluster. The data directory is that of this store from
// then on: its search indexes follow the store's change log.
func (s *Server) openCluster(ctx context.Context) error {
	dir := filepath.Clean(s.cfg.DataDir)
	for _, name := range pebblekv.Files() {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("data directory %s: it has a store of its own (%s): use another directory with --store", dir, name)
		}
	}
	var err error
	if s.dirLock, err = datadir.Lock(dir); err != nil {
		s.dirLock = nil
		if errors.Is(err, datadir.ErrInUse) {
			err = fmt.Errorf("%w: %w", storage.ErrLocked, err)
		}
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	debug.SetMemoryLimit(s.limitHeap())
	store, err := s.cfg.Cluster.Open(ctx)
	if err != nil {
		return err
	}
	s.store = store
	if err := datadir.Claim(dir, datadir.Owner{Store: store.ID(), Address: s.cfg.Cluster.Address}); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	return nil
}
