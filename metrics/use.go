package metrics

import (
	"sync"
	"sync/atomic"
)

// Use is how much a table was used by one of its keys, or written.
type Use struct {
	// Reads are scans and lookups, Fetched the entries or rows that they read.
	Reads, Fetched             atomic.Int64
	Inserted, Updated, Deleted atomic.Int64
}

// UseKey is a table and one of its indexes: 0 is the primary key, NoIndex what is read
// without a key and all writes.
type UseKey struct{ Table, Index uint64 }

// NoIndex is the Index of what uses none.
const NoIndex = ^uint64(0)

// Uses are the uses of all tables, also of dropped ones. Its methods may be called
// concurrently.
type Uses struct{ list sync.Map } // UseKey to *Use

// Get finds or makes the use of a key.
func (u *Uses) Get(k UseKey) *Use {
	if x, ok := u.list.Load(k); ok {
		return x.(*Use)
	}
	x, _ := u.list.LoadOrStore(k, &Use{})
	return x.(*Use)
}

// Find is the use of a key, nil if it was not used.
func (u *Uses) Find(k UseKey) *Use {
	if x, ok := u.list.Load(k); ok {
		return x.(*Use)
	}
	return nil
}

// Keep forgets the uses for which keep is false: of tables that are gone.
func (u *Uses) Keep(keep func(UseKey) bool) {
	u.list.Range(func(k, _ any) bool {
		if !keep(k.(UseKey)) {
			u.list.Delete(k)
		}
		return true
	})
}

// Reset begins again from zero. Plans keep the uses that they have found.
func (u *Uses) Reset() {
	u.list.Range(func(_, x any) bool {
		u := x.(*Use)
		for _, n := range []*atomic.Int64{&u.Reads, &u.Fetched, &u.Inserted, &u.Updated, &u.Deleted} {
			n.Store(0)
		}
		return true
	})
}
