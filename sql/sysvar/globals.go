package sysvar

import (
	"strings"
	"sync"

	"github.com/sqlots/sqlots/value"
)

// Globals are the global values of the system variables.
type Globals struct {
	Defs *Table
	mu   sync.RWMutex
	vals map[string]value.Datum // those that differ from the default
	// OnChange, if set, learns of global values that SET changes.
	OnChange func(name string, v value.Datum)
}

func (g *Globals) notify(name string, v value.Datum) {
	if g.OnChange != nil {
		g.OnChange(name, v)
	}
}

// NewGlobals are the defaults.
func NewGlobals() *Globals {
	return &Globals{Defs: Definitions(), vals: map[string]value.Datum{}}
}

// Lookup finds a definition by its name or by its name before MySQL 8; nil if
// none has it.
func (g *Globals) Lookup(name string) *Def {
	switch strings.ToLower(name) {
	case "tx_isolation":
		name = "transaction_isolation"
	case "tx_read_only":
		name = "transaction_read_only"
	}
	return g.Defs.Lookup(name)
}

// Get is the global value.
func (g *Globals) Get(d *Def) value.Datum {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if v, ok := g.vals[strings.ToLower(d.Name)]; ok {
		return v
	}
	return d.Default
}

// Value is the global value of a variable that exists.
func (g *Globals) Value(name string) value.Datum { return g.Get(g.Lookup(name)) }

// Changed is the global value if it was set.
func (g *Globals) Changed(name string) (value.Datum, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	v, ok := g.vals[name]
	return v, ok
}

// Set changes a global value without checks of scope; the server uses it for
// what its flags say.
func (g *Globals) Set(name string, v value.Datum) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.vals[strings.ToLower(name)] = v
}
