package stats

import (
	"bytes"
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
)

var errNoIndex = errors.New("no such index")

const (
	// maxSeeks bounds the different values that are counted one by one.
	maxSeeks = 128
	// samplePlaces and sampleKeys shape the sample of run lengths. Where it
	// shows less than fewChanges, longer ones are read.
	samplePlaces = 8
	sampleKeys   = 256
	longSample   = 8192
	fewChanges   = 32
)

type distinctKey struct {
	index schema.IndexID
	n     int
}

// Distinct implements access.Estimator: from an index that starts with the
// columns, or from what ANALYZE TABLE found.
func (e *Estimator) Distinct(ctx context.Context, t *schema.Table, columns []schema.ColumnID) float64 {
	rows := e.TableRows(ctx, t)
	if rows == 0 || len(columns) == 0 || t.Derived != nil {
		return 0
	}
	if startsWith(t.PrimaryKey, columns) {
		return e.indexDistinct(ctx, t, nil, len(columns), len(columns) == len(t.PrimaryKey))
	}
	if key := t.DeclaredKey(); len(columns) == len(key) && startsWith(key, columns) {
		return rows
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State == schema.IndexPublic && t.HoldsAll(x) && startsWith(x.Parts, columns) {
			return e.indexDistinct(ctx, t, x, len(columns), x.Unique && len(columns) == len(x.Parts))
		}
	}
	return e.analyzedDistinct(ctx, t, columns, rows)
}

// startsWith reports whether the first parts are the columns, whole, in any
// order.
func startsWith(parts []schema.KeyPart, columns []schema.ColumnID) bool {
	if len(parts) < len(columns) {
		return false
	}
	for _, p := range parts[:len(columns)] {
		found := false
		for _, c := range columns {
			found = found || c == p.Column && p.Prefix == 0
		}
		if !found {
			return false
		}
	}
	return true
}

// indexDistinct is the number of different values of the first n columns of an
// index. unique: each row has its own, except for NULL.
func (e *Estimator) indexDistinct(ctx context.Context, t *schema.Table, x *schema.Index, n int, unique bool) float64 {
	rows := e.TableRows(ctx, t)
	if unique {
		return rows
	}
	key := distinctKey{n: n}
	if x != nil {
		key.index = x.ID
	}
	s := e.stats(t.ID)
	if d, ok := s.distinctOf(key); ok {
		return d
	}
	if !s.counting.enter(ctx) {
		return 0
	}
	defer s.counting.leave()
	if d, ok := s.distinctOf(key); ok {
		return d
	}
	k, err := e.keys(t, x)
	if err != nil {
		return 0
	}
	of := s.current.Load()
	d, err := e.countDistinct(ctx, k, n, rows)
	if errors.Is(err, storage.ErrCorruption) {
		d, err = 0, nil // counting again takes long, and meets the same damage
	}
	if err != nil || ctx.Err() != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.Load() == of { // not after ANALYZE TABLE
		s.distinct[key] = d
	}
	return d
}

func (s *tableStats) distinctOf(key distinctKey) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.distinct[key]
	return d, ok
}

// countDistinct jumps from value to value while there are few, and measures
// the length of runs of equal values when there are many.
func (e *Estimator) countDistinct(ctx context.Context, k *keys, n int, rows float64) (float64, error) {
	whole := storage.Span{Start: k.prefix, End: keyenc.PrefixEnd(k.prefix)}
	span := whole
	for found := 0; found < maxSeeks; found++ {
		first, err := e.firstKey(ctx, span)
		if err != nil {
			return 0, err
		}
		if first == nil {
			return float64(found), nil
		}
		m := k.leading(first, n)
		if m == 0 {
			return 0, storage.ErrCorruption
		}
		span.Start = keyenc.PrefixEnd(first[:m])
	}
	pairs, changes, err := e.sample(ctx, k, n, whole, sampleKeys)
	if err == nil && changes < fewChanges {
		pairs, changes, err = e.sample(ctx, k, n, whole, longSample)
	}
	if err != nil {
		return 0, err
	}
	if pairs == 0 {
		return maxSeeks, nil
	}
	return min(max(rows*float64(changes)/float64(pairs), maxSeeks), rows), nil
}

// sample counts neighbours in several places of a span, and those that differ.
// Damage ends what is counted in a place.
func (e *Estimator) sample(ctx context.Context, k *keys, n int, whole storage.Span, limit int) (pairs, changes int, err error) {
	for _, part := range e.store.Partitions(ctx, whole, samplePlaces) {
		p, c, err := e.runs(ctx, k, n, part, limit)
		if err != nil && !errors.Is(err, storage.ErrCorruption) {
			return 0, 0, err
		}
		pairs, changes = pairs+p, changes+c
	}
	return pairs, changes, nil
}

func (e *Estimator) firstKey(ctx context.Context, span storage.Span) ([]byte, error) {
	scan, err := e.store.Latest().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var first []byte
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		first = bytes.Clone(key)
		return false
	})
	return first, err
}

// runs counts neighbours at the start of a span, and those that differ.
func (e *Estimator) runs(ctx context.Context, k *keys, n int, span storage.Span, limit int) (pairs, changes int, err error) {
	scan, err := e.store.Latest().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: limit})
	if err != nil {
		return 0, 0, err
	}
	defer scan.Close()
	var prev []byte
	seen := 0
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		m := k.leading(key, n)
		if seen > 0 {
			pairs++
			if !bytes.Equal(prev, key[:m]) {
				changes++
			}
		}
		prev = append(prev[:0], key[:m]...)
		seen++
		return seen < limit
	})
	return pairs, changes, err
}

// IndexSize is about the number of bytes of an index's entries, of the rows for
// schema.PrimaryIndexID.
func (e *Estimator) IndexSize(ctx context.Context, t *schema.Table, x schema.IndexID) int64 {
	size, err := e.store.EstimateSize(ctx, table.IndexSpan(t.ID, x))
	if err != nil {
		return 0
	}
	return size
}

// TableSize is about the number of bytes of a table's rows and of its
// secondary indexes.
func (e *Estimator) TableSize(ctx context.Context, t *schema.Table) (data, index int64) {
	data = e.IndexSize(ctx, t, schema.PrimaryIndexID) + e.IndexSize(ctx, t, table.CellIndexID)
	for i := range t.Indexes {
		index += e.IndexSize(ctx, t, t.Indexes[i].ID)
	}
	return data, index
}
