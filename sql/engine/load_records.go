package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
)

// LoadReject is a line that was left out; lines count from 1, without those of
// IGNORE n LINES.
type LoadReject struct {
	Line    int    `json:"line"`
	Code    uint16 `json:"code"`
	Message string `json:"message"`
	Err     *sqlerr.Error
}

// LoadRecord is what a LOAD DATA with a token has done.
type LoadRecord struct {
	Time    time.Time    `json:"time"`
	Rows    int          `json:"rows"`
	Rejects []LoadReject `json:"rejects"`
}

// LoadTokenAge is how long a token is kept.
const LoadTokenAge = 7 * 24 * time.Hour

var loadPrefix = []byte{0x01, 'l'}

// LoadKey is where the record of a load is.
func LoadKey(token string) []byte { return append(append([]byte(nil), loadPrefix...), token...) }

// EachLoad visits the records of loads in the order of their tokens. Errors are
// those of the store and of fn, which ends the visit.
func EachLoad(store storage.Store, fn func(token string, val []byte) error) error {
	ctx := context.Background()
	scan, err := store.Latest().Scan(ctx, storage.Span{Start: loadPrefix, End: []byte{0x01, 'l' + 1}}, storage.ScanOptions{})
	if err != nil {
		return err
	}
	defer scan.Close()
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		bad = fn(string(key[len(loadPrefix):]), val)
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	return err
}

// ForgetLoads removes tokens that are too old to be used again.
func ForgetLoads(ctx context.Context, store storage.Store, now time.Time) error {
	var old []string
	err := EachLoad(store, func(token string, val []byte) error {
		var r LoadRecord
		if json.Unmarshal(val, &r) == nil && now.Sub(r.Time) > LoadTokenAge {
			old = append(old, token)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	txn, err := store.Begin(ctx, storage.TxnOptions{Label: "tokens of loads"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	for _, token := range old {
		if err := txn.Delete(ctx, LoadKey(token)); err != nil {
			return err
		}
	}
	_, err = txn.Commit(ctx)
	return err
}
