package pebblekv

import (
	"sync/atomic"

	"github.com/sqlots/sqlots/internal/invariants"
)

// shown is the latest state that any reader was shown: the next reader must not
// be shown an older one (storage I2). It is kept in the invariants build only.
type shown struct{ seq atomic.Uint64 }

// before is what was shown before a reader begins.
func (s *shown) before() uint64 {
	if !invariants.Enabled {
		return 0
	}
	return s.seq.Load()
}

// note records that a reader is shown a state; it began when the store had shown
// another.
func (s *shown) note(seq, before uint64) {
	if !invariants.Enabled {
		return
	}
	if seq < before {
		invariants.Violated("a reader is shown the state after commit %d, when another had been shown that after %d", seq, before)
	}
	for old := s.seq.Load(); old < seq && !s.seq.CompareAndSwap(old, seq); old = s.seq.Load() {
	}
}
