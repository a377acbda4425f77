package stream

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// Cursor reads records in their order, or against it. It belongs to one
// goroutine.
type Cursor struct {
	scan    storage.Scanner
	reverse bool
	rec     Record
	// A record in parts: its payload so far. Backwards the parts come first.
	flags   byte
	more    int // parts that are missing
	payload []byte
	parts   [][]byte
	partAt  Position
}

// Options shape a Cursor.
type Options struct {
	// After is where to begin, To where to end (inclusive); the zero To is the
	// end of the stream.
	After, To Position
	Reverse   bool
	// Limit is a hint of how many records will be taken, 0 for unknown.
	Limit int
}

// Open reads records of a stream through kv. It does not look whether records
// were removed: Check does.
func Open(ctx context.Context, kv storage.Reader, id schema.StreamID, opts Options) (*Cursor, error) {
	if opts.To == (Position{}) {
		opts.To = Behind(^uint64(0))
	}
	return OpenSpan(ctx, kv, spanAfter(id, opts.After, opts.To), opts)
}

// OpenSpan is Open for a span of keys between whole records; After and To are
// not used.
func OpenSpan(ctx context.Context, kv storage.Reader, span storage.Span, opts Options) (*Cursor, error) {
	scan, err := kv.Scan(ctx, span, storage.ScanOptions{Reverse: opts.Reverse, Limit: opts.Limit, Cold: true})
	if err != nil {
		return nil, err
	}
	return &Cursor{scan: scan, reverse: opts.Reverse}, nil
}

// Visit calls fn with the next records until it returns false or there are no
// more; done reports the latter. The record is valid during the call.
func (c *Cursor) Visit(ctx context.Context, fn func(r *Record) bool) (done bool, err error) {
	var bad error
	done, err = c.scan.Visit(ctx, func(key, val []byte) bool {
		whole, err := c.take(key, val)
		if err != nil {
			bad = err
			return false
		}
		return !whole || fn(&c.rec)
	})
	switch {
	case bad != nil:
		return false, bad
	case err == nil && done && (c.more > 0 || len(c.parts) > 0):
		return false, corrupt(nil, "a record lacks parts")
	}
	return done, err
}

// take adds a pair; whole says that it completes c.rec.
func (c *Cursor) take(key, val []byte) (whole bool, err error) {
	pos, part, ok := parseKey(key)
	if !ok {
		return false, corrupt(key, "malformed key")
	}
	if part > 0 {
		return c.takePart(key, val, pos, int(part))
	}
	if c.more > 0 {
		return false, corrupt(key, "the record before lacks parts")
	}
	c.rec.Position = pos
	flags, more, payload, err := c.rec.parseHead(key, val)
	if err != nil {
		return false, err
	}
	if c.reverse {
		if len(c.parts) != more || more > 0 && c.partAt != pos {
			return false, corrupt(key, "the record lacks parts")
		}
		if more > 0 {
			payload = append([]byte(nil), payload...)
			for i := more - 1; i >= 0; i-- {
				payload = append(payload, c.parts[i]...)
			}
			c.parts = nil
		}
		return true, c.rec.parsePayload(key, flags, payload)
	}
	if more == 0 {
		return true, c.rec.parsePayload(key, flags, payload)
	}
	c.flags, c.more, c.payload = flags, more, append([]byte(nil), payload...)
	return false, nil
}

func (c *Cursor) takePart(key, val []byte, pos Position, part int) (whole bool, err error) {
	if c.reverse {
		if len(c.parts) > 0 && c.partAt != pos {
			return false, corrupt(key, "a part without its record")
		}
		c.partAt = pos
		c.parts = append(c.parts, append([]byte(nil), val...))
		return false, nil
	}
	if c.more == 0 || c.rec.Position != pos {
		return false, corrupt(key, "a part without its record")
	}
	c.payload = append(c.payload, val...)
	if c.more--; c.more > 0 {
		return false, nil
	}
	payload := c.payload
	c.payload = nil
	return true, c.rec.parsePayload(key, c.flags, payload)
}

// Close ends the reading. It is idempotent.
func (c *Cursor) Close() error { return c.scan.Close() }

// First is the position and the time of the first record after a position; ok
// is false if no record follows. With reverse it is the last record up to it.
func First(ctx context.Context, kv storage.Reader, id schema.StreamID, opts Options) (r Record, ok bool, err error) {
	opts.Limit = 1
	c, err := Open(ctx, kv, id, opts)
	if err != nil {
		return r, false, err
	}
	defer c.Close()
	_, err = c.Visit(ctx, func(x *Record) bool {
		r, ok = *x, true
		r.Key, r.OldKey, r.Before, r.After = nil, nil, nil, nil
		return false
	})
	return r, ok, err
}
