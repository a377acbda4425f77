package statement

import (
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/introspect"
	"github.com/sqlots/sqlots/sql/planner/logical"
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

// TruncatesVirtual reports a table of performance_schema that TruncateVirtual resets.
func (sh *Shared) TruncatesVirtual(n logical.TableName) bool {
	return len(sh.info.Truncated(n.DB, n.Name)) > 0
}

// TruncateVirtual resets a table of performance_schema, without a name all that can be.
// It returns how many.
func (sh *Shared) TruncateVirtual(n logical.TableName) int {
	list := sh.info.Truncated(n.DB, n.Name)
	for _, reset := range list {
		reset(sh.Engine.Metrics)
	}
	return len(list)
}
