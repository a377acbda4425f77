package stream

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// ErrPurged: records after the position were removed. ErrFuture: the position
// is of no commit yet.
var (
	ErrPurged = errors.New("records were removed from the change log")
	ErrFuture = errors.New("position is ahead of the store")
)

// PurgedError is ErrPurged with the sequences.
type PurgedError struct {
	// Asked is the sequence of the reader's position, Purged the last one that was
	// removed.
	Asked, Purged uint64
}

// Error implements error.
func (e *PurgedError) Error() string {
	return fmt.Sprintf("%v: behind %d was asked for, all up to %d are gone", ErrPurged, e.Asked, e.Purged)
}

// Unwrap makes errors.Is(err, ErrPurged) true.
func (e *PurgedError) Unwrap() error { return ErrPurged }

// Mark is the last sequence whose records were removed from a stream, 0 for
// none.
func Mark(ctx context.Context, kv storage.Reader, id schema.StreamID) (uint64, error) {
	v, err := kv.Get(ctx, streamKey('t', id), nil)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case len(v) != 8:
		return 0, corrupt(streamKey('t', id), "mark")
	}
	return binary.BigEndian.Uint64(v), nil
}

// Begin is the sequence after which a stream is complete: that of the removed
// records, or of its start on a table that existed before.
func Begin(ctx context.Context, kv storage.Reader, id schema.StreamID) (uint64, error) {
	mark, err := Mark(ctx, kv, id)
	if err != nil || mark > 0 {
		return mark, err
	}
	first, ok, err := First(ctx, kv, id, Options{})
	if err != nil || !ok || first.Kind != Start || !first.Existed {
		return 0, err
	}
	return first.Seq - 1, nil
}

// Check returns a *PurgedError when not all records after a position are
// there any more.
func Check(ctx context.Context, kv storage.Reader, id schema.StreamID, after Position) error {
	begin, err := Begin(ctx, kv, id)
	if err != nil {
		return err
	}
	if after.Seq < begin {
		return &PurgedError{Asked: after.Seq, Purged: begin}
	}
	return nil
}

// Ended is the stream of a table that was dropped, or that had it turned off.
type Ended struct {
	schema.Stream
	Database string `json:"database"`
	Table    string `json:"table"`
	// At is when, microseconds since 1970 by the clock of the statement.
	At int64 `json:"at"`
}

// EndedStreams are the streams that ended and are not yet removed.
func EndedStreams(ctx context.Context, kv storage.Reader) ([]Ended, error) {
	var out []Ended
	err := eachJSON(ctx, kv, systemKey('e'), func(_ []byte, e Ended) { out = append(out, e) })
	return out, err
}

// eachJSON reads the values under a prefix of the system space.
func eachJSON[T any](ctx context.Context, kv storage.Reader, prefix []byte, fn func(key []byte, v T)) error {
	scan, err := kv.Scan(ctx, prefixSpan(prefix), storage.ScanOptions{})
	if err != nil {
		return err
	}
	defer scan.Close()
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		var v T
		if uerr := json.Unmarshal(val, &v); uerr != nil {
			bad = corrupt(key, uerr.Error())
			return false
		}
		fn(key, v)
		return true
	})
	return errors.Join(bad, err)
}

func putJSON(ctx context.Context, txn storage.Txn, key []byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return txn.Put(ctx, key, b)
}

// Descriptor is the table's descriptor of a version.
func Descriptor(ctx context.Context, kv storage.Reader, id schema.StreamID, version uint32) (*schema.Table, error) {
	key := versionKey(id, version)
	v, err := kv.Get(ctx, key, nil)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, corrupt(key, fmt.Sprintf("no descriptor of version %d", version))
	}
	if err != nil {
		return nil, err
	}
	t := &schema.Table{}
	if err := json.Unmarshal(v, t); err != nil {
		return nil, corrupt(key, err.Error())
	}
	return t, nil
}

// Change is what a change of the catalog does to a table with a stream.
type Change struct {
	// Old and New are the descriptors, nil for none.
	Old, New *schema.Table
	// Emptied: the rows are gone (TRUNCATE).
	Emptied bool
	// At is the time, microseconds since 1970.
	At int64
}

// Note writes the records of a change of the catalog into its transaction.
func (c Change) Note(ctx context.Context, txn storage.Txn) error {
	old, now := streamOf(c.Old), streamOf(c.New)
	if old != nil && (now == nil || now.ID != old.ID) {
		if err := c.end(ctx, txn, old); err != nil {
			return err
		}
		old = nil
	}
	if now == nil {
		return nil
	}
	if err := putJSON(ctx, txn, versionKey(now.ID, c.New.Version), c.New); err != nil {
		return err
	}
	r := Record{Kind: Alter, Version: c.New.Version}
	switch {
	case old == nil:
		r.Kind, r.Existed = Start, c.Old != nil
	case c.Emptied:
		r.Kind, r.OldVersion = Truncate, c.Old.Version
	default:
		r.OldVersion = c.Old.Version
	}
	return new(Appender).Append(txn, now.ID, &r)
}

func streamOf(t *schema.Table) *schema.Stream {
	if t == nil {
		return nil
	}
	return t.Stream
}

// end notes that a stream has no table any more; its records stay for their
// time.
func (c Change) end(ctx context.Context, txn storage.Txn, s *schema.Stream) error {
	e := Ended{Stream: *s, Database: c.Old.Database, Table: c.Old.Name, At: c.At}
	if err := putJSON(ctx, txn, streamKey('e', s.ID), &e); err != nil {
		return err
	}
	return new(Appender).Append(txn, s.ID, &Record{Kind: Drop, Version: c.Old.Version, OldVersion: c.Old.Version})
}
