package kvread

import (
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
)

// Reader reads the rows of tables for one statement.
type Reader struct{ state *decode.State }

// New makes a Reader.
func New(state *decode.State) Reader { return Reader{state} }

// locksRanges reports whether a locking read keeps the ranges in which it finds its
// rows, and what it does where it would wait.
func (s *Reader) locksRanges(n physical.TableNode) (wait storage.WaitPolicy, ok bool) {
	l := n.Reads().Lock
	if l.NoWait {
		wait = storage.WaitError
	}
	switch {
	case !n.Leaf().Latest || s.state.Txn == nil || l.SkipLocked:
		return wait, false
	case s.state.Ranges == decode.LockingRanges:
		return wait, !l.None
	}
	return wait, s.state.Ranges == decode.AllRanges
}
