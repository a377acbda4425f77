package source

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// fetchRows is the number of rows that are fetched in one sorted sweep when
// their order does not matter: denser keys are cheaper.
const fetchRows = 4 * vec.MaxRows

// fetchOp reads entries of an index and fetches their rows.
type fetchOp struct {
	src    *Source
	gather gatherer
	sieve  sieve
	pace   pace
	// ordered: rows come in the order of the entries.
	ordered bool
	keys    [][]byte // sorted, still to be fetched (unordered)
	sortBuf [][]byte
	places  []int
	count   Counters
}

var (
	_ Counted           = (*fetchOp)(nil)
	_ exec.EntryCounted = (*fetchOp)(nil)
)

func (s *Source) newFetch(ec *expr.Ctx, k *tableCodec, n *physical.IndexJoin, w walker, limit int64) (exec.Operator, error) {
	entries := n.Entries
	op := &fetchOp{src: s, ordered: entries.Ordered}
	op.gather.walker = w
	if err := op.gather.init(s, ec, k, entries, entries.Filter); err != nil {
		return nil, err
	}
	p, err := k.plan(nil, n.Read, nil, n.Attributes)
	if err != nil {
		return nil, err
	}
	op.gather.seen = s.newSeen(entries, entries.Ordered)
	op.sieve.init(ec, p, newZone(s.env.Loc), n.Filter)
	op.pace = newPace(s.env.BatchSize, limit, len(n.Filter)+len(entries.Filter) > 0)
	if slices.Contains(p.large, true) {
		op.pace.next = min(op.pace.next, minBatch)
	}
	return op, nil
}

// Next implements exec.Operator.
func (o *fetchOp) Next(ctx context.Context) (*vec.Batch, error) {
	for o.pace.left != 0 {
		size := o.pace.size()
		var err error
		if o.ordered {
			err = o.fetchOrdered(ctx, size)
		} else {
			err = o.fetchSorted(ctx, size)
		}
		if err != nil {
			return nil, err
		}
		if o.sieve.batch.N == 0 {
			return nil, nil
		}
		b, err := o.sieve.finish(ctx, o.gather.walker.reader)
		if err != nil {
			return nil, err
		}
		if b != nil {
			o.pace.took(b)
			return b, nil
		}
	}
	return nil, nil
}

// fetchSorted fills the batch with the next rows in key order.
func (o *fetchOp) fetchSorted(ctx context.Context, size int) error {
	if len(o.keys) == 0 {
		want := size
		if o.pace.left < 0 && size == o.pace.max && size >= firstBatch && !o.gather.filter {
			want = fetchRows
		}
		keys, err := o.gather.next(ctx, want)
		if err != nil {
			return err
		}
		o.keys = keys
		if !slices.IsSortedFunc(keys, bytes.Compare) {
			slices.SortFunc(o.keys, bytes.Compare)
		}
	}
	part := o.keys[:min(len(o.keys), size)]
	o.sieve.begin(len(part)) // for a few rows, little memory
	taken := 0
	err := o.read(ctx, part, func(i int, val []byte) error {
		taken = i + 1
		if err := o.sieve.add(part[i], val); err != nil {
			return err
		}
		if o.sieve.full() {
			return errFull
		}
		return nil
	})
	o.keys = o.keys[taken:]
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// fetchOrdered fills the batch with the next rows in the order of the entries.
func (o *fetchOp) fetchOrdered(ctx context.Context, size int) error {
	keys, err := o.gather.next(ctx, size)
	o.sieve.begin(len(keys))
	if err != nil || len(keys) == 0 {
		return err
	}
	var sweep [][]byte
	sweep, o.places = sorted(keys, o.sortBuf, o.places)
	places := o.places
	if places != nil {
		o.sortBuf = sweep
	}
	err = o.read(ctx, sweep, func(i int, val []byte) error {
		at := i
		if places != nil {
			at = places[i]
		}
		o.sieve.bytes += len(val)
		return o.sieve.dec.pair(sweep[i], val, at)
	})
	o.sieve.batch.N = len(keys)
	o.pace.weigh(len(keys), o.sieve.bytes+o.sieve.dec.cellBytes)
	return err
}

// read gets rows by sorted keys.
func (o *fetchOp) read(ctx context.Context, keys [][]byte, fn func(i int, val []byte) error) error {
	o.count.Seeks += int64(len(keys))
	if len(keys) == 0 {
		return nil
	}
	return o.gather.walker.reader.BatchGet(ctx, keys, func(i int, val []byte) error {
		if val == nil {
			return missingRow(o.gather.x, keys[i])
		}
		o.count.Pairs++
		o.count.Bytes += int64(len(keys[i]) + len(val))
		return fn(i, val)
	})
}

// Counters implements Counted.
func (o *fetchOp) Counters() Counters {
	return o.count.Plus(o.sieve.count)
}

// EntryCounters implements exec.EntryCounted.
func (o *fetchOp) EntryCounters() (int64, Counters) { return o.gather.counters() }

// Close implements exec.Operator.
func (o *fetchOp) Close() error {
	o.gather.seen.Close()
	return o.gather.walker.close()
}
