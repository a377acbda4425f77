package metrics

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Errors count errors and warnings by number. Its methods may be called concurrently.
type Errors struct {
	mu   sync.Mutex
	list map[uint16]*ErrorCount
}

// ErrorCount is how often an error was raised.
type ErrorCount struct {
	Number      uint16
	State       string
	Raised      uint64
	First, Last time.Time
}

// Add counts an error.
func (e *Errors) Add(number uint16, state string) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.list == nil {
		e.list = map[uint16]*ErrorCount{}
	}
	x := e.list[number]
	if x == nil {
		x = &ErrorCount{Number: number, State: state, First: now}
		e.list[number] = x
	}
	x.Raised++
	x.Last = now
}

// List are the errors that were raised, by number.
func (e *Errors) List() []ErrorCount {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]ErrorCount, 0, len(e.list))
	for _, x := range e.list {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b ErrorCount) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Reset forgets all.
func (e *Errors) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = nil
}
