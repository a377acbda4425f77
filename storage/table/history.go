package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// The earlier versions of a row are stored under index FFFE, the latest first:
//
//	key    prefix, the row's key without its own prefix, then the complement of
//	       the sequence of the commit that ended the version (u64 BE)
//	value  0        1..8    9..16   17     18
//	       version  ended   began   flags  the row as an image (AppendImage)
//
//	ended, began  times of commits, microseconds since 1970, u64 BE; began is 0
//	              for a version that is as old as the history, or older
//	flags         1: there was a row, and the image follows
//
// The prefix alone is the key of the mark of the history's begin: version, time.
// A commit that changes a row several times ends one version of it.
const (
	historyVersion   = 1
	historySuffixLen = 8
	historyHead      = 18
	historyEnded     = 1
	historyBegan     = 9
	historyFlags     = 17
	historyRow       = 1
)

// MarkHistory notes that the earlier versions of a table's rows are kept from
// this commit on.
func MarkHistory(txn storage.Txn, t schema.TableID) error {
	return txn.PutStamped(TablePrefix(nil, t, HistoryIndexID), []byte{historyVersion, 0, 0, 0, 0, 0, 0, 0, 0}, storage.Stamp{Key: -1, Time: historyEnded})
}

// HistoryBegin is the time from which versions are known, microseconds since
// 1970.
func HistoryBegin(ctx context.Context, kv storage.Reader, t schema.TableID) (int64, error) {
	key := TablePrefix(nil, t, HistoryIndexID)
	v, err := kv.Get(ctx, key, nil)
	if errors.Is(err, storage.ErrNotFound) || err == nil && len(v) != historyEnded+8 {
		return 0, fmt.Errorf("%w: table %d has no mark of its history", storage.ErrCorruption, t)
	}
	if err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(v[historyEnded:])), nil
}

// Version is an earlier version of a row.
type Version struct {
	// Began and Ended bound its time, microseconds since 1970: it was there
	// from Began (0: longer than is known) to before Ended.
	Began, Ended int64
	// Seq is the sequence of the commit that ended it.
	Seq uint64
	// Row is its image, nil when there was no row.
	Row []byte
}

// ParseVersion reads an entry of the history; key is the row's, without its
// prefix. They share the entry.
func ParseVersion(k, val []byte) (key []byte, v Version, err error) {
	if len(k) < prefixLen+historySuffixLen || len(val) < historyHead || val[0] != historyVersion {
		return nil, v, fmt.Errorf("%w: malformed version of a row, key %x", storage.ErrCorruption, k)
	}
	v.Seq = ^binary.BigEndian.Uint64(k[len(k)-historySuffixLen:])
	v.Ended = int64(binary.BigEndian.Uint64(val[historyEnded:]))
	v.Began = int64(binary.BigEndian.Uint64(val[historyBegan:]))
	if val[historyFlags]&historyRow != 0 {
		v.Row = val[historyHead:]
	}
	return k[prefixLen : len(k)-historySuffixLen], v, nil
}

// HistorySpan is the versions of the rows whose keys, without their prefix, are
// in a span; nil bounds are open.
func HistorySpan(t schema.TableID, start, end []byte) storage.Span {
	s := IndexSpan(t, HistoryIndexID)
	// After the mark, which is the prefix alone.
	s.Start = append(s.Start, 0)
	if len(start) > 0 {
		s.Start = append(s.Start[:prefixLen], start...)
	}
	if end != nil {
		s.End = append(TablePrefix(nil, t, HistoryIndexID), end...)
	}
	return s
}

// versions are the buffers of keepVersion.
type versions struct {
	key, val []byte
	gone     [][]byte
}

