package session

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/storage"
)

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

// save keeps the record of a run that has ended, and forgets others.
func (j *expiryJob) save(ctx context.Context, r *infoschema.Expiry, forget []infoschema.Expiry) error {
	val, err := json.Marshal(expiryRecord{Database: r.Database, Table: r.Table, Ended: *r.Ended, Removed: r.Removed, Error: r.Error})
	if err != nil {
		return err
	}
	// One that a crash loses is no harm.
	txn, err := j.engine.store.Begin(storage.TxnOptions{Label: "ttl", Durability: storage.DurabilityWrite})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := txn.Put(expiryKey(r.Started), val); err != nil {
		return err
	}
	for i := range forget {
		if err := txn.Delete(expiryKey(forget[i].Started)); err != nil {
			return err
		}
	}
	_, err = txn.Commit(ctx)
	return err
}

// load reads the runs that earlier servers have kept.
func (j *expiryJob) load(ctx context.Context) error {
	end := append([]byte(nil), expiryPrefix...)
	end[len(end)-1]++
	scan, err := j.engine.store.Latest().Scan(ctx, storage.Span{Start: expiryPrefix, End: end}, storage.ScanOptions{})
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
		j.runs = append(j.runs, infoschema.Expiry{Database: r.Database, Table: r.Table, Started: started, Ended: &r.Ended, Removed: r.Removed, Error: r.Error})
		return true
	})
	return errors.Join(err, bad)
}
