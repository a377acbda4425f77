package statement

import (
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/introspect"
)

// Shared is what the statements of all connections share: the engine, the plans
// of statements, the virtual tables, and the commands.
type Shared struct {
	Engine   *engine.Engine
	Plans    *PlanCache
	info     *infoschema.Provider
	commands Commands
}

// NewShared is made once for an engine.
func NewShared(e *engine.Engine, c Commands) *Shared {
	return &Shared{Engine: e, Plans: newPlanCache(e.Memory.Limit() / planCacheShare), info: infoschema.New(introspect.New(e)), commands: c}
}
