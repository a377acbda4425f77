package changelog

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/source/kvread"
	"github.com/sqlots/sqlots/storage"
)

// Reader is a storage.Reader that shows a derived table (schema.Derived)
// as if its rows were stored: so all ways to read a table read it. It belongs
// to one operator.
type Reader struct {
	storage.Reader
	own storage.Snapshot // closed with it, nil for none
}

// Close ends the reading.
func (d *Reader) Close() error {
	if d.own == nil {
		return nil
	}
	return d.own.Close()
}

// Open makes the reader of a derived table; k is its codec.
func (s *ChangeLog) Open(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.TableRead) (*Reader, error) {
	d := &Reader{}
	h := historyTime{}
	var err error
	if n.Table.Derived.Kind == schema.DerivedAsOf {
		h, err = s.asOf(ec, n)
	}
	if err == nil {
		err = s.derivedState(ctx, d, n.Table.Derived.Kind, h)
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
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// derivedState gives d the state of the store from which a derived table is made.
func (s *ChangeLog) derivedState(ctx context.Context, d *Reader, kind schema.DerivedKind, at historyTime) (err error) {
	d.Reader = s.env.View
	txn, inTxn := s.env.View.(storage.Txn)
	_, frozen := s.env.View.(storage.Snapshot)
	switch {
	case kind == schema.DerivedAsOf && at.micros > s.env.UpTo:
		// What was at a time is the same in every state that has all commits up to
		// it. The view of the statement may be older, or lack one of them.
		d.own, err = s.env.Store.SnapshotAt(ctx, at.micros)
	case kind == schema.DerivedAsOf:
		return nil
	case inTxn && kind == schema.DerivedVersions:
		// Rows that the transaction has changed itself have no history yet.
		d.Reader, err = txn.BareView(ctx)
		return err
	case inTxn || frozen:
		return nil
	default: // several reads have to show one state
		d.own, err = s.env.Store.Snapshot(ctx)
	}
	d.Reader = d.own
	return err
}

// Operator closes d with op.
func (d *Reader) Operator(op exec.Operator) exec.Operator {
	return &derivedOp{kvread.PassOp{Operator: op}, d}
}

// Lookup closes d with l.
func (d *Reader) Lookup(l exec.Lookup) exec.Lookup { return &derivedLookup{l, d} }

// derivedOp is an operator that reads a derived table.
type derivedOp struct {
	kvread.PassOp
	d *Reader
}

// Close implements exec.Operator.
func (o *derivedOp) Close() error { return errors.Join(o.Operator.Close(), o.d.Close()) }

// derivedLookup is a lookup in a derived table.
type derivedLookup struct {
	exec.Lookup
	d *Reader
}

// Counters implements exec.Counted.
func (l *derivedLookup) Counters() exec.Counters {
	if in, ok := l.Lookup.(exec.Counted); ok {
		return in.Counters()
	}
	return exec.Counters{}
}

// EntryCounters implements exec.EntryCounted.
func (l *derivedLookup) EntryCounters() (int64, exec.Counters) {
	if in, ok := l.Lookup.(exec.EntryCounted); ok {
		return in.EntryCounters()
	}
	return 0, exec.Counters{}
}

// Close implements exec.Lookup.
func (l *derivedLookup) Close() error { return errors.Join(l.Lookup.Close(), l.d.Close()) }
