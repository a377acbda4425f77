package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// Trim removes the records of a stream up to a sequence, and the descriptors
// that only they needed. live is the version of the table's descriptor, which
// stays.
func Trim(ctx context.Context, store storage.Store, id schema.StreamID, upTo uint64, live uint32) error {
	// A record that can still appear would come behind the mark.
	settled, err := store.Settled(ctx)
	if err != nil {
		return err
	}
	kv := store.Latest()
	last, ok, err := First(ctx, kv, id, Options{To: Behind(min(upTo, settled)), Reverse: true})
	if err != nil || !ok {
		return err
	}
	// A consumer that has seen the last record misses nothing, so the mark is
	// not ahead of it.
	upTo = last.Seq
	mark, err := Mark(ctx, kv, id)
	if err != nil {
		return err
	}
	if upTo > mark {
		if err := setMark(ctx, store, id, upTo, live); err != nil {
			return err
		}
	}
	// Those at or before the mark are discarded again: a removal may have been cut off.
	return store.Discard(ctx, spanAfter(id, Position{}, Behind(upTo)))
}

func setMark(ctx context.Context, store storage.Store, id schema.StreamID, upTo uint64, live uint32) error {
	need := live
	first, ok, err := First(ctx, store.Latest(), id, Options{After: Behind(upTo)})
	if err != nil {
		return err
	}
	if ok {
		need = min(need, first.Version)
		if first.OldVersion > 0 {
			need = min(need, first.OldVersion)
		}
	}
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "change log retention"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := storage.LockOutside(ctx, store, txn, streamKey('t', id)); err != nil {
		return err
	}
	if mark, err := Mark(ctx, txn.Latest(), id); err != nil || mark >= upTo {
		return err // another process was faster
	}
	if err := txn.Put(ctx, streamKey('t', id), binary.BigEndian.AppendUint64(nil, upTo)); err != nil {
		return err
	}
	if err := dropVersions(ctx, txn, id, need); err != nil {
		return err
	}
	_, err = txn.Commit(ctx)
	return err
}

// dropVersions removes the descriptors before a version.
func dropVersions(ctx context.Context, txn storage.Txn, id schema.StreamID, before uint32) error {
	var gone [][]byte
	scan, err := txn.Scan(ctx, storage.Span{Start: versionKey(id, 0), End: versionKey(id, before)}, storage.ScanOptions{KeyOnly: true})
	if err != nil {
		return err
	}
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		gone = append(gone, slices.Clone(key))
		return true
	})
	if err := errors.Join(err, scan.Close()); err != nil {
		return err
	}
	for _, key := range gone {
		if err := txn.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Expired is the sequence up to which the records of a stream may go at a time
// (microseconds since 1970), by its retention and its size; 0 for none.
func Expired(ctx context.Context, store storage.Store, s *schema.Stream, now int64) (uint64, error) {
	settled, err := store.Settled(ctx)
	if err != nil {
		return 0, err
	}
	kv := store.Latest()
	first, ok, err := FirstKept(ctx, kv, s.ID)
	if err != nil || !ok || first.Seq > settled {
		return 0, err
	}
	last, ok, err := First(ctx, kv, s.ID, Options{To: Behind(settled), Reverse: true})
	if err != nil || !ok {
		return 0, err
	}
	old := now - s.Retention*1e6
	upTo, err := search(first.Seq, last.Seq, func(seq uint64) (bool, error) {
		r, ok, err := First(ctx, kv, s.ID, Options{To: Behind(seq), Reverse: true})
		return ok && r.Time < old, err
	})
	if err != nil || s.MaxBytes == 0 {
		return upTo, err
	}
	// The last commit stays, however large it is.
	large, err := search(first.Seq, last.Seq-1, func(seq uint64) (bool, error) {
		size, err := store.EstimateSize(ctx, spanAfter(s.ID, Behind(seq-1), Behind(^uint64(0))))
		return size > s.MaxBytes, err
	})
	return max(upTo, large), err
}

// search is the greatest sequence from first to last for which gone holds, 0 for
// none; when it holds for one it holds for those before.
func search(first, last uint64, gone func(seq uint64) (bool, error)) (uint64, error) {
	lo, hi := first, last+1 // the answer is below hi
	for lo < hi {
		mid := lo + (hi-lo)/2
		is, err := gone(mid)
		if err != nil {
			return 0, err
		}
		if is {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == first {
		return 0, nil
	}
	return lo - 1, nil
}

// Remove forgets an ended stream with all that belongs to it.
func Remove(ctx context.Context, store storage.Store, id schema.StreamID) error {
	consumers, err := Consumers(ctx, store.Latest())
	if err != nil {
		return err
	}
	if err := store.Discard(ctx, Span(id)); err != nil {
		return err
	}
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "change log retention"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	for i := range consumers {
		if consumers[i].Stream != id {
			continue
		}
		c, err := LockConsumer(ctx, txn, consumers[i].Name)
		if err != nil {
			return err
		}
		if c != nil && c.Stream == id {
			if err := DropConsumer(ctx, txn, c.Name); err != nil {
				return err
			}
		}
	}
	if err := dropVersions(ctx, txn, id, ^uint32(0)); err != nil {
		return err
	}
	for _, kind := range []byte{'t', 'e'} {
		if err := txn.Delete(ctx, streamKey(kind, id)); err != nil {
			return err
		}
	}
	_, err = txn.Commit(ctx)
	return err
}
