package infoschema

import (
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/priv"
)

// Load is a piece of a file that was loaded under a token.
type Load struct {
	Token          string
	Time           time.Time
	Rows, Rejected uint64
	Rejects        string // JSON
}

// Expiry is a removal of expired rows.
type Expiry struct {
	Database, Table string
	Started         time.Time
	Ended           *time.Time // nil: it runs
	Removed         uint64
	Error           string
}

// Backup is a BACKUP statement.
type Backup struct {
	ID                            uint64
	Destination, Previous         string
	Started                       time.Time
	Ended                         *time.Time // nil: it runs
	Files, FilesDone              uint64
	Bytes, BytesDone, BytesCopied uint64
	Error                         string
}

// IndexBuild is the making of indexes on a table in use.
type IndexBuild struct {
	ID              uint64
	Database, Table string
	Indexes         []string
	Statement       string
	State           string
	Rows, Estimate  int64
	Started         time.Time
	Ended           *time.Time // nil: it runs
	Resumed         int
	Error           string
}

// Job is work that the server does in the background. KILL with its ID ends the turn
// that runs.
type Job struct {
	ID      uint64
	Name    string
	Started time.Time
	Turn    *time.Time // when the turn began that runs; nil between turns
	// Turns are those that have begun, Failed those that ended with an error.
	Turns, Failed uint64
	Error         string // of the last that failed
}

// SearchIndex is a search index with the state of its files.
type SearchIndex struct {
	Database, Table, Name string
	Next                  bool // what the index will be
	State                 string
	Docs, Rejected        uint64
	Lag                   uint64 // commits
	Behind                time.Duration
	Segments              uint64
	Disk, Memory          uint64 // bytes
	Error                 string
}

// SearchRejected is a value that a field of a search index cannot take.
type SearchRejected struct {
	Database, Table, Index, Field string
	Key, Value, Reason            string
}

// KeyRange is a range of the keys of an index.
type KeyRange struct {
	// First is the first key: of rows a list of literals of SQL. "": unknown.
	First string
	Bytes int64
}

// HeatMinute is how often ranges were read and written in a minute, about.
type HeatMinute = metrics.HeatMinute

// ownTables are those that MySQL does not have.
func ownTables() []*table {
	return []*table{
		ofServer(newTable(infoDB, "SQLOTS_BACKUPS", "BACKUP_ID u, DESTINATION s4096, PREVIOUS s4096?, STATE s8, STARTED_AT d, ENDED_AT d?, FILES u, FILES_DONE u, BYTES u, BYTES_DONE u, BYTES_COPIED u, ERROR s1024?", backups)),
		ofServer(newTable(infoDB, "SQLOTS_JOBS", "JOB_ID u, NAME s512, STATE s16, STARTED_AT d, TURN_STARTED_AT d?, TURNS u, FAILED u, ERROR s1024?", jobs)),
		newTable(infoDB, "SQLOTS_DDL_JOBS", "JOB_ID u, TABLE_SCHEMA n64, TABLE_NAME n64, INDEX_NAME n64, STATE s16, ROWS_DONE u, ROWS_ESTIMATE u, STARTED_AT d, ENDED_AT d?, RESUMED u, STATEMENT t, ERROR s1024?", indexBuilds),
		newTable(infoDB, "SQLOTS_KEY_HEAT", "TABLE_SCHEMA n64, TABLE_NAME n64, MINUTE d, RANGE_NO u, FIRST_KEY s512?, READS u, WRITES u", keyHeat),
		newTable(infoDB, "SQLOTS_KEY_RANGES", "TABLE_SCHEMA n64, TABLE_NAME n64, INDEX_NAME n64, RANGE_NO u, FIRST_KEY s512?, BYTES u", keyRanges),
		ofServer(newTable(infoDB, "SQLOTS_LOADS", "TOKEN s200, LOADED_AT d, ROWS_LOADED u, ROWS_REJECTED u, REJECTS t", loads)),
		newTable(infoDB, "SQLOTS_SEARCH_INDEXES", "TABLE_SCHEMA n64, TABLE_NAME n64, INDEX_NAME n64, GENERATION s8, STATE s8, DOCUMENTS u, REJECTED u, LAG_COMMITS u?, LAG_MILLISECONDS f?, SEGMENTS u, DISK_BYTES u, MEMORY_BYTES u, LAST_ERROR s1024?, DEFINITION t?", searchIndexes),
		newTable(infoDB, "SQLOTS_SEARCH_REJECTED", "TABLE_SCHEMA n64, TABLE_NAME n64, INDEX_NAME n64, FIELD n64, PRIMARY_KEY_VALUE t, VALUE s200, REASON s200", searchRejected),
		newTable(infoDB, "SQLOTS_STREAMS", "TABLE_SCHEMA n64, TABLE_NAME n64, STREAM_ID u, STATE s8, RETENTION_SECONDS u, MAX_BYTES u?, FIRST_SEQ u?, LAST_SEQ u?, PURGED_SEQ u?, FIRST_TIME d?, LAST_TIME d?, BYTES u", streams),
		newTable(infoDB, "SQLOTS_STREAM_CONSUMERS", "CONSUMER_NAME n256, TABLE_SCHEMA n64, TABLE_NAME n64, SEQ u, ORDINAL u, CHECKPOINT_TIME d, LAG_SECONDS f, STATE s8", streamConsumers),
		newTable(infoDB, "SQLOTS_TTL_JOBS", "TABLE_SCHEMA n64, TABLE_NAME n64, STARTED_AT d, ENDED_AT d?, ROWS_REMOVED u, ERROR s1024?", expiries),
	}
}

