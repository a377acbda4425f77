package decode

import (
	"context"
	"fmt"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// getDerived is the codec of a derived table. One is kept for each way to
// derive it: all that are made alike have the same columns.
func (c *Codecs) getDerived(t *schema.Table) (*Table, error) {
	d := t.Derived
	if d.Kind == schema.DerivedStream {
		return c.Logged.table(t)
	}
	of, err := c.Table(d.Of)
	if err != nil {
		return nil, err
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.derived[d.Kind] == nil {
		codec, exprs, err := c.newCodec(t)
		if err != nil {
			return nil, fmt.Errorf("table %s.%s: %w", t.Database, t.Name, err)
		}
		of.derived[d.Kind] = &Table{Codec: codec, Exprs: exprs, plans: map[string]*Plan{}}
	}
	return of.derived[d.Kind], nil
}

// LoggedCodecs are the codecs of change logs: of their own columns, and of the
// tables that their records are about, at the versions of these.
type LoggedCodecs struct {
	of     *Codecs
	mu     sync.Mutex
	own    *Table
	tables map[loggedVersion]*table.Codec
}

type loggedVersion struct {
	stream  schema.StreamID
	version uint32
}

// maxLogged bounds the codecs kept for versions of tables.
const maxLogged = 200

func (l *LoggedCodecs) table(t *schema.Table) (*Table, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		codec, exprs, err := l.of.newCodec(t)
		if err != nil {
			return nil, err
		}
		l.own = &Table{Codec: codec, Exprs: exprs, plans: map[string]*Plan{}}
	}
	return l.own, nil
}

// Version is the codec of a table with a stream as it was described by one of
// its versions.
func (l *LoggedCodecs) Version(ctx context.Context, kv storage.Reader, id schema.StreamID, version uint32) (*table.Codec, error) {
	key := loggedVersion{id, version}
	l.mu.Lock()
	codec := l.tables[key]
	l.mu.Unlock()
	if codec != nil {
		return codec, nil
	}
	t, err := stream.Descriptor(ctx, kv, id, version)
	if err != nil {
		return nil, err
	}
	if codec, err = l.of.Uncached(t); err != nil {
		return nil, fmt.Errorf("table %s.%s, version %d: %w", t.Database, t.Name, version, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tables == nil || len(l.tables) >= maxLogged {
		l.tables = map[loggedVersion]*table.Codec{}
	}
	l.tables[key] = codec
	return codec, nil
}
