package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// An AUTO_INCREMENT column that is a later part of the primary key counts for each
// prefix of the key before it. The greatest number that a prefix ever had is stored in
// the same transactions as the rows:
//
//	prefix(table, CountersIndexID) key parts before the column
//
// holds it as u64 BE. A transaction that takes a number keeps the counter's lock
// until it ends: numbers become visible in their order, and one that was rolled
// back is given again. Rows that came without their counter, from a copy or a
// changed key, count as well.

// CountersIndexID is the index id under which these counters are stored.
const CountersIndexID schema.IndexID = 0xFFFC

// counterKey appends the key of the counter of a row to dst.
func (c *Codec) counterKey(dst []byte, n int, row []value.Datum) []byte {
	return AppendParts(TablePrefix(dst, c.Table.ID, CountersIndexID), c.Key[:n], row)
}

// NextInKey gives the next number of the row's prefix of the key.
func (w *Writer) NextInKey(ctx context.Context, row []value.Datum) (uint64, error) {
	n := w.c.Table.AutoInKey()
	key := w.c.counterKey(nil, n, row)
	last, err := w.counter(ctx, key)
	if err != nil {
		return 0, err
	}
	stored, err := w.lastInKey(ctx, n, row)
	if err != nil {
		return 0, err
	}
	last = max(last, stored)
	if last+1 == 0 {
		return 0, fmt.Errorf("table %s: %w", w.c.Table.Name, ErrSequenceExhausted)
	}
	return last + 1, w.txn.Put(ctx, key, binary.BigEndian.AppendUint64(nil, last+1))
}

// RaiseInKey makes later numbers of the row's prefix greater than v.
func (w *Writer) RaiseInKey(ctx context.Context, row []value.Datum, v uint64) error {
	key := w.c.counterKey(nil, w.c.Table.AutoInKey(), row)
	last, err := w.counter(ctx, key)
	if err != nil || last >= v {
		return err
	}
	return w.txn.Put(ctx, key, binary.BigEndian.AppendUint64(nil, v))
}

// counter locks and reads a counter; 0 for one not yet stored.
func (w *Writer) counter(ctx context.Context, key []byte) (uint64, error) {
	locked, err := w.txn.Lock(ctx, [][]byte{key}, storage.LockOptions{})
	if err != nil || locked[0].Value == nil {
		return 0, err
	}
	if len(locked[0].Value) != 8 {
		return 0, fmt.Errorf("%w: counter of table %s at %x", storage.ErrCorruption, w.c.Table.Name, key)
	}
	return binary.BigEndian.Uint64(locked[0].Value), nil
}

// lastInKey is the greatest number among the rows of the prefix, also expired
// ones.
func (w *Writer) lastInKey(ctx context.Context, n int, row []value.Datum) (last uint64, err error) {
	start := AppendParts(append([]byte(nil), w.c.prefix...), w.c.Key[:n], row)
	scan, err := w.txn.Latest().Scan(ctx, storage.Span{Start: start, End: prefixEnd(start)}, storage.ScanOptions{Reverse: !w.c.Key[n].Desc, KeyOnly: true, Limit: 1})
	if err != nil {
		return 0, err
	}
	defer scan.Close()
	var bad error
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		var d value.Datum
		if d, _, bad = w.c.Key[n].Decode(key[len(start):]); bad == nil {
			last = count(d)
		}
		return false
	})
	return last, errors.Join(err, bad)
}

// prefixEnd is the first key after all that begin with the start of a row's key, which
// begins with less than FF.
func prefixEnd(start []byte) []byte {
	end := append([]byte(nil), start...)
	for end[len(end)-1] == 0xFF {
		end = end[:len(end)-1]
	}
	end[len(end)-1]++
	return end
}

// count is a value of a counting column as a number; 0 for those below.
func count(d value.Datum) uint64 {
	switch d.Kind() {
	case value.KindInt:
		return uint64(max(d.Int(), 0))
	case value.KindUint:
		return d.Uint()
	case value.KindFloat:
		if f := d.Float(); f > 0 && f < 1<<63 {
			return uint64(f)
		}
	}
	return 0
}

// CopyCounters carries the counters of a table over to another that has the
// same parts of the key before the column that counts.
func CopyCounters(ctx context.Context, store storage.Store, from, to schema.TableID) error {
	span := IndexSpan(from, CountersIndexID)
	for {
		scan, err := store.Latest().Scan(ctx, span, storage.ScanOptions{})
		if err != nil {
			return err
		}
		txn, err := store.Begin(ctx, storage.TxnOptions{Label: "table copy"})
		if err != nil {
			return errors.Join(err, scan.Close())
		}
		n := 0
		var bad error
		done, err := scan.Visit(ctx, func(key, val []byte) bool {
			bad = txn.Put(ctx, append(TablePrefix(nil, to, CountersIndexID), key[prefixLen:]...), val)
			span.Start = append(append([]byte(nil), key...), 0)
			n++
			return bad == nil && n < 1000
		})
		if err = errors.Join(err, bad, scan.Close()); err == nil {
			_, err = txn.Commit(ctx)
		}
		txn.Rollback()
		if err != nil || done {
			return err
		}
	}
}
