package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// functions is what SQL functions see of a connection and change in it. It
// implements expr.Session.
type functions struct {
	*Connection
	*figures

	mu           sync.Mutex // guards what functions may touch from parallel workers
	userVars     map[string]userVar
	lastInsertID uint64
	rowCount     int64
	foundRows    int64
}

// figures are what functions see of the running statement alone.
type figures struct {
	snapshot    storage.Snapshot // that an autocommit query reads, nil for none
	newInsertID *uint64          // what LAST_INSERT_ID(expr) set
	scores      []scoreFigures
}

type userVar struct {
	d value.Datum
	t schema.Type
}

// applyInsertID takes over what LAST_INSERT_ID(expr) set.
func (f *functions) applyInsertID() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newInsertID != nil {
		f.lastInsertID, f.newInsertID = *f.newInsertID, nil
	}
}

// MatchStats implements expr.MatchStats.
func (f *functions) MatchStats(ctx context.Context, m *expr.Match) text.Stats {
	if f.engine.Search == nil {
		return nil
	}
	t := f.engine.Catalog.Snapshot().TableByID(m.Table)
	if t == nil {
		return nil
	}
	x := f.engine.Search.Index(t, m.Index)
	if x == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range f.scores {
		if known.table == m.Table && known.index == m.Index && slices.Equal(known.fields, m.Fields) {
			return known.stats
		}
	}
	stats := query.NewStats(ctx, x, m.Path, m.Fields)
	f.scores = append(f.scores, scoreFigures{m.Table, m.Index, m.Fields, stats})
	return stats
}

// SnapshotSeq implements expr.Streams.
func (f *functions) SnapshotSeq() (uint64, error) {
	switch {
	case f.tx.open != nil:
		if err := f.tx.takeView(false); err != nil {
			return 0, err
		}
		seq, err := f.tx.open.txn.ViewSeq()
		return seq, translate(err)
	case f.snapshot != nil:
		return f.snapshot.Seq(), nil
	}
	return f.engine.Store.Seq(), nil
}

// StreamWait implements expr.Streams.
func (f *functions) StreamWait(ctx context.Context, name string, after uint64, timeout time.Duration) (bool, error) {
	id, full, err := f.streamNamed(ctx, name, f.database)
	if err != nil {
		return false, translate(err)
	}
	store := f.engine.Store
	if last := store.Seq(); after > last {
		return false, sqlerr.StreamPosition(full, after, last)
	}
	end := time.NewTimer(timeout)
	defer end.Stop()
	tick := time.NewTicker(streamPoll)
	defer tick.Stop()
	for seen := uint64(0); ; {
		if now := store.Seq(); now != seen {
			seen = now
			last, ok, err := stream.First(ctx, store.Latest(), id, stream.Options{Reverse: true})
			if err != nil {
				return false, translate(err)
			}
			if ok && last.Seq > after {
				return true, nil
			}
		}
		select {
		case <-tick.C:
		case <-end.C:
			return false, nil
		case <-ctx.Done():
			return false, translate(context.Cause(ctx))
		}
	}
}

// ConnectionID implements expr.Session.
func (f *functions) ConnectionID() uint64 { return f.process.ID }

// User implements expr.Session.
func (f *functions) User() string { return f.info.User + "@" + f.clientHost() }

// CurrentUser implements expr.Session.
func (f *functions) CurrentUser() string { return f.info.Account.User + "@" + f.info.Account.Host }

// Database implements expr.Session and mysqlwire.Session.
func (f *functions) Database() string { return f.database }

// LastInsertID implements expr.Session.
func (f *functions) LastInsertID() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newInsertID != nil {
		return *f.newInsertID
	}
	return f.lastInsertID
}

// SetLastInsertID implements expr.Session: LAST_INSERT_ID(expr).
func (f *functions) SetLastInsertID(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newInsertID = &id
}

// RowCount implements expr.Session.
func (f *functions) RowCount() int64 { return f.rowCount }

// FoundRows implements expr.Session.
func (f *functions) FoundRows() int64 { return f.foundRows }

// UserVar implements expr.Session.
func (f *functions) UserVar(name string) (value.Datum, schema.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.userVars[strings.ToLower(name)]
	if !ok {
		return value.Null, types.Null
	}
	return v.d, v.t
}

// SetUserVar implements expr.Session.
func (f *functions) SetUserVar(name string, d value.Datum, t schema.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.userVars[strings.ToLower(name)] = userVar{d: d.Clone(), t: t}
}

// SysVar implements expr.Session.
func (f *functions) SysVar(scope, name string) (value.Datum, schema.Type, error) {
	own := strings.ToLower(name)
	if scope == "global" {
		own = "" // those below have no global value
	}
	switch own {
	case "last_insert_id", "identity":
		return value.Uint(f.LastInsertID()), types.UBigInt, nil
	case "warning_count":
		return value.Int(int64(f.diag.warningCount)), types.BigInt, nil
	case "error_count":
		return value.Int(int64(f.diag.errorCount)), types.BigInt, nil
	case "pseudo_thread_id":
		return value.Uint(f.process.ID), types.UBigInt, nil
	case "timestamp":
		return value.Float(float64(f.now().UnixMicro()) / 1e6), types.Double, nil
	}
	d, def, err := f.vars.Get(scope, name)
	if err != nil {
		return value.Null, types.Null, err
	}
	return d, def.Type, nil
}

// Connected implements expr.ServerInfo.
func (f *functions) Connected(id uint64) bool { return f.engine.Processes.Get(id) != nil }

// MayReadFiles implements expr.ServerInfo: every account may read what
// secure_file_priv opens, as LOAD DATA does.
func (f *functions) MayReadFiles() bool { return true }

// StatementDigest implements expr.ServerInfo. Errors: 3676 for a text that is
// no statement.
func (f *functions) StatementDigest(sql string) (digest, text string, err error) {
	if _, err := f.engine.Parsers.Parse(sql, f.vars.Mode); err != nil {
		return "", "", sqlerr.DigestArgument(err)
	}
	digest, text = parser.Digest(sql, f.vars.Mode)
	return digest, text, nil
}

// GetLock implements expr.UserLocks.
func (f *functions) GetLock(ctx context.Context, name string, timeout time.Duration) (bool, error) {
	f.process.SetState("User lock")
	defer f.process.SetState("executing")
	got, err := f.engine.UserLocks.Acquire(ctx, f.process.ID, strings.ToLower(name), timeout)
	return got, translate(err)
}

// ReleaseLock implements expr.UserLocks.
func (f *functions) ReleaseLock(name string) (held, exists bool) {
	return f.engine.UserLocks.Release(f.process.ID, strings.ToLower(name))
}

// LockOwner implements expr.UserLocks.
func (f *functions) LockOwner(name string) (uint64, bool) {
	return f.engine.UserLocks.Owner(strings.ToLower(name))
}

// ReleaseAllLocks implements expr.UserLocks.
func (f *functions) ReleaseAllLocks() int { return f.engine.UserLocks.ReleaseAll(f.process.ID) }
