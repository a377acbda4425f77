package session

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/stream"
)

// findStream is the change log of a table; when there is no such table, that of
// the last one of the name: 1146, 1381.
func (e *Engine) findStream(ctx context.Context, db, name string) (schema.StreamID, error) {
	t, exists := e.catalog.Snapshot().Table(db, name)
	if exists && t.Stream != nil {
		return t.Stream.ID, nil
	}
	ended, err := stream.EndedStreams(ctx, e.store.Latest())
	if err != nil {
		return 0, err
	}
	var last *stream.Ended
	for i := range ended {
		if x := &ended[i]; x.Database == db && x.Table == name && (last == nil || x.ID > last.ID) {
			last = x
		}
	}
	switch {
	case last != nil:
		return last.ID, nil
	case exists:
		return 0, sqlerr.NoStream(db + "." + name)
	}
	return 0, sqlerr.NoSuchTable(db, name)
}
