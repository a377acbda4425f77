package engine

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/stream"
)

// FindStream is the change log of a table; when it has none, that of the last
// table of the name: 1146, 1381.
func (e *Engine) FindStream(ctx context.Context, db, name string) (schema.StreamID, error) {
	t, exists := e.Catalog.Snapshot().Table(db, name)
	if exists && t.Stream != nil && !t.Stream.Internal {
		return t.Stream.ID, nil
	}
	ended, err := stream.EndedStreams(ctx, e.Store.Latest())
	if err != nil {
		return 0, err
	}
	var last *stream.Ended
	for i := range ended {
		if x := &ended[i]; !x.Internal && x.Database == db && x.Table == name && (last == nil || x.ID > last.ID) {
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
