package statement

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
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// Functions is what SQL functions see of a connection and change in it. It
// implements expr.Session.
type Functions struct {
	*Connection
	*figures

	mu           sync.Mutex // guards what functions may touch from parallel workers
	userVars     map[string]userVar
	lastInsertID uint64
	Rows         int64 // ROW_COUNT() of the last statement, -1 for a query or an error
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

var (
	_ expr.Session    = (*Functions)(nil)
	_ expr.UserLocks  = (*Functions)(nil)
	_ expr.MatchStats = (*Functions)(nil)
	_ expr.ServerInfo = (*Functions)(nil)
	_ expr.Streams    = (*Functions)(nil)
)

// streamPoll is how often StreamWait looks for records, when there are commits.
const streamPoll = 5 * time.Millisecond

// applyInsertID takes over what LAST_INSERT_ID(expr) set.
func (f *Functions) applyInsertID() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newInsertID != nil {
		f.lastInsertID, f.newInsertID = *f.newInsertID, nil
	}
}

// MatchStats implements expr.MatchStats.
func (f *Functions) MatchStats(ctx context.Context, m *expr.Match) text.Stats {
	if f.Engine.Search == nil {
		return nil
	}
	t := f.Engine.Catalog.Snapshot().TableByID(m.Table)
	if t == nil {
		return nil
	}
	x := f.Engine.Search.Index(t, m.Index)
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
func (f *Functions) SnapshotSeq(ctx context.Context) (uint64, error) {
	switch {
	case f.Tx.open != nil:
		if err := f.Tx.takeView(ctx, false); err != nil {
			return 0, err
		}
		view, err := f.Tx.open.txn.BareView(ctx)
		if err != nil {
			return 0, Translate(err)
		}
		seq, err := view.Settled(ctx)
		return seq, Translate(err)
	case f.snapshot != nil:
		seq, err := f.snapshot.Settled(ctx)
		return seq, Translate(err)
	}
	seq, err := f.Engine.Store.Settled(ctx)
	return seq, Translate(err)
}

// StreamWait implements expr.Streams.
func (f *Functions) StreamWait(ctx context.Context, name string, after uint64, timeout time.Duration) (bool, error) {
	if db, table, ok := strings.Cut(name, "."); ok || f.DB != "" {
		if !ok {
			db, table = f.DB, name
		}
		need := priv.TableNeed{DB: db, Table: table, Mask: priv.Select}
		if err := f.Refusal(f.rights.set.Check(&priv.Needs{Tables: []priv.TableNeed{need}})); err != nil {
			return false, err
		}
	}
	id, full, err := f.StreamNamed(ctx, name, f.DB)
	if err != nil {
		return false, Translate(err)
	}
	store := f.Engine.Store
	now, err := store.Settled(ctx)
	if err != nil {
		return false, Translate(err)
	}
	if after > now {
		return false, sqlerr.StreamPosition(full, after, now)
	}
	end := time.NewTimer(timeout)
	defer end.Stop()
	tick := time.NewTicker(streamPoll)
	defer tick.Stop()
	for seen := uint64(0); ; {
		if now != seen {
			seen = now
			last, ok, err := stream.First(ctx, store.Latest(), id, stream.Options{To: stream.Behind(now), Reverse: true})
			if err != nil {
				return false, Translate(err)
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
			return false, Translate(context.Cause(ctx))
		}
		if now, err = store.Settled(ctx); err != nil {
			return false, Translate(err)
		}
	}
}

// ConnectionID implements expr.Session.
func (f *Functions) ConnectionID() uint64 { return f.Process.ID }

// User implements expr.Session.
func (f *Functions) User() string { return f.Info.User + "@" + f.ClientHost() }

// CurrentUser implements expr.Session.
func (f *Functions) CurrentUser() string { return f.Info.Account.User + "@" + f.Info.Account.Host }

// Database implements expr.Session and mysqlwire.Session.
func (f *Functions) Database() string { return f.DB }

// LastInsertID implements expr.Session.
func (f *Functions) LastInsertID() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newInsertID != nil {
		return *f.newInsertID
	}
	return f.lastInsertID
}

// SetLastInsertID implements expr.Session: LAST_INSERT_ID(expr).
func (f *Functions) SetLastInsertID(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newInsertID = &id
}

// RowCount implements expr.Session.
func (f *Functions) RowCount() int64 { return f.Rows }

// FoundRows implements expr.Session.
func (f *Functions) FoundRows() int64 { return f.foundRows }

// UserVar implements expr.Session.
func (f *Functions) UserVar(name string) (value.Datum, schema.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.userVars[strings.ToLower(name)]
	if !ok {
		return value.Null, types.Null
	}
	return v.d, v.t
}

// SetUserVar implements expr.Session.
func (f *Functions) SetUserVar(name string, d value.Datum, t schema.Type) error {
	name = strings.ToLower(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	old, ok := f.userVars[name]
	more := int64(d.Size() - old.d.Size())
	if !ok {
		more += int64(len(name)) + userVarBytes
	}
	if err := f.hold(more, "user variables"); err != nil {
		return err
	}
	f.userVars[name] = userVar{d: d.Clone(), t: t}
	return nil
}

// userVarBytes is about what a user variable takes in addition to its name and value.
const userVarBytes = 256

// SysVar implements expr.Session.
func (f *Functions) SysVar(scope, name string) (value.Datum, schema.Type, error) {
	own := strings.ToLower(name)
	if scope == "global" {
		own = "" // those below have no global value
	}
	switch own {
	case "last_insert_id", "identity":
		return value.Uint(f.LastInsertID()), types.UBigInt, nil
	case "warning_count":
		return value.Int(int64(f.Diagnostics.WarningCount)), types.BigInt, nil
	case "error_count":
		return value.Int(int64(f.Diagnostics.errorCount)), types.BigInt, nil
	case "pseudo_thread_id":
		return value.Uint(f.Process.ID), types.UBigInt, nil
	case "timestamp":
		return value.Float(float64(f.now().UnixMicro()) / 1e6), types.Double, nil
	}
	d, def, err := f.Vars.Get(scope, name)
	if err != nil {
		return value.Null, types.Null, err
	}
	return d, def.Type, nil
}

// Connected implements expr.ServerInfo.
func (f *Functions) Connected(id uint64) bool { return f.Engine.Processes.Get(id) != nil }

// MayReadFiles implements expr.ServerInfo.
func (f *Functions) MayReadFiles() bool { return f.rights.set.Has(priv.File, 0) }

// StatementDigest implements expr.ServerInfo. Errors: 3676 for a text that is
// no statement.
func (f *Functions) StatementDigest(sql string) (digest, text string, err error) {
	if _, err := f.Engine.Parsers.Parse(sql, f.Vars.Mode); err != nil {
		return "", "", sqlerr.DigestArgument(err)
	}
	digest, text = parser.Digest(sql, f.Vars.Mode)
	return digest, text, nil
}

// GetLock implements expr.UserLocks.
func (f *Functions) GetLock(ctx context.Context, name string, timeout time.Duration) (bool, error) {
	f.Process.SetState("User lock")
	defer f.Process.SetState("executing")
	if err := f.hold(userLockBytes, "locks of GET_LOCK"); err != nil {
		return false, err
	}
	got, err := f.Engine.UserLocks.Acquire(ctx, f.Process.ID, strings.ToLower(name), timeout)
	if !got {
		f.Held.Shrink(userLockBytes)
	}
	return got, Translate(err)
}

// userLockBytes is what a lock takes at most; its name has 64 characters.
const userLockBytes = 384

// ReleaseLock implements expr.UserLocks.
func (f *Functions) ReleaseLock(name string) (held, exists bool) {
	if held, exists = f.Engine.UserLocks.Release(f.Process.ID, strings.ToLower(name)); held {
		f.Held.Shrink(userLockBytes)
	}
	return held, exists
}

// LockOwner implements expr.UserLocks.
func (f *Functions) LockOwner(name string) (uint64, bool) {
	return f.Engine.UserLocks.Owner(strings.ToLower(name))
}

// ReleaseAllLocks implements expr.UserLocks.
func (f *Functions) ReleaseAllLocks() int {
	n := f.Engine.UserLocks.ReleaseAll(f.Process.ID)
	f.Held.Shrink(int64(n) * userLockBytes)
	return n
}

// scoreFigures are the figures of an index for the scores of a statement: all
// calls over the same fields have the same, whatever becomes of the index.
type scoreFigures struct {
	table  schema.TableID
	index  schema.IndexID
	fields []uint16
	stats  *query.Stats
}

// StreamNamed is findStream of 'table' or 'database.table'.
func (cn *Connection) StreamNamed(ctx context.Context, name, current string) (id schema.StreamID, full string, err error) {
	db, table, ok := strings.Cut(name, ".")
	if !ok {
		if db, table = current, name; db == "" {
			return 0, "", sqlerr.NoDatabaseSelected()
		}
	}
	id, err = cn.Engine.FindStream(ctx, db, table)
	return id, db + "." + table, err
}