func loads(q *query) error {
	list, err := q.server.Loads()
	if err != nil {
		return err
	}
	for _, l := range list {
		if err := q.emit(l.Token, l.Time, l.Rows, l.Rejected, l.Rejects); err != nil {
			return err
		}
	}
	return nil
}

// orNone is n, or NULL for 0.
func orNone[T int64 | uint64](n T) any {
	if n == 0 {
		return nil
	}
	return uint64(n)
}

func atMicros(t int64) any {
	if t == 0 {
		return nil
	}
	return time.UnixMicro(t)
}

func streams(q *query) error {
	list, err := q.server.Streams(q.ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		if !q.seesTable(s.Database, s.Table) {
			continue
		}
		state := "live"
		if s.Ended > 0 {
			state = "ended"
		}
		err := q.emit(s.Database, s.Table, uint64(s.ID), state, uint64(s.Retention), orNone(s.MaxBytes), orNone(s.First), orNone(s.Last), orNone(s.Purged),
			atMicros(s.FirstTime), atMicros(s.LastTime), uint64(s.Bytes))
		if err != nil {
			return err
		}
	}
	return nil
}

func streamConsumers(q *query) error {
	list, err := q.server.StreamConsumers(q.ctx)
	if err != nil {
		return err
	}
	for _, c := range list {
		if !q.seesTable(c.Database, c.Table) {
			continue
		}
		state := "ok"
		if c.Behind {
			state = "purged"
		}
		if err := q.emit(c.Name, c.Database, c.Table, c.Seq, uint64(c.Ordinal), time.UnixMicro(c.At), c.LagSeconds, state); err != nil {
			return err
		}
	}
	return nil
}

func jobs(q *query) error {
	for _, j := range q.server.Jobs() {
		state, turn := "idle", any(nil)
		if j.Turn != nil {
			state, turn = "running", *j.Turn
		}
		if err := q.emit(j.ID, j.Name, state, j.Started, turn, j.Turns, j.Failed, orNull(j.Error)); err != nil {
			return err
		}
	}
	return nil
}

