package engine

import (
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
)

// forgetUses forgets how tables and indexes were used that are gone.
func (e *Engine) forgetUses(snap *catalog.Snapshot) {
	e.Metrics.Uses.Keep(func(k metrics.UseKey) bool {
		return snap.TableByID(schema.TableID(k.Table)) != nil
	})
}
