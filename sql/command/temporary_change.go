package command

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// temporaryChange runs a schema change that concerns temporary tables. done is
// false when it concerns none, or others too; rest is then what is left of it.
func (s *commands) temporaryChange(ctx context.Context, stmt logical.Statement) (n uint64, rest logical.Statement, err error) {
	// An ALTER may go beyond the limit. The next table does not fit then.
	defer func() { _ = s.HoldTemporary(nil) }()
	switch x := stmt.(type) {
	case *logical.CreateTable:
		if x, err = s.resolveLike(x); err != nil || !x.Temporary {
			return 0, x, err
		}
		if err := s.HoldTemporary(x.Table); err != nil {
			return 0, nil, err
		}
		n, err = s.Temps.Runner().Run(ctx, x, s.DDLEnv())
		return n, nil, err
	case *logical.DropTable:
		return s.dropTemporary(ctx, x)
	case *logical.TruncateTable:
		if s.Temps.Find(x.Table.DB, x.Table.Name) == nil {
			return 0, stmt, nil
		}
	case *logical.AlterTable:
		if s.Temps.Find(x.Table.DB, x.Table.Name) == nil {
			return 0, stmt, nil
		}
	default:
		return 0, stmt, nil
	}
	if err := s.Tx.Commit(ctx); err != nil {
		return 0, nil, err
	}
	n, err = s.Temps.Runner().Run(freeing(ctx, stmt), stmt, s.DDLEnv())
	return n, nil, err
}

// resolveLike finds the table of LIKE where it, or the new one, is temporary:
// the two are in different catalogs then.
func (s *commands) resolveLike(x *logical.CreateTable) (*logical.CreateTable, error) {
	if x.Like == nil {
		return x, nil
	}
	like := s.Temps.Find(x.Like.DB, x.Like.Name)
	if like == nil {
		if !x.Temporary {
			return x, nil
		}
		snap := s.Engine.Catalog.Snapshot()
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
		if t := s.Temps.Find(n.DB, n.Name); t != nil {
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
		snap := s.Engine.Catalog.Snapshot()
		for _, n := range others {
			if _, ok := snap.Table(n.DB, n.Name); !ok {
				return 0, &logical.DropTable{Tables: others}, nil // it fails as a whole
			}
		}
	}
	if x.Temporary && len(others) > 0 {
		// The shared runner knows no temporary tables: 1051, or a note.
		missing := &logical.DropTable{Tables: others, IfExists: x.IfExists, Temporary: true}
		if _, err := s.Engine.DDL.Run(ctx, missing, s.DDLEnv()); err != nil {
			return 0, nil, err
		}
		others = nil
	}
	if !x.Temporary {
		if err := s.Tx.Commit(ctx); err != nil {
			return 0, nil, err
		}
	}
	if len(found) > 0 {
		if err := s.Temps.Runner().Forget(ctx, found); err != nil {
			return 0, nil, err
		}
		s.Temps.Dropped = append(s.Temps.Dropped, found...)
	}
	if !s.Tx.IsOpen() {
		s.Temps.Sweep(ctx)
	}
	if len(others) == 0 {
		return 0, nil, nil
	}
	return 0, &logical.DropTable{Tables: others, IfExists: x.IfExists}, nil
}
