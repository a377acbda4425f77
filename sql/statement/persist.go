package statement

import (
	"context"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/value"
)

// persist is SET PERSIST, which also sets the global value, and SET
// PERSIST_ONLY, which takes effect at the next start.
func (s *Statement) persist(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	d := s.Vars.Globals.Lookup(it.Name)
	if d == nil {
		return sqlerr.UnknownSystemVariable(it.Name)
	}
	if !d.Dynamic {
		return sqlerr.NotPersistent(d.Name)
	}
	if err := s.checkGlobal(strings.ToLower(d.Name), val); err != nil {
		return err
	}
	stored, err := s.Vars.Checked(d, val, t)
	if err != nil {
		return err
	}
	if it.Scope == logical.SetPersist {
		if err := s.Vars.Set(true, it.Name, val, t); err != nil {
			return err
		}
	} else if d.Scope == sysvar.ScopeSession {
		return sqlerr.LocalVariable(d.Name)
	}
	x := catalog.Setting{Name: strings.ToLower(d.Name), Value: d.Text(stored), At: time.Now().Unix(), User: s.Info.Account.User, Host: s.Info.Account.Host}
	return s.Engine.Catalog.Change(ctx, func(ch *catalog.Change) error {
		ch.PutSetting(x)
		return nil
	})
}

// resetPersist is RESET PERSIST: 3615.
func (s *Statement) resetPersist(ctx context.Context, x *logical.ResetPersist) error {
	if err := s.resetsAudit(x.Name); err != nil {
		return err
	}
	return s.Engine.Catalog.Change(ctx, func(ch *catalog.Change) error {
		have := ch.Current().Settings()
		if x.Name == "" {
			for name := range have {
				ch.DropSetting(name)
			}
			return nil
		}
		if _, ok := have[x.Name]; !ok {
			err := sqlerr.NotPersisted(x.Name)
			if !x.IfExists {
				return err
			}
			s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: err})
			return nil
		}
		ch.DropSetting(x.Name)
		return nil
	})
}
