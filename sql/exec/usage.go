package exec

import (
	"context"
	"sync/atomic"

	"github.com/sqlots/sqlots/sql/planner/physical"
)

// Usage is what the operators of a statement do, for the status variables. Parallel
// parts add to it at the same time.
type Usage struct {
	// Tables are the operators that spill rows (Created_tmp_disk_tables),
	// Merges the merges of sorted runs (Sort_merge_passes).
	Tables, Merges atomic.Int64
	// Sorted are the rows that were sorted.
	Sorted atomic.Int64
	// Read, if set, takes what a scan or lookup that ends has read of rows, and of the
	// entries of an IndexJoin. It is called from several goroutines.
	Read func(n physical.TableNode, rows, entries Counters)
}

// read passes on what an operator or lookup of the source has read before it is closed.
func (env *Env) read(n physical.TableNode, from any) {
	if env.Usage == nil || env.Usage.Read == nil {
		return
	}
	var rows, entries Counters
	if c, ok := from.(Counted); ok {
		rows = c.Counters()
	}
	if c, ok := from.(EntryCounted); ok {
		_, entries = c.EntryCounters()
	}
	env.Usage.Read(n, rows, entries)
}

// sorted counts rows that are sorted.
func (env *Env) sorted(n int) {
	if env.Usage != nil {
		env.Usage.Sorted.Add(int64(n))
	}
}

// usedLookup passes on what a lookup has read.
type usedLookup struct {
	Lookup
	env    *Env
	node   physical.TableNode
	closed bool
}

// openLookup opens the inner side of a LookupJoin.
func (b *builder) openLookup(ctx context.Context, n physical.TableNode, nkeys int) (Lookup, error) {
	l, err := b.env.Source.Lookup(ctx, b.ec, n, nkeys)
	if err != nil || b.env.Usage == nil || b.env.Usage.Read == nil {
		return l, err
	}
	return &usedLookup{Lookup: l, env: b.env, node: n}, nil
}

// Close implements Lookup.
func (u *usedLookup) Close() error {
	if !u.closed {
		u.closed = true
		u.env.read(u.node, u.Lookup)
	}
	return u.Lookup.Close()
}

// Counters implements Counted.
func (u *usedLookup) Counters() (c Counters) {
	if x, ok := u.Lookup.(Counted); ok {
		c = x.Counters()
	}
	return c
}

// EntryCounters implements EntryCounted.
func (u *usedLookup) EntryCounters() (passed int64, c Counters) {
	if x, ok := u.Lookup.(EntryCounted); ok {
		passed, c = x.EntryCounters()
	}
	return passed, c
}
