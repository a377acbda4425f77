package introspect

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/stream"
)

// Streams implements infoschema.Server.
func (e *Server) Streams(ctx context.Context) ([]stream.Info, error) {
	list, err := e.engine.StreamList(ctx)
	for i := range list {
		if err == nil {
			err = list[i].Describe(ctx, e.engine.Store)
		}
	}
	return list, err
}

// StreamConsumers implements infoschema.Server.
func (e *Server) StreamConsumers(ctx context.Context) ([]stream.ConsumerInfo, error) {
	list, err := e.engine.StreamList(ctx)
	if err != nil {
		return nil, err
	}
	consumers, err := stream.Consumers(ctx, e.engine.Store.Latest())
	if err != nil {
		return nil, err
	}
	out := make([]stream.ConsumerInfo, len(consumers))
	for i := range consumers {
		out[i].Consumer = consumers[i]
		for k := range list {
			if list[k].ID == consumers[i].Stream {
				out[i].Database, out[i].Table = list[k].Database, list[k].Table
			}
		}
		if err := out[i].Describe(ctx, e.engine.Store.Latest(), time.Now().UnixMicro()); err != nil {
			return nil, err
		}
	}
	return out, nil
}
