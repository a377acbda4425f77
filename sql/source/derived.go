package source

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
)

// derivedReader is a storage.Reader that shows a derived table (schema.Derived)
// as if its rows were stored: so all ways to read a table read it. It belongs
// to one operator.
type derivedReader struct {
	storage.Reader
	own storage.Snapshot // closed with it, nil for none
}

func (d *derivedReader) close() error {
	if d.own == nil {
		return nil
	}
	return d.own.Close()
}

// openDerived makes the reader of a derived table; k is its codec.
func (s *Source) openDerived(ctx context.Context, ec *expr.Ctx, k *tableCodec, n *physical.TableRead) (*derivedReader, error) {
	d := &derivedReader{}
	h := historyTime{}
	var err error
	if n.Table.Derived.Kind == schema.DerivedAsOf {
		h, err = s.asOf(ec, n)
	}
	if err == nil {
		err = s.derivedState(d, n.Table.Derived.Kind, h)
	}
	if err != nil {
		return nil, err
	}
	if n.Table.Derived.Kind == schema.DerivedStream {
		d.Reader, err = s.newStreamReader(ctx, ec, d.Reader, k, n)
	} else {
		d.Reader, err = s.newHistoryReader(ctx, d.Reader, k, n, h)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// derivedState gives d the state of the store from which a derived table is made.
func (s *Source) derivedState(d *derivedReader, kind schema.DerivedKind, at historyTime) (err error) {
	d.Reader = s.env.Reader
	txn, inTxn := s.env.Reader.(storage.Txn)
	_, frozen := s.env.Reader.(storage.Snapshot)
	switch {
	case kind == schema.DerivedAsOf && at.micros > s.env.UpTo:
		// What was at a time is the same in every state that has all commits up to
		// it. The view of the statement may be older, or lack one of them.
		d.own, err = s.env.Store.SnapshotAt(at.micros)
	case kind == schema.DerivedAsOf:
		return nil
	case inTxn && kind == schema.DerivedVersions:
		// Rows that the transaction has changed itself have no history yet.
		d.Reader, err = txn.BareView()
		return err
	case inTxn || frozen:
		return nil
	default: // several reads have to show one state
		d.own, err = s.env.Store.Snapshot()
	}
	d.Reader = d.own
	return err
}

// derivedOp is an operator that reads a derived table.
type derivedOp struct {
	passOp
	d *derivedReader
}

// Close implements exec.Operator.
func (o *derivedOp) Close() error { return errors.Join(o.Operator.Close(), o.d.close()) }

// derivedLookup is a look-up in a derived table.
type derivedLookup struct {
	exec.Lookup
	d *derivedReader
}

// Counters implements Counted.
func (l *derivedLookup) Counters() Counters {
	if in, ok := l.Lookup.(Counted); ok {
		return in.Counters()
	}
	return Counters{}
}

// EntryCounters implements exec.EntryCounted.
func (l *derivedLookup) EntryCounters() (int64, Counters) {
	if in, ok := l.Lookup.(exec.EntryCounted); ok {
		return in.EntryCounters()
	}
	return 0, Counters{}
}

// Close implements exec.Lookup.
func (l *derivedLookup) Close() error { return errors.Join(l.Lookup.Close(), l.d.close()) }

// getDerived is the codec of a derived table. One is kept for each way to
// derive it: all that are made alike have the same columns.
func (c *Codecs) getDerived(t *schema.Table) (*tableCodec, error) {
	d := t.Derived
	if d.Kind == schema.DerivedStream {
		return c.logged.table(t)
	}
	of, err := c.get(d.Of)
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
		of.derived[d.Kind] = &tableCodec{Codec: codec, exprs: exprs, plans: map[string]*readPlan{}}
	}
	return of.derived[d.Kind], nil
}

// loggedCodecs are the codecs of change logs: of their own columns, and of the
// tables that their records are about, at the versions of these.
type loggedCodecs struct {
	of     *Codecs
	mu     sync.Mutex
	own    *tableCodec
	tables map[loggedVersion]*table.Codec
}

type loggedVersion struct {
	stream  schema.StreamID
	version uint32
}

// maxLogged bounds the codecs kept for versions of tables.
const maxLogged = 200

func (l *loggedCodecs) table(t *schema.Table) (*tableCodec, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		codec, exprs, err := l.of.newCodec(t)
		if err != nil {
			return nil, err
		}
		l.own = &tableCodec{Codec: codec, exprs: exprs, plans: map[string]*readPlan{}}
	}
	return l.own, nil
}

// version is the codec of a table with a stream as it was described by one of
// its versions.
func (l *loggedCodecs) version(ctx context.Context, kv storage.Reader, id schema.StreamID, version uint32) (*table.Codec, error) {
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