// keepVersion keeps what a row was before this transaction: an image, or nil
// where there was none. Versions beyond the table's number of them go. The row
// is locked. A version counts from the commit that made the row until the one
// that changes it, so further changes by this transaction keep nothing.
func (w *Writer) keepVersion(ctx context.Context, rowKey, row []byte) error {
	v := &w.logs.versions
	v.key = append(TablePrefix(v.key[:0], w.c.Table.ID, HistoryIndexID), rowKey...)
	prefix := len(v.key)
	v.key = binary.BigEndian.AppendUint64(v.key, 0)
	if w.txn.Stamped(v.key) {
		return nil
	}
	began, err := int64(0), error(nil)
	if row != nil || !w.hasAhead(v.key[:prefix]) && !w.isNew(ctx, v.key[:prefix]) {
		room := w.c.Table.MaxVersions - 1
		if row != nil {
			room--
		}
		if began, err = w.prune(ctx, v, v.key[:prefix], room); err != nil {
			return err
		}
	}
	v.val = append(v.val[:0], historyVersion, 0, 0, 0, 0, 0, 0, 0, 0)
	v.val = binary.BigEndian.AppendUint64(v.val, uint64(began))
	flags := byte(0)
	if row != nil {
		flags = historyRow
	}
	v.val = append(append(v.val, flags), row...)
	return w.txn.PutStamped(v.key, v.val, storage.Stamp{Key: prefix, Descending: true, Time: historyEnded})
}

// prune removes the versions of a row after those that may stay, and returns when the
// latest one ended. A version that says that the row did not exist before the last one
// that stays is kept too.
func (w *Writer) prune(ctx context.Context, v *versions, prefix []byte, room int) (latest int64, err error) {
	// This transaction has written nothing here: it would be stamped.
	scan, err := w.versionsReader().Scan(ctx, versionsSpan(prefix), storage.ScanOptions{Limit: room + 2})
	if err != nil {
		return 0, err
	}
	defer scan.Close()
	v.gone = v.gone[:0]
	var bad error
	full := false
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		_, old, perr := ParseVersion(key, val)
		if perr != nil {
			bad = perr
			return false
		}
		if latest == 0 {
			latest = old.Ended
		}
		if full = full || room <= 0 && old.Row != nil; full {
			v.gone = append(v.gone, append([]byte(nil), key...))
		}
		if old.Row != nil {
			room--
		}
		return true
	})
	if err := errors.Join(bad, err); err != nil {
		return 0, err
	}
	for _, key := range v.gone {
		if err := w.txn.Delete(ctx, key); err != nil {
			return 0, err
		}
	}
	return latest, nil
}

// versionsSpan are the versions of a row; prefix is what they begin with.
func versionsSpan(prefix []byte) storage.Span {
	end := append(append([]byte(nil), prefix...), 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF)
	return storage.Span{Start: prefix, End: end}
}

// versionsReader reads the versions of rows that are locked.
func (w *Writer) versionsReader() storage.Reader {
	if w.ahead != nil {
		return w.ahead
	}
	return w.txn.Committed()
}

func (w *Writer) hasAhead(prefix []byte) bool {
	return w.ahead != nil && w.ahead.Has(versionsSpan(prefix))
}

// ReadAhead has the writer look for versions of rows, which are locked, in a.
func (w *Writer) ReadAhead(a *storage.Ahead) { w.ahead = a }

// AppendVersions appends the spans that a change of a row, which is locked, looks at.
func (w *Writer) AppendVersions(spans []storage.Span, row []value.Datum) []storage.Span {
	if w.logs == nil || !w.c.Table.KeepsVersions() {
		return spans
	}
	for i := range w.c.Key {
		if row[w.c.Key[i].Pos].IsNull() {
			return spans
		}
	}
	prefix := TablePrefix(nil, w.c.Table.ID, HistoryIndexID)
	w.buf = w.c.AppendKey(w.buf[:0], row)
	return append(spans, versionsSpan(append(prefix, w.buf[prefixLen:]...)))
}

// newGround is where a table has no history, so that new rows in ascending
// order need not look for it one by one.
type newGround struct {
	span atomic.Pointer[groundSpan]
	last atomic.Pointer[[]byte] // the row that was inserted last
}

// groundSpan are the rows from a key to before another, both with the prefix of
// the history. Only a commit that removes a row gives one that is not there a
// history.
type groundSpan struct {
	from, to []byte
	removed  uint64 // Marks.removed before it was looked at
}

// isNew reports whether a row that is not there, and is locked, is known to have
// no history; prefix is what its versions begin with.
func (w *Writer) isNew(ctx context.Context, prefix []byte) bool {
	m := w.c.Marks
	if m == nil {
		return false
	}
	if m.onNewGround(prefix) {
		return true
	}
	last, own := m.ground.last.Load(), bytes.Clone(prefix)
	m.ground.last.Store(&own)
	if last == nil || bytes.Compare(*last, own) >= 0 {
		return false // no order: looking further than this row would not pay
	}
	return w.lookFrom(ctx, own)
}

