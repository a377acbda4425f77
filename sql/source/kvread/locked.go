package kvread

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// locker locks rows and gives their values under the locks.
type locker struct {
	txn  storage.Txn
	opts storage.LockOptions
	// x, with spans and points in order, is where the rows were found; nil when
	// they were found by their own keys, which do not change.
	x      *table.Index
	spans  []storage.Span
	points [][]byte
	rd     *table.RowReader
	row    []value.Datum
	b      rowenc.Builder
	buf    []byte

	sortBuf [][]byte
	places  []int
}

func (l *locker) init(s *Reader, k *decode.Table, n *physical.TableRead, index *schema.Index) {
	l.txn = s.state.Txn
	l.opts.Mode = storage.LockShared
	if n.Lock.Exclusive || n.Lock.None {
		l.opts.Mode = storage.LockExclusive
	}
	switch {
	case n.Lock.NoWait:
		l.opts.Wait = storage.WaitError
	case n.Lock.SkipLocked:
		l.opts.Wait = storage.WaitSkip
	}
	if index != nil {
		l.x = k.Index(index.ID)
		l.rd = k.NewEntryReader()
		l.row = make([]value.Datum, len(k.Columns))
	}
}

// lock locks keys and calls fn, in their order, for those that still hold a row
// which belongs here.
func (l *locker) lock(ctx context.Context, keys [][]byte, fn func(i int, val []byte) error) error {
	sweep, places := sorted(keys, l.sortBuf, l.places)
	if places != nil {
		l.sortBuf, l.places = sweep, places
	}
	locked, err := l.txn.Lock(ctx, sweep, l.opts)
	if err != nil {
		return err
	}
	vals := make([][]byte, len(keys))
	for i := range locked {
		at := i
		if places != nil {
			at = places[i]
		}
		if !locked[i].Skipped {
			vals[at] = locked[i].Value
		}
	}
	for i, val := range vals {
		if val == nil {
			continue
		}
		ok, err := l.belongs(ctx, keys[i], val)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := fn(i, val); err != nil {
			return err
		}
	}
	return nil
}

// belongs reports whether the row, with its values under its lock, still has its
// entry in the spans.
func (l *locker) belongs(ctx context.Context, key, val []byte) (bool, error) {
	if l.x == nil {
		return true, nil
	}
	if err := l.rd.Fetch(ctx, l.txn.Latest(), key, val, l.row); err != nil {
		return false, err
	}
	found := false
	err := l.x.Each(l.row, func(row []value.Datum) error {
		var at int
		l.buf, at = l.x.AppendEntry(l.buf[:0], &l.b, key, row)
		found = found || l.contains(l.buf[:at])
		return nil
	})
	return found, err
}

func (l *locker) contains(key []byte) bool {
	if i := sort.Search(len(l.spans), func(i int) bool { return bytes.Compare(l.spans[i].Start, key) > 0 }); i > 0 {
		end := l.spans[i-1].End
		if end == nil || bytes.Compare(key, end) < 0 {
			return true
		}
	}
	i := sort.Search(len(l.points), func(i int) bool { return bytes.Compare(l.points[i], key) >= 0 })
	return i < len(l.points) && bytes.Equal(l.points[i], key)
}

// lockedOp reads rows for a change: it finds them in the latest state, locks them
// and gives their values under the locks.
type lockedOp struct {
	src    *Reader
	gather gatherer
	lock   locker
	sieve  decode.Sieve
	pace   decode.Pace
	// few or all are the keys of several spans, collected before the first lock,
	// so that a row which the statement moves is not met again.
	few       [][]byte
	all       *exec.KeyList
	collected bool
	several   bool
	count     exec.Counters // of locked rows
	rows      metrics.Accesses
}

var (
	_ exec.Counted      = (*lockedOp)(nil)
	_ exec.Limited      = (*lockedOp)(nil)
	_ exec.EntryCounted = (*lockedOp)(nil)
)

