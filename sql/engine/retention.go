package engine

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// How often change logs are searched for records whose retention is over, and
// tables for such versions, which have to be read all.
const (
	retentionEvery = 10 * time.Second
	versionsEvery  = 10 * time.Minute
)

// KeepRetention starts the removal of the records of change logs and the versions
// of rows whose retention is over.
func (e *Engine) KeepRetention() {
	e.Jobs.Every("removing records of change logs", retentionEvery, func(ctx context.Context, now time.Time) error {
		e.TrimStreams(ctx, now)
		return nil
	})
	e.Jobs.Every("removing versions", versionsEvery, func(ctx context.Context, now time.Time) error {
		e.TrimVersions(ctx, now)
		return nil
	})
}

// TrimVersions removes the versions of rows that need not be kept at a time.
func (e *Engine) TrimVersions(ctx context.Context, now time.Time) {
	snap := e.Catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.VersionRetention == 0 || !t.KeepsVersions() {
				continue
			}
			err := table.ForgetHistory(storage.FreeingSpace(ctx), e.Store, t.ID, now.UnixMicro()-t.VersionRetention*1e6)
			if err != nil && ctx.Err() == nil {
				e.Log.Error("removing versions", "event", "job.failed", "table", t.Database+"."+t.Name, "error", err)
			}
		}
	}
}

// TrimStreams removes what change logs need not keep at a time. Failures are
// logged: the next run tries again.
func (e *Engine) TrimStreams(ctx context.Context, now time.Time) {
	list, err := e.StreamList(ctx)
	if err != nil {
		e.Log.Error("reading the change logs", "event", "job.failed", "error", err)
		return
	}
	for i := range list {
		x := &list[i]
		upTo, err := stream.Expired(ctx, e.Store, &x.Stream, now.UnixMicro())
		if e.Search != nil {
			if need, ok := e.Search.Floor(x.ID); ok {
				upTo = min(upTo, need)
			}
		}
		if err == nil && upTo > 0 {
			err = e.TrimStream(ctx, x.ID, upTo)
		}
		if err == nil && x.Ended > 0 {
			err = e.forgetStream(ctx, x, now)
		}
		if err != nil && ctx.Err() == nil {
			e.Log.Error("removing records of a change log", "event", "job.failed", "table", x.Database+"."+x.Table, "error", err)
		}
	}
}

// TrimStream removes the records of a change log up to a sequence.
func (e *Engine) TrimStream(ctx context.Context, id schema.StreamID, upTo uint64) error {
	e.trimming.Lock()
	defer e.trimming.Unlock()
	live := ^uint32(0)
	snap := e.Catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.Stream != nil && t.Stream.ID == id {
				live = t.Version
			}
		}
	}
	return stream.Trim(storage.FreeingSpace(ctx), e.Store, id, upTo, live)
}

// forgetStream removes an ended change log that has no records any more.
func (e *Engine) forgetStream(ctx context.Context, x *stream.Info, now time.Time) error {
	if x.Ended > now.UnixMicro()-x.Retention*1e6 {
		return nil
	}
	_, ok, err := stream.FirstKept(ctx, e.Store.Latest(), x.ID)
	if err != nil || ok {
		return err
	}
	return stream.Remove(storage.FreeingSpace(ctx), e.Store, x.ID)
}

// StreamList are all change logs, without what Info.Describe adds.
func (e *Engine) StreamList(ctx context.Context) ([]stream.Info, error) {
	var out []stream.Info
	snap := e.Catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			if t.Stream != nil {
				out = append(out, stream.Info{Stream: *t.Stream, Database: t.Database, Table: t.Name})
			}
		}
	}
	ended, err := stream.EndedStreams(ctx, e.Store.Latest())
	for _, x := range ended {
		out = append(out, stream.Info{Stream: x.Stream, Database: x.Database, Table: x.Table, Ended: x.At})
	}
	return out, err
}
