package search

import "time"

// Knobs are faults and settings with which tests of servers look whether a checker
// sees the first, and how the second behave. All are zero in production.
type Knobs struct {
	// Changed, if not nil, replaces the keys of View.Changed.
	Changed func(keys [][]byte) [][]byte
	// At, if not nil, replaces the sequence up to which View.Changed is read.
	At func(seq uint64) uint64
	// Idle, if not 0, is how long an idle index keeps its files open.
	Idle time.Duration
	// MergeAfter, if not 0, is how long after a change files are merged.
	MergeAfter time.Duration
}

// until is the sequence up to which the changes for a reader at one are read.
func (k Knobs) until(at uint64) uint64 {
	if k.At != nil {
		return k.At(at)
	}
	return at
}

func (k Knobs) changed(keys [][]byte) [][]byte {
	if k.Changed != nil {
		return k.Changed(keys)
	}
	return keys
}
