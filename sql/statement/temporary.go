package statement

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/planner/bind"
)

// TemporaryTables are the temporary tables of a session. Their data is in the
// store; their descriptors are the session's own.
type TemporaryTables struct {
	engine *engine.Engine
	runner *ddl.Runner // nil until the first is made
	// version counts changes: plans are kept apart by it.
	version uint64
	// Dropped are tables whose data goes when the open transaction ends, which
	// may have written to them.
	Dropped []*schema.Table
	held    int64 // bytes of the definitions, as the connection counts them
}

// snapshot is nil when there are no temporary tables.
func (t *TemporaryTables) snapshot() *catalog.Snapshot {
	if t.runner == nil {
		return nil
	}
	if s := t.runner.Catalog.Snapshot(); !s.Empty() {
		return s
	}
	return nil
}

// Find finds a temporary table; nil if none exists.
func (tt *TemporaryTables) Find(db, name string) *schema.Table {
	if snap := tt.snapshot(); snap != nil {
		t, _ := snap.Table(db, name)
		return t
	}
	return nil
}

// isTemporary reports whether t is a current temporary table of the session.
func (tt *TemporaryTables) isTemporary(t *schema.Table) bool {
	snap := tt.snapshot()
	return snap != nil && snap.TableByID(t.ID) == t
}

// notTemporary are the tables that are not temporary: foreign keys are about these.
func (tt *TemporaryTables) notTemporary(tables []*schema.Table) []*schema.Table {
	if tt.snapshot() == nil {
		return tables
	}
	return slices.DeleteFunc(slices.Clone(tables), tt.isTemporary)
}

// sessionCatalog is the shared catalog with the session's temporary tables,
// which hide others of their names.
type sessionCatalog struct {
	*catalog.Snapshot
	temps *catalog.Snapshot
}

var (
	_ bind.Catalog          = sessionCatalog{}
	_ bind.TemporaryCatalog = sessionCatalog{}
)

// Table implements bind.Catalog.
func (c sessionCatalog) Table(db, name string) (*schema.Table, bool) {
	if t, ok := c.temps.Table(db, name); ok {
		return t, true
	}
	return c.Snapshot.Table(db, name)
}

// View implements bind.ViewCatalog.
func (c sessionCatalog) View(db, name string) (*schema.View, bool) {
	if _, ok := c.temps.Table(db, name); ok {
		return nil, false
	}
	return c.Snapshot.View(db, name)
}

// IsTemporary implements bind.TemporaryCatalog.
func (c sessionCatalog) IsTemporary(t *schema.Table) bool { return c.temps.TableByID(t.ID) == t }

// Visible is the catalog as the session's statements see it.
func (tt *TemporaryTables) Visible() bind.Catalog {
	snap := tt.engine.Catalog.Snapshot()
	if temps := tt.snapshot(); temps != nil {
		return sessionCatalog{Snapshot: snap, temps: temps}
	}
	return snap
}

// Runner makes the schema changes of temporary tables.
func (tt *TemporaryTables) Runner() *ddl.Runner {
	if tt.runner == nil {
		tt.runner = ddl.NewTemporary(tt.engine.DDL.Config)
	}
	tt.version++
	return tt.runner
}

// HoldTemporary counts what the definitions of the temporary tables take, with one that
// is about to be made, or nil: 3170.
func (cn *Connection) HoldTemporary(more *schema.Table) error {
	n := int64(0)
	if snap := cn.Temps.snapshot(); snap != nil {
		for _, d := range snap.Databases() {
			for _, t := range snap.Tables(d.Name) {
				n += definitionBytes(t)
			}
		}
	}
	if more != nil {
		n += definitionBytes(more)
	}
	err := cn.hold(n-cn.Temps.held, "temporary tables")
	if err == nil {
		cn.Temps.held = n
	}
	return err
}

// definitionBytes is about what a definition takes in the catalog and in plans.
func definitionBytes(t *schema.Table) int64 {
	return 2048 + 512*int64(len(t.Columns)+len(t.Indexes))
}

// Sweep deletes the data of dropped temporary tables. No transaction
// is open.
func (tt *TemporaryTables) Sweep(ctx context.Context) {
	if len(tt.Dropped) == 0 {
		return
	}
	tt.runner.DropData(ctx, tt.Dropped)
	tt.Dropped = nil
}

// dropAllTemporary is what the end of a connection does.
func (tt *TemporaryTables) dropAllTemporary() {
	snap := tt.snapshot()
	ctx := context.Background()
	if snap != nil {
		var all []*schema.Table
		for _, d := range snap.Databases() {
			all = append(all, snap.Tables(d.Name)...)
		}
		if err := tt.Runner().Forget(ctx, all); err != nil {
			tt.engine.Log.Error("dropping temporary tables", "error", err)
			return
		}
		tt.Dropped = append(tt.Dropped, all...)
	}
	tt.Sweep(ctx)
}
