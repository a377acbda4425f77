package engine

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// heatEvery is how often tables are looked at whose rows were accessed.
const heatEvery = 5 * time.Second

// WatchHeat starts the choice of the ranges in which accesses are counted.
func (e *Engine) WatchHeat() {
	e.Jobs.Every("choosing ranges of keys", heatEvery, func(ctx context.Context, _ time.Time) error {
		for _, id := range e.Metrics.Heat.Due() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e.ChooseRanges(ctx, schema.TableID(id))
		}
		return nil
	})
}

// ChooseRanges gives a table the ranges in which accesses to its rows are counted.
func (e *Engine) ChooseRanges(ctx context.Context, id schema.TableID) {
	if e.Catalog.Snapshot().TableByID(id) == nil {
		e.forgetHeat(e.Catalog.Snapshot())
		return
	}
	e.Metrics.Heat.Choose(uint64(id), e.Cuts(ctx, id, schema.PrimaryIndexID))
}

// Cuts are keys that divide an index, or the rows of a table, into ranges of about equal
// size.
func (e *Engine) Cuts(ctx context.Context, id schema.TableID, index schema.IndexID) (cuts [][]byte) {
	for i, span := range e.divide(ctx, nil, table.IndexSpan(id, index), metrics.HeatRanges) {
		if i > 0 {
			cuts = append(cuts, span.Start)
		}
	}
	return cuts
}

// divide appends at most n pieces of a span. The store alone gives few where each would be
// too small for a scan of its own.
func (e *Engine) divide(ctx context.Context, out []storage.Span, span storage.Span, n int) []storage.Span {
	parts := e.Store.Partitions(ctx, span, n)
	if len(parts) == 1 || 2*len(parts) > n {
		return append(out, parts...)
	}
	for i, p := range parts {
		out = e.divide(ctx, out, p, n*(i+1)/len(parts)-n*i/len(parts))
	}
	return out
}

// forgetHeat forgets the tables that are gone, and temporary ones.
func (e *Engine) forgetHeat(snap *catalog.Snapshot) {
	e.Metrics.Heat.Keep(func(id uint64) bool { return snap.TableByID(schema.TableID(id)) != nil })
}