func indexBuilds(q *query) error {
	for _, b := range q.server.IndexBuilds() {
		if !q.seesTable(b.Database, b.Table) {
			continue
		}
		var ended any
		if b.Ended != nil {
			ended = *b.Ended
		}
		for _, name := range b.Indexes {
			err := q.emit(b.ID, b.Database, b.Table, name, b.State, uint64(b.Rows), uint64(max(b.Rows, b.Estimate)), b.Started, ended, uint64(b.Resumed), b.Statement, orNull(b.Error))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func searchIndexes(q *query) error {
	for _, x := range q.server.SearchIndexes() {
		if !q.seesTable(x.Database, x.Table) {
			continue
		}
		var lag, behind any
		if x.State == "ready" {
			lag, behind = x.Lag, float64(x.Behind.Microseconds())/1000
		}
		generation := "current"
		if x.Next {
			generation = "next"
		}
		var definition any
		if t, ok := q.snap.Table(x.Database, x.Table); ok && !x.Next {
			for i := range t.Search {
				if t.Search[i].Name == x.Name {
					definition = searchDefinition(t, &t.Search[i])
				}
			}
		}
		if err := q.emit(x.Database, x.Table, x.Name, generation, x.State, x.Docs, x.Rejected, lag, behind, x.Segments, x.Disk, x.Memory, orNull(x.Error), definition); err != nil {
			return err
		}
	}
	return nil
}

// searchRejected has values of rows, which only who reads the table sees.
func searchRejected(q *query) error {
	wants := func(db, table, index string) bool {
		return q.rights.OnTable(db, table)&priv.Select != 0 && q.wants(db, "TABLE_SCHEMA") && q.wants(table, "TABLE_NAME") && q.wants(index, "INDEX_NAME")
	}
	return q.server.SearchRejected(q.ctx, wants, func(r *SearchRejected) error {
		return q.emit(r.Database, r.Table, r.Index, r.Field, r.Key, r.Value, r.Reason)
	})
}

// keyRanges has keys of rows, which only who reads the table sees.
func keyRanges(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		if q.rights.OnTable(t.Database, t.Name)&priv.Select == 0 {
			return nil
		}
		list := func(x *schema.Index, name string) error {
			if !q.wants(name, "INDEX_NAME") {
				return nil
			}
			ranges, err := q.server.KeyRanges(q.ctx, t, x)
			if err != nil {
				return err
			}
			for i, r := range ranges {
				if err := q.emit(t.Database, t.Name, name, uint64(i+1), orNull(r.First), uint64(max(r.Bytes, 0))); err != nil {
					return err
				}
			}
			return nil
		}
		if err := list(nil, "PRIMARY"); err != nil {
			return err
		}
		for _, x := range publicIndexes(t) {
			if err := list(x, x.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// keyHeat has keys of rows too.
func keyHeat(q *query) error {
	return q.eachTable(func(t *schema.Table) error {
		if q.rights.OnTable(t.Database, t.Name)&priv.Select == 0 {
			return nil
		}
		first, minutes, err := q.server.KeyHeat(q.ctx, t)
		if err != nil {
			return err
		}
		for _, m := range minutes {
			for i := range first {
				if m.Reads[i]+m.Writes[i] == 0 {
					continue
				}
				err := q.emit(t.Database, t.Name, m.Start, uint64(i+1), orNull(first[i]), uint64(m.Reads[i])*metrics.HeatEvery, uint64(m.Writes[i])*metrics.HeatEvery)
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func expiries(q *query) error {
	for _, e := range q.server.Expiries() {
		if !q.seesTable(e.Database, e.Table) {
			continue
		}
		var ended any
		if e.Ended != nil {
			ended = *e.Ended
		}
		if err := q.emit(e.Database, e.Table, e.Started, ended, e.Removed, orNull(e.Error)); err != nil {
			return err
		}
	}
	return nil
}

func backups(q *query) error {
	for _, b := range q.server.Backups() {
		var ended any
		state := "running"
		if b.Ended != nil {
			ended, state = *b.Ended, "done"
		}
		if b.Error != "" {
			state = "failed"
		}
		err := q.emit(b.ID, b.Destination, orNull(b.Previous), state, b.Started, ended, b.Files, b.FilesDone, b.Bytes, b.BytesDone, b.BytesCopied, orNull(b.Error))
		if err != nil {
			return err
		}
	}
	return nil
}
