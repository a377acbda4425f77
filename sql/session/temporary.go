package session

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// temporaryTables are the temporary tables of a session. Their data lies in
// the store; their descriptors are the session's own.
type temporaryTables struct {
	engine *engine.Engine
	runner *ddl.Runner // nil until the first is made
	// version counts changes: plans are kept apart by it.
	version uint64
	// dropped are tables whose data goes when the open transaction ends, which
	// may have written to them.
	dropped []*schema.Table
}

// snapshot is nil when there are no temporary tables.
func (t *temporaryTables) snapshot() *catalog.Snapshot {
	if t.runner == nil {
		return nil
	}
	if s := t.runner.Catalog.Snapshot(); !s.Empty() {
		return s
	}
	return nil
}

// temporary finds a temporary table; nil if there is none.
func (tt *temporaryTables) temporary(db, name string) *schema.Table {
	if snap := tt.snapshot(); snap != nil {
		t, _ := snap.Table(db, name)
		return t
	}
	return nil
}

// isTemporary reports whether t is a current temporary table of the session.
func (tt *temporaryTables) isTemporary(t *schema.Table) bool {
	snap := tt.snapshot()
	return snap != nil && snap.TableByID(t.ID) == t
}

// notTemporary are the tables that are not temporary: foreign keys are about these.
func (tt *temporaryTables) notTemporary(tables []*schema.Table) []*schema.Table {
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

// visible is the catalog as the session's statements see it.
func (tt *temporaryTables) visible() bind.Catalog {
	snap := tt.engine.Catalog.Snapshot()
	if temps := tt.snapshot(); temps != nil {
		return sessionCatalog{Snapshot: snap, temps: temps}
	}
	return snap
}

// temporaryRunner makes the schema changes of temporary tables.
func (tt *temporaryTables) temporaryRunner() *ddl.Runner {
	if tt.runner == nil {
		tt.runner = ddl.NewTemporary(tt.engine.DDL.Config)
	}
	tt.version++
	return tt.runner
}

// temporaryChange runs a schema change that concerns temporary tables. done is
// false when it concerns none, or others too; rest is then what is left of it.
func (s *commands) temporaryChange(ctx context.Context, stmt logical.Statement) (n uint64, rest logical.Statement, err error) {
	switch x := stmt.(type) {
	case *logical.CreateTable:
		if x, err = s.resolveLike(x); err != nil || !x.Temporary {
			return 0, x, err
		}
		n, err = s.temps.temporaryRunner().Run(ctx, x, s.ddlEnv())
		return n, nil, err
	case *logical.DropTable:
		return s.dropTemporary(ctx, x)
	case *logical.TruncateTable:
		if s.temps.temporary(x.Table.DB, x.Table.Name) == nil {
			return 0, stmt, nil
		}
	case *logical.AlterTable:
		if s.temps.temporary(x.Table.DB, x.Table.Name) == nil {
			return 0, stmt, nil
		}
	default:
		return 0, stmt, nil
	}
	if err := s.tx.commit(ctx); err != nil {
		return 0, nil, err
	}
	n, err = s.temps.temporaryRunner().Run(freeing(ctx, stmt), stmt, s.ddlEnv())
	return n, nil, err
}

// resolveLike finds the table of LIKE where it, or the new one, is temporary:
// the two are in different catalogs then.
func (s *commands) resolveLike(x *logical.CreateTable) (*logical.CreateTable, error) {
	if x.Like == nil {
		return x, nil
	}
	like := s.temps.temporary(x.Like.DB, x.Like.Name)
	if like == nil {
		if !x.Temporary {
			return x, nil
		}
		snap := s.engine.Catalog.Snapshot()
		var ok bool
		if like, ok = snap.Table(x.Like.DB, x.Like.Name); !ok {
			if _, isView := snap.View(x.Like.DB, x.Like.Name); isView {
				return nil, sqlerr.ViewInvalid(x.Like.DB, x.Like.Name, "BASE TABLE")
			}
			return nil, sqlerr.NoSuchTable(x.Like.DB, x.Like.Name)
		}
	}
	out := *x
	out.Like, out.Table = nil, ddl.LikeTable(like, x.Name)
	return &out, nil
}

// dropTemporary drops the temporary tables among those of DROP TABLE.
func (s *commands) dropTemporary(ctx context.Context, x *logical.DropTable) (uint64, logical.Statement, error) {
	var found []*schema.Table
	var others []logical.TableName
	seen := map[logical.TableName]bool{}
	for _, n := range x.Tables {
		if t := s.temps.temporary(n.DB, n.Name); t != nil {
			if seen[n] {
				return 0, nil, sqlerr.NotUniqueTable(n.Name)
			}
			seen[n] = true
			found = append(found, t)
			continue
		}
		others = append(others, n)
	}
	if len(found) == 0 && !x.Temporary {
		return 0, x, nil
	}
	if !x.Temporary && len(others) > 0 && !x.IfExists {
		snap := s.engine.Catalog.Snapshot()
		for _, n := range others {
			if _, ok := snap.Table(n.DB, n.Name); !ok {
				return 0, &logical.DropTable{Tables: others}, nil // it fails as a whole
			}
		}
	}
	if x.Temporary && len(others) > 0 {
		// The shared runner knows no temporary tables: 1051, or a note.
		missing := &logical.DropTable{Tables: others, IfExists: x.IfExists, Temporary: true}
		if _, err := s.engine.DDL.Run(ctx, missing, s.ddlEnv()); err != nil {
			return 0, nil, err
		}
		others = nil
	}
	if !x.Temporary {
		if err := s.tx.commit(ctx); err != nil {
			return 0, nil, err
		}
	}
	if len(found) > 0 {
		if err := s.temps.temporaryRunner().Forget(ctx, found); err != nil {
			return 0, nil, err
		}
		s.temps.dropped = append(s.temps.dropped, found...)
	}
	if s.tx.open == nil {
		s.temps.sweepTemporary(ctx)
	}
	if len(others) == 0 {
		return 0, nil, nil
	}
	return 0, &logical.DropTable{Tables: others, IfExists: x.IfExists}, nil
}

// sweepTemporary deletes the data of dropped temporary tables. No transaction
// is open.
func (tt *temporaryTables) sweepTemporary(ctx context.Context) {
	if len(tt.dropped) == 0 {
		return
	}
	tt.runner.DropData(ctx, tt.dropped)
	tt.dropped = nil
}

// dropAllTemporary is what the end of a connection does.
func (tt *temporaryTables) dropAllTemporary() {
	snap := tt.snapshot()
	ctx := context.Background()
	if snap != nil {
		var all []*schema.Table
		for _, d := range snap.Databases() {
			all = append(all, snap.Tables(d.Name)...)
		}
		if err := tt.temporaryRunner().Forget(ctx, all); err != nil {
			tt.engine.Log.Error("dropping temporary tables", "error", err)
			return
		}
		tt.dropped = append(tt.dropped, all...)
	}
	tt.sweepTemporary(ctx)
}
