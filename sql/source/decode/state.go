package decode

import (
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/storage"
)

// State is what a statement reads from and writes to, and what it may hold.
type State struct {
	Store storage.Store
	// Reader is what plain reads of tables read: View, or in a SERIALIZABLE
	// transaction the latest state, of which all that is read is locked.
	Reader storage.Reader
	// View is the view of the statement.
	View storage.Reader
	// Txn is the transaction; nil where nothing is locked or changed.
	Txn storage.Txn
	// Ranges says which reads lock what they read against all other changes, rows
	// that do not exist included.
	Ranges Ranges
	// Loc is the session's time zone, nil for UTC.
	Loc    *time.Location
	Codecs *Codecs
	// Memory counts what the statement holds; nil counts nothing. Lists of keys that
	// are too long for it go to disk as Spill, SpillOver and Usage say; see
	// exec.Env.
	Memory    *exec.Tracker
	Spill     *spill.Disk
	SpillOver int64
	Usage     *exec.Usage
	// Heat takes a sample of the accesses to rows; nil takes none.
	Heat *metrics.Heat
	// BatchSize is the most rows of a batch, from 1 to vec.MaxRows.
	BatchSize int
}

// Ranges are the reads that lock ranges of keys. The zero value is none.
type Ranges uint8

// The reads that lock ranges.
const (
	NoRanges      Ranges = iota
	LockingRanges        // with a locking clause, but for SKIP LOCKED
	AllRanges            // all
)

// Watch makes a the accesses to the rows of a table.
func (s *State) Watch(a *metrics.Accesses, t *schema.Table) {
	if t.Derived != nil {
		a.Of(nil, 0)
		return
	}
	a.Of(s.Heat, uint64(t.ID))
}

// KeyEnv is what lists of keys need.
func (s *State) KeyEnv() *exec.Env {
	return &exec.Env{Memory: s.Memory, Spill: s.Spill, SpillOver: s.SpillOver, Usage: s.Usage}
}
