package kvread

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/vec"
)

// fetchRows is the number of rows that are fetched in one sorted sweep when
// their order does not matter: denser keys are cheaper.
const fetchRows = 4 * vec.MaxRows

// fetchOp reads entries of an index and fetches their rows.
type fetchOp struct {
	src    *Reader
	gather gatherer
	sieve  decode.Sieve
	pace   decode.Pace
	// ordered: rows come in the order of the entries.
	ordered bool
	keys    [][]byte // sorted, still to be fetched (unordered)
	sortBuf [][]byte
	places  []int
	count   exec.Counters
	rows    metrics.Accesses
}

var (
	_ exec.Counted      = (*fetchOp)(nil)
	_ exec.EntryCounted = (*fetchOp)(nil)
)

func (s *Reader) newFetch(ec *expr.Ctx, k *decode.Table, n *physical.IndexJoin, w walker, limit int64) (exec.Operator, error) {
	entries := n.Entries
	op := &fetchOp{src: s, ordered: entries.Ordered}
	op.gather.walker = w
	if err := op.gather.init(s, ec, k, entries, entries.Filter); err != nil {
		return nil, err
	}
	p, err := k.Plan(nil, n.Read, nil, n.Attributes)
	if err != nil {
		return nil, err
	}
	op.gather.seen = s.newSeen(entries, entries.Ordered)
	s.state.Watch(&op.rows, entries.Table)
	op.sieve.Init(ec, p, decode.NewZone(s.state.Loc), n.Filter)
	op.pace = decode.NewPace(s.state.BatchSize, limit, len(n.Filter)+len(entries.Filter) > 0)
	if slices.Contains(p.Large, true) {
		op.pace.Next = min(op.pace.Next, decode.MinBatch)
	}
	return op, nil
}

// Next implements exec.Operator.
func (o *fetchOp) Next(ctx context.Context) (*vec.Batch, error) {
	for o.pace.Left != 0 {
		size := o.pace.Size()
		var err error
		if o.ordered {
			err = o.fetchOrdered(ctx, size)
		} else {
			err = o.fetchSorted(ctx, size)
		}
		if err != nil {
			return nil, err
		}
		if o.sieve.Batch.N == 0 {
			return nil, nil
		}
		b, err := o.sieve.Finish(ctx, o.gather.walker.reader)
		if err != nil {
			return nil, err
		}
		if b != nil {
			o.pace.Took(b)
			return b, nil
		}
	}
	return nil, nil
}

// fetchSorted fills the batch with the next rows in key order.
func (o *fetchOp) fetchSorted(ctx context.Context, size int) error {
	if len(o.keys) == 0 {
		want := size
		if o.pace.Left < 0 && size == o.pace.Max && size >= decode.FirstBatch && !o.gather.filter {
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
	o.sieve.Begin(len(part)) // for a few rows, little memory
	taken := 0
	err := o.read(ctx, part, func(i int, val []byte) error {
		taken = i + 1
		if err := o.sieve.Add(part[i], val); err != nil {
			return err
		}
		if o.sieve.Full() {
			return decode.ErrFull
		}
		return nil
	})
	o.keys = o.keys[taken:]
	if errors.Is(err, decode.ErrFull) {
		return nil
	}
	return err
}

// fetchOrdered fills the batch with the next rows in the order of the entries.
func (o *fetchOp) fetchOrdered(ctx context.Context, size int) error {
	keys, err := o.gather.next(ctx, size)
	o.sieve.Begin(len(keys))
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
		o.sieve.Bytes += len(val)
		return o.sieve.Dec.Pair(sweep[i], val, at)
	})
	o.sieve.Batch.N = len(keys)
	o.pace.Weigh(len(keys), o.sieve.Bytes+o.sieve.Dec.CellBytes)
	return err
}

// read gets rows by sorted keys.
func (o *fetchOp) read(ctx context.Context, keys [][]byte, fn func(i int, val []byte) error) error {
	o.count.Seeks += int64(len(keys))
	if len(keys) == 0 {
		return nil
	}
	o.rows.Keys(keys, false)
	return o.gather.walker.reader.BatchGet(ctx, keys, func(i int, val []byte) error {
		if val == nil {
			return missingRow(o.gather.x, keys[i])
		}
		o.count.Pairs++
		o.count.Bytes += int64(len(keys[i]) + len(val))
		return fn(i, val)
	})
}

// Counters implements exec.Counted.
func (o *fetchOp) Counters() exec.Counters {
	return o.count.Plus(o.sieve.Count)
}

// EntryCounters implements exec.EntryCounted.
func (o *fetchOp) EntryCounters() (int64, exec.Counters) { return o.gather.counters() }

// Close implements exec.Operator.
func (o *fetchOp) Close() error {
	o.gather.seen.Close()
	return o.gather.walker.close()
}
