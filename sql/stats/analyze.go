package stats

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// analysis is what ANALYZE TABLE found.
type analysis struct {
	Rows int64 `json:"rows"`
	// Distinct are the numbers of different values by column, NULL not counted.
	Distinct map[schema.ColumnID]int64 `json:"distinct"`
}

func analysisKey(t schema.TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{0x01, 'a'}, uint32(t))
}

// Remove deletes what ANALYZE TABLE stored of a table that is no more.
func Remove(ctx context.Context, store storage.Store, t schema.TableID) error {
	_, err := store.Latest().Get(ctx, analysisKey(t), nil)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "analyze"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := txn.Delete(ctx, analysisKey(t)); err != nil {
		return err
	}
	_, err = txn.Commit(ctx)
	return err
}

// Analyze reads the table, counts its rows and the different values of each
// column, and stores the result.
func (e *Estimator) Analyze(ctx context.Context, t *schema.Table) error {
	a, err := e.analyze(ctx, t)
	if err == nil {
		err = e.save(ctx, t.ID, a)
	}
	if err != nil {
		return fmt.Errorf("analyzing %s.%s: %w", t.Database, t.Name, err)
	}
	s := e.stats(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.analyzed, s.loaded = a, true
	s.changed.Store(0)
	s.sample.Store(nil)
	clear(s.distinct)
	s.current.Store(&count{rows: float64(a.Rows), exact: true, at: e.now()})
	return nil
}

// save stores the result of an analysis.
func (e *Estimator) save(ctx context.Context, id schema.TableID, a *analysis) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	txn, err := e.store.Begin(ctx, storage.TxnOptions{Label: "analyze"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := txn.Put(ctx, analysisKey(id), text); err != nil {
		return err
	}
	_, err = txn.Commit(ctx)
	return err
}

func (e *Estimator) analyze(ctx context.Context, t *schema.Table) (*analysis, error) {
	codec, err := e.codecs.Get(t)
	if err != nil {
		return nil, err
	}
	snap, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	scan, err := snap.Scan(ctx, table.IndexSpan(t.ID, schema.PrimaryIndexID), storage.ScanOptions{Cold: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	a := &analysis{Distinct: map[schema.ColumnID]int64{}}
	rd := codec.NewRowReader()
	row := make([]value.Datum, len(t.Columns))
	sketches := make([]sketch, len(t.Columns))
	var buf []byte
	var bad error
	stop := func(int) error { return context.Cause(ctx) } // within long texts
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		a.Rows++
		if bad = rd.Fetch(ctx, snap, key, val, row); bad != nil {
			return false
		}
		for i, d := range row {
			if !d.IsNull() {
				if buf, bad = types.HashKeyUntil(buf[:0], d, t.Columns[i].Type, stop); bad != nil {
					return false
				}
				sketches[i].add(xxhash.Sum64(buf))
			}
		}
		return true
	})
	if err = errors.Join(bad, err); err != nil {
		return nil, err
	}
	for i := range sketches {
		a.Distinct[t.Columns[i].ID] = min(sketches[i].count(), a.Rows)
	}
	return a, nil
}

// analyzedDistinct multiplies what ANALYZE TABLE found of the columns, as if
// they were independent; 0 when it is not known of all.
func (e *Estimator) analyzedDistinct(ctx context.Context, t *schema.Table, columns []schema.ColumnID, rows float64) float64 {
	a := e.analysisOf(ctx, t.ID)
	if a == nil {
		return 0
	}
	d := 1.0
	for _, c := range columns {
		n := float64(a.Distinct[c])
		if n == 0 {
			return 0
		}
		// A column that had a different value in every row still has.
		if a.Rows > 0 && n > 0.9*float64(a.Rows) {
			n *= max(1, rows/float64(a.Rows))
		}
		d *= n
	}
	return min(d, rows)
}

// analysisOf is what ANALYZE TABLE found, which does not change; nil when it never ran.
func (e *Estimator) analysisOf(ctx context.Context, t schema.TableID) *analysis {
	s := e.stats(t)
	s.mu.Lock()
	a, loaded := s.analyzed, s.loaded
	s.mu.Unlock()
	if loaded {
		return a
	}
	a = e.loadAnalysis(ctx, t)
	if ctx.Err() != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		s.analyzed, s.loaded = a, true
	}
	return s.analyzed
}

func (e *Estimator) loadAnalysis(ctx context.Context, t schema.TableID) *analysis {
	text, err := e.store.Latest().Get(ctx, analysisKey(t), nil)
	if err != nil {
		return nil
	}
	a := &analysis{}
	if json.Unmarshal(text, a) != nil {
		return nil
	}
	return a
}

// sketch estimates the number of different hashes: HyperLogLog with 1024 registers, about
// 3 % off, by linear counting below 2,500. Up to fewHashes are counted: of ten, it would
// find one less in one case of twenty, and a plan might turn on that.
type sketch struct {
	reg  [1024]uint8
	few  map[uint64]struct{}
	many bool // more than few has
}

const fewHashes = 256

func (s *sketch) add(h uint64) {
	if _, ok := s.few[h]; ok {
		return
	}
	if !s.many {
		if s.few == nil {
			s.few = map[uint64]struct{}{}
		}
		if s.few[h] = struct{}{}; len(s.few) > fewHashes {
			s.few, s.many = nil, true
		}
	}
	i := h & 1023
	rank := uint8(bits.LeadingZeros64(h|1023)) + 1
	s.reg[i] = max(s.reg[i], rank)
}

func (s *sketch) count() int64 {
	if !s.many {
		return int64(len(s.few))
	}
	const m = float64(len(s.reg))
	sum, zero := 0.0, 0
	for _, r := range s.reg {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zero++
		}
	}
	est := 0.7213 / (1 + 1.079/m) * m * m / sum
	if est <= 2.5*m && zero > 0 {
		est = m * math.Log(m/float64(zero))
	}
	return int64(est + 0.5)
}
