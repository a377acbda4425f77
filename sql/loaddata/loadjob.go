package loaddata

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
)

// loadJob is what a program that loads files in pieces requests of LOAD DATA:
//
//   - sqlots_load_token names the piece. The name is kept in the same commit as
//     the rows; a LOAD DATA whose token is there already does nothing, so that
//     a piece of which the answer was lost can be sent again.
//   - sqlots_load_strict: LOCAL does not imply IGNORE.
//   - sqlots_load_rejects is how many rows may be left out because they cannot
//     be stored. Their errors are kept with the token, and warnings report them.
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
	rejects []engine.LoadReject
	dropped []int // ascending lines that the executor has not seen
	warn    func(sqlerr.Warning)
	now     func() time.Time
}

// newLoadJob is nil when the session requests nothing of it.
func (s *load) newLoadJob() *loadJob {
	token, rejects := s.Vars.Text("sqlots_load_token"), int(s.Vars.Number("sqlots_load_rejects"))
	strict := rejects > 0 || s.Vars.Number("sqlots_load_strict") != 0
	if token == "" && !strict {
		return nil
	}
	return &loadJob{token: token, strict: strict, max: rejects, warn: s.Diagnostics.Warn, now: time.Now}
}

func (j *loadJob) key() []byte { return engine.LoadKey(j.token) }

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
func (s *load) loadedBefore(j *loadJob, more bool, w mysqlwire.ResultWriter) error {
	s.Diagnostics.Clear()
	s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.LoadedBefore(j.token)})
	return s.OK(w, mysqlwire.OK{Info: "Records: 0  Deleted: 0  Skipped: 0  Warnings: 1"}, more)
}

// pair is the token's; rows is the number of lines.
func (j *loadJob) pair(rows int) (key, val []byte, err error) {
	r := engine.LoadRecord{Time: j.now().UTC(), Rows: rows - len(j.rejects), Rejects: j.rejects}
	if r.Rejects == nil {
		r.Rejects = []engine.LoadReject{}
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
	j.rejects = append(j.rejects, engine.LoadReject{Line: line, Code: e.Number, Message: e.Message})
	j.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.LineLeftOut(line, e)})
	return nil
}
