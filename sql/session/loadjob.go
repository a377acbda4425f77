package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
)

// loadJob is what a program that loads files in pieces asks of LOAD DATA:
//
//   - sqlots_load_token names the piece. The name is kept in the same commit as
//     the rows; a LOAD DATA whose token is there already does nothing, so that
//     a piece of which the answer was lost can be sent again.
//   - sqlots_load_strict: LOCAL does not imply IGNORE.
//   - sqlots_load_rejects is how many rows may be left out because they cannot
//     be stored. Their errors are kept with the token, and warnings tell them.
//
// A token is the key
//
//	01 'l' token
//
// with a JSON object of loadRecord as its value. Tokens are forgotten after
// loadTokenAge.
type loadJob struct {
	token   string
	strict  bool
	max     int
	rejects []loadReject
	dropped []int // ascending lines that the executor has not seen
	warn    func(sqlerr.Warning)
	now     func() time.Time
}

// loadReject is a line that was left out; lines count from 1, without those of
// IGNORE n LINES.
type loadReject struct {
	Line    int    `json:"line"`
	Code    uint16 `json:"code"`
	Message string `json:"message"`
	err     *sqlerr.Error
}

type loadRecord struct {
	Time    time.Time    `json:"time"`
	Rows    int          `json:"rows"`
	Rejects []loadReject `json:"rejects"`
}

const loadTokenAge = 7 * 24 * time.Hour

var loadPrefix = []byte{0x01, 'l'}

// newLoadJob is nil when the session asks for nothing of it.
func (s *Session) newLoadJob() *loadJob {
	token, rejects := s.vars.text("sqlots_load_token"), int(s.vars.number("sqlots_load_rejects"))
	strict := rejects > 0 || s.vars.number("sqlots_load_strict") != 0
	if token == "" && !strict {
		return nil
	}
	return &loadJob{token: token, strict: strict, max: rejects, warn: s.warn, now: time.Now}
}

func (j *loadJob) key() []byte { return append(append([]byte(nil), loadPrefix...), j.token...) }

// done reports whether the token was used.
func (j *loadJob) done(store storage.Store) (bool, error) {
	if j.token == "" {
		return false, nil
	}
	_, err := store.Latest().Get(context.Background(), j.key(), nil)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// errLoadedBefore: another statement with the token was faster, such as one
// whose client is gone.
var errLoadedBefore = errors.New("loaded before")

// loadedBefore answers a LOAD DATA that had nothing to do.
func (s *Session) loadedBefore(j *loadJob, more bool, w mysqlwire.ResultWriter) error {
	s.clearDiagnostics()
	s.warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.LoadedBefore(j.token)})
	return s.ok(w, mysqlwire.OK{Info: "Records: 0  Deleted: 0  Skipped: 0  Warnings: 1"}, more)
}

// pair is the token's; rows is the number of lines.
func (j *loadJob) pair(rows int) (key, val []byte, err error) {
	r := loadRecord{Time: j.now().UTC(), Rows: rows - len(j.rejects), Rejects: j.rejects}
	if r.Rejects == nil {
		r.Rejects = []loadReject{}
	}
	val, err = json.Marshal(r)
	return j.key(), val, err
}

// reject takes the error of a record that the executor has seen.
func (j *loadJob) reject(record uint64, e *sqlerr.Error) error {
	line := int(record)
	for _, d := range j.dropped {
		if d > line {
			break
		}
		line++
	}
	return j.add(line, e)
}

func (j *loadJob) add(line int, e *sqlerr.Error) error {
	if len(j.rejects) >= j.max {
		return sqlerr.TooManyRejects(line, e, j.max)
	}
	j.rejects = append(j.rejects, loadReject{Line: line, Code: e.Number, Message: e.Message})
	j.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.LineLeftOut(line, e)})
	return nil
}

// Loads implements infoschema.Server.
func (e *introspection) Loads() ([]infoschema.Load, error) {
	var out []infoschema.Load
	err := eachLoad(e.store, func(token string, val []byte) error {
		var r loadRecord
		if err := json.Unmarshal(val, &r); err != nil {
			return fmt.Errorf("token %q of a load: %w", token, err)
		}
		rejects, err := json.Marshal(r.Rejects)
		if err != nil {
			return err
		}
		out = append(out, infoschema.Load{Token: token, Time: r.Time, Rows: uint64(r.Rows), Rejected: uint64(len(r.Rejects)), Rejects: string(rejects)})
		return nil
	})
	return out, err
}

func eachLoad(store storage.Store, fn func(token string, val []byte) error) error {
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

// forgetLoads removes tokens that are too old to be asked for again.
func forgetLoads(store storage.Store, now time.Time) error {
	var old []string
	err := eachLoad(store, func(token string, val []byte) error {
		var r loadRecord
		if json.Unmarshal(val, &r) == nil && now.Sub(r.Time) > loadTokenAge {
			old = append(old, token)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	txn, err := store.Begin(storage.TxnOptions{Label: "tokens of loads"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	for _, token := range old {
		if err := txn.Delete((&loadJob{token: token}).key()); err != nil {
			return err
		}
	}
	_, err = txn.Commit(context.Background())
	return err
}