func (s *Reader) newLocked(ctx context.Context, ec *expr.Ctx, k *decode.Table, t physical.TableNode, w walker, limit int64) (exec.Operator, error) {
	if s.state.Txn == nil {
		return nil, sqlerr.Internal("a locking read outside of a transaction")
	}
	n, leaf := t.Reads(), t.Leaf()
	index := leaf.Key().Index
	op := &lockedOp{src: s, several: !w.watched && (len(w.spans) > 1 || leaf.Distinct || w.view != nil || index != nil && len(w.keys) > 1)}
	if w.merge != nil && w.merge.opensAtOnce() {
		op.several = false // no row comes twice, and of a LIMIT no more are read
	}
	op.lock.init(s, k, n, index)
	op.lock.spans, op.lock.points = w.spans, w.keys
	if w.view != nil || w.watched {
		op.lock.x = nil
	}
	if op.several && w.view == nil {
		var err error
		if w.view, err = s.state.Txn.LatestView(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case w.watched:
	case w.view != nil:
		w.reader = w.view
	default:
		w.reader = s.state.Txn.Latest()
	}
	op.gather.walker = w
	op.gather.seen = s.newSeen(leaf, leaf.Ordered)
	s.state.Watch(&op.rows, leaf.Table)
	p, err := k.Plan(nil, n.Read, nil, n.Attributes)
	if err != nil {
		return nil, errors.Join(err, op.Close())
	}
	var filters, again []expr.Expr
	if join, ok := t.(*physical.IndexJoin); ok {
		filters, again = leaf.Filter, join.Again
	} else if op.gather.whole = w.keys != nil; !op.gather.whole {
		for _, f := range n.Filter {
			if !p.ReadsLarge(f) && !isVolatile(f) {
				filters = append(filters, f)
			}
		}
	}
	if err := op.gather.init(s, ec, k, leaf, filters); err != nil {
		return nil, errors.Join(err, op.Close())
	}
	op.sieve.Init(ec, p, decode.NewZone(s.state.Loc), again, n.Filter)
	op.sieve.Unread = n.Unread
	op.pace = decode.NewPace(s.state.BatchSize, limit, false)
	if slices.Contains(p.Large, true) {
		op.pace.Next = min(op.pace.Next, decode.MinBatch)
	}
	return op, nil
}

// isVolatile reports whether e must not be evaluated twice for a row.
func isVolatile(e expr.Expr) bool {
	volatile := false
	expr.Walk(e, func(x expr.Expr) bool {
		if f, ok := x.(*expr.Func); ok && f.B.Volatile {
			volatile = true
		}
		return !volatile
	})
	return volatile
}

// Next implements exec.Operator.
func (o *lockedOp) Next(ctx context.Context) (*vec.Batch, error) {
	for o.pace.Left != 0 {
		size := o.pace.Size()
		if o.pace.Left > 0 {
			// No more rows are locked than the consumer wants.
			size = int(min(int64(size), o.pace.Left))
		}
		keys, err := o.keys(ctx, size)
		if err != nil || len(keys) == 0 {
			return nil, err
		}
		o.sieve.Begin(len(keys))
		// What was read to find the rows is not counted again under the locks.
		counts := o.gather.x != nil || o.gather.whole
		if counts {
			o.count.Seeks += int64(len(keys))
			o.rows.Keys(keys, false)
		}
		err = o.lock.lock(ctx, keys, func(i int, val []byte) error {
			if counts {
				o.count.Pairs++
				o.count.Bytes += int64(len(keys[i]) + len(val))
			}
			return o.sieve.Add(keys[i], val)
		})
		if err != nil {
			return nil, err
		}
		o.pace.Weigh(len(keys), o.sieve.Bytes+o.sieve.Dec.CellBytes)
		b, err := o.sieve.Finish(ctx, o.src.state.Txn.Latest())
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

// keys are the next candidates.
func (o *lockedOp) keys(ctx context.Context, size int) ([][]byte, error) {
	if !o.several {
		return o.gather.next(ctx, size)
	}
	if !o.collected {
		o.collected = true
		if err := o.collect(ctx); err != nil {
			return nil, err
		}
		if err := o.gather.walker.closeView(); err != nil {
			return nil, err
		}
		o.gather.walker.reader = o.src.state.Txn.Latest()
	}
	if o.all != nil {
		return o.all.Next(size)
	}
	part := o.few[:min(len(o.few), size)]
	o.few = o.few[len(part):]
	return part, nil
}

// collect finds all keys. The view and the gatherer see to it that none comes
// twice.
func (o *lockedOp) collect(ctx context.Context) error {
	for {
		keys, err := o.gather.next(ctx, vec.MaxRows)
		if err != nil || len(keys) == 0 {
			return err
		}
		if o.all == nil && o.gather.done() && o.gather.seen == nil {
			o.few = keys
			return nil
		}
		if o.all == nil {
			o.all = exec.NewKeyList(o.src.state.KeyEnv(), "keys to lock")
		}
		if err := o.all.Add(keys); err != nil {
			return err
		}
	}
}

// Counters implements exec.Counted.
func (o *lockedOp) Counters() exec.Counters {
	if o.gather.x != nil {
		return o.count.Plus(o.sieve.Count)
	}
	_, c := o.gather.counters()
	return c.Plus(o.count).Plus(o.sieve.Count)
}

// EntryCounters implements exec.EntryCounted.
func (o *lockedOp) EntryCounters() (int64, exec.Counters) {
	if o.gather.x == nil {
		return 0, exec.Counters{}
	}
	return o.gather.counters()
}

// Uncount implements exec.Limited.
func (o *lockedOp) Uncount(n int) {
	if o.pace.Left >= 0 {
		o.pace.Left += int64(n)
	}
}

// Close implements exec.Operator.
func (o *lockedOp) Close() error {
	o.all.Close()
	o.gather.seen.Close()
	return errors.Join(o.gather.walker.close(), o.gather.walker.closeView())
}
