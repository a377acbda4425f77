package catalog

import (
	"context"

	"github.com/sqlots/sqlots/schema"
)

// NewTemporary makes the catalog of a session's temporary tables. It is kept
// in memory: it has the databases of shared, no tables at first, and takes ids
// from shared.
func NewTemporary(shared *Catalog) *Catalog {
	c := &Catalog{store: shared.store, shared: shared}
	c.current.Store(&Snapshot{version: 1, databases: map[string]*database{}, byID: map[schema.TableID]*schema.Table{}, viewByID: map[schema.TableID]*schema.View{}})
	return c
}

// Empty reports that there are no tables.
func (s *Snapshot) Empty() bool { return len(s.byID) == 0 }

// changeTemporary is Change of a catalog in memory.
func (c *Catalog) changeTemporary(ctx context.Context, fn func(ch *Change) error) error {
	base := c.current.Load().clone()
	for name, d := range c.shared.Snapshot().databases {
		own := base.databases[name]
		if own == nil {
			own = newDatabase()
			base.databases[name] = own
		}
		own.desc = d.desc
	}
	ch := &Change{Base: base, next: base.clone(), puts: map[string][]byte{}, shared: c.shared, ctx: ctx}
	if err := fn(ch); err != nil {
		return err
	}
	if ch.err != nil {
		return ch.err
	}
	c.current.Store(ch.next)
	return nil
}
