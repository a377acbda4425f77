package errkv_test

import (
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/storagetest"
)

func TestConformanceFar(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storage.Store { return errkv.NewFar(errkv.FarOptions{}) })
}

// TestConformanceFarSlow: commits overtake each other, and Settled is old.
func TestConformanceFarSlow(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storage.Store {
		return errkv.NewFar(errkv.FarOptions{Delay: 300 * time.Microsecond, Lag: 3 * time.Millisecond})
	})
}
