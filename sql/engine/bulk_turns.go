package engine

import (
	"context"

	"github.com/sqlots/sqlots/schema"
)

// BulkTurn lets one bulk load at a time lock writers of a table out; the others
// wait here instead of taking the table for one that is in use.
func (e *Engine) BulkTurn(ctx context.Context, id schema.TableID) (release func(), err error) {
	turn, _ := e.bulkTurns.LoadOrStore(id, make(chan struct{}, 1))
	c := turn.(chan struct{})
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
