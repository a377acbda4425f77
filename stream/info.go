package stream

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// Info describes a stream for humans.
type Info struct {
	schema.Stream
	Database, Table string
	// Ended is when the table was dropped or its stream turned off, 0 for never;
	// microseconds since 1970 as all times.
	Ended int64
	// First and Last are the sequences of the first and last record, 0 for
	// none; FirstTime and LastTime their times.
	First, Last         uint64
	FirstTime, LastTime int64
	// Purged is the last sequence whose records were removed, 0 for none.
	Purged uint64
	// Bytes is about the space that the records take.
	Bytes int64
}

// Describe fills in what the store knows of a stream.
func (i *Info) Describe(ctx context.Context, store storage.Store) error {
	kv := store.Latest()
	var err error
	if i.Purged, err = Mark(ctx, kv, i.ID); err != nil {
		return err
	}
	first, ok, err := FirstKept(ctx, kv, i.ID)
	if err != nil {
		return err
	}
	if ok {
		i.First, i.FirstTime = first.Seq, first.Time
		last, ok, err := First(ctx, kv, i.ID, Options{Reverse: true})
		if err != nil {
			return err
		}
		if ok {
			i.Last, i.LastTime = last.Seq, last.Time
		}
	}
	i.Bytes, err = store.EstimateSize(ctx, Span(i.ID))
	return err
}

// FirstKept is First of the records that were not removed. Some of those may still be
// there, before the mark.
func FirstKept(ctx context.Context, kv storage.Reader, id schema.StreamID) (Record, bool, error) {
	mark, err := Mark(ctx, kv, id)
	if err != nil {
		return Record{}, false, err
	}
	after := Position{}
	if mark > 0 {
		after = Behind(mark)
	}
	return First(ctx, kv, id, Options{After: after})
}

// ConsumerInfo describes a consumer for humans.
type ConsumerInfo struct {
	Consumer
	Database, Table string
	// LagSeconds is how long ago the first record was committed that the
	// consumer has not confirmed, 0 if it has confirmed all.
	LagSeconds float64
	// Behind: records that it has not confirmed were removed.
	Behind bool
}

// Describe fills in what the store knows of a consumer; now is the time.
func (i *ConsumerInfo) Describe(ctx context.Context, kv storage.Reader, now int64) error {
	begin, err := Begin(ctx, kv, i.Stream)
	if err != nil {
		return err
	}
	i.Behind = i.Seq < begin
	next, ok, err := First(ctx, kv, i.Stream, Options{After: i.Position()})
	if err != nil || !ok {
		return err
	}
	i.LagSeconds = float64(max(now-next.Time, 0)) / 1e6
	return nil
}
