package engine

import (
	"strconv"

	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/value"
)

// loadPersisted gives the global variables their persisted values. What is not
// valid any more is logged and left.
func (e *Engine) loadPersisted() {
	for name, x := range e.Catalog.Snapshot().Settings() {
		d := e.Globals.Lookup(name)
		if d == nil || !d.Dynamic || d.Scope == sysvar.ScopeSession {
			e.Log.Warn("persisted variable is none", "event", "variable.ignored", "name", name)
			continue
		}
		v, err := d.Check(settingDatum(d, x.Value), d.Type)
		if err != nil {
			e.Log.Warn("persisted variable has a wrong value", "event", "variable.ignored", "name", name, "value", x.Value, "error", err)
			continue
		}
		e.Globals.Set(name, v.Clone())
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
