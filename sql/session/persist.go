package session

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/value"
)

// persist is SET PERSIST, which also sets the global value, and SET
// PERSIST_ONLY, which takes effect at the next start.
func (s *Session) persist(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	d := s.vars.globals.lookup(it.Name)
	if d == nil {
		return sqlerr.UnknownSystemVariable(it.Name)
	}
	if !d.Dynamic {
		return sqlerr.NotPersistent(d.Name)
	}
	if err := s.checkLogFile(strings.ToLower(d.Name), val); err != nil {
		return err
	}
	stored, err := s.vars.checked(d, val, t)
	if err != nil {
		return err
	}
	if it.Scope == logical.SetPersist {
		if err := s.vars.set(true, it.Name, val, t); err != nil {
			return err
		}
	} else if d.Scope == sysvar.ScopeSession {
		return sqlerr.LocalVariable(d.Name)
	}
	x := catalog.Setting{Name: strings.ToLower(d.Name), Value: d.Text(stored), At: time.Now().Unix(), User: s.info.Account.User, Host: s.info.Account.Host}
	return s.engine.catalog.Change(ctx, func(ch *catalog.Change) error {
		ch.PutSetting(x)
		return nil
	})
}

// resetPersist is RESET PERSIST: 3615.
func (s *Session) resetPersist(ctx context.Context, x *logical.ResetPersist) error {
	return s.engine.catalog.Change(ctx, func(ch *catalog.Change) error {
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
			s.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: err})
			return nil
		}
		ch.DropSetting(x.Name)
		return nil
	})
}

// loadPersisted gives the global variables their persisted values. What is not
// valid any more is logged and left.
func (e *Engine) loadPersisted() {
	for name, x := range e.catalog.Snapshot().Settings() {
		d := e.globals.lookup(name)
		if d == nil || !d.Dynamic || d.Scope == sysvar.ScopeSession {
			e.log.Warn("persisted variable is none", "name", name)
			continue
		}
		v, err := d.Check(settingDatum(d, x.Value), d.Type)
		if err != nil {
			e.log.Warn("persisted variable has a wrong value", "name", name, "value", x.Value, "error", err)
			continue
		}
		e.globals.Set(name, v.Clone())
	}
}

// settingDatum reads the text of Def.Text.
func settingDatum(d *sysvar.Def, text string) value.Datum {
	switch {
	case d.Bool:
		return value.String(text)
	case d.Type.IsInteger():
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.Int(n)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return value.Uint(n)
		}
	case d.Type.IsFloat():
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.Float(f)
		}
	}
	return value.String(text)
}

// VariablesInfo implements infoschema.Server.
func (e *introspection) VariablesInfo() []infoschema.VariableInfo {
	settings := e.catalog.Snapshot().Settings()
	var out []infoschema.VariableInfo
	for _, name := range e.globals.defs.Names() {
		d := e.globals.defs.Lookup(name)
		x := infoschema.VariableInfo{Name: d.Name, Source: "COMPILED", Min: d.Min, Max: d.Max}
		if _, ok := e.globals.changed(name); ok {
			x.Source = "DYNAMIC"
		}
		if p, ok := settings[name]; ok {
			x.Source, x.Persisted, x.Value = "PERSISTED", true, p.Value
			x.SetTime, x.SetUser, x.SetHost = time.Unix(p.At, 0), p.User, p.Host
		}
		out = append(out, x)
	}
	return out
}
