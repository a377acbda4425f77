package stats

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

const (
	// sampleMin is the number of rows from which on a table is sampled: reading
	// all of fewer is no matter.
	sampleMin = 1000
	// sampleRows are read in rowPlaces places.
	sampleRows = 512
	rowPlaces  = 32
	// sampleBytes bounds what a sample holds.
	sampleBytes = 256 << 10
)

// sample are rows of a table as it was.
type sample struct {
	*access.Sample
	t    *schema.Table
	rows float64 // of the table
	at   time.Time
	// writes are the rows that had been changed.
	writes int64
}

// Sample implements access.Sampler.
func (e *Estimator) Sample(ctx context.Context, t *schema.Table) *access.Sample {
	rows := e.TableRows(ctx, t)
	if rows < sampleMin {
		return nil
	}
	s := e.stats(t.ID)
	old := s.sample.Load()
	writes := s.writes.Load()
	if old != nil && old.t == t && float64(writes-old.writes) < old.rows/5 && rows < 2*old.rows && rows > old.rows/2 && e.now().Sub(old.at) < maxAge {
		return old.Sample
	}
	if !s.sampling.tryEnter() { // another goroutine reads one
		if old != nil && old.t == t {
			return old.Sample
		}
		return nil
	}
	defer s.sampling.leave()
	x := &sample{t: t, rows: rows, at: e.now(), writes: writes}
	if got, err := e.readSample(ctx, t); err == nil {
		x.Sample = got
	}
	if ctx.Err() != nil {
		return nil
	}
	s.sample.Store(x)
	return x.Sample
}

// readSample reads rows from places that are spread over the table.
func (e *Estimator) readSample(ctx context.Context, t *schema.Table) (*access.Sample, error) {
	codec, err := e.codecs.Get(t)
	if err != nil {
		return nil, err
	}
	out := &access.Sample{Known: make([]bool, len(t.Columns))}
	for i := range t.Columns {
		c := &t.Columns[i]
		// A row has neither virtual columns nor local times.
		out.Known[i] = (c.Generated == nil || c.Generated.Stored) && c.Type.ID != schema.TypeTimestamp
	}
	span := table.IndexSpan(t.ID, schema.PrimaryIndexID)
	rd := codec.NewRowReader()
	size := 0
	var last []byte
	starts := e.places(ctx, span)
	for _, start := range starts {
		if bytes.Compare(start, last) < 0 {
			start = append(bytes.Clone(last), 0) // last changes while the scan reads its bounds
		}
		limit := (sampleRows + len(starts) - 1) / len(starts)
		scan, err := e.store.Latest().Scan(ctx, storage.Span{Start: start, End: span.End}, storage.ScanOptions{Limit: limit})
		if err != nil {
			return nil, err
		}
		var bad error
		n := 0
		_, err = scan.Visit(ctx, func(key, val []byte) bool {
			last = append(last[:0], key...)
			row := make([]value.Datum, len(t.Columns))
			if bad = rd.Decode(key, val, row); bad != nil {
				return false
			}
			for _, pos := range rd.Cells {
				out.Known[pos] = false
			}
			for i := range row {
				row[i] = row[i].Clone()
			}
			out.Rows = append(out.Rows, row)
			size += len(val) + 32*len(row)
			n++
			return n < limit && size < sampleBytes
		})
		scan.Close()
		if bad != nil {
			return nil, bad
		}
		if err != nil {
			return nil, err
		}
		if size >= sampleBytes {
			break
		}
	}
	if len(out.Rows) < sampleRows/4 {
		return nil, nil
	}
	return out, nil
}

// places are keys that are spread over a span: where the store cuts it, or, if
// it does not know, at equal distances between the first key and the last.
func (e *Estimator) places(ctx context.Context, span storage.Span) [][]byte {
	var out [][]byte
	if parts := e.store.Partitions(ctx, span, rowPlaces); len(parts) >= rowPlaces/2 {
		for _, p := range parts {
			out = append(out, p.Start)
		}
		return out
	}
	first, err := e.firstKey(ctx, span)
	if err != nil || first == nil {
		return [][]byte{span.Start}
	}
	last := e.lastKey(ctx, span)
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	from, to := number(first[n:]), number(last[min(n, len(last)):])
	if to <= from {
		return [][]byte{first}
	}
	step := (to - from) / rowPlaces
	for i := range uint64(rowPlaces) {
		out = append(out, binary.BigEndian.AppendUint64(bytes.Clone(first[:n]), from+i*step))
	}
	out[0] = first
	return out
}

// number is the beginning of a key as a number.
func number(b []byte) uint64 {
	var buf [8]byte
	copy(buf[:], b)
	return binary.BigEndian.Uint64(buf[:])
}

// lastKey is about the last key of a span.
func (e *Estimator) lastKey(ctx context.Context, span storage.Span) []byte {
	scan, err := e.store.Latest().Scan(ctx, span, storage.ScanOptions{KeyOnly: true, Limit: 1, Reverse: true})
	if err != nil {
		return nil
	}
	defer scan.Close()
	var last []byte
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		last = bytes.Clone(key)
		return false
	})
	if err != nil || last == nil {
		return keyenc.PrefixEnd(span.Start)
	}
	return last
}

var _ access.Sampler = (*Estimator)(nil)
