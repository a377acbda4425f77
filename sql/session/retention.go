package session

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// retentionEvery is how often change logs are looked through for records whose
// time is over; versions, which have to be read all, every versionsEvery times.
const (
	retentionEvery = 10 * time.Second
	versionsEvery  = 60
)

// KeepRetention removes the records of change logs and the versions of rows
// whose time is over, until ctx ends.
func (e *Engine) KeepRetention(ctx context.Context) {
	tick := time.NewTicker(retentionEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			guard.Do(e.log, "removing records of change logs", func() { e.TrimStreams(ctx, now) })
			if n%versionsEvery == 0 {
				guard.Do(e.log, "removing versions", func() { e.TrimVersions(ctx, now) })
			}
		}
	}
}

// TrimVersions removes the versions of rows that need not be kept at a time.
func (e *Engine) TrimVersions(ctx context.Context, now time.Time) {
	snap := e.catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.VersionRetention == 0 || !t.KeepsVersions() {
				continue
			}
			err := table.ForgetHistory(storage.FreeingSpace(ctx), e.store, t.ID, now.UnixMicro()-t.VersionRetention*1e6)
			if err != nil && ctx.Err() == nil {
				e.log.Error("removing versions", "table", t.Database+"."+t.Name, "error", err)
			}
		}
	}
}

// TrimStreams removes what change logs need not keep at a time. Failures are
// logged: the next run tries again.
func (e *Engine) TrimStreams(ctx context.Context, now time.Time) {
	list, err := e.streamList(ctx)
	if err != nil {
		e.log.Error("reading the change logs", "error", err)
		return
	}
	for i := range list {
		x := &list[i]
		upTo, err := stream.Expired(ctx, e.store, &x.Stream, now.UnixMicro())
		if e.search != nil {
			if need, ok := e.search.Floor(x.ID); ok {
				upTo = min(upTo, need)
			}
		}
		if err == nil && upTo > 0 {
			err = e.trimStream(ctx, x.ID, upTo)
		}
		if err == nil && x.Ended > 0 {
			err = e.forgetStream(ctx, x, now)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Error("removing records of a change log", "table", x.Database+"."+x.Table, "error", err)
		}
	}
}

// trimStream removes the records of a change log up to a sequence.
func (e *Engine) trimStream(ctx context.Context, id schema.StreamID, upTo uint64) error {
	e.trimming.Lock()
	defer e.trimming.Unlock()
	live := ^uint32(0)
	snap := e.catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.Stream != nil && t.Stream.ID == id {
				live = t.Version
			}
		}
	}
	return stream.Trim(storage.FreeingSpace(ctx), e.store, id, upTo, live)
}

// forgetStream removes an ended change log that has no records any more.
func (e *Engine) forgetStream(ctx context.Context, x *stream.Info, now time.Time) error {
	if x.Ended > now.UnixMicro()-x.Retention*1e6 {
		return nil
	}
	_, ok, err := stream.First(ctx, e.store.Latest(), x.ID, stream.Options{})
	if err != nil || ok {
		return err
	}
	return stream.Remove(storage.FreeingSpace(ctx), e.store, x.ID)
}

// streamList are all change logs, without what Info.Describe tells.
func (e *Engine) streamList(ctx context.Context) ([]stream.Info, error) {
	var out []stream.Info
	snap := e.catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.Stream != nil {
				out = append(out, stream.Info{Stream: *t.Stream, Database: t.Database, Table: t.Name})
			}
		}
	}
	ended, err := stream.EndedStreams(ctx, e.store.Latest())
	for _, x := range ended {
		out = append(out, stream.Info{Stream: x.Stream, Database: x.Database, Table: x.Table, Ended: x.At})
	}
	return out, err
}

// Streams implements infoschema.Server.
func (e *introspection) Streams(ctx context.Context) ([]stream.Info, error) {
	list, err := (*Engine)(e).streamList(ctx)
	for i := range list {
		if err == nil {
			err = list[i].Describe(ctx, e.store)
		}
	}
	return list, err
}

// StreamConsumers implements infoschema.Server.
func (e *introspection) StreamConsumers(ctx context.Context) ([]stream.ConsumerInfo, error) {
	list, err := (*Engine)(e).streamList(ctx)
	if err != nil {
		return nil, err
	}
	consumers, err := stream.Consumers(ctx, e.store.Latest())
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
		if err := out[i].Describe(ctx, e.store.Latest(), time.Now().UnixMicro()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var _ infoschema.Server = (*introspection)(nil)
