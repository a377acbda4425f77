package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/storage"
)

// expiryLog are the removals of expired rows: the last ones, and when each table
// was last looked through.
type expiryLog struct {
	store storage.Store

	Mu      sync.Mutex
	Runs    []infoschema.Expiry // the last is the one that runs, if any does
	Started map[schema.TableID]time.Time
	removed atomic.Int64
}

const (
	expiryDefault = time.Hour
	// ExpiryHistory is how many runs are kept.
	ExpiryHistory = 200
)

func newExpiryLog(store storage.Store) *expiryLog {
	return &expiryLog{store: store, Started: map[schema.TableID]time.Time{}}
}

// Due reports whether it is time to look through a table.
func (l *expiryLog) Due(t *schema.Table) bool {
	every := expiryDefault
	if n := t.TTL.JobInterval; n > 0 {
		every = time.Duration(n) * time.Second
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	last, ok := l.Started[t.ID]
	return !ok || time.Since(last) >= every
}

// Begin opens the record of a run.
func (l *expiryLog) Begin(t *schema.Table) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Started[t.ID] = time.Now()
	l.Runs = append(l.Runs, infoschema.Expiry{Database: t.Database, Table: t.Name, Started: time.Now()})
}

// Removed is how many rows were removed since the server started.
func (l *expiryLog) Removed() int64 { return l.removed.Load() }

// Add counts removed rows of the run.
func (l *expiryLog) Add(n int) {
	l.removed.Add(int64(n))
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Runs[len(l.Runs)-1].Removed += uint64(n)
}

// End closes the record of the run and keeps it in the store. A run that found
// nothing leaves no record.
func (l *expiryLog) End(ctx context.Context, err error) error {
	if r, forget := l.Ended(err); r != nil {
		return l.Save(ctx, r, forget)
	}
	return nil
}

// Ended closes the record of the run; nil when there is nothing to keep. forget
// are the records that make way.
func (l *expiryLog) Ended(err error) (r *infoschema.Expiry, forget []infoschema.Expiry) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	last := l.Runs[len(l.Runs)-1]
	if last.Removed == 0 && err == nil {
		l.Runs = l.Runs[:len(l.Runs)-1]
		return nil, nil
	}
	now := time.Now()
	last.Ended = &now
	if err != nil {
		last.Error = err.Error()
	}
	l.Runs[len(l.Runs)-1] = last
	if n := len(l.Runs) - ExpiryHistory; n > 0 {
		forget = slices.Clone(l.Runs[:n])
		l.Runs = slices.Delete(l.Runs, 0, n)
	}
	return &last, forget
}

// List are the runs, oldest first.
func (l *expiryLog) List() []infoschema.Expiry {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return slices.Clone(l.Runs)
}

// The last removals of expired rows outlive the server:
//
//	01 'x' start (microseconds since 1970, u64 BE)   expiryRecord as JSON
var expiryPrefix = []byte{0x01, 'x'}

type expiryRecord struct {
	Database string    `json:"database"`
	Table    string    `json:"table"`
	Ended    time.Time `json:"ended"`
	Removed  uint64    `json:"removed"`
	Error    string    `json:"error,omitempty"`
}

func expiryKey(started time.Time) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(nil), expiryPrefix...), uint64(started.UnixMicro()))
}

// Save keeps the record of a run that has ended, and forgets others.
func (l *expiryLog) Save(ctx context.Context, r *infoschema.Expiry, forget []infoschema.Expiry) error {
	val, err := json.Marshal(expiryRecord{Database: r.Database, Table: r.Table, Ended: *r.Ended, Removed: r.Removed, Error: r.Error})
	if err != nil {
		return err
	}
	// One that a crash loses is no harm.
	txn, err := l.store.Begin(ctx, storage.TxnOptions{Label: "ttl", Durability: storage.DurabilityWrite})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := txn.Put(ctx, expiryKey(r.Started), val); err != nil {
		return err
	}
	for i := range forget {
		if err := txn.Delete(ctx, expiryKey(forget[i].Started)); err != nil {
			return err
		}
	}
	_, err = txn.Commit(ctx)
	return err
}

// load reads the runs that earlier servers have kept.
func (l *expiryLog) load(ctx context.Context) error {
	end := append([]byte(nil), expiryPrefix...)
	end[len(end)-1]++
	scan, err := l.store.Latest().Scan(ctx, storage.Span{Start: expiryPrefix, End: end}, storage.ScanOptions{})
	if err != nil {
		return err
	}
	defer scan.Close()
	var bad error
	_, err = scan.Visit(ctx, func(k, v []byte) bool {
		var r expiryRecord
		if len(k) != len(expiryPrefix)+8 {
			bad = fmt.Errorf("%w: removal of expired rows at %x", storage.ErrCorruption, k)
			return false
		}
		if bad = json.Unmarshal(v, &r); bad != nil {
			bad = fmt.Errorf("%w: removal of expired rows at %x: %w", storage.ErrCorruption, k, bad)
			return false
		}
		started := time.UnixMicro(int64(binary.BigEndian.Uint64(k[len(expiryPrefix):])))
		l.Runs = append(l.Runs, infoschema.Expiry{Database: r.Database, Table: r.Table, Started: started, Ended: &r.Ended, Removed: r.Removed, Error: r.Error})
		return true
	})
	return errors.Join(err, bad)
}