// onNewGround is isNew without a look.
func (m *Marks) onNewGround(prefix []byte) bool {
	g := m.ground.span.Load()
	return g != nil && g.removed == m.removed.Seq() && bytes.Compare(prefix, g.from) >= 0 && bytes.Compare(prefix, g.to) < 0
}

// lookFrom looks how far the new ground reaches that begins at a row. It reports whether
// that is a part of it.
func (w *Writer) lookFrom(ctx context.Context, own []byte) bool {
	m := w.c.Marks
	removed := m.removed.Seq()
	span := storage.Span{Start: own, End: IndexSpan(w.c.Table.ID, HistoryIndexID).End}
	scan, err := w.txn.Committed().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: 1})
	if err != nil {
		return false // shows in the search for versions
	}
	defer scan.Close()
	g := &groundSpan{from: own, to: span.End, removed: removed}
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		g.to = bytes.Clone(key[:max(len(key)-historySuffixLen, 0)])
		return false
	})
	if err != nil || bytes.Compare(own, g.to) >= 0 {
		return false
	}
	m.ground.span.Store(g)
	return true
}

// AppendNewVersions is AppendVersions for new rows: most of them have no history.
func (w *Writer) AppendNewVersions(ctx context.Context, spans []storage.Span, rows [][]value.Datum) []storage.Span {
	n := len(spans)
	for _, row := range rows {
		spans = w.AppendVersions(spans, row)
	}
	m, list := w.c.Marks, spans[n:]
	if m == nil || len(list) == 0 {
		return spans
	}
	first := slices.MinFunc(list, func(a, b storage.Span) int { return bytes.Compare(a.Start, b.Start) }).Start
	if !m.onNewGround(first) {
		w.lookFrom(ctx, bytes.Clone(first))
	}
	return append(spans[:n], slices.DeleteFunc(list, func(s storage.Span) bool { return m.onNewGround(s.Start) })...)
}

// forgetBatch is how many versions ForgetHistory removes in one transaction.
const forgetBatch = 1000

// ForgetHistory removes the versions of a table's rows that ended before a time
// (microseconds since 1970); from then on the history begins there.
func ForgetHistory(ctx context.Context, store storage.Store, t schema.TableID, before int64) error {
	if err := moveHistory(ctx, store, t, before); err != nil {
		return err
	}
	scan, err := store.Latest().Scan(ctx, HistorySpan(t, nil, nil), storage.ScanOptions{Cold: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	for done := false; !done; {
		var gone [][]byte
		var bad error
		done, err = scan.Visit(ctx, func(key, val []byte) bool {
			_, v, perr := ParseVersion(key, val)
			if perr != nil {
				bad = perr
				return false
			}
			if v.Ended <= before {
				gone = append(gone, append([]byte(nil), key...))
			}
			return len(gone) < forgetBatch
		})
		if err := errors.Join(bad, err); err != nil {
			return err
		}
		if err := deleteKeys(ctx, store, gone); err != nil {
			return err
		}
	}
	return nil
}

// moveHistory makes the history of a table begin at a time, unless it begins
// later. It comes before the removal, so that no reader misses a version in
// silence.
func moveHistory(ctx context.Context, store storage.Store, t schema.TableID, to int64) error {
	begin, err := HistoryBegin(ctx, store.Latest(), t)
	if err != nil || begin >= to {
		return err
	}
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "version retention"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := storage.LockOutside(ctx, store, txn, TablePrefix(nil, t, HistoryIndexID)); err != nil {
		return err
	}
	if begin, err := HistoryBegin(ctx, txn.Latest(), t); err != nil || begin >= to {
		return err
	}
	mark := binary.BigEndian.AppendUint64([]byte{historyVersion}, uint64(to))
	if err := txn.Put(ctx, TablePrefix(nil, t, HistoryIndexID), mark); err != nil {
		return err
	}
	_, err = txn.Commit(ctx)
	return err
}

func deleteKeys(ctx context.Context, store storage.Store, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "version retention"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	for _, key := range keys {
		if err := txn.Delete(ctx, key); err != nil {
			return err
		}
	}
	_, err = txn.Commit(ctx)
	return err
}
